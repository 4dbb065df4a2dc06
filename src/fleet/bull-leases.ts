// The leases of one run that this process holds. BullMQ has the locks, and gives a job to another worker if nobody renews its lock. It takes a
// result only from the holder of the lock: a worker that was stopped past its lease cannot publish.
import { randomUUID } from "node:crypto";
import type { Queue, Worker } from "bullmq";
import { afterDeath, isDeadly, mostBeside, type Suspicion } from "./bisection.ts";
import { idOf, type JobData, noSiteSummary, queuedSite, type SiteQueueJob, summaryOf } from "./bull-run.ts";
import type { QueueServer } from "./queue-server.ts";
import { isFailure, keyHash, quarantinedSummary, type SiteSummary } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/** A lease of a run, and what its queue needs to know. */
export interface RunLease extends Lease {
  readonly run: string;
  readonly previous: string | undefined;
  readonly suspicion: Suspicion | undefined;
  /** `done` and, with `andNext`, the next site of the run, in one command. */
  finish(
    summary: SiteSummary,
    andNext: boolean,
  ): Promise<{ readonly result: "accepted" | "superseded"; readonly next: RunLease | undefined }>;
  /** Called by whoever renews the locks. */
  lose(): void;
}

/** What this process reads, of all runs. */
export interface Held {
  readonly leases: Set<RunLease>;
  /** While so many are read, nothing more is taken: a suspect waits that must not be read beside more. */
  most: number;
  /** Called when a lease ends. */
  onSettled(): void;
}

export interface BullLeasesOptions {
  readonly server: QueueServer;
  readonly queue: Queue<JobData, SiteSummary>;
  readonly run: string;
  /** In milliseconds. */
  readonly leaseTime: number;
  readonly held: Held;
}

