// The runs of a server and their schedules. A run is one job in a queue that no worker takes from, which also records whether sites are still
// being added to it. A schedule is a BullMQ job scheduler, whose job makes the next run from the previous one; any worker may get it. The name of
// the new run comes from the time of the job, so that a job that is done twice, because a worker died, makes one run.

import { randomUUID } from "node:crypto";
import type { Job, Queue, Worker } from "bullmq";
import { invalid } from "../model/option-checks.ts";
import type { QueueServer } from "./queue-server.ts";
import type { RunEntry, RunSettings, Schedule } from "./run-data.ts";

type EntryJob = Job<{ readonly run: string; readonly settings: RunSettings }>;

export class RunRegister {
  readonly #server: QueueServer;
  readonly #queue: Queue;
  #presence: Worker | undefined;

  constructor(server: QueueServer) {
    this.#server = server;
    this.#queue = server.queue(registerName);
  }

  /** Counts this process as a worker from now on. */
  join(): void {
    this.#presence ??= this.#server.worker(registerName, 30_000);
  }

  /** The number of processes that take sites; undefined if the server does not know. */
  async workers(): Promise<number | undefined> {
    const workers = await this.#queue.getWorkers().catch(() => undefined);
    // If connections have no names, BullMQ invents one worker.
    return workers?.every((worker) => "rawname" in worker) ? workers.length : undefined;
  }

  /** The oldest first. */
  async list(): Promise<RunEntry[]> {
    const jobs: EntryJob[] = [];
    for (let start = 0; ; start += pageSize) {
      const page = await this.#queue.getJobs(["waiting"], start, start + pageSize - 1, true);
      jobs.push(...page.filter((job) => job !== undefined));
      if (page.length < pageSize) break;
    }
    return jobs.flatMap(entryOf).sort((one, other) => one.createdAt - other.createdAt);
  }

  /** New settings replace earlier ones, one by one. */
  async add(run: string, settings: RunSettings | undefined): Promise<void> {
    expectRunName(run);
    const known: EntryJob | undefined = await this.#queue.getJob(entryId(run));
    if (known === undefined) {
      await this.#queue.add("run", { run, settings: settings ?? {} }, { jobId: entryId(run) });
    } else if (settings !== undefined)
      await known.updateData({ run, settings: { ...known.data.settings, ...defined(settings) } });
  }

  async remove(run: string): Promise<void> {
    await this.#queue.remove(entryId(run));
  }

  /** Marks the run as being filled, until `work` is done or this process is gone. */
  async whileFilling<T>(run: string, work: () => Promise<T>): Promise<T> {
    const job: EntryJob | undefined = await this.#queue.getJob(entryId(run));
    const say = (until: number) => job?.updateProgress({ filling: until });
    await say(Date.now() + fillingTime);
    const timer = setInterval(() => void say(Date.now() + fillingTime)?.catch(() => undefined), fillingTime / 4);
    timer.unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
      await say(0);
    }
  }
}

function isRunName(run: unknown): run is string {
  return typeof run === "string" && /^[a-z0-9][a-z0-9._-]{0,99}$/i.test(run);
}

/** Throws a `SitemapError` (`invalid-option`): the name becomes part of names on the server and of files. */
export function expectRunName(run: string): void {
  if (isRunName(run)) return;
  throw invalid(
    "The name of a run has letters, digits, dots, hyphens and underscores, at most 100, and begins with a letter or digit",
  );
}

const registerName = "sitegrove";
const pageSize = 500;
// In milliseconds. The clocks of machines differ by less.
const fillingTime = 60_000;

function defined(settings: RunSettings): RunSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function entryId(run: string): string {
  return `run-${run}`;
}

// Other jobs in this queue are ignored.
function entryOf({ data, timestamp, progress }: EntryJob): RunEntry[] {
  const { run, settings } = (data ?? {}) as Partial<EntryJob["data"]>;
  if (!isRunName(run)) return [];
  const { filling } = (typeof progress === "object" && progress !== null ? progress : {}) as { filling?: unknown };
  const isFilling = typeof filling === "number" && filling > Date.now();
  return [{ run, createdAt: timestamp, settings: settings ?? {}, isFilling }];
}

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
  async set(run: string, every: number, keep: number | undefined): Promise<void> {
    const template = {
      name: "run",
      data: { run, keep },
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
      ...scheduledRun(template?.data),
      every: Number(every),
      next: next === undefined ? undefined : Number(next),
    }));
  }

  /** Makes a run that is due. `make` gets the name of the scheduled run, a name for the new one, and how many to keep. */
  async startDueRun(make: (run: string, name: string, keep: number | undefined) => Promise<void>): Promise<void> {
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
      // The id of the job ends with the time when it is due; it is made one interval before.
      const time = new Date(Number(job.id?.split(":").at(-1)) || Date.now());
      const stamp = time.toISOString().replaceAll(/[-:]|\.\d+/g, "");
      const { run, keep } = scheduledRun(job.data);
      if (isRunName(run)) await make(run, `${run}.${stamp}`, keep);
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

function scheduledRun(data: unknown): Pick<Schedule, "run" | "keep"> {
  const { run, keep } = (data ?? {}) as { run?: unknown; keep?: unknown };
  return { run: String(run), keep: typeof keep === "number" ? keep : undefined };
}

function schedulerId(run: string): string {
  return `schedule-${run}`;
}
