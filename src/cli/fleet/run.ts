// One run of `sitegrove fleet` on this machine: progress, signals, a line for each website, and the summary at its end.
import { renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { FleetEvent } from "../../fleet/fleet-options.ts";
import type { JournalQueue } from "../../fleet/journal-queue.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { isBucket, S3Bucket } from "../../fleet/s3-bucket.ts";
import { counted } from "../../model/figures.ts";
import type { Options } from "../../model/options.ts";
import { jsonOf } from "../../write/printable.ts";
import { type Context, onStop } from "../context.ts";
import { exitCodes, Stopped } from "../exit-codes.ts";
import { insecureWarning, type Messages } from "../output/messages.ts";
import type { FleetFlags } from "./fleet.ts";
import type { FleetLog } from "./log.ts";
import { sinkFor } from "./outputs.ts";
import type { FolderSinkOptions } from "./sink.ts";
import { inWords, reportList, type SiteList, unreadLines } from "./sites.ts";
import { damagedLines } from "./status.ts";
import { FleetCounter, type FleetTotals, fleetTable } from "./totals.ts";
import { FleetView, LiveBlock } from "./view.ts";

/** The totals of a fleet, in the folder of its outputs. */
export const summaryName = "summary.json";

export class FleetRun {
  readonly #context: Context;
  readonly #flags: FleetFlags;
  readonly #out: string;
  readonly #queue: JournalQueue;
  readonly #log: FleetLog;
  readonly #messages: Messages;
  readonly #drain = new AbortController();
  readonly #stop = new AbortController();
  readonly #begin = Date.now();
  // What this run did.
  #before = 0;
  readonly #own = new FleetCounter();

  constructor(
    context: Context,
    flags: FleetFlags,
    out: string,
    queue: JournalQueue,
    messages: Messages,
    log: FleetLog,
  ) {
    this.#context = context;
    this.#flags = flags;
    this.#out = out;
    this.#queue = queue;
    this.#log = log;
    this.#messages = messages;
  }

  async run(list: SiteList | undefined, crawl: Options, outputs: Omit<FolderSinkOptions, "folder">): Promise<number> {
    const { concurrency, perAddress, processes = 1, progress, insecure } = this.#flags;
    if (insecure) this.#messages.say(insecureWarning, "bad");
    const { done, waiting } = await this.#queue.counts();
    this.#before = done;
    if (done + waiting > 0)
      this.#messages.say(
        `continuing: ${counted(done, "website")} done, ${counted(waiting, "website")} waiting`,
        "quiet",
      );
    const { damaged } = this.#queue;
    if (damaged > 0) this.#messages.say(`${damagedLines(damaged)}; --from FILE adds what may be missing`, "warning");
    const block = this.#messages.isTerminal ? new LiveBlock(this.#context.stderr) : undefined;
    const figures = {
      total: () => Math.max(done + waiting, list?.count ?? 0, this.#queue.size),
      suspects: () => this.#queue.suspects,
    };
    const view = progress ? new FleetView(this.#messages, block, done, figures) : undefined;
    const onEvent = (event: FleetEvent) => {
      view?.see(event);
      if (event.type !== "site-done" || !event.accepted) return;
      this.#own.see(event.summary);
      if (this.#flags.verbose !== undefined) block?.clear();
      this.#log.site(event.summary);
    };
    if (list !== undefined) list.onMalformed = (line) => this.#log.message(inWords(line));
    const unlisten = this.#listen(() => block?.clear());
    try {
      const signals = { drain: this.#drain.signal, signal: this.#stop.signal };
      if (processes > 1) {
        const { runProcesses } = await import("./processes.ts");
        const onDeath = (how: string) => {
          block?.clear();
          this.#messages.say(`a process died (${how}): what it was reading is read again`, "warning");
        };
        const shared = { program: this.#context.program, queue: this.#queue, list, flags: this.#flags, out: this.#out };
        await runProcesses({ ...shared, ...signals, onEvent, onDeath });
      } else {
        const sink = await sinkFor(this.#flags.out ?? this.#out, outputs, { folder: this.#out });
        await runFleet({ queue: this.#queue, sites: list, sink, concurrency, perAddress, crawl, ...signals, onEvent });
      }
    } catch (error) {
      view?.stop();
      if (!(this.#stop.signal.reason instanceof Stopped)) throw error;
    } finally {
      unlisten();
      view?.stop();
    }
    return this.#finish(list);
  }

  async #finish(list: SiteList | undefined): Promise<number> {
    const counter = new FleetCounter();
    for await (const summary of this.#queue.results()) counter.see(summary);
    const totals = counter.totals();
    if (list !== undefined) reportList(list, this.#messages);
    const counts = await this.#queue.counts();
    const { websites, requests } = this.#own.totals();
    const run = { websites, requests, took: Date.now() - this.#begin, before: this.#before };
    const stopped: unknown = this.#stop.signal.reason ?? this.#drain.signal.reason;
    const input = list === undefined ? {} : { duplicates: list.duplicates, malformed: list.malformedCount };
    const summary = { ...totals, waiting: counts.waiting, ...input };
    if (totals.websites === 0 && counts.waiting === 0) {
      this.#messages.say("the list names no website", "bad");
      return exitCodes.usage;
    }
    writeWhole(path.join(this.#out, summaryName), summary);
    await uploadSummary(this.#flags, summary);
    this.#context.stdout.write(fleetTable(totals, run));
    if (counts.waiting > 0)
      this.#messages.say(`${counted(counts.waiting, "website")} left: run it again to continue`, "warning");
    const unread = list === undefined ? undefined : unreadLines(list);
    if (unread !== undefined) this.#messages.say(unread, "warning");
    if (stopped instanceof Stopped) return stopped.exitCode;
    const isComplete = isWhole(totals) && counts.waiting === 0 && unread === undefined;
    return isComplete ? exitCodes.complete : exitCodes.incomplete;
  }

  // Ctrl-C finishes what is under way; a second one, or SIGTERM, stops. What does not end by then is left behind: the journal knows.
  #listen(beforeLine: () => void): () => void {
    const drain = (stopped: Stopped) => {
      beforeLine();
      this.#messages.say("finishing the websites that are being read; Ctrl-C again stops now", "warning");
      this.#drain.abort(stopped);
    };
    return onStop(this.#context, [drain, (stopped) => this.#stop.abort(stopped)], { urgent: ["SIGTERM"] });
  }
}

async function uploadSummary({ out = "", shard }: FleetFlags, summary: object): Promise<void> {
  if (!isBucket(out)) return;
  const name = shard === undefined ? "summary.json" : `summary-${shard.replace("/", "-of-")}.json`;
  await (await S3Bucket.open(out)).replace(name, `${jsonOf(summary, 2)}\n`);
}

function writeWhole(file: string, value: object): void {
  rmSync(`${file}.partial`, { force: true });
  writeFileSync(`${file}.partial`, `${jsonOf(value, 2)}\n`, { flag: "wx" });
  renameSync(`${file}.partial`, file);
}

function isWhole({ outcomes, websites }: FleetTotals): boolean {
  return outcomes.complete + outcomes.none === websites;
}
