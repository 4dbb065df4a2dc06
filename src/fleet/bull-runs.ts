// The queue of several machines: runs on a server, each a BullMQ queue whose jobs are websites. The result of a website is the value of its
// finished job. BullMQ has the locks: it gives a job to another worker if nobody renews its lock, and accepts a result only from the holder.
import { createHash, randomUUID } from "node:crypto";
import type { Job, JobType, Queue, Worker } from "bullmq";
import { sleep, waitFor } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { isHttpUrl } from "../model/url.ts";
import { Presence, present, serverTime } from "./presence.ts";
import { type QueueServer, type ServerNews, withQueueErrors } from "./queue-server.ts";
import type { SiteJob, SiteOutcome, SiteSummary } from "./site-job.ts";
import {
  emptySummary,
  isFailure,
  isRecord,
  isSummary,
  keyHash,
  lacksSitemaps,
  quarantinedSummary,
  sitemapList,
  siteSettings,
} from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";
import { deathsBeforeQuarantine, hasRoom, type InFlightSite } from "./suspects.ts";

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
   * How long to wait for more when nothing is left, in milliseconds. A waiting worker also waits for the first run.
   * @default nothing is waited for
   */
  readonly idle?: number | undefined;
  /** Called when the connection is lost, and when it is back. */
  readonly onNews?: ((news: ServerNews) => void) | undefined;
}

type Added = Awaited<ReturnType<SiteQueue["add"]>>;

interface RunsOptions extends BullQueueOptions {
  /** Whether this process takes sites from a run. */
  readonly isUsable?: ((entry: RunEntry) => boolean) | undefined;
}

export class BullRuns implements SiteQueue {
  readonly isTrusted: boolean = false;
  readonly #server: QueueServer;
  readonly #options: RunsOptions;
  readonly #lockTime: number;
  readonly #queues = new Map<string, Queue<JobData, SiteSummary>>();
  readonly #workers = new Map<string, Worker<JobData, SiteSummary>>();
  readonly #inFlight = new Set<InFlightSite>();
  readonly #runOf = new WeakMap<SiteJob, RunEntry>();
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #adding = 0;
  // The runs that have websites left, the oldest first, and when the server was last asked.
  #open: readonly RunEntry[] = [];
  #hasRuns = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  // Since when nothing is left, and whether that was reported.
  #quiet: { readonly since: number; isSaid: boolean } | undefined;
  /** How many sites were left in all runs, when the server was last asked. */
  left = 0;
  /** How many leases this process has lost to other workers. */
  lost = 0;

  constructor(server: QueueServer, options: RunsOptions, lockTime: number) {
    this.#server = server;
    this.#options = options;
    this.#lockTime = lockTime;
  }

