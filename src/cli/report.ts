// What is said at the end: whether the result is complete, what could not be read and why, and where was looked when
// nothing was found. Grouped for a person at a terminal; one plain line for each loss in pipes and logs, which stay silent
// when all is well.
import type { CrawlEvent, DiscoveryRecord, FinishedEvent } from "../event.ts";
import { counted, duration, grouped, size } from "../figures.ts";
import { isCutOff, isLossy, messageWithHint, type Problem, type ProblemCode, skipsEntry } from "../problem.ts";
import type { Sitemap } from "../sitemap.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Messages } from "./messages.ts";

interface Loss {
  readonly url: string;
  readonly code: ProblemCode;
  readonly message: string;
  /** Of the sitemap nothing could be read, or not all; or it is the search for sitemaps that was cut short. */
  readonly what: "not read" | "incomplete" | "search";
}

export class Report {
  // What is beyond the cap is only counted.
  readonly #losses: Loss[] = [];
  readonly #forgiven: ReadonlySet<ProblemCode>;
  #lossCount = 0;
  #unread = 0;
  #partial = 0;
  #minor = 0;
  #skipped = 0;
  #found = false;
  #hasRead = false;
  #homepage = "";
  #finished: FinishedEvent | undefined;

  /** Problems with these codes are no losses: the person asked for them. */
  constructor(forgiven: readonly ProblemCode[] = []) {
    this.#forgiven = new Set(forgiven);
  }

  see(event: CrawlEvent): void {
    if (event.type === "start" && event.depth === 0) this.#homepage = event.url;
    if (event.type === "finished") this.#finished = event;
    if (event.type === "sitemap") this.#see(event.sitemap);
  }

  #see(sitemap: Sitemap): void {
    if (sitemap.kind === "invalid") {
      this.#found = true;
      if (this.#forgiven.has(sitemap.reason.code)) return;
      this.#unread += 1;
      this.#lose({ ...lossOf(sitemap, sitemap.reason), what: "not read" });
      return;
    }
    if (sitemap.kind === "pages" || sitemap.format === "xml") {
      this.#found = true;
      this.#hasRead = true;
    }
    const lossy = sitemap.problems.filter(({ code }) => isLossy(code) && !this.#forgiven.has(code));
    const minor = sitemap.problems.filter((problem) => !lossy.includes(problem));
    this.#minor += minor.length;
    for (const { code, count = 1 } of minor) if (skipsEntry(code)) this.#skipped += count;
    const isRoot = sitemap.kind === "index" && sitemap.format === "website";
    if (lossy.length > 0 && !isRoot) this.#partial += 1;
    for (const problem of lossy) this.#lose({ ...lossOf(sitemap, problem), what: isRoot ? "search" : "incomplete" });
  }

  #lose(loss: Loss): void {
    this.#lossCount += 1;
    if (this.#losses.length < mostLosses) this.#losses.push(loss);
  }

  /** Whether there is no sitemap to speak of. */
  get #foundNothing(): boolean {
    return !this.#found && this.#finished !== undefined;
  }

  /** Whether not one sitemap could be read. */
  get readNothing(): boolean {
    return !this.#hasRead && this.#finished !== undefined;
  }

  get isComplete(): boolean {
    return this.#lossCount === 0;
  }

