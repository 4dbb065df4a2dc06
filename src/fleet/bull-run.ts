// One run on a server: a queue of BullMQ whose jobs are websites. The result of a website is the value of its finished job. BullMQ has the
// locks: it gives a job to another worker if nobody renews its lock, and takes a result only from the holder of the lock.
import { createHash, randomUUID } from "node:crypto";
import type { Job, JobType, Queue, Worker } from "bullmq";
import { isHttpUrl } from "../model/url.ts";
import { afterDeath, isDeadly, mostBeside, type Suspicion } from "./bisection.ts";
import type { QueueServer } from "./queue-server.ts";
import {
  emptySummary,
  isFailure,
  isRecord,
  isSummary,
  keyHash,
  quarantinedSummary,
  type SiteJob,
  type SiteOutcome,
  type SiteSummary,
  siteSettings,
} from "./site-job.ts";
import type { Lease, QueueCounts } from "./site-queue.ts";

/** A site of a list, with its archive from an earlier run. */
export interface ListedSite extends SiteJob {
  readonly previous?: string | undefined;
}

/** A lease of a run, and what its queue needs to know. */
export interface RunLease extends Lease {
  readonly run: string;
  readonly previous: string | undefined;
  readonly suspicion: Suspicion | undefined;
}

/** What this process reads, of all runs. */
export interface Held {
  readonly leases: Set<RunLease>;
  /** While so many are read, nothing more is taken: a suspect waits that must not be read beside more. */
  most: number;
  /** Leases that another worker has taken over. */
  lost: number;
  /** Called when a lease ends. */
  onSettled(): void;
}

/** Whether another site may be read beside those that are. */
export function hasRoom({ leases, most }: Held): boolean {
  return leases.size < Math.min(most, mostBeside([...leases].map(({ suspicion }) => suspicion)));
}

