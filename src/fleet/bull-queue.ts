// The queue of several machines: a run is a BullMQ queue on a server, and its jobs are websites. The result of a website is the value of
// its completed job, or the reason of its failed one. BullMQ has the locks: it gives a job to another worker if nobody renews its lock, and
// accepts a result only from the holder.
import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Job, Queue, Worker } from "bullmq";
import { sleep, unlessAborted } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { counted } from "../model/figures.ts";
import { isJsonObject } from "../model/json.ts";
import { functionValue, invalid, number, optionsIn } from "../model/option-checks.ts";
import { type LeasedSite, Leases } from "./leases.ts";
import { missingPackage } from "./optional-package.ts";
import { connect, type QueueServer, queueAddress, type ServerNews, withQueueErrors } from "./queue-server.ts";
import type { SiteJob, SiteOutcome, SiteSummary } from "./site-job.ts";
import { attemptIdOf, emptySummary, isFailure, isSummary, keyHash, storedJob } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

/** Options of `BullQueue.open`. */
export interface BullQueueOptions {
  /**
   * The name of the run. A server may hold any number of them.
   * @default "default"
   */
  readonly run?: string | undefined;
  /**
   * How long a worker may be silent before its sites are given to others, in milliseconds.
   * @default 30000
   */
  readonly leaseTime?: number | undefined;
  /**
   * How long to wait for more sites when none is left, in milliseconds.
   * @default 0
   */
  readonly idle?: number | undefined;
  /** Called when the connection is lost or back, when no site is left to take, and with warnings about the server. */
  readonly onNews?: ((news: ServerNews) => void) | undefined;
}

type RequiredOptions = { readonly [Name in "leaseTime" | "idle" | "onNews"]: NonNullable<BullQueueOptions[Name]> };

/**
 * The queue of several machines, on Redis or Valkey through BullMQ, which has to be installed: one run of a server. Passwords come from the
 * environment.
 *
 * @example
 * const queue = await BullQueue.open("redis://127.0.0.1/0", { run: "monday" });
 * await runFleet({ queue, sites: ["example.org", "example.net"] });
 * for await (const { site, outcome } of queue.results()) console.log(site, outcome);
 * await queue.close();
 */
export class BullQueue implements SiteQueue {
  readonly isTrusted: boolean = false;
  /** The name of the run. */
  readonly run: string;
  readonly #server: QueueServer;
  readonly #bullmq: typeof import("bullmq");
  readonly #queue: Queue<JobData, SiteSummary>;
  readonly #options: RequiredOptions;
  // Opened when the first site is taken, because a worker has its own connection.
  #worker: Worker<JobData, SiteSummary> | undefined;
  readonly #leases = new Leases();
  #lastTake: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #adding = 0;
  // How many sites were left when we last asked the server, and when we asked.
  #left = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  // When we first saw that nothing is left.
  #quietSince: number | undefined;

  private constructor(server: QueueServer, bullmq: typeof import("bullmq"), run: string, options: RequiredOptions) {
    this.#server = server;
    this.#bullmq = bullmq;
    this.run = run;
    this.#options = options;
    const { connection } = server;
    this.#queue = new bullmq.Queue(queueStart + run, { connection, skipVersionCheck: true, skipMetasUpdate: true });
    // Errors of the connection are reported as news.
    this.#queue.on("error", () => {});
  }

  /** Throws a `SitemapError`: `missing-package` without BullMQ, `queue-failed` if the server cannot be used. */
  static async open(url: string | URL, options: BullQueueOptions = {}): Promise<BullQueue> {
    optionsIn("options", options, ["run", "leaseTime", "idle", "onNews"]);
    const { run = "default", leaseTime = 30_000, idle = 0, onNews = () => {} } = options;
    expectRunName(run);
    number("leaseTime", leaseTime, 1);
    number("idle", idle, 0);
    functionValue("onNews", onNews);
    const address = queueAddress(url);
    const bullmq = await import("bullmq").catch(missingPackage("--queue needs BullMQ: npm install bullmq ioredis"));
    return new BullQueue(await connect(address, onNews), bullmq, run, { leaseTime, idle, onNews });
  }

  /** How many sites were waiting or in progress when we last asked the server. */
  get left(): number {
    return this.#left;
  }