export class BullLeases {
  readonly #options: BullLeasesOptions;
  readonly #jobs = new Map<RunLease, { readonly id: string; readonly token: string }>();
  #worker: Promise<Worker<JobData, SiteSummary>> | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(options: BullLeasesOptions) {
    this.#options = options;
  }

  /** A lease for the next site that may be read now, if there is one. */
  async take(): Promise<RunLease | undefined> {
    const { held } = this.#options;
    const worker = await (this.#worker ??= this.#startWorker());
    while (hasRoom(held)) {
      const token = randomUUID();
      const job: SiteQueueJob | undefined = await worker.getNextJob(token, { block: false });
      if (job === undefined) return undefined;
      const lease = await this.#accept(job, token);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** Gives its connection back, unless something is being read. */
  async rest(): Promise<void> {
    if (this.#jobs.size > 0 || this.#worker === undefined) return;
    const worker = await this.#worker;
    this.close();
    this.#worker = undefined;
    await this.#options.server.release(worker);
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  async #startWorker(): Promise<Worker<JobData, SiteSummary>> {
    const { server, queue, leaseTime } = this.#options;
    const worker = server.worker(queue.name, leaseTime) as Worker<JobData, SiteSummary>;
    worker.on("stalled", (id) => void this.#putBehind(id).catch(() => undefined));
    await worker.startStalledCheckTimer();
    this.#renewal = setInterval(() => void this.#renew(worker), leaseTime / 3);
    this.#renewal.unref();
    return worker;
  }

  async #renew(worker: Worker): Promise<void> {
    const held = [...this.#jobs];
    if (held.length === 0) return;
    const [ids, tokens] = [held.map(([, { id }]) => id), held.map(([, { token }]) => token)];
    // Without a connection it is unknown: the next renewal tells.
    const lost = new Set(
      (await worker.extendJobLocks(ids, tokens, this.#options.leaseTime).catch(() => [])).map(String),
    );
    for (const [lease, { id }] of held) if (lost.has(id)) lease.lose();
  }

  // Whoever was being read at a death comes after the others: the higher its priority, the later BullMQ gives a job out.
  async #putBehind(id: string): Promise<void> {
    const job: SiteQueueJob | undefined = await this.#options.queue.getJob(id);
    if (job !== undefined) await job.changePriority({ priority: job.stalledCounter });
  }

  // Undefined where the job is not to be read now: it is put back behind the others, quarantined, or holds no website.
  async #accept(job: SiteQueueJob, token: string): Promise<RunLease | undefined> {
    const { held } = this.#options;
    const site = queuedSite(job.data);
    if (site === undefined) {
      await this.#settle(job, token, noSiteSummary(job.data, job.attemptsStarted), false);
      return undefined;
    }
    const suspicion = suspicionOf(job, site.cleared);
    if (suspicion !== undefined && isDeadly(suspicion)) {
      await this.#settle(job, token, quarantinedSummary(site, `${keyHash(site.key)}-${job.attemptsStarted}`), false);
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
    return this.#lease(job, token, site, suspicion);
  }

  #lease(
    job: SiteQueueJob,
    token: string,
    { key, homepage, previous }: NonNullable<ReturnType<typeof queuedSite>>,
    suspicion: Suspicion | undefined,
  ): RunLease {
    const { held, run } = this.#options;
    const lost = new AbortController();
    // Once a result was sent, the server decides.
    let isSettled = false;
    const settleOnce = () => {
      const isFirst = !isSettled;
      isSettled = true;
      return isFirst;
    };
    const release = () => {
      this.#jobs.delete(lease);
      held.leases.delete(lease);
      held.onSettled();
    };
    const finish: RunLease["finish"] = async (summary, andNext) => {
      if (!settleOnce()) return { result: "superseded", next: undefined };
      held.leases.delete(lease);
      try {
        const settled = await this.#settle(job, token, summary, andNext);
        return { result: settled === undefined ? "superseded" : "accepted", next: settled?.next };
      } finally {
        release();
      }
    };
    const lease: RunLease = {
      run,
      previous,
      suspicion,
      job: { key, homepage },
      starts: job.attemptsStarted,
      // A server that lost its last second of data may count the same start twice.
      attemptId: `${keyHash(key)}-${job.attemptsStarted}-${randomUUID().slice(0, 6)}`,
      lost: lost.signal,
      finish,
      done: async (summary) => (await finish(summary, false)).result,
      retry: async (_, afterMs) => {
        if (!settleOnce()) return;
        try {
          await (afterMs > 0 ? job.moveToDelayed(Date.now() + afterMs, token) : job.moveToWait(token));
        } catch (error) {
          unlessHeld(error);
        } finally {
          release();
        }
      },
      lose: () => {
        if (!settleOnce()) return;
        lost.abort(new Error("Another worker has the website"));
        release();
      },
    };
    this.#jobs.set(lease, { id: idOf(job), token });
    held.leases.add(lease);
    return lease;
  }

  /** Undefined if another summary counts. */
  async #settle(
    job: SiteQueueJob,
    token: string,
    summary: SiteSummary,
    andNext: boolean,
  ): Promise<{ readonly next: RunLease | undefined } | undefined> {
    try {
      const answer: unknown = isFailure(summary.outcome)
        ? await job.moveToFailed(new Error(JSON.stringify(summary)), token, andNext)
        : await job.moveToCompleted(summary, token, andNext);
      // The lock of the next job has the same token; the lock of this one is gone.
      const next = andNext ? this.#options.server.jobIn(answer, await this.#worker) : undefined;
      return { next: next === undefined ? undefined : await this.#accept(next as SiteQueueJob, token) };
    } catch (error) {
      unlessHeld(error);
      // The connection may have broken between the command and its answer, and the command was sent again.
      const now: SiteQueueJob | undefined = await this.#options.queue.getJob(idOf(job));
      return now?.finishedOn !== undefined && summaryOf(now).attemptId === summary.attemptId
        ? { next: undefined }
        : undefined;
    }
  }
}

/** Whether another site may be read beside those that are. */
export function hasRoom({ leases, most }: Held): boolean {
  return leases.size < Math.min(most, mostBeside([...leases].map(({ suspicion }) => suspicion)));
}

// BullMQ counts how often nobody renewed the lock of a job. How many others the dead worker was reading is unknown: many are assumed, so that
// restarts of all workers quarantine nobody.
function suspicionOf({ stalledCounter }: SiteQueueJob, cleared: number): Suspicion | undefined {
  let suspicion: Suspicion | undefined;
  for (let death = cleared; death < stalledCounter; death += 1) suspicion = afterDeath(suspicion, assumedInFlight);
  return suspicion;
}

const assumedInFlight = 16;

// BullMQ refuses where another worker has the job, or has finished it.
function unlessHeld(error: unknown): void {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== "number" || code >= 0) throw error;
}
