// One run on a server: a queue of BullMQ whose jobs are websites. The result of a website is the value of its finished job.
import { createHash } from "node:crypto";
import type { Job, Queue } from "bullmq";
import { isHttpUrl } from "../model/url.ts";
import { BullLeases, type Held, type RunLease } from "./bull-leases.ts";
import type { QueueServer } from "./queue-server.ts";
import type { ListedSite } from "./run-data.ts";
import {
  emptySummary,
  isFailure,
  keyHash,
  type SiteJob,
  type SiteOutcome,
  type SiteSummary,
  siteOutcomes,
} from "./site-job.ts";
import type { QueueCounts } from "./site-queue.ts";

export class BullRun {
  readonly name: string;
  readonly #queue: Queue<JobData, SiteSummary>;
  readonly #leases: BullLeases;

  constructor(server: QueueServer, name: string, leaseTime: number, held: Held) {
    this.name = name;
    this.#queue = server.queue(`sitegrove.${name}`) as Queue<JobData, SiteSummary>;
    this.#leases = new BullLeases({ server, queue: this.#queue, run: name, leaseTime, held });
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
    const places = await this.#places(["waiting", "prioritized", "delayed", "active", "completed", "failed"]);
    for await (const job of this.#jobs(places)) {
      const site = queuedSite(job.data);
      if (site === undefined) continue;
      const archive = job.finishedOn === undefined ? undefined : summaryOf(job).files["archive"];
      yield { key: site.key, homepage: site.homepage, previous: archive ?? site.previous };
    }
  }

  /** Puts sites with these outcomes back into the queue. `before` is called for each first. */
  async retry(outcomes: ReadonlySet<SiteOutcome>, before: (summary: SiteSummary) => Promise<void>): Promise<number> {
    let count = 0;
    for await (const job of this.#finished()) {
      const summary = summaryOf(job);
      if (!outcomes.has(summary.outcome)) continue;
      await before(summary);
      await job.updateData({ ...job.data, cleared: job.stalledCounter });
      await job.changePriority({ priority: 0 });
      await job.retry(isFailure(summary.outcome) ? "failed" : "completed");
      count += 1;
    }
    return count;
  }

  /** A lease for the next site that may be read now, if there is one. */
  take(): Promise<RunLease | undefined> {
    return this.#leases.take();
  }

  /** Removes all of its sites and results. */
  async remove(): Promise<void> {
    await this.#leases.rest();
    await this.#queue.obliterate({ force: true });
  }

  /** Nothing is waiting: gives its connection back. */
  rest(): Promise<void> {
    return this.#leases.rest();
  }

  close(): void {
    this.#leases.close();
  }

  async #total(): Promise<number> {
    const { waiting, active, done } = await this.counts();
    return waiting + active + done;
  }

  // BullMQ ignores an id that exists, whatever its state: so the id identifies the site. It is longer than the hash in file names, because
  // two sites with the same id would become one.
  #idOf(key: string): string {
    return `${this.name}-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
  }

  async *#finished(): AsyncGenerator<SiteQueueJob, void> {
    for await (const job of this.#jobs(await this.#places(["completed", "failed"]))) {
      if (job.finishedOn !== undefined) yield job;
    }
  }

  // Only places and ids are held: a run may have a million sites.
  async #places(states: readonly ("waiting" | "prioritized" | "delayed" | "active" | "completed" | "failed")[]) {
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

// Finished jobs are not removed: they are the results. Stacks of errors are not needed.
const jobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false, stackTraceLimit: 0 } as const;

/** The data of a job. */
export interface JobData {
  readonly key: string;
  readonly homepage: string;
  /** Its position in the list. */
  readonly at: number;
  /** The archive of an earlier run, as its summary names it. */
  readonly previous?: string;
  /** Deaths of workers that no longer count, because the site was to be read again. */
  readonly cleared?: number;
}

/** A job on the server: one website, and its summary once it is finished. */
export type SiteQueueJob = Job<JobData, SiteSummary>;

/** Undefined where the job holds no website. */
export function queuedSite(data: unknown): (Omit<JobData, "at"> & { readonly cleared: number }) | undefined {
  const { key, homepage, previous, cleared } = fieldsOf(data);
  if (typeof key !== "string" || typeof homepage !== "string" || !isHttpUrl(homepage)) return undefined;
  return {
    key,
    homepage,
    cleared: typeof cleared === "number" ? cleared : 0,
    ...(typeof previous === "string" ? { previous } : {}),
  };
}

/** The position of a site in the list; jobs without one come last. */
function placeOf(data: unknown): number {
  const { at } = fieldsOf(data);
  return typeof at === "number" ? at : Number.MAX_SAFE_INTEGER;
}

export function noSiteSummary(data: unknown, attempts: number): SiteSummary {
  const site = shownSite(data);
  const reason = { message: "The job in the queue holds no website", count: 1 };
  return emptySummary(site, `${keyHash(site.key)}-${attempts}`, "failed", reason);
}

/** The result of a finished job. */
export function summaryOf(job: {
  readonly data: unknown;
  readonly failedReason?: unknown;
  readonly returnvalue?: unknown;
}): SiteSummary {
  const { data, failedReason, returnvalue } = job;
  if (isSummary(returnvalue)) return returnvalue;
  try {
    const summary: unknown = JSON.parse(String(failedReason));
    if (isSummary(summary)) return summary;
  } catch {
    // Another program failed the job, with its own message.
  }
  const site = shownSite(data);
  const message =
    typeof failedReason === "string" && failedReason !== "" ? failedReason : "Somebody else ended the job";
  return emptySummary(site, `${keyHash(site.key)}-0`, "failed", { message, count: 1 });
}

function isSummary(value: unknown): value is SiteSummary {
  const { site, key, attemptId, outcome, reasons, files } = fieldsOf(value);
  return (
    [site, key, attemptId].every((text) => typeof text === "string") &&
    (siteOutcomes as readonly unknown[]).includes(outcome) &&
    Array.isArray(reasons) &&
    typeof files === "object" &&
    files !== null
  );
}

function shownSite(data: unknown): SiteJob {
  const { key, homepage } = fieldsOf(data);
  const shown = (text: unknown) => (typeof text === "string" ? text.slice(0, longestShown) : "");
  return { key: shown(key), homepage: shown(homepage) };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

const longestShown = 2000;

/** The id of a job that is on the server. */
export function idOf(job: SiteQueueJob): string {
  if (job.id === undefined) throw new Error("The job has no id");
  return job.id;
}

// In milliseconds: websites of a slow list are passed on after this time.
const batchTime = 200;

/** Batches of `size`, or smaller ones if the list arrives slowly. */
async function* batches<T>(list: AsyncIterable<T> | Iterable<T>, size: number): AsyncGenerator<readonly T[], void> {
  const iterator = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]();
  const batch: T[] = [];
  let isOver = false;
  try {
    while (!isOver) {
      let next: IteratorResult<T> | undefined;
      const coming = Promise.resolve(iterator.next());
      if (batch.length > 0) {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<undefined>((resolve) => {
          timer = setTimeout(() => resolve(undefined), batchTime);
        });
        next = await Promise.race([coming, late]).finally(() => clearTimeout(timer));
        if (next === undefined) yield batch.splice(0);
      }
      next ??= await coming;
      if (next.done) isOver = true;
      else batch.push(next.value);
      if (batch.length === size || (isOver && batch.length > 0)) yield batch.splice(0);
    }
  } finally {
    if (!isOver) await iterator.return?.();
  }
}
