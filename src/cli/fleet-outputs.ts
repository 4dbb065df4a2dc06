// Where the outputs of websites that come from a queue go: each run says so itself, unless the worker knows better.
import path from "node:path";
import type { BullQueue } from "../fleet/bull-queue.ts";
import type { SiteJob, SiteSummary } from "../fleet/site-job.ts";
import { noSink, type SiteOutput, type SiteSink } from "../fleet/site-sink.ts";
import { type Options, resolveOptions } from "../options.ts";
import { withDefaults } from "./fleet.ts";
import type { RunDefaults } from "./fleet-queue.ts";
import { FolderSink } from "./fleet-sink.ts";

export class RunSinks implements SiteSink {
  readonly #queue: BullQueue;
  readonly #own: RunDefaults;
  readonly #byRun = new Map<string, Promise<{ readonly sink: SiteSink; readonly crawl: Options }>>();

  constructor(queue: BullQueue, own: RunDefaults) {
    this.#queue = queue;
    this.#own = own;
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const { run = "default", settings = {}, previous } = this.#queue.originOf(job) ?? {};
    let made = this.#byRun.get(run);
    if (made === undefined) {
      made = this.#make(settings);
      this.#byRun.set(run, made);
    }
    const { sink, crawl } = await made;
    const output = await sink.open(job, attemptId);
    const archive = previous === undefined ? {} : { previous };
    return { ...output, options: { ...crawl, ...archive, ...output.options } };
  }

  async #make(settings: RunDefaults): Promise<{ readonly sink: SiteSink; readonly crawl: Options }> {
    const own = this.#own;
    const out = own.out ?? settings.out;
    const crawl = withDefaults(merged(settings.crawl, own.crawl));
    resolveOptions(crawl);
    if (out === undefined) return { sink: noSink, crawl };
    const format = own.format ?? settings.format ?? "ndjson";
    const archives = own.archives ?? settings.archives ?? false;
    const check = (own.check ?? settings.check) ? (await import("../check/check-tree.ts")).checkTree : undefined;
    return { sink: new FolderSink({ folder: out, format, archives, check }), crawl };
  }
}

function merged(one: Options = {}, other: Options = {}): Options {
  return { ...one, ...other, limits: { ...one.limits, ...other.limits } };
}

/** A folder as other processes find it. */
export function wholePath(out: string): string {
  return path.resolve(out);
}

/** Takes back what was published of a website that is to be read again. */
export function unpublisher(_out: string | undefined): (summary: SiteSummary) => Promise<void> {
  return async () => {};
}
