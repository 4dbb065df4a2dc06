// The queue of one machine: a journal in a folder, `sites.ndjson`. Every event is a line; the state in memory is rebuilt from these
// lines when the folder is opened again. A result is on the disk before it takes effect.
import { waitFor } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { path as checkPath, invalid, oneOf, optionsIn, strings } from "../model/option-checks.ts";
import { type JournalFact, JournalFile } from "./journal-file.ts";
import { JournalState, readResults, readState, type JournalSite as Site } from "./journal-state.ts";
import { Leases } from "./leases.ts";
import { longestLine } from "./lines.ts";
import type { SiteJob, SiteOutcome, SiteSummary } from "./site-job.ts";
import { attemptIdOf, isFailure, siteOutcomes } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

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
  #state = new JournalState();
  // Both are stacks: the next site is at the end.
  readonly #waiting: Site[] = [];
  readonly #suspects: Site[] = [];
  readonly #leases = new Leases(() => this.#wake());
  readonly #sleepers = new Set<() => void>();
  #adding = 0;
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
    return this.#state.sites.size;
  }

  /** How many lines of the journal could not be read. They are skipped, and their information is lost. */
  get damaged(): number {
    return this.#damaged;
  }

  /** How many lists were only partly added, because a process was killed or stopped. Adding a list again completes it. */
  get cutLists(): number {
    return this.#state.cutLists.size;
  }

  async add(sites: AsyncIterable<SiteJob> | Iterable<SiteJob>): Promise<{ added: number; known: number }> {
    const { sites: all, cutLists } = this.#state;
    let known = 0;
    let added = 0;
    let last: Promise<void> | undefined;
    // The incomplete lists whose first website is also on this list.
    const lists = new Map<string, SiteJob>();
    this.#adding += 1;
    try {
      for await (const { key, homepage, ...others } of sites) {
        const { sitemaps, mayBePlain } = others;
        const more = defined({ sitemaps, mayBePlain });
        const job = { key, homepage, ...more };
        if (known + added === 0) this.#note(job, { type: "list" });
        if (cutLists.has(key)) lists.set(key, job);
        if (all.has(key)) {
          known += 1;
          continue;
        }
        // The line of its result must not be too long to be read.
        if (key.length > longestKey) throw invalid(`The sitemap URLs of ${homepage} are too long in total`);
        last = this.#note(job, { type: "add", ...more });
        added += 1;
        // Lines are written in order, so it is enough to wait for the last of a thousand.
        if (added % 1000 === 0) await last;
        this.#offer(all.get(key) as Site);
        // Wakes only one caller for each site, because very many may be waiting.
        this.#wake(1);
      }
      for (const [key, job] of lists) {
        // If this list is shorter, it is a different one that happens to contain that website.
        if ((cutLists.get(key) ?? 0) <= known + added) last = this.#note(job, { type: "listed" });
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
      if (this.#leases.size + this.#adding + this.#suspects.length === 0) return undefined;
      await waitFor<void>(signal, (wake) => {
        this.#sleepers.add(wake);
        return () => this.#sleepers.delete(wake);
      });
    }
  }

  async counts(): Promise<QueueCounts> {
    const counts = { waiting: 0, active: 0, done: 0, failed: 0 };
    for (const { state, result } of this.#state.sites.values()) {
      counts[state] += 1;
      if (result !== undefined && isFailure(result.outcome)) counts.failed += 1;
    }
    return counts;
  }

  async *results(): AsyncGenerator<SiteSummary, void> {
    yield* readResults(this.#journal.path, this.#state.sites);
  }

  /** Closes the queue. If nothing was ever added, leaves the folder as it was. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  async #load(retry: ReadonlySet<SiteOutcome>): Promise<void> {
    const read = await readState(this.#journal.path);
    this.#state = read.state;
    this.#damaged = read.damaged;
    // A killed process may leave an incomplete first line.
    if (this.size === 0 && !'{"type":'.startsWith(read.firstDamaged.slice(0, 8)))
      throw new SitemapError("invalid-file", `${this.#journal.path} is not the journal of a fleet`);
    await this.#journal.mend(read);
    // The sites that were started most often come last, so they are taken first.
    const sites = [...this.#state.sites.values()].sort((one, other) => one.starts - other.starts);
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
    return next !== undefined && this.#leases.hasRoom(next) ? from.pop() : undefined;
  }

  async #start(site: Site): Promise<Lease> {
    const attemptId = attemptIdOf(site.job.key, site.starts + 1);
    const noted = this.#note(site.job, { type: "start", attemptId });
    const lease = this.#leases.give(site, attemptId, async (summary) => {
      await this.#settle(site, summary === undefined ? { type: "back" } : { type: "done", summary });
      return true;
    });
    await noted;
    return lease;
  }

  // A fact that takes effect at once. Resolves when it is on the disk.
  #note(job: SiteJob, fact: JournalFact): Promise<void> {
    this.#state.apply(job, fact);
    return this.#journal.append(job, fact);
  }

  // A fact that takes effect when it is on the disk.
  async #settle(site: Site, fact: JournalFact): Promise<void> {
    await this.#journal.append(site.job, fact);
    this.#state.apply(site.job, fact);
    if (site.state === "waiting") this.#offer(site);
  }

  #wake(most: number = this.#sleepers.size): void {
    for (const wake of [...this.#sleepers].slice(0, most)) {
      this.#sleepers.delete(wake);
      wake();
    }
  }
}

// In characters. If sitemaps are given, the key of their website contains all of their URLs.
const longestKey = longestLine / 16;

const anOutcome = oneOf(siteOutcomes);
