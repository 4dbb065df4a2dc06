// The queue of several machines: runs on a server, each a BullMQ queue of its own. Sites are taken from one run, or from all, the oldest
// first. The server also keeps a table of the runs, and schedules: jobs of BullMQ that make the next run from the previous one.

import { setTimeout as sleep } from "node:timers/promises";
import { waitFor } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { functionValue, invalid, number, optionsIn } from "../model/option-checks.ts";
import { BullRun, type ListedSite, Reader } from "./bull-run.ts";
import { openServer, type QueueServer, queueAddress, type ServerNews, told } from "./queue-server.ts";
import { isRecord, type SiteJob, type SiteOutcome, type SiteSummary } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

/** The settings of a run: plain data, chosen by whoever fills it. */
export type RunSettings = Readonly<Record<string, unknown>>;

/** A run on a server. */
export interface RunEntry {
  readonly run: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly settings: RunSettings;
  /** Whether sites are being added to it. */
  readonly isFilling: boolean;
}

/** A run that is repeated. */
export interface Schedule {
  readonly run: string;
  /** In milliseconds. */
  readonly every: number;
  /** In milliseconds since 1970. */
  readonly next: number | undefined;
  /** How many repetitions the queue keeps. */
  readonly keep: number | undefined;
}

/** Options of `BullQueue.open`. */
export interface BullQueueOptions {
  /**
   * The run to take sites from.
   * @default all of the server, the oldest first
   */
  readonly run?: string | undefined;
  /**
   * How long a worker may be silent before its sites are given to others, in milliseconds.
   * @default 30000
   */
  readonly leaseTime?: number | undefined;
  /**
   * How long to wait for more when nothing is left, in milliseconds. Somebody who waits also waits for the first run, and while runs are
   * scheduled.
   * @default nothing is waited for
   */
  readonly idle?: number | undefined;
  /**
   * Whether this process takes sites from a run.
   * @default from all
   */
  readonly isUsable?: ((entry: RunEntry) => boolean) | undefined;
  /** Called when nothing of a run is left, also if it ended before. */
  readonly onFinished?: ((entry: RunEntry) => void) | undefined;
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
  readonly #options: BullQueueOptions;
  readonly #runs = new Map<string, BullRun>();
  readonly #reader: Reader = new Reader(() => this.#steer());
  readonly #schedule;
  #maker: unknown;
  #isClosed = false;
  #adding = 0;
  // The runs that sites are taken from, the oldest first.
  #known: readonly RunEntry[] = [];
  #changes: string | null | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  // Since when nothing is left, and whether that was said.
  #quiet: { readonly since: number; isSaid: boolean } | undefined;

  private constructor(server: QueueServer, options: BullQueueOptions) {
    this.#server = server;
    this.#options = options;
    this.#schedule = server.queue(scheduleName);
  }

  /** Throws a `SitemapError`: `missing-package` without BullMQ, `queue-failed` if the server cannot be used. */
  static async open(url: string | URL, options: BullQueueOptions = {}): Promise<BullQueue> {
    optionsIn("options", options, ["run", "leaseTime", "idle", "isUsable", "onFinished", "onNews"]);
    const { run, leaseTime = 30_000, idle = 0, onNews = () => {}, isUsable, onFinished = onNews } = options;
    if (run !== undefined) expectRunName(run);
    number("leaseTime", leaseTime, 1);
    number("idle", idle, 0);
    for (const [name, value] of Object.entries({ isUsable, onFinished, onNews }))
      if (value !== undefined) functionValue(name, value);
    return new BullQueue(await openServer(queueAddress(url), leaseTime, onNews), options);
  }

