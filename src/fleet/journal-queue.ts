// The queue of one machine: a journal in a folder, `sites.ndjson`. Everything that happens is a line; what is in memory is made from
// these lines when the folder is opened again. Lines that matter are on the disk before anybody acts on them.
import { setMaxListeners } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { SitemapError } from "../errors.ts";
import { FolderLock } from "./folder-lock.ts";
import { isJournal, JournalFile, readJournal } from "./journal-file.ts";
import type { JournalLine } from "./journal-line.ts";
import {
  isFailure,
  keyHash,
  mostDeaths,
  quarantinedSummary,
  type SiteJob,
  type SiteOutcome,
  type SiteSummary,
} from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

export const journalName = "sites.ndjson";
export const lockName = "lock";

interface Site {
  readonly job: SiteJob;
  /** `delayed`: it waits, but not yet. */
  state: "waiting" | "delayed" | "active" | "done";
  outcome: SiteOutcome | undefined;
  /** In all, for attempt ids. */
  starts: number;
  /** How often the process died while it was read, since it was last settled. */
  deaths: number;
}

/** A lease that somebody holds on behalf of another process. */
export interface JournalLease extends Lease {
  /** That process died: the site is tried again, or set aside where that happened too often. */
  died(): Promise<void>;
}

/** Options of `JournalQueue.open`. */
export interface JournalQueueOptions {
  /** Sites that are done with one of these outcomes are read again. */
  readonly retry?: readonly SiteOutcome[] | undefined;
}

/**
 * The queue of one machine: a journal in a folder. A run that was killed goes on where it stopped.
 *
 * @example
 * const queue = await JournalQueue.open("monday");
 * await runFleet({ queue, sites: ["example.org", "example.net"] });
 * for await (const { site, outcome, pages } of queue.results()) console.log(site, outcome, pages);
 * await queue.close();
 */
export class JournalQueue implements SiteQueue {
  readonly folder: string;
  readonly #lock: FolderLock;
  readonly #journal: JournalFile;
  readonly #sites = new Map<string, Site>();
  // In an order that has nothing to do with that of the list: neighbors in a list often share a server.
  #waiting: Site[] = [];
  // Those during which the process died twice. They come last, and each alone.
  readonly #suspects: Site[] = [];
  #isAlone = false;
  #isSorted = true;
  #adding = 0;
  #active = 0;
  #done = 0;
  #failed = 0;
  #delayed = 0;
  #damaged = 0;
  readonly #sleepers = new Set<() => void>();
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(folder: string, lock: FolderLock, journal: JournalFile) {
    this.folder = folder;
    this.#lock = lock;
    this.#journal = journal;
  }

