// The queue of several machines: runs on a server, each a BullMQ queue of its own. Sites are taken from one run, or from all in turn.
import { functionValue, invalid, number, optionsIn } from "../model/option-checks.ts";
import { type Held, hasRoom, type RunLease } from "./bull-leases.ts";
import { BullRun } from "./bull-run.ts";
import { openServer, type QueueServer, queueAddress, queueClosed, storageError, told } from "./queue-server.ts";
import type { ListedSite, RunEntry, RunSettings, RunsUnderWay, Schedule, ServerNews } from "./run-data.ts";
import { expectRunName, RunRegister, RunSchedule } from "./runs.ts";
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
   * How long a worker may be silent before its sites are given to others, in milliseconds.
   * @default 30000
   */
  readonly leaseTime?: number | undefined;
  /**
   * Whether this process takes sites from a run.
   * @default from all
   */
  readonly isUsable?: ((entry: RunEntry) => boolean) | undefined;
  /** Called when the connection is lost, and when it is back. */
  readonly onNews?: ((news: ServerNews) => void) | undefined;
}

/**
 * The queue of several machines, on Redis or Valkey through BullMQ, which has to be installed. Passwords come from the
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
  #isClosed = false;
  // Runs that may have sites left; refreshed from the register.
  #entries: RunsUnderWay["open"] = [];
  #known: readonly RunEntry[] = [];
  #changes = -1;
  readonly #settings = new Map<string, RunSettings>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #turn = 0;
  readonly #held: Held = { leases: new Set(), most: Number.POSITIVE_INFINITY, onSettled: () => this.#wake() };
  readonly #takers = new Set<Taker>();
  #isGiving = false;
  #wake: () => void = () => {};
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
  static async open(url: string | URL, options: BullQueueOptions = {}): Promise<BullQueue> {
    optionsIn("options", options, ["run", "leaseTime", "isUsable", "onNews"]);
    const { run, onNews = () => {}, leaseTime, isUsable } = options;
    if (run !== undefined) expectRunName(run);
    if (leaseTime !== undefined) number("leaseTime", leaseTime, 1);
    if (isUsable !== undefined) functionValue("isUsable", isUsable);
    functionValue("onNews", onNews);
    return new BullQueue(await openServer(queueAddress(url), onNews), options);
  }

  async add(
    run: string,
    sites: AsyncIterable<ListedSite> | Iterable<ListedSite>,
    settings?: RunSettings,
  ): Promise<{ added: number; known: number }> {
    this.#adding += 1;
    try {
      return await this.#told(async () => {
        await this.#register.add(run, settings);
        this.#listedAt = Number.NEGATIVE_INFINITY;
        await this.#server.changed();
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
      if (this.#isClosed) return reject(queueClosed());
      const leave = () => taker.reject(signal.reason);
      const over = () => {
        signal.removeEventListener("abort", leave);
        this.#takers.delete(taker);
        taker.isOver = true;
      };
      const taker: Taker = {
        isOver: false,
        resolve: (lease) => {
          over();
          resolve(lease);
        },
        reject: (error) => {
          over();
          reject(error);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#lineUp(taker);
    });
  }

  counts(run: string): Promise<QueueCounts> {
    return this.#told(() => this.#open(run).counts());
  }

  /** In the order of the list. */
  results(run: string): AsyncGenerator<SiteSummary, void> {
    return this.#open(run).results();
  }

  /** The runs of the server, the oldest first. */
  runs(): Promise<readonly RunEntry[]> {
    return this.#told(() => this.#register.list());
  }

  /** The runs that sites are taken from here. Finished ones are looked at again only after somebody has changed something. */
  underWay(): Promise<RunsUnderWay> {
    return this.#told(async () => {
      await this.#refresh(0);
      return { runs: this.#known.length, open: this.#entries };
    });
  }

  /** Removes a run, its results and its schedule. Throws a `SitemapError` (`invalid-option`) while its sites are being read. */
  remove(run: string): Promise<void> {
    return this.#told(async () => {
      const { active } = await this.#open(run).counts();
      if (active > 0) throw invalid(`${run} has ${active} websites being read: stop its workers first`);
      await this.#schedule.remove(run);
      await this.#open(run).remove();
      await this.#register.remove(run);
      await this.#server.changed();
    });
  }

  /** The number of processes that take sites; undefined if the server does not know. */
  workers(): Promise<number | undefined> {
    return this.#register.workers();
  }

  /**
   * Repeats the run, `every` so many milliseconds. Each repetition is a new run with the sites and archives of the previous one. Of older
   * repetitions, `keep` stay on the queue.
   */
  schedule(run: string, every: number, keep?: number): Promise<void> {
    expectRunName(run);
    return this.#told(() => this.#schedule.set(run, every, keep));
  }

  /** Ends the schedule of a run. Returns whether there was one. */
  unschedule(run: string): Promise<boolean> {
    return this.#told(() => this.#schedule.remove(run));
  }

  /** Starts a scheduled run that is due. Happens by itself while sites are taken. */
  startDueRun(): Promise<void> {
    return this.#told(() => this.#schedule.startDueRun(this.#makeNext));
  }

  schedules(): Promise<readonly Schedule[]> {
    return this.#told(() => this.#schedule.list());
  }

  /** Puts sites with these outcomes back into the queue, and returns their number. `before` is called for each first. */
  retry(
    run: string,
    outcomes: readonly SiteOutcome[],
    before: (summary: SiteSummary) => Promise<void> = async () => {},
  ): Promise<number> {
    return this.#told(async () => {
      const count = await this.#open(run).retry(new Set(outcomes), before);
      await this.#server.changed();
      return count;
    });
  }

  /** The run of a site that was taken here, its settings, and the earlier archive of the site. */
  runOf(job: SiteJob): { run: string; settings: RunSettings; previous: string | undefined } | undefined {
    const lease = this.#leases.get(job);
    if (lease === undefined) return undefined;
    return { run: lease.run, settings: this.#settings.get(lease.run) ?? {}, previous: lease.previous };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    for (const { reject } of this.#takers) reject(queueClosed());
    for (const run of this.#runs.values()) run.close();
    await this.#server.close();
  }

  // A connection that was closed would never answer.
  async #told<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw queueClosed();
    return told(work);
  }

  #open(name: string): BullRun {
    let run = this.#runs.get(name);
    if (run === undefined) {
      expectRunName(name);
      run = new BullRun(this.#server, name, this.#leaseTime, this.#held);
      this.#runs.set(name, run);
    }
    return run;
  }

  // Not before the previous run has ended: they would pile up.
  readonly #makeNext = async (run: string, name: string, keep = Number.POSITIVE_INFINITY): Promise<void> => {
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
    const repetitions = series.filter((entry) => entry.run !== run && entry.run !== name);
    for (const entry of repetitions.slice(0, Math.max(0, repetitions.length + 1 - keep))) await this.remove(entry.run);
  };

  // All callers share one loop: the number of commands does not grow with theirs.
  async #give(): Promise<void> {
    this.#isGiving = true;
    // Results that are about to be sent may bring the next sites along.
    await new Promise(setImmediate);
    while (this.#takers.size > 0 && !this.#isClosed) {
      try {
        this.#register.join();
        await this.#schedule.startDueRun(this.#makeNext);
        if (await this.#serve(() => this.#next())) continue;
        if (await this.#isFinished()) for (const { resolve } of this.#takers) resolve(undefined);
        else await this.#sleep();
      } catch (error) {
        const failure = storageError(error);
        for (const { reject } of this.#takers) reject(failure);
      }
    }
    this.#isGiving = false;
  }

  #lineUp(taker: Taker): void {
    if (taker.isOver) return;
    this.#takers.add(taker);
    if (this.#isClosed) taker.reject(queueClosed());
    else if (!this.#isGiving) void this.#give();
  }

  // Nobody else gives a site to the first caller meanwhile. If no caller is left, the site goes back.
  async #serve(next: (isWanted: boolean) => Promise<RunLease | undefined>): Promise<boolean> {
    const [first] = this.#takers;
    if (first !== undefined) this.#takers.delete(first);
    const lease = await next(first !== undefined).finally(() => {
      if (first !== undefined) this.#lineUp(first);
    });
    if (lease === undefined) return false;
    const [taker] = first === undefined || first.isOver ? this.#takers : [first];
    if (taker === undefined) await lease.retry(undefined, 0);
    else {
      this.#leases.set(lease.job, lease);
      taker.resolve({
        ...lease,
        done: (summary) => told(() => this.#finish(lease, summary)),
        retry: (reason, afterMs) => told(() => lease.retry(reason, afterMs)),
      });
    }
    return true;
  }

  // If somebody waits for the next site of the only run, it comes with the answer.
  async #finish(lease: RunLease, summary: SiteSummary): Promise<"accepted" | "superseded"> {
    await new Promise(setImmediate);
    const isOnly = this.#entries.length === 1 && this.#entries[0]?.run === lease.run;
    let result: "accepted" | "superseded" = "superseded";
    await this.#serve(async (isWanted) => {
      const finished = await lease.finish(summary, isWanted && isOnly && hasRoom(this.#held));
      ({ result } = finished);
      return finished.next;
    });
    return result;
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollTime);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  // In turn: a small run does not wait for a large one.
  async #next(): Promise<RunLease | undefined> {
    await this.#refresh(relistTime);
    for (let tried = 0; tried < this.#entries.length; tried += 1) {
      const entry = this.#entries[this.#turn++ % this.#entries.length];
      const lease = entry === undefined ? undefined : await this.#open(entry.run).take();
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  async #isFinished(): Promise<boolean> {
    if (this.#adding > 0 || this.#held.leases.size > 0) return false;
    await this.#refresh(0);
    return this.#entries.length === 0;
  }

  // Only open runs are kept: most of many are finished.
  async #refresh(age: number): Promise<void> {
    if (performance.now() - this.#listedAt < age) return;
    this.#listedAt = performance.now();
    const run = this.#run;
    const changes = await this.#server.changes();
    const isChanged = changes !== this.#changes || this.#entries.some(({ isFilling }) => isFilling);
    if (isChanged) this.#known = (await this.#register.list()).filter((entry) => run === undefined || isOf(entry, run));
    const open: RunsUnderWay["open"][number][] = [];
    for (const each of isChanged ? this.#known : this.#entries) {
      if (!this.#isUsable(each)) continue;
      this.#settings.set(each.run, each.settings);
      const { waiting, active } = await this.#open(each.run).counts();
      const left = waiting + active + (each.isFilling ? 1 : 0);
      if (left > 0) open.push({ ...each, left });
      else await this.#open(each.run).rest();
    }
    this.#changes = changes;
    this.#entries = open;
  }
}

interface Taker {
  isOver: boolean;
  resolve(lease: Lease | undefined): void;
  reject(error: unknown): void;
}

// In milliseconds.
const relistTime = 5000;
const pollTime = 250;

/** Whether a run has this name, or is a repetition of the run with this name. */
function isOf({ run, settings }: RunEntry, name: string): boolean {
  return run === name || settings["series"] === name;
}

async function* sitesOf(run: BullRun, folder: string): AsyncGenerator<ListedSite, void> {
  for await (const { previous, ...site } of run.sites()) {
    yield previous === undefined
      ? site
      : { ...site, previous: previous.startsWith("archives/") ? folder + previous : previous };
  }
}