  add(sites: AsyncIterable<SiteJob> | Iterable<SiteJob>): ReturnType<SiteQueue["add"]> {
    return this.#call(async () => {
      this.#adding += 1;
      try {
        return await addJobs(this.#queue, sites);
      } finally {
        this.#adding -= 1;
      }
    });
  }

  /** Takes the next site. Only one caller at a time asks the server. */
  take(signal: AbortSignal): Promise<Lease | undefined> {
    const taking = this.#lastTake.then(() => this.#call(() => this.#next(signal)));
    this.#lastTake = taking.catch(() => undefined);
    return unlessAborted(signal, taking).catch((error: unknown) => {
      // The server may still answer with a site.
      if (signal.aborted) taking.then((lease) => lease?.retry()).catch(() => undefined);
      throw error;
    });
  }

  counts(): Promise<QueueCounts> {
    return this.#call(async () => {
      const { waiting = 0, delayed = 0, prioritized = 0, ...counts } = await this.#queue.getJobCounts();
      const { active = 0, completed = 0, failed = 0 } = counts;
      return { waiting: waiting + delayed + prioritized, active, done: completed + failed, failed };
    });
  }

  /** The results so far, in the order in which the websites were finished; those that failed come last. */
  async *results(): AsyncGenerator<SiteSummary, void> {
    for await (const job of this.#finished()) yield resultOf(job);
  }

  /** How many sites are in progress. Counts locks, because the site of a dead worker stays active until another worker takes it. */
  held(): Promise<number> {
    return this.#call(async () => {
      const { connection } = this.#server;
      const active = await connection.lrange(this.#queue.toKey("active"), 0, -1);
      const locks = active.map((id) => `${this.#queue.toKey(id)}:lock`);
      return locks.length === 0 ? 0 : connection.exists(locks);
    });
  }

  /** Removes the run and its results. Throws a `SitemapError` (`invalid-option`) while its sites are being read. */
  remove(): Promise<void> {
    return this.#call(async () => {
      const held = await this.held();
      if (held > 0) throw invalid(`${this.run} has ${counted(held, "website")} in progress: stop its workers first`);
      await this.#queue.obliterate({ force: true });
    });
  }

  /** Puts sites with these outcomes back into the queue, and returns their number. */
  retry(outcomes: readonly SiteOutcome[]): Promise<number> {
    return this.#call(async () => {
      let count = 0;
      for await (const job of this.#finished()) {
        const { outcome, attemptId } = resultOf(job);
        if (!outcomes.includes(outcome)) continue;
        await job.updateData({ ...job.data, cleared: job.stalledCounter, replaces: attemptId });
        // A completed job whose result was altered counts as failed, too.
        await job.retry((await job.isFailed()) ? "failed" : "completed");
        count += 1;
      }
      return count;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // If the server is gone, closing would wait for it, so the connections are dropped instead.
    const isReady = this.#server.connection.status === "ready";
    const closing = [this.#queue, this.#worker].map((one) => (isReady ? one?.close() : one?.disconnect()));
    const late = setTimeout(closeTime, undefined, { ref: false });
    await Promise.race([Promise.allSettled(closing), late]);
    this.#server.disconnect();
  }

  // Refuses calls to a closed queue, because its connection would never answer.
  async #call<T>(work: () => Promise<T>): Promise<T> {
    this.#expectOpen();
    return withQueueErrors(work);
  }

  #expectOpen(): void {
    if (this.#isClosed) throw new SitemapError("queue-failed", "The queue is closed");
  }

  async #next(signal: AbortSignal): Promise<Lease | undefined> {
    for (;;) {
      signal.throwIfAborted();
      this.#expectOpen();
      if (performance.now() - this.#askedAt > pollTime) await this.#ask();
      const lease = await this.#takeJob();
      if (lease !== undefined) return lease;
      await this.#ask();
      if (this.#left + this.#adding + this.#leases.size > 0) this.#quietSince = undefined;
      else if (this.#isOver()) return undefined;
      await sleep(pollTime, signal);
    }
  }

  async #ask(): Promise<void> {
    const { waiting, active } = await this.counts();
    this.#left = waiting + active;
    this.#askedAt = performance.now();
  }

  #isOver(): boolean {
    const { idle, onNews } = this.#options;
    if (this.#quietSince === undefined && idle > 0) onNews({ type: "idle" });
    this.#quietSince ??= performance.now();
    return performance.now() - this.#quietSince >= idle;
  }

  // Jobs of workers that are gone are given out again.
  #openWorker(): Worker<JobData, SiteSummary> {
    const { leaseTime: lockDuration } = this.#options;
    const stalledInterval = Math.max(100, Math.floor(lockDuration / 2));
    // We decide which websites are quarantined: BullMQ would give up on a site after its second dead worker.
    const limits = { lockDuration, stalledInterval, maxStalledCount: 1_000_000 };
    const { connection } = this.#server;
    const options = { connection, skipVersionCheck: true, ...limits };
    const worker = new this.#bullmq.Worker<JobData, SiteSummary>(this.#queue.name, undefined, options);
    worker.on("error", () => {});
    void worker.startStalledCheckTimer();
    return worker;
  }

  async #takeJob(): Promise<Lease | undefined> {
    this.#worker ??= this.#openWorker();
    for (;;) {
      const token = randomUUID();
      const job = await this.#worker.getNextJob(token, { block: false }).catch((error: unknown) => {
        if (error instanceof SyntaxError) return this.#unreadable(token);
        throw error;
      });
      if (job === undefined) return undefined;
      const { site: own, cleared, replaces } = dataOf(job);
      if (own === undefined) {
        const error = new Error("Another program added the job");
        await job.moveToFailed(error, token, false).catch(unlessHeld);
        continue;
      }
      // BullMQ counts how often nobody renewed the lock of a job.
      const deaths = Math.max(0, job.stalledCounter - cleared);
      const site = { job: own, starts: job.attemptsStarted, deaths, replaces };
      if (this.#leases.hasRoom(site)) return this.#lease(job, site, token);
      await job.moveToDelayed(Date.now() + laneTime * (1 + Math.random()), token).catch(unlessHeld);
    }
  }

  // Returns the job that this worker got but could not read, because another program wrote something that is not JSON: it must cost its
  // website, not the run.
  async #unreadable(token: string): Promise<SiteQueueJob | undefined> {
    const { connection } = this.#server;
    for (const id of await connection.lrange(this.#queue.toKey("active"), 0, -1)) {
      const key = this.#queue.toKey(id);
      if ((await connection.get(`${key}:lock`)) !== token) continue;
      await connection.hset(key, { data: "{}", opts: "{}" });
      return this.#queue.getJob(id);
    }
    return undefined;
  }

  #lease(job: SiteQueueJob, site: LeasedSite, token: string): Lease {
    const { leaseTime } = this.#options;
    const lost = new AbortController();
    let isSettled = false;
    const timer = setInterval(async () => {
      const isHeld = await job.extendLock(token, leaseTime).catch(() => undefined);
      if (isHeld !== 0 || isSettled) return;
      clearInterval(timer);
      lost.abort(new Error("Another worker has the website"));
    }, leaseTime / 3).unref();
    const settle = (summary?: SiteSummary) => {
      isSettled = true;
      const back = () => job.moveToWait(token).then(() => true, unlessHeld);
      const done = (result: SiteSummary) => settleJob(this.#queue, job, token, result);
      return this.#call(() => (summary === undefined ? back() : done(summary))).finally(() => clearInterval(timer));
    };
    return this.#leases.give(site, attemptIdOf(site.job.key, site.starts), settle, lost.signal);
  }

  // Yields the jobs that are finished now. Keeps only their ids in memory, because a run may have a million sites.
  async *#finished(): AsyncGenerator<SiteQueueJob, void> {
    const ids = await this.#call(() => this.#queue.getRanges(["completed", "failed"], 0, -1, true));
    for (let start = 0; start < ids.length; start += readSize) {
      const some = ids.slice(start, start + readSize);
      const jobs = await this.#call(() => Promise.all(some.map((id) => this.#queue.getJob(id))));
      for (const job of jobs) if (job?.finishedOn !== undefined) yield job;
    }
  }
}

