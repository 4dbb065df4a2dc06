// `sitegrove fleet`: checks the flags, then reads the list of websites to its end, or until it is stopped.
import { closeSync, existsSync, openSync, renameSync, statSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import { counted } from "../figures.ts";
import { JournalQueue } from "../fleet/journal-queue.ts";
import { journalName, readResults } from "../fleet/journal-results.ts";
import { defaultPerAddress, type FleetEvent, runFleet } from "../fleet/run-fleet.ts";
import { isBucket, S3Bucket } from "../fleet/s3-bucket.ts";
import { readShard } from "../fleet/shard.ts";
import type { SiteOutcome, SiteSummary } from "../fleet/site-job.ts";
import { suggestion } from "../option-checks.ts";
import { type Options, resolveOptions } from "../options.ts";
import { systemReason } from "../system-reason.ts";
import { printable } from "../write/printable.ts";
import type { CrawlFlags } from "./crawl-flags.ts";
import { keepFleetSmall } from "./engine-flags.ts";
import { exitCodes, Stopped, UsageError } from "./exit-codes.ts";
import { crawlOf, givenCrawl } from "./fleet-crawl.ts";
import { type FleetFormat, retryNames } from "./fleet-formats.ts";
import { sinkFor, stateFolder, unpublisher, usableBucket, wholePath } from "./fleet-outputs.ts";
import type { FolderSinkOptions } from "./fleet-sink.ts";
import { outputsOf } from "./fleet-sink-options.ts";
import { inWords, reportList, SiteList } from "./fleet-sites.ts";
import { damagedLines } from "./fleet-status.ts";
import { FleetCounter, type FleetTotals, fleetTable, siteLine } from "./fleet-totals.ts";
import { FleetView } from "./fleet-view.ts";
import { LiveBlock } from "./live-block.ts";
import { insecureWarning, Messages } from "./messages.ts";

export interface FleetFlags extends CrawlFlags {
  readonly from?: readonly string[] | undefined;
  readonly column?: string | undefined;
  readonly out?: string | undefined;
  readonly queue?: string | undefined;
  readonly run: string;
  readonly shard?: string | undefined;
  readonly format: FleetFormat;
  readonly archives?: true | undefined;
  readonly previous?: string | undefined;
  readonly check?: true | undefined;
  readonly retry?: readonly string[] | undefined;
  readonly concurrency?: number | undefined;
  readonly perAddress?: number | undefined;
  readonly processes?: number | undefined;
  readonly maxPages?: number | undefined;
  readonly maxTraffic?: number | undefined;
  readonly verbose?: number | true | undefined;
  readonly logFile?: string | undefined;
  readonly progress: boolean;
  readonly color: boolean;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function fleet(names: readonly string[], flags: FleetFlags): Promise<number> {
  const { out } = flags;
  if (flags.queue !== undefined) return fill(names, flags, flags.queue);
  if (flags.run !== "default") throw new UsageError("--run needs --queue");
  if (out === undefined || out === "") throw new UsageError("name a folder for the outputs: --out DIR");
  checkProcesses(flags);
  // The journal is on this machine; what was published is known from the bucket, too.
  const folder = isBucket(out) ? stateFolder(out, flags.shard) : out;
  if (isBucket(out)) await usableBucket(out);
  else if (existsSync(out) && !statSync(out).isDirectory()) throw new UsageError(`${out} is not a folder`);
  const { list, retry } = listOf(names, flags);
  const crawl = crawlOf(flags);
  resolveOptions(crawl);
  if (list === undefined && !existsSync(path.join(folder, journalName))) {
    throw new UsageError("name homepages, or a list of them with --from FILE; --help shows examples");
  }
  await list?.expectColumn();
  const outputs = await outputsOf(flags);
  const log = flags.logFile === undefined ? undefined : openLog(flags.logFile);
  if (retry.length > 0) await takeBack(path.join(folder, journalName), out, retry);
  const queue = await JournalQueue.open(folder, { retry });
  try {
    return await new Run(flags, folder, queue, log).run(list, crawl, outputs);
  } finally {
    await queue.close();
    if (log !== undefined) closeSync(log);
  }
}

// Each process has a part of these limits, which is at least one: more processes would raise what was asked for.
function checkProcesses({ processes = 1, concurrency = processes, perAddress = defaultPerAddress }: FleetFlags): void {
  if (processes > concurrency)
    throw new UsageError(`--processes ${processes} needs --concurrency ${processes} or more: each reads a website`);
  if (processes > perAddress && processes > 1)
    throw new UsageError(
      `--processes ${processes} needs --per-address ${processes} or more: each may send a request to the same address`,
    );
}

function listOf(names: readonly string[], flags: FleetFlags) {
  for (const file of flags.from ?? []) expectFile(file);
  if (flags.column !== undefined && flags.from === undefined) throw new UsageError("--column needs --from");
  if (/^0+$/.test(flags.column ?? "")) throw new UsageError("--column counts from 1");
  const shard = flags.shard === undefined ? undefined : readShard(flags.shard);
  if (flags.shard !== undefined && shard === undefined)
    throw new UsageError(`--shard takes a part and a number of parts, such as 2/8, not ${flags.shard}`);
  const hasList = names.length > 0 || flags.from !== undefined;
  const { from: files = [], column } = flags;
  const keepPath = givenCrawl(flags).normalizeHomepageUrl === false;
  const list = new SiteList({ sites: names, files, column, shard, keepPath });
  return { list: hasList ? list : undefined, retry: outcomesIn(flags.retry) };
}

// Several machines: the list goes to a queue, and workers read it.
async function fill(names: readonly string[], flags: FleetFlags, url: string): Promise<number> {
  if (flags.processes !== undefined)
    throw new UsageError("--processes does not work with --queue: start several workers");
  for (const name of [
    ...(["header", "proxy", "insecure", "previous", "concurrency"] as const),
    "perAddress",
    "logFile",
  ] as const) {
    if (flags[name] === undefined) continue;
    const flag = `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(`${flag} is for workers: sitegrove fleet worker --queue … ${flag} …`);
  }
  const { list, retry } = listOf(names, flags);
  if (list === undefined && retry.length === 0)
    throw new UsageError("name homepages, or a list of them with --from FILE; --help shows examples");
  await list?.expectColumn();
  const crawl = givenCrawl(flags);
  resolveOptions(crawl);
  const { out, format, archives, check, run } = flags;
  const defaults = { ...(out === undefined ? {} : { out: wholePath(out), format }), archives, check };
  // Flags that are not given change nothing of a run that is known.
  const given = Object.keys(crawl).length === 0 ? defaults : { ...defaults, crawl };
  const { fillQueue } = await import("./fleet-queue.ts");
  return fillQueue({ url, run, list, defaults: given, again: retry }, new Messages(flags));
}

class Run {
  readonly #flags: FleetFlags;
  readonly #out: string;
  readonly #queue: JournalQueue;
  readonly #log: number | undefined;
  readonly #messages: Messages;
  readonly #drain = new AbortController();
  readonly #stop = new AbortController();
  readonly #begin = Date.now();

  constructor(flags: FleetFlags, out: string, queue: JournalQueue, log: number | undefined) {
    this.#flags = flags;
    this.#out = out;
    this.#queue = queue;
    this.#log = log;
    this.#messages = new Messages(flags);
  }

  async run(list: SiteList | undefined, crawl: Options, outputs: Omit<FolderSinkOptions, "folder">): Promise<number> {
    const { concurrency, perAddress, processes = 1, progress, insecure } = this.#flags;
    if (insecure) this.#messages.say(insecureWarning, "bad");
    const { done, waiting } = await this.#queue.counts();
    if (done + waiting > 0)
      this.#messages.say(
        `continuing: ${counted(done, "website")} done, ${counted(waiting, "website")} waiting`,
        "quiet",
      );
    const { damaged } = this.#queue;
    if (damaged > 0) this.#messages.say(`${damagedLines(damaged)}; --from FILE adds what may be missing`, "warning");
    const block = this.#messages.isTerminal ? new LiveBlock(process.stderr) : undefined;
    const total = () => Math.max(done + waiting, list?.count ?? 0, this.#queue.size);
    const view = progress ? new FleetView(this.#messages, block, done, total) : undefined;
    const onEvent = (event: FleetEvent) => {
      view?.see(event);
      if (event.type === "site-done" && event.accepted) this.#tell(event.summary, () => block?.clear());
    };
    if (list !== undefined && this.#log !== undefined) list.onMalformed = (line) => this.#write(inWords(line));
    const unlisten = this.#listen(() => block?.clear());
    try {
      const signals = { drain: this.#drain.signal, signal: this.#stop.signal };
      if (processes > 1) {
        const { runProcesses } = await import("./fleet-processes.ts");
        const onDeath = (how: string) => {
          block?.clear();
          this.#messages.say(`a process died (${how}): what it was reading is read again`, "warning");
        };
        const shared = { queue: this.#queue, list, flags: this.#flags, out: this.#out };
        await runProcesses({ ...shared, ...signals, onEvent, onDeath });
      } else {
        keepFleetSmall(concurrency);
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
    const took = Date.now() - this.#begin;
    const stopped: unknown = this.#stop.signal.reason ?? this.#drain.signal.reason;
    const input = list === undefined ? {} : { duplicates: list.duplicates, malformed: list.malformedCount };
    const summary = { ...totals, waiting: counts.waiting, ...input };
    if (totals.websites === 0 && counts.waiting === 0) {
      this.#messages.say("the list names no website", "bad");
      return exitCodes.usage;
    }
    writeWhole(path.join(this.#out, "summary.json"), summary);
    await uploadSummary(this.#flags, summary);
    process.stdout.write(fleetTable(totals, took));
    if (counts.waiting > 0)
      this.#messages.say(`${counted(counts.waiting, "website")} left: run it again to continue`, "warning");
    if (stopped instanceof Stopped) return stopped.exitCode;
    return isWhole(totals) && counts.waiting === 0 ? exitCodes.complete : exitCodes.incomplete;
  }

  #tell(summary: SiteSummary, beforeLine: () => void): void {
    const line = siteLine(summary);
    if (this.#log !== undefined) this.#write(line);
    else if (this.#flags.verbose !== undefined) {
      beforeLine();
      this.#messages.log(line);
    }
  }

  #write(line: string): void {
    if (this.#log !== undefined) writeSync(this.#log, `${new Date().toISOString()} ${printable(line)}\n`);
  }

  // Ctrl-C finishes what is under way; a second one, or SIGTERM, stops. What does not end by then is left behind: the journal knows.
  #listen(beforeLine: () => void): () => void {
    const stop = (name: "SIGINT" | "SIGTERM") => {
      const stopped = new Stopped(name);
      this.#stop.abort(stopped);
      setTimeout(() => process.exit(stopped.exitCode), longestStop).unref();
    };
    const onInterrupt = () => {
      if (this.#drain.signal.aborted) return stop("SIGINT");
      beforeLine();
      this.#messages.say("finishing the websites that are being read; Ctrl-C again stops now", "warning");
      this.#drain.abort(new Stopped("SIGINT"));
    };
    const onTerminate = () => stop("SIGTERM");
    process.on("SIGINT", onInterrupt);
    process.on("SIGTERM", onTerminate);
    return () => {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
    };
  }
}

// In milliseconds.
const longestStop = 3000;
async function takeBack(journal: string, out: string, retry: readonly SiteOutcome[]): Promise<void> {
  if (!isBucket(out) || !existsSync(journal)) return;
  const unpublish = await unpublisher(out, undefined);
  for await (const summary of readResults(journal)) if (retry.includes(summary.outcome)) await unpublish(summary);
}

async function uploadSummary({ out = "", shard }: FleetFlags, summary: object): Promise<void> {
  if (!isBucket(out)) return;
  const name = shard === undefined ? "summary.json" : `summary-${shard.replace("/", "-of-")}.json`;
  await (await S3Bucket.open(out)).replace(name, `${JSON.stringify(summary, undefined, 2)}\n`);
}

function outcomesIn(values: readonly string[] = []): readonly SiteOutcome[] {
  const names = values.flatMap((value) => value.split(",")).map((name) => name.trim());
  for (const name of names) {
    if ((retryNames as readonly string[]).includes(name)) continue;
    const hint = suggestion(name, retryNames) || `; there are ${retryNames.join(", ")}`;
    throw new UsageError(`--retry does not know ${name}${hint}`);
  }
  return names as SiteOutcome[];
}

function expectFile(file: string): void {
  if (file === "-") return;
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw new UsageError(`no such file: ${file}`);
  if (stat.isDirectory()) throw new UsageError(`${file} is a folder`);
}

function openLog(file: string): number {
  try {
    return openSync(file, "a");
  } catch (error) {
    throw new UsageError(`the log file cannot be opened: ${systemReason(error)}`);
  }
}

function writeWhole(file: string, value: object): void {
  writeFileSync(`${file}.partial`, `${JSON.stringify(value, undefined, 2)}\n`);
  renameSync(`${file}.partial`, file);
}

function isWhole({ outcomes, websites }: FleetTotals): boolean {
  return outcomes.complete + outcomes.none === websites;
}
