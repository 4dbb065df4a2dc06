// The sites of a journal, each with its state, and how many are in which state. Rebuilt from the lines of the journal when it is
// opened again.
import type { JournalLine } from "./journal-file.ts";
import { isFailure, type SiteJob, type SiteOutcome } from "./site-job.ts";
import type { QueueCounts } from "./site-queue.ts";

/** A site of a journal and its state. */
export interface JournalSite {
  readonly job: SiteJob;
  /** `delayed`: it waits until a time has passed. */
  state: "waiting" | "delayed" | "active" | "done";
  outcome: SiteOutcome | undefined;
  /** How often it was started in all, for attempt ids. */
  starts: number;
  /** How often the process died while it was read, since it last ended. */
  deaths: number;
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
    const site: JournalSite = { job, state: "waiting", outcome: undefined, starts: 0, deaths: 0 };
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
        // Started again without an end: the process died in between.
        if (site.state === "active") site.deaths += 1;
        this.start(site);
        return;
      case "back":
        this.putBack(site);
        site.deaths = 0;
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
    site.deaths = 0;
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
