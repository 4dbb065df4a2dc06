// The result of each candidate of discovery, and the problems of the website as a whole: those that belong to no sitemap.
import type { Candidate } from "../discover/candidates.ts";
import type { DiscoveryRecord } from "../model/event.ts";
import { type Problem, ProblemLog } from "../model/problem.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import type { LinksFound } from "./homepage-fetch.ts";
import type { Visit } from "./record.ts";

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

  /** A refusal alone is no loss: nothing says that there is a sitemap. Where there is nothing else, it is one. */
  addUnreachable(): void {
    if (this.#problems.complete) this.#problems.add("website-unreachable");
  }

  /** A candidate that is not requested, because robots.txt names sitemaps that can be read. */
  skip({ url, by }: Candidate): void {
    this.#records.push({ url, by, outcome: "skipped" });
  }

  addHomepage({ problems, isUnreachable }: Pick<LinksFound, "problems" | "isUnreachable">): void {
    if (isUnreachable) this.#problems.add("homepage-unreachable");
    for (const problem of problems) this.#problems.addProblem(problem);
  }
}