  add(run: string, sites: AsyncIterable<SiteJob> | Iterable<SiteJob>, settings?: RunSettings): Promise<Added> {
    return this.#call(async () => {
      const { connection } = this.#server;
      const queue = this.#queue(run);
      const filling = new Presence(connection, fillingKey(run));
      this.#adding += 1;
      await filling.enter();
      try {
        const known = entryOf(run, await connection.hget(runsKey, run), true);
        const { createdAt = Date.now(), settings: before } = known ?? {};
        // New settings replace earlier ones, one by one.
        const entry = { createdAt, settings: { ...before, ...defined(settings ?? {}) } };
        if (known === undefined || settings !== undefined) await connection.hset(runsKey, run, JSON.stringify(entry));
        return await addJobs(queue, run, sites);
      } finally {
        this.#adding -= 1;
        await filling.leave();
      }
    });
  }

  /** Takes the next site. Only one caller at a time asks the server. */
  take(signal: AbortSignal): Promise<Lease | undefined> {
    const taking = this.#last.then(() => this.#call(() => this.#next(signal)));
    this.#last = taking.catch(() => undefined);
    return waitFor(signal, (resolve, reject) => {
      let isLeft = false;
      taking.then((lease) => (isLeft ? void lease?.retry().catch(() => undefined) : resolve(lease)), reject);
      return () => {
        isLeft = true;
      };
    });
  }

  counts(run: string): Promise<QueueCounts> {
    return this.#call(async () => {
      const { waiting = 0, delayed = 0, prioritized = 0, ...counts } = await this.#queue(run).getJobCounts();
      const { active = 0, completed = 0, failed = 0 } = counts;
      return { waiting: waiting + delayed + prioritized, active, done: completed + failed, failed };
    });
  }

  /** When the site that has been read longest was started, in milliseconds since 1970; infinite if none is being read. */
  oldestStart(run: string): Promise<number> {
    return this.#call(async () => {
      const active = await this.#queue(run).getActive();
      return Math.min(...active.flatMap((job) => job?.processedOn ?? []));
    });
  }

  /** The results, in the order of the list. */
  async *results(run: string): AsyncGenerator<SiteSummary, void> {
    for await (const job of this.#finished(run)) yield resultOf(job);
  }

  /** The runs of the server, the oldest first. */
  runs(): Promise<readonly RunEntry[]> {
    return this.#call(async () => {
      const { connection } = this.#server;
      const [rows, now] = await Promise.all([connection.hgetall(runsKey), serverTime(connection)]);
      const entries = Object.entries(rows).map(async ([run, text]) =>
        entryOf(run, text, (await present(connection, fillingKey(run), now)).length > 0),
      );
      const known = (await Promise.all(entries)).flatMap((entry) => entry ?? []);
      return known.sort((one, other) => one.createdAt - other.createdAt);
    });
  }

  /** Removes a run and its results. Throws a `SitemapError` (`invalid-option`) while its sites are being read. */
  remove(run: string): Promise<void> {
    return this.#call(async () => {
      const { active } = await this.counts(run);
      if (active > 0) throw invalid(`${run} has ${active} websites in progress: stop its workers first`);
      await this.#queue(run).obliterate({ force: true });
      await this.#server.connection.hdel(runsKey, run);
    });
  }

  /** Puts sites with these outcomes back into the queue, and returns their number. `before` is called for each first. */
  retry(
    run: string,
    outcomes: readonly SiteOutcome[],
    before: (summary: SiteSummary) => Promise<unknown>,
  ): Promise<number> {
    return this.#call(async () => {
      let count = 0;
      for await (const job of this.#finished(run)) {
        const summary = resultOf(job);
        if (!outcomes.includes(summary.outcome)) continue;
        await before(summary);
        await job.updateData({ ...job.data, cleared: job.stalledCounter });
        await job.retry(isFailure(summary.outcome) ? "failed" : "completed");
        count += 1;
      }
      return count;
    });
  }

  /** The limits of all workers of the server, each as it was given to `join`. */
  workers(): Promise<readonly number[]> {
    const { connection } = this.#server;
    return this.#call(async () => (await present(connection, workersKey, await serverTime(connection))).map(Number));
  }

  /** Registers this process as a worker with this limit. Returns a function that unregisters it. */
  async join(limit: number): Promise<() => Promise<void>> {
    const presence = new Presence(this.#server.connection, workersKey, String(limit));
    await this.#call(() => presence.enter());
    return () => presence.leave().catch(() => undefined);
  }

  /** The run of a site that is being read here. */
  runOf(job: SiteJob): RunEntry | undefined {
    return this.#runOf.get(job);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#server.close();
  }

  // A connection that was closed would never answer.
  async #call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    return withQueueErrors(work);
  }

  #queue(run: string): Queue<JobData, SiteSummary> {
    let queue = this.#queues.get(run);
    if (queue === undefined) {
      expectRunName(run);
      queue = this.#server.queue(`sitegrove.${run}`) as Queue<JobData, SiteSummary>;
      this.#queues.set(run, queue);
    }
    return queue;
  }

  // Sites of a newer run are taken only when no site of an older run waits.
  async #next(signal: AbortSignal): Promise<Lease | undefined> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed) throw closed();
      if (performance.now() - this.#askedAt > pollTime) await this.#ask();
      for (const entry of this.#open) {
        const lease = await this.#takeFrom(entry);
        if (lease !== undefined) return lease;
      }
      await this.#ask();
      if (this.left + this.#adding + this.#inFlight.size > 0) this.#quiet = undefined;
      else if (this.#isOver()) return undefined;
      await sleep(pollTime, signal);
    }
  }

  // Asks the server which runs have websites left.
  async #ask(): Promise<void> {
    const { run, isUsable = () => true } = this.#options;
    const entries = (await this.runs()).filter((entry) => (run ?? entry.run) === entry.run && isUsable(entry));
    const left = await Promise.all(
      entries.map(async (entry) => {
        const { waiting, active } = await this.counts(entry.run);
        return waiting + active + Number(entry.isFilling);
      }),
    );
    this.#hasRuns = entries.length > 0;
    this.#open = entries.filter((_, at) => left[at] !== 0);
    this.left = left.reduce((sum, each) => sum + each, 0);
    this.#askedAt = performance.now();
    // Workers of other runs are closed, because each has its own connection.
    for (const [name, worker] of this.#workers)
      if (!this.#open.some((entry) => entry.run === name)) {
        this.#workers.delete(name);
        void worker.close();
      }
  }

  // A waiting worker also waits for the first run.
  #isOver(): boolean {
    const { idle, onNews } = this.#options;
    if (idle === undefined) return true;
    this.#quiet ??= { since: performance.now(), isSaid: false };
    const waits = !this.#hasRuns || idle === Number.POSITIVE_INFINITY;
    if (!waits) return performance.now() - this.#quiet.since >= idle;
    if (!this.#quiet.isSaid) onNews?.({ type: "idle" });
    this.#quiet.isSaid = true;
    return false;
  }

  async #takeFrom(entry: RunEntry): Promise<Lease | undefined> {
    const queue = this.#queue(entry.run);
    const worker = this.#workers.get(entry.run) ?? (this.#server.worker(queue.name) as Worker<JobData, SiteSummary>);
    this.#workers.set(entry.run, worker);
    for (;;) {
      const token = randomUUID();
      const job = await worker.getNextJob(token, { block: false });
      if (job === undefined) return undefined;
      const { site, shown } = dataOf(job);
      const attempt = `${keyHash(shown.key)}-${job.attemptsStarted}`;
      const deaths = deathsOf(job);
      if (site === undefined) {
        const message = "The job in the queue has no website";
        await settleJob(queue, job, token, emptySummary(shown, attempt, "failed", message));
      } else if (deaths >= deathsBeforeQuarantine)
        await settleJob(queue, job, token, quarantinedSummary(site, attempt));
      else if (hasRoom(this.#inFlight, { deaths })) return this.#lease(entry, job, site, token, deaths);
      else await job.moveToDelayed(Date.now() + laneTime * (1 + Math.random()), token).catch(unlessHeld);
    }
  }

  #lease(entry: RunEntry, job: SiteQueueJob, site: SiteJob, token: string, deaths: number): Lease {
    const queue = this.#queue(entry.run);
    const { attemptsStarted: starts } = job;
    const lost = new AbortController();
    const inFlight = { deaths };
    this.#inFlight.add(inFlight);
    this.#runOf.set(site, entry);
    const end = () => {
      clearInterval(timer);
      return this.#inFlight.delete(inFlight);
    };
    const renew = async () => {
      const isHeld = await job.extendLock(token, this.#lockTime).catch(() => undefined);
      if (isHeld === undefined || isHeld > 0 || !end()) return;
      this.lost += 1;
      lost.abort(new Error("Another worker has the website"));
    };
    const timer = setInterval(() => void renew(), this.#lockTime / 3).unref();
    let isSettled = false;
    // Settles only once: after a result was sent, the server decides.
    const settle = async (work: () => Promise<boolean>) => {
      if (isSettled || lost.signal.aborted) return false;
      isSettled = true;
      return this.#call(work).finally(end);
    };
    return {
      // A server that lost its last second of data may count the same start twice.
      ...{ job: site, starts, attemptId: `${keyHash(site.key)}-${starts}-${randomUUID().slice(0, 6)}` },
      lost: lost.signal,
      done: async (summary) =>
        (await settle(() => settleJob(queue, job, token, summary))) ? "accepted" : "superseded",
      retry: async () => void (await settle(() => job.moveToWait(token).then(() => true, unlessHeld))),
    };
  }

  // Yields finished jobs in the order of the list. Only ids and positions are in memory, because a run may have a million sites.
  async *#finished(run: string): AsyncGenerator<SiteQueueJob, void> {
    const queue = this.#queue(run);
    const positions = new Map<string, number>();
    const states: JobType[] = ["completed", "failed"];
    for (let start = 0, isEnd = false; !isEnd; start += batchSize) {
      // Returns up to this many jobs of each state.
      const jobs = await this.#call(() => queue.getJobs(states, start, start + batchSize - 1, true));
      for (const job of jobs) positions.set(String(job?.id), dataOf(job).at);
      isEnd = jobs.length === 0;
    }
    const ids = [...positions].sort(([, one], [, other]) => one - other).map(([id]) => id);
    for (let start = 0; start < ids.length; start += readSize) {
      const some = ids.slice(start, start + readSize);
      const jobs = await this.#call(() => Promise.all(some.map((id) => queue.getJob(id))));
      for (const job of jobs) if (job?.finishedOn !== undefined) yield job;
    }
  }
}

async function addJobs(
  queue: Queue<JobData, SiteSummary>,
  run: string,
  sites: AsyncIterable<SiteJob> | Iterable<SiteJob>,
): Promise<Added> {
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
    for await (const { key, homepage, sitemaps, settings } of sites) {
      const data = { key, homepage, at: first + count++, ...defined({ sitemaps, settings }) };
      batch.push({ name: "site", data, opts: { ...jobOptions, jobId: idOf(run, key) } });
      if (batch.length >= batchSize) await send();
    }
    await send();
  } finally {
    clearInterval(timer);
  }
  // Another process may add to the same run, so the difference may be too large.
  const added = Math.min(count, (await queue.getJobCountByTypes()) - first);
  return { added, known: count - added };
}

