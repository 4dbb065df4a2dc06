// The queue of several machines: runs on a server of BullMQ's, each a queue of its own. Takes sites from one of them or from all in
// turn, and gives them out here. Takers share one loop: what a server has to answer does not grow with the sites under way.

import { SitemapError } from "../errors.ts";
import { BullRun, type RunLease } from "./bull-run.ts";
import { queueAddress } from "./queue-address.ts";
import { openServer, type QueueServer, reasonOf } from "./queue-server.ts";
import type { ListedSite, RunEntry, RunSettings, Schedule, ServerNews } from "./run-data.ts";
import { expectRunName, RunRegister } from "./run-register.ts";
import { RunSchedule } from "./run-schedule.ts";
import type { SiteJob, SiteOutcome, SiteSummary } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

/** Options of `BullQueue.open`. */
export interface BullQueueOptions {
  /**
   * The run to take sites from.
   * @default all of the server, in turn
   */
  readonly run?: string | undefined;
  /**
   * In milliseconds: how long a worker may be silent before others get its sites.
   * @default 30000
   */
  readonly leaseTime?: number | undefined;
  /**
   * Whether sites of a run are taken here.
   * @default all are
   */
  readonly isUsable?: ((entry: RunEntry) => boolean) | undefined;
  /** Told when the connection is lost, and when it is back. */
  readonly onNews?: ((news: ServerNews) => void) | undefined;
}

interface Settling {
  readonly lease: RunLease;
  readonly summary: SiteSummary;
  resolve(result: "accepted" | "superseded"): void;
  reject(error: unknown): void;
}

interface Taker {
  readonly signal: AbortSignal;
  resolve(lease: Lease | undefined): void;
  reject(error: unknown): void;
}

/**
 * The queue of several machines, on Redis, Valkey or PostgreSQL through BullMQ, which has to be installed. Passwords come from the
 * environment.
 *
 * @example
 * const queue = await BullQueue.open("redis://127.0.0.1/0", { run: "monday" });
 * await runFleet({ queue, run: "monday", sites: ["example.org", "example.net"] });
 * for await (const { site, outcome } of queue.results("monday")) console.log(site, outcome);
 * await queue.close();
 */
export class BullQueue implements SiteQueue {
  readonly #server: QueueServer;
  readonly #register: RunRegister;
  readonly #schedule: RunSchedule;
  readonly #run: string | undefined;
  readonly #leaseTime: number;
  readonly #runs = new Map<string, BullRun>();
  readonly #leases = new WeakMap<SiteJob, RunLease>();
  #adding = 0;
  // Of runs that may have something to do; refreshed from the register.
  #entries: readonly RunEntry[] = [];
  readonly #settings = new Map<string, RunSettings>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #turn = 0;
  #takers: Taker[] = [];
  readonly #settling: Settling[] = [];
  #isFlushing = false;
  // How many sites are asked for at a time: more each time, until there are fewer.
  #appetite = 1;
  #isGiving = false;
  #isAlone = false;
  #isClosed = false;
  readonly #sleepers = new Set<() => void>();

  readonly #isUsable: (entry: RunEntry) => boolean;

  private constructor(server: QueueServer, { run, leaseTime = 30_000, isUsable = () => true }: BullQueueOptions) {
    this.#server = server;
    this.#register = new RunRegister(server);
    this.#schedule = new RunSchedule(server);
    this.#run = run;
    this.#leaseTime = leaseTime;
    this.#isUsable = isUsable;
  }

  /** Throws a `SitemapError`: `missing-package` without BullMQ, `queue-failed` where the server cannot be used. */
  static async open(url: string, options: BullQueueOptions = {}): Promise<BullQueue> {
    const { run, onNews = () => {} } = options;
    if (run !== undefined) expectRunName(run);
    return new BullQueue(await openServer(queueAddress(url), onNews), options);
  }

  async add(
    run: string,
    sites: AsyncIterable<ListedSite> | Iterable<ListedSite>,
    settings?: RunSettings,
  ): Promise<{ added: number; known: number }> {
    this.#adding += 1;
    try {
      return await told(async () => {
        await this.#register.add(run, settings);
        this.#listedAt = Number.NEGATIVE_INFINITY;
        return this.#register.whileFilling(run, () => this.#open(run).add(sites));
      });
    } finally {
      this.#adding -= 1;
      this.#listedAt = Number.NEGATIVE_INFINITY;
      this.#wake();
    }
  }

