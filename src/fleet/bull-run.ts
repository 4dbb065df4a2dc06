// One run on a server: a queue of BullMQ whose jobs are websites. What became of a website is the value of its finished job, which
// BullMQ takes only from whoever holds the lock: a worker that was stopped past its lease cannot publish.
import { createHash, randomUUID } from "node:crypto";
import type { Job, Queue, Worker } from "bullmq";
import type { Problem } from "../problem.ts";
import { attemptsThatDied, isHeld, type LogLine, logLine } from "./attempt-log.ts";
import { batches } from "./list-batches.ts";
import type { QueueServer } from "./queue-server.ts";
import { type JobData, noSiteSummary, placeOf, queuedSite, summaryOf } from "./queued-site.ts";
import type { ListedSite } from "./run-data.ts";
import { isFailure, keyHash, mostDeaths, quarantinedSummary, type SiteOutcome, type SiteSummary } from "./site-job.ts";
import type { Lease, QueueCounts } from "./site-queue.ts";

type SiteQueueJob = Job<JobData, SiteSummary>;

/** A lease of a run, and what its queue needs to know. */
export interface RunLease extends Lease {
  readonly run: string;
  readonly previous: string | undefined;
  /** Workers died while it was read: it is read with nothing else running in its process. */
  readonly isSuspect: boolean;
  /** Says that a suspect is begun now. */
  begin(): Promise<void>;
  /** `done`, and where it is wanted the next site of the run, in one command. */
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

export class BullRun {
  readonly name: string;
  readonly #queue: Queue<JobData, SiteSummary>;
  readonly #server: QueueServer;
  readonly #leaseTime: number;
  readonly #onSettled: () => void;
  #worker: Worker<JobData, SiteSummary> | undefined;
  readonly #held = new Set<Held>();
  #renewal: NodeJS.Timeout | undefined;

  constructor(server: QueueServer, name: string, leaseTime: number, onSettled: () => void) {
    this.name = name;
    this.#server = server;
    this.#leaseTime = leaseTime;
    this.#onSettled = onSettled;
    this.#queue = server.queue(queueName(name)) as Queue<JobData, SiteSummary>;
  }

  /** How many leases are held here. */
  get held(): number {
    return this.#held.size;
  }

  async add(sites: AsyncIterable<ListedSite> | Iterable<ListedSite>): Promise<{ added: number; known: number }> {
    const first = await this.#total();
    let total = first;
    let count = 0;
    for await (const batch of batches(sites, batchSize)) {
      const jobs = batch.map(({ key, homepage, previous }, index) => {
        const data = { key, homepage, at: first + count + index, ...(previous === undefined ? {} : { previous }) };
        return { name: "site", data, opts: { ...jobOptions, jobId: this.#idOf(key) } };
      });
      // Neighbors in a list often share a server.
      jobs.sort((one, other) => (one.opts.jobId < other.opts.jobId ? -1 : 1));
      await this.#queue.addBulk(jobs);
      count += batch.length;
      total = await this.#total();
    }
    // Somebody else may add to the same run.
    const added = Math.min(count, total - first);
    return { added, known: count - added };
  }

  async counts(): Promise<QueueCounts> {
    const counts = await this.#queue.getJobCounts();
    const of = (...states: string[]) => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    return {
      waiting: of("waiting", "delayed", "prioritized", "waiting-children"),
      active: of("active"),
      done: of("completed", "failed"),
      failed: of("failed"),
    };
  }

  /** In the order of the list. */
  async *results(): AsyncGenerator<SiteSummary, void> {
    for await (const job of this.#finished()) yield summaryOf(job);
  }

  /** The sites of the run in the order of the list, with the archives that they have by now. */
  async *sites(): AsyncGenerator<ListedSite, void> {
    const places = await this.#places(["waiting", "delayed", "active", "completed", "failed"]);
    for await (const job of this.#jobs(places)) {
      const site = queuedSite(job.data);
      if (site === undefined) continue;
      const archive = job.finishedOn === undefined ? undefined : summaryOf(job).files["archive"];
      yield { ...site, previous: archive ?? site.previous };
    }
  }

  /** Sites that ended so wait again. `before` is told first. */
  async again(outcomes: ReadonlySet<SiteOutcome>, before: (summary: SiteSummary) => Promise<void>): Promise<number> {
    let count = 0;
    for await (const job of this.#finished()) {
      const summary = summaryOf(job);
      if (!outcomes.has(summary.outcome)) continue;
      await before(summary);
      await job.log(logLine(job.attemptsStarted, "ended"));
      await job.retry(isFailure(summary.outcome) ? "failed" : "completed");
      count += 1;
    }
    return count;
  }

  /** The next sites, at most so many. Asked for at once: they cost one round trip. */
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
    // What was taken is given out; a server that fails will fail again.
    if (failure !== undefined && leases.length === 0) throw failure.reason;
    return leases;
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal);
  }

  async #total(): Promise<number> {
    const { waiting, active, done } = await this.counts();
    return waiting + active + done;
  }

