// The runs of a server: one job each, in a queue that no worker takes from. Also records whether sites are still being added to a run.
import type { Job, Queue, Worker } from "bullmq";
import { invalid } from "../model/option-checks.ts";
import type { QueueServer } from "./queue-server.ts";
import type { RunEntry, RunSettings } from "./run-data.ts";

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

export function isRunName(run: unknown): run is string {
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
