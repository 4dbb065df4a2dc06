// Scheduled runs: each has a BullMQ job scheduler, whose job makes the next run from the previous one. Any worker may get the job. The name of
// the new run comes from the time of the job, so that a job that is done twice, because a worker died, makes one run.
import { randomUUID } from "node:crypto";
import type { Job, Queue, Worker } from "bullmq";
import type { QueueServer } from "./queue-server.ts";
import type { Schedule } from "./run-data.ts";
import { isRunName } from "./run-register.ts";

export class RunSchedule {
  readonly #server: QueueServer;
  readonly #queue: Queue;
  #worker: Worker | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(server: QueueServer) {
    this.#server = server;
    this.#queue = server.queue(scheduleName);
  }

  /** The first repetition starts after one interval. */
  async set(run: string, every: number): Promise<void> {
    const template = {
      name: "run",
      data: { run },
      opts: { removeOnComplete: { count: 20 }, removeOnFail: { count: 20 } },
    };
    await this.#queue.upsertJobScheduler(schedulerId(run), { every, startDate: Date.now() + every }, template);
  }

  async remove(run: string): Promise<boolean> {
    return this.#queue.removeJobScheduler(schedulerId(run));
  }

  async list(): Promise<Schedule[]> {
    const schedulers = await this.#queue.getJobSchedulers(0, -1, true);
    return schedulers.map(({ template, every, next }) => ({
      run: String((template?.data as { run?: unknown } | undefined)?.run),
      every: Number(every),
      next: next === undefined ? undefined : Number(next),
    }));
  }

  /** Makes a run that is due. `make` gets the name of the scheduled run, and a name for the new one. */
  async startDueRun(make: (run: string, name: string) => Promise<void>): Promise<void> {
    if (performance.now() - this.#askedAt < askTime) return;
    this.#askedAt = performance.now();
    if (this.#worker === undefined) {
      this.#worker = this.#server.worker(scheduleName, leaseTime);
      await this.#worker.startStalledCheckTimer();
    }
    const token = randomUUID();
    const job: Job<{ readonly run: string }> | undefined = await this.#worker.getNextJob(token, { block: false });
    if (job === undefined) return;
    const renewal = setInterval(() => void job.extendLock(token, leaseTime).catch(() => undefined), leaseTime / 3);
    try {
      const time = new Date(Number(job.opts.prevMillis ?? job.timestamp));
      const stamp = time.toISOString().replaceAll(/[-:]|\.\d+/g, "");
      const { run } = (job.data ?? {}) as { run?: unknown };
      if (isRunName(run)) await make(run, `${run}.${stamp}`);
      await job.moveToCompleted("made", token, false);
    } finally {
      clearInterval(renewal);
    }
  }
}

const scheduleName = "sitegrove-schedule";
// In milliseconds.
const askTime = 1000;
const leaseTime = 30_000;

function schedulerId(run: string): string {
  return `schedule-${run}`;
}
