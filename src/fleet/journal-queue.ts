// The queue of one machine: a journal in a folder, `sites.ndjson`. Every event is a line; the state in memory is rebuilt from these
// lines when the folder is opened again. A result is on the disk before it takes effect.
import { setMaxListeners } from "node:events";
import { waitFor } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { path as checkPath, invalid, oneOf, optionsIn, strings } from "../model/option-checks.ts";
import type { JournalFact, JournalLine, JournalSite as Site } from "./journal-file.ts";
import { applyLine, JournalFile, newSite, readResults, readState } from "./journal-file.ts";
import { longestLine } from "./lines.ts";
import type { SiteJob, SiteOutcome, SiteSummary } from "./site-job.ts";
import { attemptIdOf, isFailure, quarantinedSummary, siteOutcomes } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";
import { hasRoom, isQuarantined } from "./suspects.ts";

/** Options of `JournalQueue.open`. */
export interface JournalQueueOptions {
  /** Sites that are done with one of these outcomes are read again. */
  readonly retry?: readonly SiteOutcome[] | undefined;
}

/**
 * The queue of one machine: a journal in a folder. A run that was killed continues where it stopped.
 *
 * @example
 * const queue = await JournalQueue.open("monday");
 * await runFleet({ queue, sites: ["example.org", "example.net"] });
 * for await (const { site, outcome, pages } of queue.results()) console.log(site, outcome, pages);
 * await queue.close();
 */
