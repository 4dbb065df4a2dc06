// `sitegrove fleet worker`: reads websites from a queue until nothing is left, or until it is stopped.
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expectUsable } from "../../fetch/fetcher.ts";
import { BullQueue } from "../../fleet/bull-queue.ts";
import type { FleetEvent } from "../../fleet/fleet-options.ts";
import type { RunEntry } from "../../fleet/run-data.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { isBucket } from "../../fleet/s3-bucket.ts";
import { type Options, resolveOptions } from "../../model/options.ts";
import { type Context, onStop } from "../context.ts";
import { exitCodes, Stopped, UsageError } from "../exit-codes.ts";
import type { CrawlFlags } from "../flags.ts";
import { insecureWarning, Messages } from "../output/messages.ts";
import { givenCrawl } from "./crawl.ts";
import type { FleetFormat } from "./formats.ts";
import { FleetLog } from "./log.ts";
import { merged, RunSinks, settingsProblem, usableBucket, wholePath } from "./outputs.ts";
import { newsTo, type RunDefaults } from "./queue.ts";
import { FleetCounter, fleetTable } from "./totals.ts";
import { FleetView, LiveBlock } from "./view.ts";

export interface WorkerFlags extends CrawlFlags {
  readonly queue: string;
  readonly run?: string | undefined;
  readonly stay?: true | undefined;
  /** In seconds. */
  readonly idle: number;
  /** In seconds. */
  readonly lease: number;
  readonly out?: string | undefined;
  readonly format?: FleetFormat | undefined;
  readonly archives?: true | undefined;
  readonly check?: true | undefined;
  readonly concurrency?: number | undefined;
  readonly perAddress?: number | undefined;
  readonly maxPages?: number | undefined;
  readonly maxTraffic?: number | undefined;
  readonly verbose?: number | true | undefined;
  readonly logFile?: string | undefined;
  readonly logFormat?: "text" | "json" | undefined;
  readonly progress: boolean;
  readonly color: boolean;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function fleetWorker(flags: WorkerFlags, context: Context): Promise<number> {
  const { run, lease, out } = flags;
  if (lease < 1) throw new UsageError("--lease takes at least 1 second");
  if (out !== undefined && isBucket(out)) await usableBucket(out);
  else if (out !== undefined && statSync(out, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UsageError(`${out} is not a folder`);
  const crawl = givenCrawl(flags);
  expectUsable(resolveOptions(crawl));
  const messages = new Messages(flags, context);
  if (flags.insecure) messages.say(insecureWarning, "bad");
  const refused = new Set<string>();
  const isUsable = ({ run: name, settings }: RunEntry) => {
    const why = settingsProblem(settings, crawl);
    if (why !== undefined && !refused.has(name)) messages.say(`${name} is left to other workers: ${why}`, "warning");
    if (why !== undefined) refused.add(name);
    return why === undefined;
  };
  const log = new FleetLog(flags, messages, context);
  const queue = await BullQueue.open(flags.queue, { run, leaseTime: lease * 1000, isUsable, onNews: newsTo(messages) });
  try {
    const code = await new WorkerRun(context, flags, queue, crawl, messages, log).run();
    return code === exitCodes.complete && refused.size > 0 ? exitCodes.unexpected : code;
  } finally {
    await queue.close();
    log.close();
  }
}

class WorkerRun {
  readonly #context: Context;
  readonly #flags: WorkerFlags;
  readonly #queue: BullQueue;
  readonly #crawl: Options;
  readonly #messages: Messages;
  readonly #log: FleetLog;
  readonly #drain = new AbortController();
  readonly #stop = new AbortController();
  readonly #counter = new FleetCounter();
  #done = 0;
  #remaining = 0;

  constructor(
    context: Context,
    flags: WorkerFlags,
    queue: BullQueue,
    crawl: Options,
    messages: Messages,
    log: FleetLog,
  ) {
    this.#log = log;
    this.#context = context;
    this.#flags = flags;
    this.#queue = queue;
    this.#crawl = crawl;
    this.#messages = messages;
  }

  async run(): Promise<number> {
    const { out, format, archives, check, concurrency, progress } = this.#flags;
    const perAddress = () => this.#perAddress();
    const own = { out: out === undefined ? undefined : wholePath(out), format, archives, check, crawl: this.#crawl };
    const sink = new RunSinks(this.#queue, own);
    const block = this.#messages.isTerminal ? new LiveBlock(this.#context.stderr) : undefined;
    const view = progress
      ? new FleetView(this.#messages, block, 0, { total: () => this.#done + this.#remaining })
      : undefined;
    const begin = Date.now();
    const unlisten = this.#listen(() => block?.clear());
    const watch = setInterval(() => void this.#look().catch(() => undefined), watchTime);
    const onEvent = (event: FleetEvent) => {
      view?.see(event);
      this.#tell(event, () => block?.clear());
    };
    try {
      await this.#look();
      do {
        const signals = { drain: this.#drain.signal, signal: this.#stop.signal };
        await runFleet({
          queue: this.#queue,
          run: "default",
          sink,
          concurrency,
          perAddress,
          crawl: merged(this.#paceOfRun, this.#crawl),
          ...signals,
          onEvent,
        });
      } while (await this.#hasMore());
    } catch (error) {
      if (!(this.#stop.signal.reason instanceof Stopped)) throw error;
    } finally {
      clearInterval(watch);
      unlisten();
      view?.stop();
      await sink.close();
    }
    const totals = this.#counter.totals();
    this.#context.stdout.write(fleetTable(totals, { ...totals, took: Date.now() - begin, before: 0 }));
    const stopped: unknown = this.#stop.signal.reason;
    return stopped instanceof Stopped ? stopped.exitCode : exitCodes.complete;
  }

  // Other workers may give something back, and somebody may add a run. Before the first run there is nothing to end.
  async #hasMore(): Promise<boolean> {
    const { idle } = this.#flags;
    let isTold = false;
    for (let waited = 0; !this.#drain.signal.aborted; waited += pollTime) {
      await this.#count();
      if (this.#remaining > 0) return true;
      await this.#queue.startDueRun();
      const hasRuns = this.#runs > 0;
      const stay = this.#flags.stay || this.#isScheduled;
      if (hasRuns && !stay && waited >= idle * 1000) return false;
      if (!isTold && !(hasRuns && !stay)) this.#messages.say("nothing to read: waiting for websites", "quiet");
      isTold = true;
      await sleep(pollTime, undefined, { signal: this.#drain.signal }).catch(() => undefined);
    }
    return false;
  }

  #runs = 0;
  #workers = 1;
  #isScheduled = false;
  // Limits count for all websites of a process: where runs differ, those of the oldest that is under way.
  #paceOfRun: Options = {};

  // One server may be behind websites of several workers.
  #perAddress(): number {
    return Math.max(1, Math.floor((this.#flags.perAddress ?? 8) / this.#workers));
  }

  async #look(): Promise<void> {
    const { run } = this.#flags;
    await this.#count();
    this.#workers = Math.max(1, (await this.#queue.workers()) ?? 1);
    const schedules = await this.#queue.schedules();
    this.#isScheduled = schedules.some((schedule) => run === undefined || schedule.run === run);
  }

  async #count(): Promise<void> {
    const { runs, open } = await this.#queue.underWay();
    if (open[0] !== undefined) this.#paceOfRun = (open[0].settings as RunDefaults).crawl ?? {};
    this.#runs = runs;
    this.#remaining = open.reduce((sum, { left }) => sum + left, 0);
  }

  #tell(event: FleetEvent, beforeLine: () => void): void {
    if (event.type !== "site-done") return;
    const { summary, accepted } = event;
    if (accepted) {
      this.#done += 1;
      this.#counter.see(summary);
    }
    if (this.#flags.verbose !== undefined) beforeLine();
    this.#log.site(summary, accepted ? undefined : "not counted: another worker's result is");
  }

  // The first signal finishes what is being read, the second gives it back.
  #listen(beforeLine: () => void): () => void {
    const drain = (stopped: Stopped) => {
      beforeLine();
      const again = stopped.exitCode === exitCodes.interrupted ? "Ctrl-C again" : "a second SIGTERM";
      this.#messages.say(`finishing the websites that are being read; ${again} stops now`, "warning");
      this.#drain.abort(stopped);
    };
    return onStop(this.#context, [drain, (stopped) => this.#stop.abort(stopped)]);
  }
}

// In milliseconds.
const watchTime = 5000;
const pollTime = 500;