  /**
   * Throws a `SitemapError`: `folder-in-use` where another process has the folder, `invalid-file` where its `sites.ndjson` is
   * something else.
   */
  static async open(folder: string, { retry = [] }: JournalQueueOptions = {}): Promise<JournalQueue> {
    await mkdir(folder, { recursive: true });
    const lock = FolderLock.take(path.join(folder, lockName));
    try {
      const file = path.join(folder, journalName);
      if (!(await isJournal(file))) throw new SitemapError("invalid-file", `${file} is not the journal of a fleet`);
      const journal = await JournalFile.open(file);
      const queue = new JournalQueue(folder, lock, journal);
      try {
        await queue.#load(file, new Set(retry));
      } catch (error) {
        await journal.close();
        throw error;
      }
      return queue;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** How many sites are known, whatever their state. */
  get size(): number {
    return this.#sites.size;
  }

  /** Lines of the journal that could not be read: they are passed over, and what they said is not known. */
  get damaged(): number {
    return this.#damaged;
  }

  /** The run is the folder: its name does not matter. */
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
        this.#insert({ key, homepage });
        added += 1;
        last = this.#append({ type: "add", site: homepage, key, at: now() });
        // Who waits for the last of a thousand has waited for all.
        if (added % 1000 === 0) await last;
        else last.catch(() => undefined);
        this.#wakeOne();
      }
      await last;
    } finally {
      this.#adding -= 1;
      this.#wakeAll();
    }
    return { added, known };
  }

  async take(signal: AbortSignal): Promise<JournalLease | undefined> {
    for (;;) {
      signal.throwIfAborted();
      const site = this.#next();
      if (site !== undefined) return this.#start(site);
      const isOver = this.#active === 0 && this.#delayed === 0 && this.#adding === 0;
      if (isOver && this.#suspects.length === 0) return undefined;
      await this.#sleep(signal);
    }
  }

  async counts(): Promise<QueueCounts> {
    const waiting = this.#sites.size - this.#active - this.#done;
    return { waiting, active: this.#active, done: this.#done, failed: this.#failed };
  }

  async *results(): AsyncGenerator<SiteSummary, void> {
    yield* readResults(path.join(this.folder, journalName));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await this.#journal.close().finally(() => this.#lock.release());
  }

  async #load(file: string, retry: ReadonlySet<SiteOutcome>): Promise<void> {
    const onDamaged = () => {
      this.#damaged += 1;
    };
    for await (const line of readJournal(file, onDamaged)) this.#replay(line);
    const suspects: Site[] = [];
    for (const site of this.#sites.values()) {
      if (site.state === "active") {
        site.deaths += 1;
        this.#active -= 1;
        site.state = "waiting";
        if (site.deaths >= mostDeaths) suspects.push(site);
      } else if (site.state === "done" && site.outcome !== undefined && retry.has(site.outcome)) {
        this.#uncount(site);
        site.state = "waiting";
        await this.#append({ type: "back", site: site.job.homepage, key: site.job.key, at: now() });
      }
    }
    for (const site of suspects)
      await this.#settle(site, quarantinedSummary(site.job, `${keyHash(site.job.key)}-${site.starts}`));
    const waiting = [...this.#sites.values()].filter(({ state }) => state === "waiting");
    this.#waiting = waiting.filter(({ deaths }) => deaths < mostDeaths - 1);
    this.#suspects.push(...waiting.filter(({ deaths }) => deaths >= mostDeaths - 1));
    this.#isSorted = false;
  }

  #replay(line: JournalLine): void {
    // Where the line that added it is damaged, any other tells of it, too.
    const site = this.#sites.get(line.key) ?? this.#insert({ key: line.key, homepage: line.site });
    switch (line.type) {
      case "start":
        if (site.state === "done") return;
        // Started again without an end: the process died in between.
        if (site.state === "active") site.deaths += 1;
        else this.#active += 1;
        site.state = "active";
        site.starts += 1;
        return;
      case "back":
        if (site.state === "active") this.#active -= 1;
        if (site.state === "done") this.#uncount(site);
        site.state = "waiting";
        site.deaths = 0;
        return;
      case "done":
        // Of several, the last counts.
        if (site.state === "done") this.#uncount(site);
        if (site.state === "active") this.#active -= 1;
        this.#count(site, line.summary.outcome);
    }
  }

  #insert(job: SiteJob): Site {
    const site: Site = { job, state: "waiting", outcome: undefined, starts: 0, deaths: 0 };
    this.#sites.set(job.key, site);
    this.#waiting.push(site);
    this.#isSorted = false;
    return site;
  }

  #next(): Site | undefined {
    // While more are coming, any of them will do.
    if (!this.#isSorted && this.#adding === 0) this.#sort();
    if (this.#isAlone) return undefined;
    const next = this.#waiting.pop();
    if (next !== undefined || this.#active > 0 || this.#delayed > 0 || this.#adding > 0) return next;
    const suspect = this.#suspects.pop();
    this.#isAlone = suspect !== undefined;
    return suspect;
  }

  // Those that were begun before come first.
  #sort(): void {
    const ranked = this.#waiting.map((site) => ({ site, rank: (site.starts > 0 ? "" : "~") + keyHash(site.job.key) }));
    ranked.sort((one, other) => (one.rank < other.rank ? 1 : -1));
    this.#waiting = ranked.map(({ site }) => site);
    this.#isSorted = true;
  }

  async #start(site: Site): Promise<JournalLease> {
    site.state = "active";
    site.starts += 1;
    this.#active += 1;
    const { key, homepage } = site.job;
    const attemptId = `${keyHash(key)}-${site.starts}`;
    await this.#append({ type: "start", site: homepage, key, attemptId, at: now() });
    let isSettled = false;
    const settleOnce = () => {
      if (isSettled) return false;
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
        this.#active -= 1;
        this.#isAlone = false;
        site.deaths = 0;
        this.#later(site, afterMs);
        this.#wakeIfOver();
      },
      died: async () => {
        if (!settleOnce()) return;
        site.deaths += 1;
        // No line is written: a start without an end is a death.
        if (site.deaths >= mostDeaths)
          return this.#settle(site, quarantinedSummary(site.job, `${keyHash(site.job.key)}-${site.starts}`));
        this.#active -= 1;
        this.#isAlone = false;
        site.state = "waiting";
        if (site.deaths >= mostDeaths - 1) this.#suspects.push(site);
        else this.#waiting.unshift(site);
        this.#wakeAll();
      },
    };
  }

  async #settle(site: Site, summary: SiteSummary): Promise<void> {
    const { key, homepage } = site.job;
    await this.#append({ type: "done", site: homepage, key, at: now(), summary });
    if (site.state === "active") this.#active -= 1;
    const wasAlone = this.#isAlone;
    this.#isAlone = false;
    this.#count(site, summary.outcome);
    if (wasAlone) this.#wakeAll();
    else this.#wakeIfOver();
  }

  #count(site: Site, outcome: SiteOutcome): void {
    site.state = "done";
    site.outcome = outcome;
    site.deaths = 0;
    this.#done += 1;
    if (isFailure(outcome)) this.#failed += 1;
  }

  #uncount(site: Site): void {
    this.#done -= 1;
    if (site.outcome !== undefined && isFailure(site.outcome)) this.#failed -= 1;
    site.outcome = undefined;
  }

  #later(site: Site, afterMs: number): void {
    const add = () => {
      site.state = "waiting";
      this.#waiting.unshift(site);
      this.#wakeOne();
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

  async #sleep(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake);
        this.#sleepers.delete(wake);
        resolve();
      };
      this.#sleepers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  // Those who sleep are many: only as many wake up as there is something for.
  #wakeOne(): void {
    const [wake] = this.#sleepers;
    wake?.();
  }

  #wakeIfOver(): void {
    if (this.#active === 0) this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of [...this.#sleepers]) wake();
  }

  #append(line: JournalLine): Promise<void> {
    return this.#journal.append(line);
  }
}

/** The summaries of a folder, one for each site, also while somebody works in it. */
export async function* readResults(file: string): AsyncGenerator<SiteSummary, void> {
  // Those that were read again have another one, or none yet.
  const last = new Map<string, number>();
  let number = 0;
  for await (const line of readJournal(file)) {
    const { type, key } = line;
    if (type === "done") last.set(key, number);
    if (type === "back") last.delete(key);
    number += 1;
  }
  number = 0;
  for await (const line of readJournal(file)) {
    if (line.type === "done" && last.get(line.key) === number) yield line.summary;
    number += 1;
  }
}

function now(): string {
  return new Date().toISOString();
}

// The journal is locked: nobody else can have a site.
const never = new AbortController().signal;
setMaxListeners(0, never);