  get exitCode(): number {
    if (this.#foundNothing) return exitCodes.notFound;
    return this.isComplete ? exitCodes.complete : exitCodes.incomplete;
  }

  /** `listed` pages were written; `notes` are further sentences. */
  print(messages: Messages, listed: number, notes: readonly string[]): void {
    if (messages.isTerminal) this.#printGrouped(messages, listed);
    else this.#printLines(messages);
    for (const note of notes) messages.say(note, "quiet");
    if (this.exitCode === exitCodes.notFound) {
      messages.say(`no sitemap found for ${this.#homepage}`, "bad");
      for (const line of whereWasLooked(this.#finished?.discovery ?? [])) messages.say(`  ${line}`);
      messages.say("  if you know where one is: --sitemap URL or --known-path PATH", "quiet");
    }
  }

  #printLines(messages: Messages): void {
    for (const { url, message, what } of this.#losses) {
      messages.say(what === "search" ? message : `${url}: ${what}: ${message}`);
    }
    const more = this.#lossCount - this.#losses.length;
    if (more > 0) messages.say(`and ${grouped(more)} more like these: --log-file names them all`);
    if (this.#lossCount > 0 && this.#found) messages.say(this.#summary());
  }

  #printGrouped(messages: Messages, listed: number): void {
    const { totals } = this.#finished ?? {};
    if (this.#found) {
      const sources = totals === undefined ? "" : ` from ${counted(totals.sitemaps, "sitemap")}`;
      const effort = totals === undefined ? "" : ` in ${duration(totals.duration)}, ${size(totals.wireBytes)}`;
      messages.say(`${counted(listed, "page")}${sources}${effort}`, "good");
    }
    if (this.#lossCount > 0 && this.#found) messages.say(this.#summary(), "warning");
    const groups = byCode(this.#losses);
    for (const group of [...groups.values()].slice(0, mostGroups)) {
      const { message, what } = group[0] as Loss;
      // One headline for all of them, or each with its own words.
      const isShared = group.every((loss) => loss.message === message);
      if (isShared) messages.say(`  ${message}`, "warning");
      if (what === "search") continue;
      for (const { url, message } of group.slice(0, mostInGroup)) {
        messages.say(isShared ? `    ${url}` : `  ${url}: ${message}`);
      }
      if (group.length > mostInGroup) messages.say(`    and ${group.length - mostInGroup} more`);
    }
    if (groups.size > mostGroups) messages.say(`  and ${groups.size - mostGroups} more reasons`);
    if (this.#minor > 0) {
      const skipped = this.#skipped > 0 ? ` (${counted(this.#skipped, "entry", "entries")} skipped)` : "";
      messages.say(`${counted(this.#minor, "minor problem")}${skipped}; -v lists them`, "quiet");
    }
  }

  #summary(): string {
    const parts = [];
    if (this.#unread > 0) parts.push(`${counted(this.#unread, "sitemap")} could not be read`);
    if (this.#partial > 0) parts.push(`${counted(this.#partial, "sitemap")} could be read only in part`);
    return `not complete${parts.length > 0 ? ": " : ""}${parts.join(", ")}`;
  }
}

// Enough to see what is wrong; the log has them all.
const mostLosses = 1000;
const mostGroups = 10;
const mostInGroup = 5;

// What is left of a document that was cut off belongs into the sentence.
function lossOf(sitemap: Sitemap, problem: Problem): { url: string; code: ProblemCode; message: string } {
  const { url } = sitemap;
  const { code } = problem;
  const message = messageWithHint(problem);
  if (sitemap.kind !== "pages" || !isCutOff(code)) return { url, code, message };
  const { pageCount } = sitemap;
  return { url, code, message: `${message}; ${counted(pageCount, "page")} ${pageCount === 1 ? "was" : "were"} kept` };
}

function whereWasLooked(discovery: readonly DiscoveryRecord[]): string[] {
  const groups = new Map<string, { count: number; first: DiscoveryRecord; end: string }>();
  for (const record of discovery) {
    const why = record.reason?.message ?? (record.status === undefined ? "" : `status ${record.status}`);
    const end = `${record.outcome}${why === "" ? "" : ` (${why})`}`;
    const group = groups.get(`${record.by} ${end}`);
    if (group === undefined) groups.set(`${record.by} ${end}`, { count: 1, first: record, end });
    else group.count += 1;
  }
  const lines = [...groups.values()].map(({ count, first, end }) =>
    count === 1 ? `${first.url}: ${end}` : `${first.url} and ${count - 1} more: ${end}`,
  );
  return lines.length <= mostGroups ? lines : [...lines.slice(0, mostGroups), `and ${lines.length - mostGroups} more`];
}

function byCode(losses: readonly Loss[]): Map<ProblemCode, Loss[]> {
  const groups = new Map<ProblemCode, Loss[]>();
  for (const loss of losses) {
    const group = groups.get(loss.code);
    if (group === undefined) groups.set(loss.code, [loss]);
    else group.push(loss);
  }
  return groups;
}