  // An id that exists is ignored, whatever its state: so the id is the site. It is longer than the hash in file names, because two sites
  // with one id would be one site.
  #idOf(key: string): string {
    return `${this.name}-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
  }

  async #startWorker(): Promise<Worker<JobData, SiteSummary>> {
    const worker = this.#server.worker(queueName(this.name), this.#leaseTime) as Worker<JobData, SiteSummary>;
    await worker.startStalledCheckTimer();
    this.#renewal = setInterval(() => void this.#renew(), this.#leaseTime / 3);
    this.#renewal.unref();
    return worker;
  }

  async #renew(): Promise<void> {
    const held = [...this.#held];
    if (held.length === 0 || this.#worker === undefined) return;
    const ids = held.map(({ id }) => id);
    const tokens = held.map(({ token }) => token);
    // Without a connection nobody knows: it is asked again when there is one.
    const lost = await this.#worker.extendJobLocks(ids, tokens, this.#leaseTime).catch(() => []);
    const gone = new Set(lost.map(String));
    for (const { id, lose } of held) if (gone.has(id)) lose();
  }

  // Crashes included: BullMQ counts starts when it gives a job out. Who ends an attempt without dying writes it down.
  async #deathsOf(job: SiteQueueJob): Promise<number> {
    const before = job.attemptsStarted - 1;
    if (before < mostDeaths - 1) return before;
    const { logs } = await this.#queue.getJobLogs(idOf(job), 0, -1);
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
    // A server that lost its last second counts some starts twice.
    const attemptId = `${keyHash(key)}-${starts}-${randomUUID().slice(0, 6)}`;
    const lost = new AbortController();
    const write = (line: LogLine) => job.log(logLine(starts, line)).catch(() => undefined);
    let isSettled = false;
    const held: Held = {
      id: idOf(job),
      token,
      lose: () => {
        // The server itself says what becomes of a result that was sent.
        if (isSettled || !this.#held.delete(held)) return;
        lost.abort(new Error("Somebody else has the website"));
        void write("outlived");
        this.#onSettled();
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
      this.#onSettled();
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
      run: this.name,
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

  /** Undefined where the summary is not what counts now. */
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
      // The lock of the next one has the same token; this one's is gone.
      const next = andNext ? this.#server.jobIn(answer, this.#worker) : undefined;
      return { next: next === undefined ? undefined : await this.#lease(next as SiteQueueJob, token) };
    } catch (error) {
      if (!isHeld(error)) throw error;
      // The connection may have broken between the command and its answer, and the command was sent again.
      const now: SiteQueueJob | undefined = await this.#queue.getJob(idOf(job));
      return now?.finishedOn !== undefined && summaryOf(now).attemptId === summary.attemptId
        ? { next: undefined }
        : undefined;
    }
  }

  async *#finished(): AsyncGenerator<SiteQueueJob, void> {
    for await (const job of this.#jobs(await this.#places(["completed", "failed"]))) {
      if (job.finishedOn !== undefined) yield job;
    }
  }

  // Only places and ids are held: a run may have a million sites.
  async #places(states: readonly ("waiting" | "delayed" | "active" | "completed" | "failed")[]) {
    const places = new Map<string, number>();
    for (const state of states) {
      for (let start = 0; ; start += batchSize) {
        const jobs = await this.#queue.getJobs([state], start, start + batchSize - 1, true);
        for (const job of jobs) if (job !== undefined) places.set(idOf(job), placeOf(job.data));
        if (jobs.length < batchSize) break;
      }
    }
    return [...places].sort(([, one], [, other]) => one - other).map(([id]) => id);
  }

  async *#jobs(ids: readonly string[]): AsyncGenerator<SiteQueueJob, void> {
    for (let start = 0; start < ids.length; start += readSize) {
      const jobs = await Promise.all(ids.slice(start, start + readSize).map((id) => this.#queue.getJob(id)));
      for (const job of jobs) if (job !== undefined) yield job;
    }
  }
}

const batchSize = 1000;
const readSize = 200;

// Nothing that is done is removed: it is the result. An error has no stack that anybody needs.
const jobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false, stackTraceLimit: 0 } as const;

function queueName(run: string): string {
  return `sitegrove.${run}`;
}

function idOf(job: SiteQueueJob): string {
  if (job.id === undefined) throw new Error("The job has no id");
  return job.id;
}
