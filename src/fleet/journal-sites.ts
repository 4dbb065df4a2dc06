// The sites of a journal, each with its state, how many are in which state, and the order in which they are read. Rebuilt from the lines of the
// journal when it is opened again.

import { mostBeside, type Suspicion } from "./bisection.ts";
import type { JournalLine } from "./journal-file.ts";
import { isFailure, keyHash, type SiteJob, type SiteOutcome } from "./site-job.ts";
import type { QueueCounts } from "./site-queue.ts";

/** A site of a journal and its state. */
export interface JournalSite {
  readonly job: SiteJob;
  /** `delayed`: it waits until a time has passed. */
  state: "waiting" | "delayed" | "active" | "done";
  outcome: SiteOutcome | undefined;
  /** How often it was started in all, for attempt ids. */
  starts: number;
  /** If a process died while it was read, since it last ended. */
  suspicion: Suspicion | undefined;
}

export class JournalSites {
  readonly #sites = new Map<string, JournalSite>();
  #active = 0;
  #done = 0;
  #failed = 0;

  get size(): number {
    return this.#sites.size;
  }

  get active(): number {
    return this.#active;
  }

  get counts(): QueueCounts {
    const waiting = this.#sites.size - this.#active - this.#done;
    return { waiting, active: this.#active, done: this.#done, failed: this.#failed };
  }

  has(key: string): boolean {
    return this.#sites.has(key);
  }

  values(): Iterable<JournalSite> {
    return this.#sites.values();
  }

  insert(job: SiteJob): JournalSite {
    const site: JournalSite = { job, state: "waiting", outcome: undefined, starts: 0, suspicion: undefined };
    this.#sites.set(job.key, site);
    return site;
  }

  /** Does what a line of the journal says. */
  replay(line: JournalLine): void {
    // If the line that added it is damaged, any other line names the site, too.
    const site = this.#sites.get(line.key) ?? this.insert({ key: line.key, homepage: line.site });
    switch (line.type) {
      case "start":
        if (site.state === "done") return;
        this.start(site);
        return;
      case "back":
        this.putBack(site);
        site.suspicion = suspicionIn(line);
        return;
      case "done":
        // Of several, the last counts.
        this.end(site, line.summary.outcome);
    }
  }

  start(site: JournalSite): void {
    if (site.state !== "active") this.#active += 1;
    site.state = "active";
    site.starts += 1;
  }

  /** The site waits again. */
  putBack(site: JournalSite): void {
    this.#uncount(site);
    site.state = "waiting";
    site.outcome = undefined;
  }

  end(site: JournalSite, outcome: SiteOutcome): void {
    this.#uncount(site);
    site.state = "done";
    site.outcome = outcome;
    site.suspicion = undefined;
    this.#done += 1;
    if (isFailure(outcome)) this.#failed += 1;
  }

  #uncount({ state, outcome }: JournalSite): void {
    if (state === "active") this.#active -= 1;
    if (state !== "done") return;
    this.#done -= 1;
    if (outcome !== undefined && isFailure(outcome)) this.#failed -= 1;
  }
}

function suspicionIn({ group, alone = 0 }: Extract<JournalLine, { readonly type: "back" }>): Suspicion | undefined {
  return group === undefined ? undefined : { group, alone };
}

/**
 * The order in which waiting sites are read. Not that of the list, because neighbors in a list often share a server. Suspects come last, those that
 * may be read beside the most others first.
 */
export class SiteOrder {
  // The next one is the last.
  #waiting: JournalSite[] = [];
  #suspects: JournalSite[] = [];
  #isSorted = true;

  /** How many sites wait to be read again because a process died. */
  get suspects(): number {
    return this.#suspects.length;
  }

  /** A site that is new. */
  add(site: JournalSite): void {
    this.#waiting.push(site);
    this.#isSorted = false;
  }

  /** A site that was started before: it comes after the others. */
  addAgain(site: JournalSite): void {
    if (site.suspicion === undefined) this.#waiting.unshift(site);
    else {
      this.#suspects.push(site);
      this.#suspects.sort((one, other) => groupOf(one) - groupOf(other));
    }
  }

  /** From now on, these sites wait. */
  reset(waiting: readonly JournalSite[]): void {
    this.#waiting = waiting.filter(({ suspicion }) => suspicion === undefined);
    this.#suspects = waiting.filter(({ suspicion }) => suspicion !== undefined);
    this.#suspects.sort((one, other) => groupOf(one) - groupOf(other));
    this.#isSorted = false;
  }

  /** The next site for a process that reads these. `isAdding`: sites are still being added. */
  next(reading: ReadonlySet<JournalSite>, isAdding: boolean): JournalSite | undefined {
    // While sites are being added, any order will do.
    if (!this.#isSorted && !isAdding) this.#sort();
    const from = this.#waiting.length > 0 ? this.#waiting : this.#suspects;
    const next = from.at(-1);
    if (next === undefined) return undefined;
    const most = mostBeside([next, ...reading].map(({ suspicion }) => suspicion));
    return reading.size < most ? from.pop() : undefined;
  }

  // Sites that were started before come first.
  #sort(): void {
    const ranked = this.#waiting.map((site) => ({ site, rank: (site.starts > 0 ? "" : "~") + keyHash(site.job.key) }));
    ranked.sort((one, other) => (one.rank < other.rank ? 1 : -1));
    this.#waiting = ranked.map(({ site }) => site);
    this.#isSorted = true;
  }
}

function groupOf({ suspicion }: JournalSite): number {
  return suspicion?.group ?? Number.POSITIVE_INFINITY;
}
