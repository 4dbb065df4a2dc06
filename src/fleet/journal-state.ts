// What a journal says: its lines, applied one after another. The queue applies the same facts to the same state while it writes them.
import { type JournalFact, readJournal } from "./journal-file.ts";
import type { LeasedSite } from "./leases.ts";
import { type SiteJob, type SiteSummary, storedJob } from "./site-job.ts";

export interface JournalSite extends LeasedSite {
  state: "waiting" | "active" | "done";
  /** Its result, if it is done. */
  result: Pick<SiteSummary, "outcome" | "attemptId"> | undefined;
  /** The attempt whose result the user asked to replace. */
  replaces: string | undefined;
  /** How often it was started. Attempt ids contain this number. */
  starts: number;
  deaths: number;
}

export class JournalState {
  readonly sites: Map<string, JournalSite> = new Map();
  /** Lists that were only partly added: the key of the first website of each, and the least number of websites that it has. */
  readonly cutLists: Map<string, number> = new Map();
  #list = "";

  /** Returns the site, unless the fact is about a list. */
  apply(job: SiteJob, fact: JournalFact): JournalSite | undefined {
    const { key } = job;
    if (fact.type === "list") this.cutLists.set((this.#list = key), this.cutLists.get(key) ?? 0);
    if (fact.type === "listed") this.cutLists.delete(key);
    if (fact.type === "list" || fact.type === "listed") return undefined;
    const length = this.cutLists.get(this.#list);
    if (fact.type === "add" && length !== undefined) this.cutLists.set(this.#list, length + 1);
    const unknown = { result: undefined, replaces: undefined };
    const site = this.sites.get(key) ?? { job, state: "waiting", ...unknown, starts: 0, deaths: 0 };
    this.sites.set(key, site);
    const { result } = site;
    if (fact.type === "start" && result === undefined) {
      // A process died while crawling the site.
      if (site.state === "active") site.deaths += 1;
      site.starts += 1;
      site.state = "active";
    } else if (fact.type === "back") {
      if (result !== undefined) Object.assign(site, { result: undefined, replaces: result.attemptId, deaths: 0 });
      site.state = "waiting";
    } else if (fact.type === "done") {
      // The last of several results counts.
      const { outcome, attemptId } = fact.summary;
      Object.assign(site, { state: "done", result: { outcome, attemptId }, replaces: undefined });
    }
    return site;
  }
}

/** A journal that was read. */
export interface ReadJournal {
  readonly state: JournalState;
  /** How many lines could not be read, not counting an incomplete last line. */
  readonly damaged: number;
  /** The first line that could not be read. */
  readonly firstDamaged: string;
  /** Where the last whole line ends, in bytes, and whether it has a line end. */
  readonly end: number;
  readonly isEnded: boolean;
}

export async function readState(file: string): Promise<ReadJournal> {
  const state = new JournalState();
  const read = { state, damaged: 0, firstDamaged: "", end: 0, isEnded: true };
  for await (const { line, text, end, isEnded } of readJournal(file)) {
    // If the line that added the site is damaged, a later line may restore it.
    const job = line && (state.sites.get(line.key)?.job ?? storedJob({ ...line, homepage: line.site }));
    const isList = line?.type === "list" || line?.type === "listed";
    if (line !== undefined && (job !== undefined || isList))
      state.apply(job ?? { key: line.key, homepage: line.site }, line);
    else if (text.trim() !== "") {
      read.firstDamaged ||= text;
      if (isEnded) read.damaged += 1;
    }
    if (line !== undefined || isEnded) Object.assign(read, { end, isEnded });
  }
  return read;
}

/** Yields the results in a journal: one summary for each finished site. Also works while a process uses the folder. */
export async function* readResults(
  file: string,
  sites?: ReadonlyMap<string, JournalSite>,
): AsyncGenerator<SiteSummary, void> {
  const left = new Map<string, string>();
  for (const [key, { result }] of sites ?? (await readState(file)).state.sites)
    if (result !== undefined) left.set(key, result.attemptId);
  for await (const { line } of readJournal(file))
    if (line?.type === "done" && left.get(line.key) === line.summary.attemptId && left.delete(line.key))
      yield line.summary;
}