async function addJobs(
  queue: Queue<JobData, SiteSummary>,
  sites: AsyncIterable<SiteJob> | Iterable<SiteJob>,
): Promise<{ added: number; known: number }> {
  const first = await queue.getJobCountByTypes();
  let count = 0;
  let batch: Parameters<Queue<JobData>["addBulk"]>[0] = [];
  let sending: Promise<unknown> = Promise.resolve();
  const send = () => {
    // Sorted by hash, because neighbors in a list often share a server.
    const jobs = batch.sort((one, other) => ((one.opts?.jobId ?? "") < (other.opts?.jobId ?? "") ? -1 : 1));
    batch = [];
    if (jobs.length > 0) sending = sending.then(() => queue.addBulk(jobs));
    return sending;
  };
  // A timer sends the websites of a slow list before a batch is full.
  const timer = setInterval(() => send().catch(() => undefined), slowBatch);
  try {
    for await (const { key, homepage, sitemaps, mayBePlain } of sites) {
      const data = { key, homepage, ...defined({ sitemaps, mayBePlain }) };
      count += 1;
      batch.push({ name: "site", data, opts: { ...jobOptions, jobId: idOf(queue.name, key) } });
      if (batch.length >= batchSize) await send();
    }
  } finally {
    clearInterval(timer);
    // If the list throws, the websites before that are still added.
    await send();
  }
  // Another process may add to the same run, so the difference may be too large.
  const added = Math.min(count, (await queue.getJobCountByTypes()) - first);
  return { added, known: count - added };
}

