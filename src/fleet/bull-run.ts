// One run on a server: a queue of BullMQ whose jobs are websites. The result of a website is the value of its finished job. BullMQ has the
// locks: it gives a job to another worker if nobody renews its lock, and takes a result only from the holder of the lock.
import { createHash, randomUUID } from "node:crypto";
import type { Job, JobType, Queue, Worker } from "bullmq";
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
  readonly id: string;
  readonly token: string;
  isSilent: boolean;
  lose(): void;
}

/** What this process reads, of all runs. */
export interface Held {
  readonly leases: Set<RunLease>;
  /** Of a suspect that must not be read beside so many: nothing more is taken until there is room. */
  next: Suspicion | undefined;
  /** Leases that another worker has taken over. */
  lost: number;
  onRoom(): void;
}

export class BullRun {
  readonly queue: Queue<JobData, SiteSummary>;
  readonly #server: QueueServer;
  readonly #name: string;
  readonly #leaseTime: number;
  readonly #held: Held;
  #worker: Worker<JobData, SiteSummary> | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(server: QueueServer, name: string, leaseTime: number, held: Held) {
    this.#server = server;
    this.#name = name;
    this.#leaseTime = leaseTime;
    this.#held = held;
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
      const site = siteOf(job);
      const archive = job.finishedOn === undefined ? undefined : resultOf(job).files["archive"];
      const previous = archive ?? previousOf(job);
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

  /** A lease for the next site that may be read now, if there is one. */
  async take(): Promise<RunLease | undefined> {
    this.#worker ??= await this.#startWorker();
    while (hasRoom(this.#held.leases, this.#held.next)) {
      const token = randomUUID();
      const job = await this.#worker.getNextJob(token, { block: false });
      if (job === undefined) return undefined;
      const lease = await this.#accept(job, token);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** Gives its connection back, unless something is being read. */
  async rest(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined || this.#reading().length > 0) return;
    this.close();
    this.#worker = undefined;
    await this.#server.release(worker);
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  #reading(): RunLease[] {
    return [...this.#held.leases].filter(({ run }) => run === this.#name);
  }

  async #startWorker(): Promise<Worker<JobData, SiteSummary>> {
    const worker = this.#server.worker(this.queue.name, null, this.#leaseTime) as Worker<JobData, SiteSummary>;
    // Whoever was being read at a death comes after the others: the higher its priority, the later BullMQ gives a job out.
    worker.on("stalled", async (id) => {
      const job = await this.queue.getJob(id).catch(() => undefined);
      if (job !== undefined) await job.changePriority({ priority: deathsOf(job) }).catch(() => undefined);
    });
    await worker.startStalledCheckTimer();
    this.#renewal = setInterval(async () => {
      const held = this.#reading();
      const [ids, tokens] = [held.map(({ id }) => id), held.map(({ token }) => token)];
      if (ids.length === 0) return;
      // Without a connection it is unknown: the next renewal tells.
      const lost = await worker.extendJobLocks(ids, tokens, this.#leaseTime).catch(() => []);
      for (const lease of held) if (lost.map(String).includes(lease.id)) lease.lose();
    }, this.#leaseTime / 3).unref();
    return worker;
  }

  // Undefined if the job is not to be read now: it is put back behind the others, quarantined, or holds no website.
  async #accept(job: SiteQueueJob, token: string): Promise<RunLease | undefined> {
    const held = this.#held;
    const site = siteOf(job);
    const { attemptsStarted: starts, data, stalledCounter } = job;
    const attempt = `${keyHash(site?.key ?? "")}-${starts}`;
    const suspicion = suspicionOf(job);
    if (site === undefined) {
      const message = "The job in the queue has no website";
      await this.#settle(job, token, emptySummary(shownSite(job), attempt, "failed", message));
      return undefined;
    }
    if (suspicion !== undefined && isDeadly(suspicion)) {
      await this.#settle(job, token, quarantinedSummary(site, attempt));
      return undefined;
    }
    held.next = hasRoom(held.leases, suspicion) ? undefined : suspicion;
    if (held.next !== undefined) {
      await job.changePriority({ priority: deathsOf(job) });
      await job.moveToWait(token).catch(unlessHeld);
      return undefined;
    }
    const lost = new AbortController();
    // Once a result was sent, the server decides.
    let isSettled = false;
    const once = async (work: () => Promise<boolean>): Promise<boolean> => {
      if (isSettled) return false;
      isSettled = true;
      return work().finally(() => {
        held.leases.delete(lease);
        held.onRoom();
      });
    };
    const lease: RunLease = {
      run: this.#name,
      id: String(job.id),
      token,
      job: site,
      // A server that lost its last second of data may count the same start twice.
      attemptId: `${attempt}-${randomUUID().slice(0, 6)}`,
      previous: previousOf(job),
      suspicion,
      starts,
      lost: lost.signal,
      isSilent: false,
      silent(isSilent) {
        lease.isSilent = isSilent;
        held.onRoom();
        // A death that comes now would not count.
        const cleared = Math.min(clearedOf(job), stalledCounter) + (isForgiven({ isSilent, starts }) ? 1 : 0);
        job.updateData({ ...data, cleared }).catch(() => undefined);
      },
      done: (summary) =>
        told(async () => ((await once(() => this.#settle(job, token, summary))) ? "accepted" : "superseded")),
      retry: () => told(async () => void (await once(() => job.moveToWait(token).then(() => true, unlessHeld)))),
      lose: () =>
        void once(async () => {
          held.lost += 1;
          lost.abort(new Error("Another worker has the website"));
          return true;
        }),
    };
    held.leases.add(lease);
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
    for (const state of states) {
      for (let start = 0; ; start += batchSize) {
        const jobs = await this.queue.getJobs([state], start, start + batchSize - 1, true);
        for (const job of jobs) {
          const { at } = isRecord(job?.data) ? job.data : {};
          if (job !== undefined) places.set(String(job.id), typeof at === "number" ? at : Number.MAX_SAFE_INTEGER);
        }
        if (jobs.length < batchSize) break;
      }
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

/** Undefined if the job holds no website. */
function siteOf({ data }: SiteQueueJob): SiteJob | undefined {
  const { key, homepage, settings } = isRecord(data) ? data : {};
  if (typeof key !== "string" || typeof homepage !== "string" || !isHttpUrl(homepage)) return undefined;
  return { key, homepage, ...defined({ settings: siteSettings(settings) }) };
}

function previousOf({ data: { previous } }: SiteQueueJob): string | undefined {
  return typeof previous === "string" ? previous : undefined;
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
  const site = shownSite(job);
  return emptySummary(site, `${keyHash(site.key)}-0`, "failed", failedReason || "Somebody else ended the job");
}

// Of a job that may hold anything.
function shownSite({ data }: SiteQueueJob): SiteJob {
  const { key, homepage } = isRecord(data) ? data : {};
  const shown = (text: unknown) => (typeof text === "string" ? text : "");
  return { key: shown(key), homepage: shown(homepage) };
}

function clearedOf({ data }: SiteQueueJob): number {
  return isRecord(data) && typeof data.cleared === "number" ? data.cleared : 0;
}

// BullMQ counts how often nobody renewed the lock of a job.
function deathsOf(job: SiteQueueJob): number {
  return Math.max(0, job.stalledCounter - clearedOf(job));
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