export class JournalQueue implements SiteQueue {
  readonly folder: string;
  readonly #journal: JournalFile;
  #sites = new Map<string, Site>();
  // Both are stacks: the next site is at the end.
  readonly #waiting: Site[] = [];
  readonly #suspects: Site[] = [];
  readonly #inFlight = new Set<Site>();
  readonly #sleepers = new Set<() => void>();
  #adding = 0;
  #cutLists = new Map<string, number>();
  #damaged = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.#journal = new JournalFile(folder);
  }

  /**
   * Throws a `SitemapError`: `folder-in-use` if another process has the folder, `folder-unusable` if it cannot be used, and
   * `invalid-file` if its `sites.ndjson` is something else.
   */
  static async open(folder: string, options: JournalQueueOptions = {}): Promise<JournalQueue> {
    checkPath("folder", folder);
    optionsIn("options", options, ["retry"]);
    const { retry = [] } = options;
    for (const outcome of strings("retry", retry)) anOutcome("retry", outcome);
    const queue = new JournalQueue(folder);
    try {
      await queue.#load(new Set(retry));
      return queue;
    } catch (error) {
      await queue.close();
      throw error;
    }
  }

  /** The number of sites in all states. */
  get size(): number {
    return this.#sites.size;
  }

  /** How many lines of the journal could not be read. They are skipped, and their information is lost. */
  get damaged(): number {
    return this.#damaged;
  }

  /** How many lists were only partly added, because a process was killed or stopped. Adding a list again completes it. */
  get cutLists(): number {
    return this.#cutLists.size;
  }

  async add(sites: AsyncIterable<SiteJob> | Iterable<SiteJob>): Promise<{ added: number; known: number }> {
    let known = 0;
    let added = 0;
    let last: Promise<void> | undefined;
    // The incomplete lists whose first website is also on this list.
    const lists = new Map<string, Site>();
    let first = "";
    this.#adding += 1;
    try {
      for await (const { key, homepage, sitemaps, mayBePlain } of sites) {
        if (known + added === 0) {
          first = key;
          this.#cutLists.set(key, this.#cutLists.get(key) ?? 0);
          this.#journal.append(lineOf(newSite({ key, homepage }), { type: "list" })).catch(() => undefined);
        }
        if (this.#cutLists.has(key)) lists.set(key, newSite({ key, homepage }));
        if (this.#sites.has(key)) {
          known += 1;
          continue;
        }
        // The line of its result must not be too long to be read.
        if (key.length > longestKey) throw invalid(`The sitemap URLs of ${homepage} are too long in total`);
        const more = defined({ sitemaps, mayBePlain });
        const site = newSite({ key, homepage, ...more });
        this.#sites.set(key, site);
        added += 1;
        this.#cutLists.set(first, (this.#cutLists.get(first) ?? 0) + 1);
        last = this.#journal.append(lineOf(site, { type: "add", ...more }));
        // Lines are written in order, so it is enough to wait for the last of a thousand.
        if (added % 1000 === 0) await last;
        else last.catch(() => undefined);
        this.#offer(site);
        // Wakes only one caller for each site, because very many may be waiting.
        this.#wake(1);
      }
      for (const [key, site] of lists) {
        // If this list is shorter, it is a different one that happens to contain that website.
        if ((this.#cutLists.get(key) ?? 0) > known + added) continue;
        this.#cutLists.delete(key);
        last = this.#journal.append(lineOf(site, { type: "listed" }));
      }
      await last;
    } finally {
      this.#adding -= 1;
      this.#wake();
    }
    return { added, known };
  }

  async take(signal: AbortSignal): Promise<Lease | undefined> {
    for (;;) {
      signal.throwIfAborted();
      const site = this.#next();
      if (site !== undefined) return this.#start(site);
      if (this.#inFlight.size + this.#adding + this.#suspects.length === 0) return undefined;
      await waitFor<void>(signal, (wake) => {
        this.#sleepers.add(wake);
        return () => this.#sleepers.delete(wake);
      });
    }
  }

  async counts(): Promise<QueueCounts> {
    const counts = { waiting: 0, active: 0, done: 0, failed: 0 };
    for (const { state, result } of this.#sites.values()) {
      counts[state] += 1;
      if (result !== undefined && isFailure(result.outcome)) counts.failed += 1;
    }
    return counts;
  }

  async *results(): AsyncGenerator<SiteSummary, void> {
    yield* readResults(this.#journal.path);
  }

  /** Closes the queue. If nothing was ever added, leaves the folder as it was. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  async #load(retry: ReadonlySet<SiteOutcome>): Promise<void> {
    const state = await readState(this.#journal.path);
    this.#sites = state.sites;
    this.#cutLists = state.cutLists;
    this.#damaged = state.damaged;
    // A killed process may leave an incomplete first line.
    if (this.#sites.size === 0 && !'{"type":'.startsWith(state.firstDamaged.slice(0, 8)))
      throw new SitemapError("invalid-file", `${this.#journal.path} is not the journal of a fleet`);
    await this.#journal.mend();
    // The sites that were started most often come last, so they are taken first.
    const sites = [...this.#sites.values()].sort((one, other) => one.starts - other.starts);
    const settled = sites.map((site) => {
      // A process died while it was crawling this site.
      if (site.state === "active") Object.assign(site, { state: "waiting", deaths: site.deaths + 1 });
      if (site.result !== undefined && retry.has(site.result.outcome)) return this.#settle(site, { type: "back" });
      return site.state === "done" ? undefined : this.#offer(site);
    });
    await Promise.all(settled);
  }

  // Inserts a site at a random position, because neighbors in a list often share a server. Sites that were started before are
  // taken next, but suspects after all others.
  #offer(site: Site): void {
    if (site.deaths > 0) {
      this.#suspects.push(site);
      this.#suspects.sort((one, other) => other.deaths - one.deaths);
      return;
    }
    const last = this.#waiting.push(site) - 1;
    const at = site.starts > 0 ? last : Math.floor(Math.random() * (last + 1));
    this.#waiting[last] = this.#waiting[at] as Site;
    this.#waiting[at] = site;
  }

  #next(): Site | undefined {
    const from = this.#waiting.length > 0 ? this.#waiting : this.#suspects;
    const next = from.at(-1);
    return next !== undefined && hasRoom(this.#inFlight, next) ? from.pop() : undefined;
  }

  async #start(site: Site): Promise<Lease> {
    const attemptId = attemptIdOf(site.job.key, site.starts + 1);
    const line = lineOf(site, { type: "start", attemptId });
    applyLine(site, line);
    this.#inFlight.add(site);
    await this.#journal.append(line);
    const { job, starts, replaces } = site;
    let isOpen = true;
    const settle = async (fact: JournalFact): Promise<"accepted" | "superseded"> => {
      if (!isOpen) return "superseded";
      isOpen = false;
      await this.#settle(site, fact);
      return "accepted";
    };
    return {
      ...{ job, starts, attemptId, replaces, lost: never },
      quarantined: isQuarantined(site) ? quarantinedSummary(job, attemptId) : undefined,
      done: (summary) => settle({ type: "done", summary }),
      retry: async () => void (await settle({ type: "back" })),
    };
  }

  // Writes the line to the disk before it takes effect.
  async #settle(site: Site, fact: JournalFact): Promise<void> {
    const line = lineOf(site, fact);
    await this.#journal.append(line);
    applyLine(site, line);
    this.#inFlight.delete(site);
    if (site.state === "waiting") this.#offer(site);
    this.#wake();
  }

  #wake(most: number = this.#sleepers.size): void {
    for (const wake of [...this.#sleepers].slice(0, most)) {
      this.#sleepers.delete(wake);
      wake();
    }
  }
}

function lineOf({ job: { key, homepage } }: Site, { type, ...more }: JournalFact): JournalLine {
  return { type, site: homepage, key, at: new Date().toISOString(), ...more } as JournalLine;
}

// A lease is never lost, because the journal is locked: no other process can have the site.
const never = new AbortController().signal;
setMaxListeners(0, never);

// In characters. If sitemaps are given, the key of their website contains all of their URLs.
const longestKey = longestLine / 16;

const anOutcome = oneOf(siteOutcomes);