/** Settles a job. Returns false if another summary counts. */
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

// Finished jobs are not removed: they are the results. Stacks of errors are not needed.
const jobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false, stackTraceLimit: 0 } as const;

/** A job on the server: one website, and its summary once it is finished. Anybody may write into a queue. */
type SiteQueueJob = Job<JobData, SiteSummary>;

interface JobData extends SiteJob {
  readonly at: number;
  /** Deaths of workers that do not count, because the site was to be read again. */
  readonly cleared?: number;
}

// BullMQ ignores an id that exists, whatever its state: so the id identifies the site. It is longer than the hash in file names, because
// two sites with the same id would become one.
function idOf(run: string, key: string): string {
  return `${run}-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

// The data of a job. A value that is not text or a number counts as missing. `site` is undefined if the job has no website.
function dataOf(job: SiteQueueJob | undefined) {
  const data = (isRecord(job?.data) ? job.data : {}) as Record<string, unknown>;
  const { key, homepage, cleared, at } = data;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const number = (value: unknown, missing: number) => (typeof value === "number" ? value : missing);
  const more = defined({ sitemaps: sitemapList(data["sitemaps"]), settings: siteSettings(data["settings"]) });
  const shown: SiteJob = { key: text(key), homepage: text(homepage), ...more };
  return {
    shown,
    site: shown.key !== "" && isHttpUrl(shown.homepage) && !lacksSitemaps(shown) ? shown : undefined,
    cleared: number(cleared, 0),
    at: number(at, Number.MAX_SAFE_INTEGER),
  };
}

function resultOf(job: SiteQueueJob): SiteSummary {
  const { failedReason, returnvalue } = job;
  if (isSummary(returnvalue)) return returnvalue;
  try {
    const summary: unknown = JSON.parse(String(failedReason));
    if (isSummary(summary)) return summary;
  } catch {
    // Another program failed the job, with its own message.
  }
  const { shown } = dataOf(job);
  return emptySummary(shown, `${keyHash(shown.key)}-0`, "failed", failedReason || "Another worker ended the job");
}

// BullMQ counts how often nobody renewed the lock of a job.
function deathsOf(job: SiteQueueJob): number {
  return Math.max(0, job.stalledCounter - dataOf(job).cleared);
}

// BullMQ refuses if another worker has the job, or has finished it.
function unlessHeld(error: unknown): false {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== "number" || code >= 0) throw error;
  return false;
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

// Parses an entry of the table of runs. Anybody may write into it, so anything else is ignored.
function entryOf(run: string, text: string | null, isFilling: boolean): RunEntry | undefined {
  try {
    const { createdAt, settings } = JSON.parse(text ?? "") as Partial<RunEntry>;
    const isEntry = runName.test(run) && typeof createdAt === "number" && isRecord(settings);
    return isEntry ? { run, createdAt, settings, isFilling } : undefined;
  } catch {
    return undefined;
  }
}

const runsKey = "sitegrove:runs";
const workersKey = "sitegrove:workers";
const fillingKey = (run: string) => `sitegrove:filling:${run}`;

const batchSize = 1000;
const readSize = 200;
// Intervals in milliseconds.
const pollTime = 500;
const slowBatch = 200;
// How long a suspect waits before it is offered again.
const laneTime = 1000;
