// One run on a server: a queue of BullMQ whose jobs are websites. The result of a website is the value of its finished job. BullMQ has the
// locks: it gives a job to another worker if nobody renews its lock, and takes a result only from the holder of the lock.
import { createHash, randomUUID } from "node:crypto";
import type { Job, JobType, Processor, Queue, Worker } from "bullmq";
import { defined } from "../model/defined.ts";
import { isHttpUrl } from "../model/url.ts";
import { afterDeath, hasRoom, isDeadly, isForgiven, type Reading, type Suspicion } from "./bisection.ts";
import { type QueueServer, told } from "./queue-server.ts";
import type { SiteJob, SiteOutcome, SiteSummary } from "./site-job.ts";
import { emptySummary, isFailure, isRecord, isSummary, keyHash, quarantinedSummary, siteSettings } from "./site-job.ts";
import type { Lease, QueueCounts } from "./site-queue.ts";

/** A site of a list, with its archive from an earlier run. */
export interface ListedSite extends SiteJob {
  readonly previous?: string | undefined;
}

/** A lease of a run, and what its queue needs to know. */
interface RunLease extends Lease, Reading {
  readonly run: string;
  readonly previous: string | undefined;
  isSilent: boolean;
  /** Ends it without telling the server. */
  abandon(): void;
}

/** What this process reads, of all runs, and who waits for more. */
export class Reader {
  readonly leases: Set<RunLease> = new Set();
  readonly takers: Set<{ resolve(lease: Lease | undefined): void; reject(reason: unknown): void }> = new Set();
  /** Of a suspect that must not be read beside so many: nothing more is taken until there is room. */
  next: Suspicion | undefined;
  /** Leases that another worker has taken over. */
  lost = 0;
  /** Called when there may be room for another site, or none any more. */
  readonly onChange: () => void;

  constructor(onChange: () => void) {
    this.onChange = onChange;
  }

  /** How many sites may be taken. */
  get wanted(): number {
    return hasRoom(this.leases, this.next) ? this.takers.size : 0;
  }

  /** Nobody gets a site any more, for this reason. */
  reject(reason: unknown): void {
    for (const taker of this.takers) taker.reject(reason);
    this.takers.clear();
  }
}

export class BullRun {
  readonly queue: Queue<JobData, SiteSummary>;
  /** How many sites were left when it was last looked at, and how many of them waited. Undefined before. */
  left: number | undefined;
  waiting = 0;
  readonly #server: QueueServer;
  readonly #name: string;
  readonly #reader: Reader;
  #worker: Worker<JobData, SiteSummary> | undefined;

  constructor(server: QueueServer, name: string, reader: Reader) {
    this.#server = server;
    this.#name = name;
    this.#reader = reader;
    this.queue = server.queue(`sitegrove.${name}`) as Queue<JobData, SiteSummary>;
  }