export class BullRun {
  readonly #server: QueueServer;
  readonly #name: string;
  readonly #leaseTime: number;
  readonly #held: Held;
  readonly #queue: Queue<JobData, SiteSummary>;
  readonly #jobs = new Map<string, { readonly token: string; lose(): void }>();
  #worker: Worker<JobData, SiteSummary> | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(server: QueueServer, name: string, leaseTime: number, held: Held) {
    this.#server = server;
    this.#name = name;
    this.#leaseTime = leaseTime;
    this.#held = held;
    this.#queue = server.queue(`sitegrove.${name}`) as Queue<JobData, SiteSummary>;
  }

  async add(sites: AsyncIterable<ListedSite> | Iterable<ListedSite>): Promise<{ added: number; known: number }> {
    const first = await this.#total();
    let count = 0;
    let batch: Parameters<Queue<JobData>["addBulk"]>[0] = [];
    let sending: Promise<unknown> = Promise.resolve();
    const send = () => {
      // Neighbors in a list often share a server.
      const jobs = batch.sort((one, other) => ((one.opts?.jobId ?? "") < (other.opts?.jobId ?? "") ? -1 : 1));
      batch = [];
      if (jobs.length > 0) sending = sending.then(() => this.#queue.addBulk(jobs));
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
    const added = Math.min(count, (await this.#total()) - first);
    return { added, known: count - added };
  }

  async counts(): Promise<QueueCounts> {
    const { waiting = 0, delayed = 0, prioritized = 0, ...counts } = await this.#queue.getJobCounts();
    const { active = 0, completed = 0, failed = 0 } = counts;
    return { waiting: waiting + delayed + prioritized, active, done: completed + failed, failed };
  }

  /** How many sites wait to be read again because a worker died. */
  suspects(): Promise<number> {
    return this.#queue.getJobCountByTypes("prioritized");
  }

  /** When the site was started that is being read longest, in milliseconds; infinite if none is. */
  async oldestStart(): Promise<number> {
    return Math.min(...(await this.#queue.getActive()).flatMap((job) => job?.processedOn ?? []));
  }

  /** In the order of the list. */
  async *results(): AsyncGenerator<SiteSummary, void> {
    for await (const job of this.#listed(["completed", "failed"]))
      if (job.finishedOn !== undefined) yield resultOf(job);
  }

  /** The sites of the run in the order of the list, with the archives that they have by now. */
  async *sites(): AsyncGenerator<ListedSite, void> {
    for await (const job of this.#listed(["waiting", "prioritized", "delayed", "active", "completed", "failed"])) {
      const site = siteOf(job);
      if (site === undefined) continue;
      const archive = job.finishedOn === undefined ? undefined : resultOf(job).files["archive"];
      yield { ...site, previous: archive ?? previousOf(job) };
    }
  }

  /** Puts sites with these outcomes back into the queue. `before` is called for each first. */
  async retry(outcomes: ReadonlySet<SiteOutcome>, before: (summary: SiteSummary) => Promise<unknown>): Promise<number> {
    let count = 0;
    for await (const job of this.#listed(["completed", "failed"])) {
      const summary = resultOf(job);
      if (job.finishedOn === undefined || !outcomes.has(summary.outcome)) continue;
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
    while (hasRoom(this.#held)) {
      const token = randomUUID();
      const job = await this.#worker.getNextJob(token, { block: false });
      if (job === undefined) return undefined;
      const lease = await this.#accept(job, token);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** Removes all of its sites and results. */
  async remove(): Promise<void> {
    await this.rest();
    await this.#queue.obliterate({ force: true });
  }

  /** Gives its connection back, unless something is being read. */
  async rest(): Promise<void> {
    const worker = this.#worker;
    if (this.#jobs.size > 0 || worker === undefined) return;
    this.close();
    this.#worker = undefined;
    await this.#server.release(worker);
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  async #startWorker(): Promise<Worker<JobData, SiteSummary>> {
    const worker = this.#server.worker(this.#queue.name, null, this.#leaseTime) as Worker<JobData, SiteSummary>;
    // Whoever was being read at a death comes after the others: the higher its priority, the later BullMQ gives a job out.
    worker.on("stalled", async (id) => {
      const job = await this.#queue.getJob(id).catch(() => undefined);
      await job?.changePriority({ priority: job.stalledCounter }).catch(() => undefined);
    });
    await worker.startStalledCheckTimer();
    this.#renewal = setInterval(async () => {
      const held = [...this.#jobs];
      const [ids, tokens] = [held.map(([id]) => id), held.map(([, { token }]) => token)];
      if (ids.length === 0) return;
      // Without a connection it is unknown: the next renewal tells.
      const lost = await worker.extendJobLocks(ids, tokens, this.#leaseTime).catch(() => []);
      for (const [id, job] of held) if (lost.map(String).includes(id)) job.lose();
    }, this.#leaseTime / 3).unref();
    return worker;
  }

  // Undefined where the job is not to be read now: it is put back behind the others, quarantined, or holds no website.
  async #accept(job: SiteQueueJob, token: string): Promise<RunLease | undefined> {
    const held = this.#held;
    const site = siteOf(job);
    const attempt = `${keyHash(site?.key ?? "")}-${job.attemptsStarted}`;
    if (site === undefined) {
      const reason = { message: "The job in the queue has no website", count: 1 };
      await this.#settle(job, token, emptySummary(shownSite(job), attempt, "failed", reason));
      return undefined;
    }
    const suspicion = suspicionOf(job);
    if (suspicion !== undefined && isDeadly(suspicion)) {
      await this.#settle(job, token, quarantinedSummary(site, attempt));
      return undefined;
    }
    const most = mostBeside([suspicion, ...[...held.leases].map((lease) => lease.suspicion)]);
    if (held.leases.size >= most) {
      held.most = most;
      await job.changePriority({ priority: job.stalledCounter });
      await job.moveToWait(token).catch(unlessHeld);
      return undefined;
    }
    held.most = Number.POSITIVE_INFINITY;
    const lost = new AbortController();
    const id = String(job.id);
    // Once a result was sent, the server decides.
    let isSettled = false;
    const once = async (work: () => Promise<boolean>): Promise<boolean> => {
      if (isSettled) return false;
      isSettled = true;
      return work().finally(() => {
        this.#jobs.delete(id);
        held.leases.delete(lease);
        held.onSettled();
      });
    };
    const lease: RunLease = {
      job: site,
      // A server that lost its last second of data may count the same start twice.
      attemptId: `${attempt}-${randomUUID().slice(0, 6)}`,
      previous: previousOf(job),
      suspicion,
      run: this.#name,
      starts: job.attemptsStarted,
      lost: lost.signal,
      done: async (summary) => ((await once(() => this.#settle(job, token, summary))) ? "accepted" : "superseded"),
      retry: async () => {
        await once(() => job.moveToWait(token).then(() => true, unlessHeld));
      },
    };
    const lose = () =>
      void once(async () => {
        held.lost += 1;
        lost.abort(new Error("Another worker has the website"));
        return true;
      });
    this.#jobs.set(id, { token, lose });
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
      const now: SiteQueueJob | undefined = await this.#queue.getJob(String(job.id));
      return now?.finishedOn !== undefined && resultOf(now).attemptId === summary.attemptId;
    }
  }

  async #total(): Promise<number> {
    const { waiting, active, done } = await this.counts();
    return waiting + active + done;
  }

  // In the order of the list. Only places and ids are held: a run may have a million sites.
  async *#listed(states: readonly JobType[]): AsyncGenerator<SiteQueueJob, void> {
    const places = new Map<string, number>();
    for (const state of states) {
      for (let start = 0; ; start += batchSize) {
        const jobs = await this.#queue.getJobs([state], start, start + batchSize - 1, true);
        for (const job of jobs) {
          const { at } = isRecord(job?.data) ? job.data : {};
          if (job !== undefined) places.set(String(job.id), typeof at === "number" ? at : Number.MAX_SAFE_INTEGER);
        }
        if (jobs.length < batchSize) break;
      }
    }
    const ids = [...places].sort(([, one], [, other]) => one - other).map(([id]) => id);
    for (let start = 0; start < ids.length; start += readSize) {
      const jobs = await Promise.all(ids.slice(start, start + readSize).map((id) => this.#queue.getJob(id)));
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

/** The data of a job. */
interface JobData extends ListedSite {
  /** Its position in the list. */
  readonly at: number;
  /** Deaths of workers that no longer count, because the site was to be read again. */
  readonly cleared?: number;
}

// BullMQ ignores an id that exists, whatever its state: so the id identifies the site. It is longer than the hash in file names, because
// two sites with the same id would become one.
function idOf(run: string, key: string): string {
  return `${run}-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

/** Undefined where the job holds no website. */
function siteOf({ data }: SiteQueueJob): SiteJob | undefined {
  const { key, homepage, settings } = isRecord(data) ? data : {};
  if (typeof key !== "string" || typeof homepage !== "string" || !isHttpUrl(homepage)) return undefined;
  return { key, homepage, ...defined({ settings: siteSettings(settings) }) };
}

function previousOf({ data: { previous } }: SiteQueueJob): string | undefined {
  return typeof previous === "string" ? previous : undefined;
}

/** The result of a finished job. */
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
  const reason = { message: failedReason || "Somebody else ended the job", count: 1 };
  return emptySummary(site, `${keyHash(site.key)}-0`, "failed", reason);
}

function shownSite({ data }: SiteQueueJob): SiteJob {
  const { key, homepage } = isRecord(data) ? data : {};
  const shown = (text: unknown) => (typeof text === "string" ? text.slice(0, longestShown) : "");
  return { key: shown(key), homepage: shown(homepage) };
}

const longestShown = 2000;

export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

// BullMQ counts how often nobody renewed the lock of a job. How many others the dead worker was reading is unknown: many are assumed, so that
// restarts of all workers quarantine nobody.
function suspicionOf({ stalledCounter, data: { cleared } }: SiteQueueJob): Suspicion | undefined {
  let suspicion: Suspicion | undefined;
  const first = typeof cleared === "number" ? cleared : 0;
  for (let death = first; death < stalledCounter; death += 1) suspicion = afterDeath(suspicion, assumedInFlight);
  return suspicion;
}

const assumedInFlight = 16;

// BullMQ refuses where another worker has the job, or has finished it.
function unlessHeld(error: unknown): false {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== "number" || code >= 0) throw error;
  return false;
}
