// The result of each candidate of discovery, the problems of the website as a whole, and whether it could be reached.
import type { Candidate } from "../discover/candidates.ts";
import type { DiscoveryRecord, UnreachableWebsite } from "../model/event.ts";
import { type Problem, ProblemLog } from "../model/problem.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import type { Followed } from "./follow.ts";
import type { LinksFound } from "./homepage.ts";
import type { Visit } from "./visit.ts";

export class DiscoveryLog {
  readonly #records: DiscoveryRecord[] = [];
  readonly #problems = new ProblemLog();

  /** `problems`: those of the website that are known before the crawl begins. */
  constructor(problems: readonly Problem[] = []) {
    for (const problem of problems) this.#problems.addProblem(problem);
  }

  get records(): readonly DiscoveryRecord[] {
    return this.#records;
  }

  get problems(): readonly Problem[] {
    return this.#problems.toArray();
  }

  get isRobotsUnreachable(): boolean {
    return this.#problems.has("robots-unreachable");
  }

  add({ url, by }: Candidate, { type, result }: Visit): void {
    this.#records.push({ url, by, ...result });
    const { outcome, status } = result;
    if (by === "robots" && isRobotsUnreachable(result)) {
      // A robots.txt that came with status 200 has a node that says what is wrong with it.
      this.#problems.add("robots-unreachable", status === undefined || status < 300 ? {} : { status });
    } else if (by === "known-path" && type === "omitted" && outcome === "failed") {
      this.#problems.add("known-path-unreachable", { value: url });
    }
  }

  /** A candidate that is not requested, because robots.txt names sitemaps that can be read. */
  skip({ url, by }: Candidate): void {
    this.#records.push({ url, by, outcome: "skipped" });
  }

  addHomepage({ problems, isUnreachable }: Pick<LinksFound, "problems" | "isUnreachable">): void {
    if (isUnreachable) this.#problems.add("homepage-unreachable");
    for (const problem of problems) this.#problems.addProblem(problem);
  }

  /** A refusal alone is no loss: nothing says that there is a sitemap. Where there is nothing else, it is one. */
  addUnreachable(): void {
    if (this.#problems.complete) this.#problems.add("website-unreachable");
  }

  /**
   * Why nothing could be read from the website, if so. A single answer that is not a refusal makes it reachable, even "not
   * found".
   */
  unreachable(homepage: Followed<never> | undefined): UnreachableWebsite | undefined {
    const asked = homepage === undefined ? this.#records : [...this.#records, homepage as Omit<DiscoveryRecord, "by">];
    const reasons: Problem[] = [];
    const outcomes = new Set<string>();
    for (const { outcome, status, reason } of asked) {
      // A limit of ours says nothing about the website.
      const isFailure = outcome === "failed" || outcome === "blocked" || outcome === "refused";
      if (!isFailure || reason === undefined || reason.code.startsWith("limit-")) return undefined;
      // A document was received, even if its bytes cannot be read.
      if (outcome === "failed" && status === 200) return undefined;
      outcomes.add(outcome);
      reasons.push(reason);
    }
    const reason = mostFrequent(reasons);
    if (reason === undefined) return undefined;
    const [outcome] = outcomes.size === 1 ? outcomes : ["failed"];
    return { outcome: outcome as UnreachableWebsite["outcome"], reason, documents: reasons.length };
  }
}

function mostFrequent(reasons: readonly Problem[]): Problem | undefined {
  const counts = new Map<string, number>();
  for (const { code } of reasons) counts.set(code, (counts.get(code) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return reasons.find(({ code }) => counts.get(code) === most);
}
