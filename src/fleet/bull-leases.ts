// The leases of one run that this process holds: taken from the server, renewed while websites are read, and ended with their result.
// BullMQ takes a result only from the holder of the lock: a worker that was stopped past its lease cannot publish.
import { randomUUID } from "node:crypto";
import type { Queue, Worker } from "bullmq";
import type { Problem } from "../model/problem.ts";
import { attemptsThatDied, isHeld, type LogLine, logLine } from "./attempt-log.ts";
import { idOf, type JobData, noSiteSummary, queuedSite, type SiteQueueJob, summaryOf } from "./bull-run.ts";
import type { QueueServer } from "./queue-server.ts";
import { isFailure, keyHash, mostDeaths, quarantinedSummary, type SiteSummary } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/** A lease of a run, and what its queue needs to know. */
export interface RunLease extends Lease {
  readonly run: string;
  readonly previous: string | undefined;
  /** Workers died while it was read: it is read with nothing else running in its process. */
  readonly isSuspect: boolean;
  /** Records that reading a suspect begins now. */
  begin(): Promise<void>;
  /** `done` and, with `andNext`, the next site of the run, in one command. */
  finish(
    summary: SiteSummary,
    andNext: boolean,
  ): Promise<{ readonly result: "accepted" | "superseded"; readonly next: RunLease | undefined }>;
}

interface Held {
  readonly id: string;
  readonly token: string;
  lose(): void;
}

export interface BullLeasesOptions {
  readonly server: QueueServer;
  readonly queue: Queue<JobData, SiteSummary>;
  readonly queueName: string;
  readonly run: string;
  /** In milliseconds. */
  readonly leaseTime: number;
  /** Called when a lease ends. */
  readonly onSettled: () => void;
}

export class BullLeases {
  readonly #options: BullLeasesOptions;
  #worker: Worker<JobData, SiteSummary> | undefined;
  readonly #held = new Set<Held>();
  #renewal: NodeJS.Timeout | undefined;

  constructor(options: BullLeasesOptions) {
    this.#options = options;
  }

  /** How many are held. */
  get size(): number {
    return this.#held.size;
  }

  /** Leases for the next sites, at most `count`. All are requested at once: they cost one round trip. */
  async take(count: number): Promise<RunLease[]> {
    const worker = (this.#worker ??= await this.#startWorker());
    const takeOne = async () => {
      for (;;) {
        const token = randomUUID();
        const job: SiteQueueJob | undefined = await worker.getNextJob(token, { block: false });
        if (job === undefined) return undefined;
        const lease = await this.#lease(job, token);
        if (lease !== undefined) return lease;
      }
    };
    const taking = Array.from({ length: count }, takeOne);
    const taken = await Promise.allSettled(taking);
    const leases = taken.flatMap((each) => (each.status === "fulfilled" && each.value !== undefined ? each.value : []));
    const failure = taken.find((each) => each.status === "rejected");
    // Sites that were taken are used; a server that fails will fail again.
    if (failure !== undefined && leases.length === 0) throw failure.reason;
    return leases;
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  async #startWorker(): Promise<Worker<JobData, SiteSummary>> {
    const { server, queueName, leaseTime } = this.#options;
    const worker = server.worker(queueName, leaseTime) as Worker<JobData, SiteSummary>;
    await worker.startStalledCheckTimer();
    this.#renewal = setInterval(() => void this.#renew(), leaseTime / 3);
    this.#renewal.unref();
    return worker;
  }

  async #renew(): Promise<void> {
    const held = [...this.#held];
    if (held.length === 0 || this.#worker === undefined) return;
    const ids = held.map(({ id }) => id);
    const tokens = held.map(({ token }) => token);
    // Without a connection it is unknown: the next renewal tells.
    const lost = await this.#worker.extendJobLocks(ids, tokens, this.#options.leaseTime).catch(() => []);
    const gone = new Set(lost.map(String));
    for (const { id, lose } of held) if (gone.has(id)) lose();
  }

  // BullMQ counts starts, crashes included. Attempts that end in another way are in the log.
  async #deathsOf(job: SiteQueueJob): Promise<number> {
    const before = job.attemptsStarted - 1;
    if (before < mostDeaths - 1) return before;
    const { logs } = await this.#options.queue.getJobLogs(idOf(job), 0, -1);
    return attemptsThatDied(before, logs);
  }

  // Undefined where the job is set aside: it was started too often, or holds no website.
  async #lease(job: SiteQueueJob, token: string): Promise<RunLease | undefined> {
    const site = queuedSite(job.data);
    if (site === undefined) {
      await this.#settle(job, token, noSiteSummary(job.data, job.attemptsStarted), false);
      return undefined;
    }
    const deaths = await this.#deathsOf(job);
    if (deaths >= mostDeaths) {
      const attempt = `${keyHash(site.key)}-${job.attemptsStarted}`;
      await this.#settle(job, token, quarantinedSummary(site, attempt), false);
      return undefined;
    }
    const isSuspect = deaths === mostDeaths - 1;
    const starts = job.attemptsStarted;
    const { key, homepage, previous } = site;
    // A server that lost its last second of data may count the same start twice.
    const attemptId = `${keyHash(key)}-${starts}-${randomUUID().slice(0, 6)}`;
    const lost = new AbortController();
    const write = (line: LogLine) => job.log(logLine(starts, line)).catch(() => undefined);
    let isSettled = false;
    const held: Held = {
      id: idOf(job),
      token,
      lose: () => {
        // After a result was sent, the server decides.
        if (isSettled || !this.#held.delete(held)) return;
        lost.abort(new Error("Another worker has the website"));
        void write("outlived");
        this.#options.onSettled();
      },
    };
    this.#held.add(held);
    const settleOnce = () => {
      if (isSettled) return false;
      isSettled = true;
      return true;
    };
    const release = () => {
      this.#held.delete(held);
      this.#options.onSettled();
    };
    const finish: RunLease["finish"] = async (summary, andNext) => {
      if (!settleOnce()) return { result: "superseded", next: undefined };
      try {
        const settled = await this.#settle(job, token, summary, andNext);
        if (settled !== undefined) return { result: "accepted", next: settled.next };
        await write("outlived");
        return { result: "superseded", next: undefined };
      } finally {
        release();
      }
    };
    if (isSuspect) await write("held");
    return {
      run: this.#options.run,
      previous,
      isSuspect,
      job: { key, homepage },
      starts,
      attemptId,
      lost: lost.signal,
      begin: async () => {
        await write("alone");
      },
      finish,
      done: async (summary) => (await finish(summary, false)).result,
      retry: async (reason: Problem | undefined, afterMs) => {
        if (!settleOnce()) return;
        try {
          await job.log(logLine(starts, "ended", reason?.message));
          if (afterMs > 0) await job.moveToDelayed(Date.now() + afterMs, token);
          else await job.moveToWait(token);
        } catch (error) {
          if (!isHeld(error)) throw error;
        } finally {
          release();
        }
      },
    };
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
      const next = andNext ? this.#options.server.jobIn(answer, this.#worker) : undefined;
      return { next: next === undefined ? undefined : await this.#lease(next as SiteQueueJob, token) };
    } catch (error) {
      if (!isHeld(error)) throw error;
      // The connection may have broken between the command and its answer, and the command was sent again.
      const now: SiteQueueJob | undefined = await this.#options.queue.getJob(idOf(job));
      return now?.finishedOn !== undefined && summaryOf(now).attemptId === summary.attemptId
        ? { next: undefined }
        : undefined;
    }
  }
}