  async add(
    run: string,
    sites: AsyncIterable<ListedSite> | Iterable<ListedSite>,
    settings?: RunSettings,
  ): Promise<{ added: number; known: number }> {
    this.#adding += 1;
    try {
      return await this.#told(async () => {
        const opened = this.#of(run);
        const { connection } = this.#server;
        const known = entryOf(run, await connection.hget(runsKey, run), true);
        const { createdAt = Date.now(), settings: before } = known ?? {};
        // New settings replace earlier ones, one by one.
        const entry = { createdAt, settings: { ...before, ...defined(settings ?? {}) } };
        if (known === undefined || settings !== undefined) await connection.hset(runsKey, run, JSON.stringify(entry));
        await connection.set(fillingKey(run), "1", "PX", keyTime);
        await connection.incr(changesKey);
        return this.#keeping(fillingKey(run), () => opened.add(sites));
      });
    } finally {
      this.#adding -= 1;
    }
  }

  take(signal: AbortSignal): Promise<Lease | undefined> {
    const { takers } = this.#reader;
    return this.#told(() =>
      waitFor<Lease | undefined>(signal, (resolve, reject) => {
        const taker = { resolve, reject };
        takers.add(taker);
        this.#timer ??= setInterval(() => void this.#look(), pollTime);
        // From the first site on, this process counts as a worker.
        this.#maker ??= this.#server.worker(scheduleName, async ({ id, data }) => this.#makeNext(id, data));
        this.#steer();
        return () => takers.delete(taker);
      }),
    );
  }

  counts(run: string): Promise<QueueCounts> {
    return this.#told(() => this.#of(run).counts());
  }

  /** How many sites of a run wait to be read again because a worker died. */
  suspects(run: string): Promise<number> {
    return this.#told(() => this.#of(run).queue.getJobCountByTypes("prioritized"));
  }

  /** When the site of a run was started that is being read longest, in milliseconds; infinite if none is. */
  oldestStart(run: string): Promise<number> {
    return this.#told(async () => {
      const active = await this.#of(run).queue.getActive();
      return Math.min(...active.flatMap((job) => job?.processedOn ?? []));
    });
  }

  /** In the order of the list. */
  results(run: string): AsyncGenerator<SiteSummary, void> {
    return this.#of(run).results();
  }

  /** The runs of the server, the oldest first. */
  runs(): Promise<readonly RunEntry[]> {
    return this.#told(async () => {
      const { connection } = this.#server;
      const rows = Object.entries(await connection.hgetall(runsKey));
      const filling = rows.length === 0 ? [] : await connection.mget(rows.map(([run]) => fillingKey(run)));
      const entries = rows.map(([run, text], at) => entryOf(run, text, filling[at] != null));
      return entries.flatMap((entry) => entry ?? []).sort((one, other) => one.createdAt - other.createdAt);
    });
  }

  /** How many sites were left in the runs that sites are taken from, when it was last looked at. */
  get left(): number {
    return this.#known.reduce((sum, { run }) => sum + (this.#of(run).left ?? 0), 0);
  }

  /** How many leases this process has lost to other workers. */
  get lost(): number {
    return this.#reader.lost;
  }

  /** Removes a run, its results and its schedule. Throws a `SitemapError` (`invalid-option`) while its sites are being read. */
  remove(run: string): Promise<void> {
    return this.#told(async () => {
      const { connection } = this.#server;
      const opened = this.#of(run);
      const { active } = await opened.counts();
      if (active > 0) throw invalid(`${run} has ${active} websites being read: stop its workers first`);
      await this.#schedule.removeJobScheduler(schedulerId(run));
      await opened.rest();
      await opened.queue.obliterate({ force: true });
      await connection.hdel(runsKey, run);
      await connection.incr(changesKey);
    });
  }

  /** The number of processes that take sites: each also makes runs that are due. */
  workers(): Promise<number> {
    const database = String(this.#server.connection.options.db);
    return this.#told(async () => (await this.#schedule.getWorkers()).filter(({ db }) => db === database).length);
  }

  /**
   * Repeats the run, `every` so many milliseconds, first after that time. Each repetition is a new run with the sites and archives of the
   * previous one; workers make it when it is due. Of older repetitions, `keep` stay on the queue.
   */
  schedule(run: string, every: number, keep?: number): Promise<void> {
    expectRunName(run);
    return this.#told(async () => {
      const opts = { removeOnComplete: { count: 20 }, removeOnFail: { count: 20 } };
      const template = { name: "run", data: { run, keep }, opts };
      await this.#schedule.upsertJobScheduler(schedulerId(run), { every, startDate: Date.now() + every }, template);
    });
  }

  /** Ends the schedule of a run. Returns whether there was one. */
  unschedule(run: string): Promise<boolean> {
    return this.#told(() => this.#schedule.removeJobScheduler(schedulerId(run)));
  }

  schedules(): Promise<readonly Schedule[]> {
    return this.#told(async () =>
      (await this.#schedule.getJobSchedulers(0, -1, true)).map(({ template, every, next }) => {
        return { ...scheduledRun(template?.data), every: Number(every), next: next && Number(next) };
      }),
    );
  }

  /** Puts sites with these outcomes back into the queue, and returns their number. `before` is called for each first. */
  retry(
    run: string,
    outcomes: readonly SiteOutcome[],
    before: (summary: SiteSummary) => Promise<unknown> = async () => {},
  ): Promise<number> {
    return this.#told(async () => {
      const count = await this.#of(run).retry(outcomes, before);
      await this.#server.connection.incr(changesKey);
      return count;
    });
  }

  /** Does something that only one worker at a time may do for a run. */
  async alone(run: string, work: () => Promise<void>): Promise<void> {
    const key = `sitegrove:alone:${run}`;
    while ((await this.#server.connection.set(key, "1", "PX", keyTime, "NX")) === null) await sleep(pollTime);
    await this.#keeping(key, work);
  }

  /** The run of a site that is being read here, its settings, and the earlier archive of the site. */
  runOf(job: SiteJob): { run: string; settings: RunSettings; previous: string | undefined } | undefined {
    const { run, previous } = [...this.#reader.leases].find((lease) => lease.job === job) ?? {};
    const entry = this.#known.find((each) => each.run === run);
    return entry && { run: entry.run, settings: entry.settings, previous };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#reader.reject(closed());
    for (const lease of this.#reader.leases) lease.abandon();
    await this.#server.close();
  }

  // A connection that was closed would never answer.
  async #told<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    return told(work);
  }

  #of(name: string): BullRun {
    let run = this.#runs.get(name);
    if (run === undefined) {
      expectRunName(name);
      run = new BullRun(this.#server, name, this.#reader);
      this.#runs.set(name, run);
    }
    return run;
  }

  // A key that others see while the work is under way, and not for long if this process dies.
  async #keeping<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { connection } = this.#server;
    const timer = setInterval(() => void connection.pexpire(key, keyTime).catch(() => undefined), keyTime / 4).unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
      await connection.del(key);
    }
  }

  // Not before the previous run has ended: they would pile up. The name comes from the time when the job is due, which its id ends with: a job
  // that is done twice, because a worker died, makes one run.
  async #makeNext(id: string | undefined, data: unknown): Promise<void> {
    const { run, keep = Number.POSITIVE_INFINITY } = scheduledRun(data);
    const time = new Date(Number(id?.split(":").at(-1)) || Date.now());
    const name = `${run}.${time.toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    const series = (await this.runs()).filter((entry) => isOf(entry, run));
    const base = series.find((entry) => entry.run === run);
    const last = series.filter((entry) => entry.run !== name).at(-1);
    if (base === undefined || last === undefined || last.isFilling) return;
    const { waiting, active } = await this.counts(last.run);
    if (waiting + active > 0) return;
    const folder = ({ settings: { out } }: RunEntry) => (typeof out === "string" ? `${out.replace(/\/+$/, "")}/` : "");
    const out = folder(base) === "" ? {} : { out: `${folder(base)}${name}` };
    await this.add(name, this.#of(last.run).sites(folder(last)), { ...base.settings, ...out, series: run });
    const repetitions = series.filter((entry) => entry.run !== run && entry.run !== name);
    for (const entry of repetitions.slice(0, Math.max(0, repetitions.length + 1 - keep))) await this.remove(entry.run);
  }

  // The oldest run first: a younger one gives out sites when no site of the older ones waits.
  #steer(): void {
    let { wanted } = this.#reader;
    for (const { run } of this.#known) {
      const opened = this.#of(run);
      if (!opened.left) continue;
      opened.offer(wanted);
      if (opened.waiting > 0) wanted = 0;
    }
    if (this.#reader.leases.size === 0) void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { leases, takers } = this.#reader;
    try {
      await this.#refresh();
      this.#steer();
      const isQuiet = this.left + this.#adding + leases.size === 0;
      if (!isQuiet) this.#quiet = undefined;
      else if (takers.size > 0 && (await this.#isOver())) {
        for (const { resolve } of takers) resolve(undefined);
        takers.clear();
      }
    } catch (error) {
      this.#reader.reject(error);
    } finally {
      this.#isLooking = false;
    }
  }

  // Most of many runs are finished: those are looked at again when somebody has changed something.
  async #refresh(): Promise<void> {
    const { run, isUsable = () => true, onFinished } = this.#options;
    const changes = await this.#server.connection.get(changesKey);
    const isChanged = changes !== this.#changes || this.#known.some(({ isFilling }) => isFilling);
    if (isChanged) this.#known = (await this.runs()).filter((entry) => run === undefined || isOf(entry, run));
    for (const entry of this.#known) {
      const opened = this.#of(entry.run);
      const before = opened.left;
      if ((!isChanged && before === 0) || !isUsable(entry)) continue;
      if ((await opened.look(entry.isFilling)) > 0) continue;
      await opened.rest();
      if (before !== 0) onFinished?.(entry);
    }
    this.#changes = changes;
  }

  async #isOver(): Promise<boolean> {
    const { idle, run, onNews } = this.#options;
    if (idle === undefined) return true;
    this.#quiet ??= { since: performance.now(), isSaid: false };
    const waits = this.#known.length === 0 || idle === Number.POSITIVE_INFINITY;
    if (!waits && performance.now() - this.#quiet.since < idle) return false;
    const isScheduled = async () => (await this.schedules()).some((each) => run === undefined || each.run === run);
    if (!waits && !(await isScheduled())) return true;
    if (!this.#quiet.isSaid) onNews?.({ type: "idle" });
    this.#quiet.isSaid = true;
    return false;
  }
}

function closed(): SitemapError {
  return new SitemapError("queue-failed", "The queue is closed");
}

/** Throws a `SitemapError` (`invalid-option`): the name becomes part of names on the server and of files. */
export function expectRunName(run: string): void {
  if (runName.test(run)) return;
  throw invalid(
    "The name of a run has at most 100 letters, digits, dots, hyphens and underscores, and begins with a letter or digit",
  );
}

const runName = /^[a-z0-9][a-z0-9._-]{0,99}$/i;

// Anybody may write into the table: what is no run is ignored.
function entryOf(run: string, text: string | null, isFilling: boolean): RunEntry | undefined {
  try {
    const { createdAt, settings } = JSON.parse(text ?? "") as Partial<RunEntry>;
    const isEntry = runName.test(run) && typeof createdAt === "number" && isRecord(settings);
    return isEntry ? { run, createdAt, settings, isFilling } : undefined;
  } catch {
    return undefined;
  }
}

function scheduledRun(data: unknown): Pick<Schedule, "run" | "keep"> {
  const { run, keep } = isRecord(data) ? data : {};
  return { run: String(run), keep: typeof keep === "number" ? keep : undefined };
}

/** Whether a run has this name, or is a repetition of the run with this name. */
function isOf({ run, settings }: RunEntry, name: string): boolean {
  return run === name || settings["series"] === name;
}

const runsKey = "sitegrove:runs";
// A number that grows when somebody adds or removes something.
const changesKey = "sitegrove:changes";
const fillingKey = (run: string) => `sitegrove:filling:${run}`;
const scheduleName = "sitegrove-schedule";
const schedulerId = (run: string) => `schedule-${run}`;

// In milliseconds.
const pollTime = 500;
// Whoever keeps a key and dies is waited for so long.
const keyTime = 30_000;