  take(signal: AbortSignal): Promise<Lease | undefined> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#takers = this.#takers.filter((other) => other !== taker);
        reject(signal.reason);
      };
      const taker: Taker = {
        signal,
        resolve: (lease) => {
          signal.removeEventListener("abort", leave);
          resolve(lease);
        },
        reject: (error) => {
          signal.removeEventListener("abort", leave);
          reject(error);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#takers.push(taker);
      // What is about to be settled brings the next site along.
      if (!this.#isFlushing) this.#serve();
    });
  }

  counts(run: string): Promise<QueueCounts> {
    return told(() => this.#open(run).counts());
  }

  /** In the order of the list. */
  results(run: string): AsyncGenerator<SiteSummary, void> {
    return this.#open(run).results();
  }

  /** The runs of the server, the oldest first. */
  runs(): Promise<readonly RunEntry[]> {
    return told(() => this.#register.list());
  }

  /** How many processes take sites; undefined where the server does not say. */
  workers(): Promise<number | undefined> {
    return this.#register.workers();
  }

  /** From now on the run comes again and again: each is a run of its own, with the sites of the last one and built on it. */
  repeat(run: string, every: number): Promise<void> {
    expectRunName(run);
    return told(() => this.#schedule.set(run, every));
  }

  /** Whether it came again until now. */
  repeatNoMore(run: string): Promise<boolean> {
    return told(() => this.#schedule.remove(run));
  }

  /** Makes a run that is due. While somebody takes sites, that happens by itself. */
  tick(): Promise<void> {
    return told(() => this.#schedule.tick((run, name) => this.#makeNext(run, name)));
  }

  schedules(): Promise<readonly Schedule[]> {
    return told(() => this.#schedule.list());
  }

  /** Sites of a run that ended so wait again; gives how many. `before` is told each first. */
  again(
    run: string,
    outcomes: readonly SiteOutcome[],
    before: (summary: SiteSummary) => Promise<void> = async () => {},
  ): Promise<number> {
    return told(() => this.#open(run).again(new Set(outcomes), before));
  }

  /** What the run of a site that was taken here was given, and the archive to build on. */
  originOf(job: SiteJob): { run: string; settings: RunSettings; previous: string | undefined } | undefined {
    const lease = this.#leases.get(job);
    if (lease === undefined) return undefined;
    return { run: lease.run, settings: this.#settings.get(lease.run) ?? {}, previous: lease.previous };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#flush();
    this.#wake();
    for (const run of this.#runs.values()) run.close();
    await this.#server.close();
  }

  #open(name: string): BullRun {
    let run = this.#runs.get(name);
    if (run === undefined) {
      expectRunName(name);
      run = new BullRun(this.#server, name, this.#leaseTime, () => this.#settled());
      this.#runs.set(name, run);
    }
    return run;
  }

  #serve(): void {
    if (!this.#isGiving && this.#takers.length > 0) void this.#give();
  }

  async #give(): Promise<void> {
    this.#isGiving = true;
    this.#register.join();
    while (this.#takers.length > 0 && !this.#isClosed) {
      try {
        await this.#schedule.tick((run, name) => this.#makeNext(run, name));
        // Nobody else gives them a site meanwhile.
        const takers = this.#isAlone ? [] : this.#takers.splice(0, this.#appetite);
        const leases = await this.#next(takers.length).finally(() => this.#lineUp(takers));
        this.#appetite = leases.length < this.#appetite ? 1 : Math.min(leases.length * 2, mostAtOnce);
        for (const lease of leases) await this.#hand(lease, this.#takers.shift());
        if (leases.length > 0) continue;
        if (!this.#isAlone && (await this.#isFinished()))
          for (const { resolve } of this.#takers.splice(0)) resolve(undefined);
        else await this.#sleep();
      } catch (error) {
        const failure = storageError(error);
        for (const { reject } of this.#takers.splice(0)) reject(failure);
      }
    }
    this.#isGiving = false;
  }

  /** Those who went away meanwhile are not waited for. */
  #lineUp(takers: readonly Taker[]): void {
    this.#takers.unshift(...takers.filter(({ signal }) => !signal.aborted));
  }

  // Results are sent together, after a moment where many sites are under way: a round trip costs more than what it carries.
  #settle(lease: RunLease, summary: SiteSummary): Promise<"accepted" | "superseded"> {
    return new Promise((resolve, reject) => {
      this.#settling.push({ lease, summary, resolve, reject });
      if (this.#isFlushing) return;
      this.#isFlushing = true;
      const held = this.#held;
      if (held < manyHeld) setImmediate(() => this.#flush());
      else setTimeout(() => this.#flush(), Math.min(held / 3, longestFlush));
    });
  }

  #flush(): void {
    this.#isFlushing = false;
    // Where there are several runs, or may be by now, sites are taken in turn.
    const isListed = performance.now() - this.#listedAt < relistTime;
    const only = isListed && !this.#isAlone && this.#entries.length === 1 ? this.#entries[0]?.run : undefined;
    for (const settling of this.#settling.splice(0))
      void this.#finish(settling, settling.lease.run === only ? this.#takers.shift() : undefined);
    this.#serve();
  }

  async #finish({ lease, summary, resolve, reject }: Settling, taker: Taker | undefined): Promise<void> {
    try {
      const { result, next } = await lease.finish(summary, taker !== undefined);
      resolve(result);
      if (next !== undefined) return await this.#hand(next, taker);
    } catch (error) {
      reject(error);
    }
    if (taker === undefined) return;
    this.#lineUp([taker]);
    this.#serve();
  }

  // Not while the last one is under way: it would never end.
  async #makeNext(run: string, name: string): Promise<void> {
    const series = (await this.#register.list()).filter((entry) => isOf(entry, run));
    const base = series.find((entry) => entry.run === run);
    const last = series.filter((entry) => entry.run !== name).at(-1);
    if (base === undefined || last === undefined) return;
    const { waiting, active } = await this.#open(last.run).counts();
    if (waiting + active > 0 || last.isFilling) return;
    const folder = (entry: RunEntry) => {
      const { out } = entry.settings as { out?: unknown };
      return typeof out === "string" ? `${out.replace(/\/+$/, "")}/` : "";
    };
    const out = folder(base) === "" ? {} : { out: `${folder(base)}${name}` };
    await this.add(name, sitesOf(this.#open(last.run), folder(last)), { ...base.settings, ...out, series: run });
  }

  // One after the other: a small run does not wait for a large one.
  async #next(count: number): Promise<RunLease[]> {
    if (count === 0) return [];
    await this.#refresh(relistTime);
    const [first, ...others] = this.#entries;
    if (first !== undefined && others.length === 0) return this.#open(first.run).take(count);
    for (let tried = 0; tried < this.#entries.length; tried += 1) {
      const entry = this.#entries[this.#turn++ % this.#entries.length];
      const leases = entry === undefined ? [] : await this.#open(entry.run).take(1);
      if (leases.length > 0) return leases;
    }
    return [];
  }

  // Where nobody wants the site any more, it waits again.
  async #hand(lease: RunLease, first: Taker | undefined): Promise<void> {
    const isWanted = (taker: Taker | undefined) => taker !== undefined && !taker.signal.aborted;
    if (lease.isSuspect) {
      if (this.#isAlone) {
        // One at a time: others may have it.
        if (first !== undefined) this.#lineUp([first]);
        return lease.retry(undefined, 0);
      }
      this.#isAlone = true;
      while (this.#held > 1 && isWanted(first)) await this.#sleep();
      await lease.begin();
    }
    const taker = isWanted(first) ? first : this.#takers.shift();
    if (taker === undefined) {
      if (lease.isSuspect) this.#isAlone = false;
      return lease.retry(undefined, 0);
    }
    this.#leases.set(lease.job, lease);
    taker.resolve(this.#given(lease));
  }

  // While a suspect is read, nothing else is given out.
  #given(lease: RunLease): Lease {
    const over = () => {
      if (lease.isSuspect) {
        this.#isAlone = false;
        this.#wake();
      } else this.#settled();
    };
    if (lease.isSuspect) lease.lost.addEventListener("abort", over, { once: true });
    return {
      ...lease,
      done: (summary) => told(() => this.#settle(lease, summary)).finally(over),
      retry: (reason, afterMs) =>
        told(() => lease.retry(reason, afterMs)).finally(() => {
          over();
          this.#wake();
        }),
    };
  }

  // A site that is done is no reason to ask for more: none waits because of it.
  #settled(): void {
    if (this.#isAlone || this.#held === 0) this.#wake();
  }

  get #held(): number {
    return [...this.#runs.values()].reduce((sum, { held }) => sum + held, 0);
  }

  async #isFinished(): Promise<boolean> {
    if (this.#adding > 0 || this.#held > 0) return false;
    await this.#refresh(0);
    return this.#entries.length === 0;
  }

  // Of many runs most are finished.
  async #refresh(age: number): Promise<void> {
    if (performance.now() - this.#listedAt < age) return;
    this.#listedAt = performance.now();
    const run = this.#run;
    const entries = (await this.#register.list()).filter((entry) => run === undefined || isOf(entry, run));
    const open: RunEntry[] = [];
    for (const each of entries) {
      if (!this.#isUsable(each)) continue;
      this.#settings.set(each.run, each.settings);
      const { waiting, active } = await this.#open(each.run).counts();
      if (each.isFilling || waiting > 0 || active > 0) open.push(each);
    }
    this.#entries = open;
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, pollTime);
      this.#sleepers.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#sleepers]) wake();
  }
}

// In milliseconds.
const pollTime = 250;
const relistTime = 5000;
// The more sites are under way, the more of them end in such a time; with fewer, nobody waits.
const manyHeld = 32;
const longestFlush = 40;
const mostAtOnce = 64;

/** Whether it is the run of this name, or one that came after it. */
export function isOf({ run, settings }: RunEntry, name: string): boolean {
  return run === name || settings["series"] === name;
}

async function* sitesOf(run: BullRun, folder: string): AsyncGenerator<ListedSite, void> {
  for await (const { previous, ...site } of run.sites()) {
    yield previous === undefined
      ? site
      : { ...site, previous: previous.startsWith("archives/") ? folder + previous : previous };
  }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error);
  }
}

function storageError(cause: unknown): unknown {
  if (cause instanceof SitemapError) return cause;
  const { name, command } = (cause ?? {}) as { name?: unknown; command?: unknown };
  const isServer =
    name === "ReplyError" || command !== undefined || (cause as { severity?: unknown })?.severity !== undefined;
  return isServer ? new SitemapError("storage-failed", `The queue failed: ${reasonOf(cause)}`, { cause }) : cause;
}