  async add(sites: AsyncIterable<ListedSite> | Iterable<ListedSite>): Promise<{ added: number; known: number }> {
    const first = await this.queue.getJobCountByTypes();
    let count = 0;
    let batch: Parameters<Queue<JobData>["addBulk"]>[0] = [];
    let sending: Promise<unknown> = Promise.resolve();
    const send = () => {
      // Neighbors in a list often share a server.
      const jobs = batch.sort((one, other) => ((one.opts?.jobId ?? "") < (other.opts?.jobId ?? "") ? -1 : 1));
      batch = [];
      if (jobs.length > 0) sending = sending.then(() => this.queue.addBulk(jobs));
      return sending;
    };
    // The websites of a slow list are passed on, too.
    const timer = setInterval(() => send().catch(() => undefined), slowBatch);
    try {
      for await (const { key, homepage, previous, settings } of sites) {
        const data = { key, homepage, at: first + count++, ...defined({ previous, settings }) };
        batch.push({ name: "site", data, opts: { ...jobOptions, jobId: idOf(this.#name, key) } });
        if (batch.length >= batchSize) await send();
      }
      await send();
    } finally {
      clearInterval(timer);
    }
    // Somebody else may add to the same run.
    const added = Math.min(count, (await this.queue.getJobCountByTypes()) - first);
    return { added, known: count - added };
  }

  async counts(): Promise<QueueCounts> {
    const { waiting = 0, delayed = 0, prioritized = 0, ...counts } = await this.queue.getJobCounts();
    const { active = 0, completed = 0, failed = 0 } = counts;
    return { waiting: waiting + delayed + prioritized, active, done: completed + failed, failed };
  }

  /** In the order of the list. */
  async *results(): AsyncGenerator<SiteSummary, void> {
    for await (const job of this.#listed(["completed", "failed"]))
      if (job.finishedOn !== undefined) yield resultOf(job);
  }

  /** The sites of the run in the order of the list, with the archives that they have by now. `folder`: of its own archives. */
  async *sites(folder: string): AsyncGenerator<ListedSite, void> {
    for await (const job of this.#listed(["waiting", "prioritized", "delayed", "active", "completed", "failed"])) {
      const { site, previous: before } = dataOf(job);
      const archive = job.finishedOn === undefined ? undefined : resultOf(job).files["archive"];
      const previous = archive ?? before;
      if (site !== undefined)
        yield { ...site, previous: previous?.startsWith("archives/") ? folder + previous : previous };
    }
  }

  /** Puts sites with these outcomes back into the queue. `before` is called for each first. */
  async retry(outcomes: readonly SiteOutcome[], before: (summary: SiteSummary) => Promise<unknown>): Promise<number> {
    let count = 0;
    for await (const job of this.#listed(["completed", "failed"])) {
      const summary = resultOf(job);
      if (job.finishedOn === undefined || !outcomes.includes(summary.outcome)) continue;
      await before(summary);
      await job.updateData({ ...job.data, cleared: job.stalledCounter });
      await job.changePriority({ priority: 0 });
      await job.retry(isFailure(summary.outcome) ? "failed" : "completed");
      count += 1;
    }
    return count;
  }

  /** Gives so many more sites to takers. */
  offer(wanted: number): void {
    if (wanted > 0) this.#worker ??= this.#startWorker();
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.concurrency = Math.max(1, this.#reading + wanted);
    // BullMQ looks at the number again when a job ends, and when it is resumed.
    void (wanted > 0 ? worker.resume() : worker.pause(true));
  }

  get #reading(): number {
    return [...this.#reader.leases].filter(({ run }) => run === this.#name).length;
  }

  /** Returns how many sites are left. */
  async look(isFilling: boolean): Promise<number> {
    const { waiting, active } = await this.counts();
    this.waiting = waiting;
    // A website that is being read here may have been given to another worker, which is done with it.
    this.left = waiting + Math.max(active, this.#reading) + (isFilling ? 1 : 0);
    return this.left;
  }

  /** Gives its connection back. */
  async rest(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  #startWorker(): Worker<JobData, SiteSummary> {
    // BullMQ passes a signal only to functions that have a place for it.
    const process: Processor<JobData, SiteSummary> = async (job, token, lost) => {
      await this.#process(job, token as string, lost as AbortSignal).catch((error) => this.#reader.reject(error));
      throw this.#server.moved();
    };
    const worker: Worker<JobData, SiteSummary> = this.#server.worker(this.queue.name, process);
    // Only when a suspect is being read is it known whether there is room for another.
    worker.on("active", (job) => {
      if (deathsOf(job) > 0) void worker.pause(true);
    });
    worker.on("lockRenewalFailed", (ids) => {
      for (const id of ids) worker.cancelJob(id, "Another worker has the website");
    });
    // Whoever was being read at a death comes after the others: the higher its priority, the later BullMQ gives a job out.
    worker.on("stalled", async (id) => {
      const job = await this.queue.getJob(id).catch(() => undefined);
      if (job !== undefined) await job.changePriority({ priority: deathsOf(job) }).catch(() => undefined);
    });
    // The server refuses a command. What happens to its connection, and to leases, is noticed elsewhere.
    worker.on("error", (error) => {
      if (error.name === "ReplyError") this.#reader.reject(error);
    });
    return worker;
  }

  // Ends when the site is settled, put back because nobody may read it now, or given to another worker.
  async #process(job: SiteQueueJob, token: string, lost: AbortSignal): Promise<void> {
    const { leases, takers } = this.#reader;
    const { site, shown } = dataOf(job);
    const attempt = `${keyHash(shown.key)}-${job.attemptsStarted}`;
    const suspicion = suspicionOf(job);
    if (site === undefined) {
      const message = "The job in the queue has no website";
      await this.#settle(job, token, emptySummary(shown, attempt, "failed", message));
    } else if (suspicion !== undefined && isDeadly(suspicion))
      await this.#settle(job, token, quarantinedSummary(site, attempt));
    else {
      const [taker] = takers;
      this.#reader.next = hasRoom(leases, suspicion) ? undefined : suspicion;
      if (taker === undefined || this.#reader.next !== undefined) await job.moveToWait(token).catch(unlessHeld);
      else {
        takers.delete(taker);
        await new Promise<void>((end) => taker.resolve(this.#lease(job, site, token, lost, end)));
      }
    }
    this.#reader.onChange();
  }

  #lease(job: SiteQueueJob, site: SiteJob, token: string, lost: AbortSignal, end: () => void): RunLease {
    const reader = this.#reader;
    const { attemptsStarted: starts, data, stalledCounter } = job;
    const { previous, cleared: before } = dataOf(job);
    // Only once: when a result was sent, the server decides.
    const settle = async (work: () => Promise<boolean>): Promise<boolean> => {
      if (!reader.leases.delete(lease)) return false;
      return work().finally(end);
    };
    const lease: RunLease = {
      run: this.#name,
      job: site,
      // A server that lost its last second of data may count the same start twice.
      attemptId: `${keyHash(site.key)}-${starts}-${randomUUID().slice(0, 6)}`,
      previous,
      suspicion: suspicionOf(job),
      starts,
      lost,
      abandon: end,
      isSilent: false,
      silent(isSilent) {
        lease.isSilent = isSilent;
        reader.onChange();
        // A death that comes now would not count.
        const cleared = Math.min(before, stalledCounter) + (isForgiven({ isSilent, starts }) ? 1 : 0);
        job.updateData({ ...data, cleared }).catch(() => undefined);
      },
      done: (summary) =>
        told(async () => ((await settle(() => this.#settle(job, token, summary))) ? "accepted" : "superseded")),
      retry: () => told(async () => void (await settle(() => job.moveToWait(token).then(() => true, unlessHeld)))),
    };
    lost.addEventListener("abort", () => {
      if (reader.leases.delete(lease)) reader.lost += 1;
      end();
    });
    reader.leases.add(lease);
    reader.onChange();
    return lease;
  }

  /** False if another summary counts. */
  async #settle(job: SiteQueueJob, token: string, summary: SiteSummary): Promise<boolean> {
    try {
      if (isFailure(summary.outcome)) await job.moveToFailed(new Error(JSON.stringify(summary)), token, false);
      else await job.moveToCompleted(summary, token, false);
      return true;
    } catch (error) {
      unlessHeld(error);
      // The connection may have broken between the command and its answer, and the command was sent again.
      const now: SiteQueueJob | undefined = await this.queue.getJob(String(job.id));
      return now?.finishedOn !== undefined && resultOf(now).attemptId === summary.attemptId;
    }
  }

  // In the order of the list. Only places and ids are held: a run may have a million sites.
  async *#listed(states: readonly JobType[]): AsyncGenerator<SiteQueueJob, void> {
    const places = new Map<string, number>();
    for (let start = 0, isEnd = false; !isEnd; start += batchSize) {
      // So many of each state.
      const jobs = await this.queue.getJobs([...states], start, start + batchSize - 1, true);
      for (const job of jobs) places.set(String(job?.id), dataOf(job).at);
      isEnd = jobs.length === 0;
    }
    const ids = [...places].sort(([, one], [, other]) => one - other).map(([id]) => id);
    for (let start = 0; start < ids.length; start += readSize) {
      const jobs = await Promise.all(ids.slice(start, start + readSize).map((id) => this.queue.getJob(id)));
      for (const job of jobs) if (job !== undefined) yield job;
    }
  }
}

const batchSize = 1000;
const readSize = 200;
// In milliseconds.
const slowBatch = 200;

// Finished jobs are not removed: they are the results. Stacks of errors are not needed.
const jobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false, stackTraceLimit: 0 } as const;

/** A job on the server: one website, and its summary once it is finished. Anybody may write into a queue. */
type SiteQueueJob = Job<JobData, SiteSummary>;

interface JobData extends ListedSite {
  readonly at: number;
  /** Deaths of workers that do not count: the site was to be read again, or had not answered. */
  readonly cleared?: number;
}

// BullMQ ignores an id that exists, whatever its state: so the id identifies the site. It is longer than the hash in file names, because
// two sites with the same id would become one.
function idOf(run: string, key: string): string {
  return `${run}-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

// Anybody may write into a queue: what is no text or number counts as missing. `site` is undefined if the job holds no website.
function dataOf(job: SiteQueueJob | undefined) {
  const { key, homepage, settings, previous, cleared, at } = (isRecord(job?.data) ? job.data : {}) as Unknown<JobData>;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const number = (value: unknown, missing: number) => (typeof value === "number" ? value : missing);
  const shown: SiteJob = { key: text(key), homepage: text(homepage), ...defined({ settings: siteSettings(settings) }) };
  return {
    shown,
    site: shown.key !== "" && isHttpUrl(shown.homepage) ? shown : undefined,
    previous: text(previous) || undefined,
    cleared: number(cleared, 0),
    at: number(at, Number.MAX_SAFE_INTEGER),
  };
}

type Unknown<T> = { readonly [Name in keyof T]?: unknown };

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
  return emptySummary(shown, `${keyHash(shown.key)}-0`, "failed", failedReason || "Somebody else ended the job");
}

// BullMQ counts how often nobody renewed the lock of a job.
function deathsOf(job: SiteQueueJob): number {
  return Math.max(0, job.stalledCounter - dataOf(job).cleared);
}

// How many others the dead worker was reading is unknown: many are assumed at first, so that restarts of all workers quarantine nobody. With
// a group of one, it was alone.
function suspicionOf(job: SiteQueueJob): Suspicion | undefined {
  let suspicion: Suspicion | undefined;
  for (let death = 0; death < deathsOf(job); death += 1)
    suspicion = afterDeath(suspicion, suspicion?.group ?? assumedInFlight);
  return suspicion;
}

const assumedInFlight = 16;

// BullMQ refuses if another worker has the job, or has finished it.
function unlessHeld(error: unknown): false {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== "number" || code >= 0) throw error;
  return false;
}
