// The queue of one machine: a journal in a folder, `sites.ndjson`. Everything that happens is a line; the state in
// memory is rebuilt from these lines when the folder is opened again. Important lines are on the disk before they take
// effect.
import { setMaxListeners } from "node:events";
import { SitemapError } from "../model/errors.ts";
import { path as checkPath, oneOf, optionsIn, strings } from "../model/option-checks.ts";
import { afterDeath, isDeadly } from "./bisection.ts";
import { FleetFolder } from "./fleet-folder.ts";
import { isJournal, JournalFile, type JournalLine, readJournal, readResults } from "./journal-file.ts";
import { type JournalSite, JournalSites, SiteOrder } from "./journal-sites.ts";
import {
  keyHash,
  quarantinedSummary,
  type SiteJob,
  type SiteOutcome,
  type SiteSummary,
  siteOutcomes,
} from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

/** The sites that one process reads: an empty set at first, filled by the queue. */
export type Reading = Set<object>;

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
  readonly #folder: FleetFolder;
  readonly #journal: JournalFile;
  readonly #sites = new JournalSites();
  readonly #order = new SiteOrder();
  readonly #own: Reading = new Set();
  #adding = 0;
  #delayed = 0;
  #damaged = 0;
  readonly #sleepers = new Sleepers();
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(folder: FleetFolder, journal: JournalFile) {
    this.folder = folder.path;
    this.#folder = folder;
    this.#journal = journal;
  }

  /**
   * Throws a `SitemapError`: `folder-in-use` where another process has the folder, `folder-unusable` where it cannot be made, and
   * `invalid-file` where its `sites.ndjson` is something else.
   */
  static async open(folder: string, options: JournalQueueOptions = {}): Promise<JournalQueue> {
    checkPath("folder", folder);
    optionsIn("options", options, ["retry"]);
    const { retry = [] } = options;
    for (const outcome of strings("retry", retry)) anOutcome("retry", outcome);
    const taken = FleetFolder.take(folder);
    try {
      const file = taken.journal;
      if (!(await isJournal(file))) throw new SitemapError("invalid-file", `${file} is not the journal of a fleet`);
      const journal = await JournalFile.open(file, () => taken.expectOurs());
      const queue = new JournalQueue(taken, journal);
      try {
        await queue.#load(new Set(retry));
      } catch (error) {
        await journal.close();
        throw error;
      }
      return queue;
    } catch (error) {
      taken.release({ isEmpty: true });
      throw error;
    }
  }

  /** The number of sites in all states. */
  get size(): number {
    return this.#sites.size;
  }

  /** Lines of the journal that could not be read: they are skipped, and their information is lost. */
  get damaged(): number {
    return this.#damaged;
  }

  /** The folder is the run: its name does not matter. */
  async add(_: string, sites: AsyncIterable<SiteJob> | Iterable<SiteJob>): Promise<{ added: number; known: number }> {
    let known = 0;
    let added = 0;
    let last: Promise<void> | undefined;
    this.#adding += 1;
    try {
      for await (const { key, homepage } of sites) {
        if (this.#sites.has(key)) {
          known += 1;
          continue;
        }
        this.#order.add(this.#sites.insert({ key, homepage }));
        added += 1;
        last = this.#append({ type: "add", site: homepage, key, at: now() });
        // Lines are written in order: the last of a thousand is enough to wait for.
        if (added % 1000 === 0) await last;
        else last.catch(() => undefined);
        this.#sleepers.wakeOne();
      }
      await last;
    } finally {
      this.#adding -= 1;
      this.#sleepers.wakeAll();
    }
    return { added, known };
  }

  /** `reading`: what the process reads that takes the site, if it is not this one. */
  async take(signal: AbortSignal, reading: Reading = this.#own): Promise<Lease | undefined> {
    for (;;) {
      signal.throwIfAborted();
      const site = this.#order.next(reading as Set<JournalSite>, this.#adding > 0);
      if (site !== undefined) return this.#start(site, reading);
      if (this.#sites.active + this.#delayed + this.#adding + this.#order.suspects === 0) return undefined;
      await this.#sleepers.sleep(signal);
    }
  }

  /** The process that read these died: they are read again, with fewer at a time, or quarantined. */
  async died(reading: Reading): Promise<void> {
    const sites = [...reading] as JournalSite[];
    reading.clear();
    await this.#suspect(sites);
    this.#sleepers.wakeAll();
  }

  /** How many sites wait to be read again because a process died. */
  get suspects(): number {
    return this.#order.suspects;
  }

  async counts(): Promise<QueueCounts> {
    return this.#sites.counts;
  }

  async *results(): AsyncGenerator<SiteSummary, void> {
    yield* readResults(this.#folder.journal);
  }

  /** If nothing was ever added, the folder is left as it was found. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    try {
      await this.#journal.close();
    } finally {
      this.#folder.release({ isEmpty: this.#journal.isEmpty });
    }
  }

  async #load(retry: ReadonlySet<SiteOutcome>): Promise<void> {
    const onDamaged = () => {
      this.#damaged += 1;
    };
    for await (const line of readJournal(this.#folder.journal, onDamaged)) this.#sites.replay(line);
    const sites = [...this.#sites.values()];
    await this.#suspect(sites.filter(({ state }) => state === "active"));
    for (const site of sites) {
      if (site.state === "done" && site.outcome !== undefined && retry.has(site.outcome)) {
        this.#sites.putBack(site);
        await this.#append({ type: "back", site: site.job.homepage, key: site.job.key, at: now() });
      }
    }
    this.#order.reset(sites.filter(({ state }) => state === "waiting"));
  }

  // All of them were being read in a process that died.
  async #suspect(sites: readonly JournalSite[]): Promise<void> {
    const putBack = async (site: JournalSite) => {
      site.suspicion = afterDeath(site.suspicion, sites.length);
      const { key, homepage } = site.job;
      if (isDeadly(site.suspicion))
        return this.#settle(site, quarantinedSummary(site.job, `${keyHash(key)}-${site.starts}`));
      await this.#append({ type: "back", site: homepage, key, at: now(), ...site.suspicion });
      this.#sites.putBack(site);
      this.#order.addAgain(site);
    };
    await Promise.all(sites.map(putBack));
  }

  async #start(site: JournalSite, reading: Reading): Promise<Lease> {
    this.#sites.start(site);
    reading.add(site);
    const { key, homepage } = site.job;
    const attemptId = `${keyHash(key)}-${site.starts}`;
    await this.#append({ type: "start", site: homepage, key, attemptId, at: now() });
    let isSettled = false;
    const settleOnce = () => {
      if (isSettled || !reading.delete(site)) return false;
      isSettled = true;
      return true;
    };
    return {
      job: site.job,
      starts: site.starts,
      attemptId,
      lost: never,
      done: async (summary) => {
        if (!settleOnce()) return "superseded";
        await this.#settle(site, summary);
        return "accepted";
      },
      retry: async (reason, afterMs) => {
        if (!settleOnce()) return;
        const why = reason === undefined ? {} : { reason };
        await this.#append({ type: "back", site: homepage, key, at: now(), ...why });
        this.#sites.putBack(site);
        site.suspicion = undefined;
        this.#later(site, afterMs);
        this.#wake();
      },
    };
  }

  async #settle(site: JournalSite, summary: SiteSummary): Promise<void> {
    const { key, homepage } = site.job;
    await this.#append({ type: "done", site: homepage, key, at: now(), summary });
    this.#sites.end(site, summary.outcome);
    this.#wake();
  }

  #later(site: JournalSite, afterMs: number): void {
    const add = () => {
      site.state = "waiting";
      this.#order.addAgain(site);
      this.#sleepers.wakeOne();
    };
    if (afterMs <= 0) {
      add();
      return;
    }
    site.state = "delayed";
    this.#delayed += 1;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#delayed -= 1;
      add();
    }, afterMs);
    this.#timers.add(timer);
  }

  // A site has ended: there may be nothing left, or room for one that may not be read beside too many.
  #wake(): void {
    if (this.#sites.active === 0 || this.#order.suspects > 0) this.#sleepers.wakeAll();
  }

  #append(line: JournalLine): Promise<void> {
    return this.#journal.append(line);
  }
}

function now(): string {
  return new Date().toISOString();
}

// The journal is locked: no other process can have a site.
const never = new AbortController().signal;
setMaxListeners(0, never);

const anOutcome = oneOf(siteOutcomes);

class Sleepers {
  readonly #wakers = new Set<() => void>();

  /** Resolves when it is woken or the signal is aborted. */
  async sleep(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake);
        this.#wakers.delete(wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  /** There may be very many: for one site, only one is woken. */
  wakeOne(): void {
    const [wake] = this.#wakers;
    wake?.();
  }

  wakeAll(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