/** Settles a job. Returns whether this summary counts. */
async function settleJob(
  queue: Queue<JobData, SiteSummary>,
  job: SiteQueueJob,
  token: string,
  summary: SiteSummary,
): Promise<boolean> {
  try {
    if (isFailure(summary.outcome)) await job.moveToFailed(new Error(JSON.stringify(summary)), token, false);
    else await job.moveToCompleted(summary, token, false);
    return true;
  } catch (error) {
    unlessHeld(error);
    // The connection may have broken between the command and its answer, and the command was sent again.
    const now: SiteQueueJob | undefined = await queue.getJob(String(job.id));
    return now?.finishedOn !== undefined && resultOf(now).attemptId === summary.attemptId;
  }
}

// Finished jobs are kept, because they are the results. Stack traces are not needed.
const jobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false, stackTraceLimit: 0 } as const;

/** A job on the server: one website, and its summary once it is finished. Anybody may write into a queue. */
type SiteQueueJob = Job<JobData, SiteSummary>;

interface JobData extends SiteJob {
  /** How many deaths of workers no longer count, because the user asked to crawl the site again. */
  readonly cleared?: number;
  /** The attempt whose result the user asked to replace. */
  readonly replaces?: string;
}

// BullMQ ignores a job whose id exists, in any state, so the id identifies the site. It is longer than the hash in file names, because
// two sites with the same id would become one.
function idOf(queueName: string, key: string): string {
  const hash = createHash("sha256").update(key).digest("hex");
  return `${queueName.slice(queueStart.length)}-${hash.slice(0, 32)}`;
}

// How the names of queues begin. The name of the run follows.
const queueStart = "sitegrove.";

// Reads the data of a job. A value of the wrong type counts as missing. `site` is undefined if the job has no website, or is not the one job
// of its website.
function dataOf(job: SiteQueueJob | undefined) {
  const data = (isJsonObject(job?.data) ? job.data : {}) as Record<string, unknown>;
  const { key, cleared, replaces } = data;
  const site = storedJob(data);
  return {
    site: site !== undefined && job?.id === idOf(job?.queueName ?? "", site.key) ? site : undefined,
    key: typeof key === "string" ? key : "",
    cleared: typeof cleared === "number" ? cleared : 0,
    replaces: typeof replaces === "string" ? replaces : undefined,
  };
}

function resultOf(job: SiteQueueJob): SiteSummary {
  const { failedReason, returnvalue } = job;
  const { key, site } = dataOf(job);
  const isResult = (value: unknown): value is SiteSummary => isSummary(value) && value.key === key;
  if (isResult(returnvalue)) return returnvalue;
  try {
    const summary: unknown = JSON.parse(String(failedReason));
    if (isResult(summary)) return summary;
  } catch {
    // Another program failed the job, with its own message.
  }
  const message = failedReason || "Another program ended the job";
  return emptySummary(site ?? { key, homepage: "" }, `${keyHash(key)}-0`, "failed", message);
}

// Returns false if BullMQ refused, because another worker has the job or has finished it. Throws any other error.
function unlessHeld(error: unknown): false {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== "number" || code >= 0) throw error;
  return false;
}

/** Throws a `SitemapError` (`invalid-option`) if a name cannot be part of names on the server and of files. */
export function expectRunName(run: string): void {
  if (/^[a-z0-9][a-z0-9._-]{0,99}$/i.test(run)) return;
  throw invalid(
    "The name of a run has at most 100 letters, digits, dots, hyphens and underscores, and begins with a letter or digit",
  );
}

const batchSize = 1000;
const readSize = 200;
// Intervals in milliseconds.
const pollTime = 500;
const closeTime = 2000;
const slowBatch = 200;
// How long a suspect waits at least before it is offered again, in milliseconds.
const laneTime = 1000;
