// `sitegrove fleet`: checks the flags and opens the journal, or fills a queue; run.ts does the rest.
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { expectUsable } from "../../fetch/fetcher.ts";
import { defaultPerAddress } from "../../fleet/fleet-options.ts";
import { journalName, readResults } from "../../fleet/journal-file.ts";
import { JournalQueue } from "../../fleet/journal-queue.ts";
import { isBucket } from "../../fleet/s3-bucket.ts";
import { readShard } from "../../fleet/shard.ts";
import type { SiteOutcome } from "../../fleet/site-job.ts";
import { suggestion } from "../../model/option-checks.ts";
import { resolveOptions } from "../../model/options.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import type { CrawlFlags } from "../flags.ts";
import { expectDistinct } from "../input/distinct-files.ts";
import { Messages } from "../output/messages.ts";
import { crawlOf, givenCrawl } from "./crawl.ts";
import { type FleetFormat, retryNames } from "./formats.ts";
import { FleetLog } from "./log.ts";
import { stateFolder, unpublisher, usableBucket, wholePath } from "./outputs.ts";
import { FleetRun, summaryName } from "./run.ts";
import { outputsOf } from "./sink-options.ts";
import { SiteList } from "./sites.ts";

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
  readonly logFormat?: "text" | "json" | undefined;
  readonly progress: boolean;
  readonly color: boolean;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function fleet(names: readonly string[], flags: FleetFlags, context: Context): Promise<number> {
  const { out } = flags;
  if (flags.queue !== undefined) return fill(names, flags, flags.queue, context);
  if (flags.run !== "default") throw new UsageError("--run needs --queue");
  if (out === undefined || out === "") throw new UsageError("name a folder for the outputs: --out DIR");
  checkProcesses(flags);
  const { list, retry } = listOf(names, flags, context);
  const crawl = crawlOf(flags);
  expectUsable(resolveOptions(crawl));
  if (isBucket(out)) await usableBucket(out);
  else if (existsSync(out) && !statSync(out).isDirectory()) throw new UsageError(`${out} is not a folder`);
  // The journal is on this machine; what was published is known from the bucket, too.
  const folder = isBucket(out) ? stateFolder(out, flags.shard) : out;
  if (list === undefined && !existsSync(path.join(folder, journalName))) {
    throw new UsageError("name homepages, or a list of them with --from FILE; --help shows examples");
  }
  expectFiles(folder, flags);
  await list?.expectColumn();
  const outputs = await outputsOf(flags);
  const messages = new Messages(flags, context);
  const log = new FleetLog(flags, messages, context);
  if (retry.length > 0) await takeBack(path.join(folder, journalName), out, retry);
  const queue = await JournalQueue.open(folder, { retry });
  try {
    return await new FleetRun(context, flags, folder, queue, messages, log).run(list, crawl, outputs);
  } finally {
    await queue.close();
    log.close();
  }
}

function expectFiles(folder: string, { from = [], logFile, previous }: FleetFlags): void {
  const [journal, summary] = [journalName, summaryName].map((name) => path.join(folder, name));
  const earlier = previous === undefined ? [] : [path.join(previous, journalName)];
  const read = [...from, ...earlier];
  expectDistinct(read, { "--log-file": logFile, [summaryName]: summary, [journalName]: journal });
  if (!existsSync(journal as string) && existsSync(summary as string))
    throw new UsageError(`${summary} exists, and is not of a fleet: use another folder`);
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

function listOf(names: readonly string[], flags: FleetFlags, { stdin }: Context) {
  for (const file of flags.from ?? []) expectFile(file);
  if (flags.column !== undefined && flags.from === undefined) throw new UsageError("--column needs --from");
  if (/^0+$/.test(flags.column ?? "")) throw new UsageError("--column counts from 1");
  const shard = flags.shard === undefined ? undefined : readShard(flags.shard);
  if (flags.shard !== undefined && shard === undefined)
    throw new UsageError(`--shard takes a part and a number of parts, such as 2/8, not ${flags.shard}`);
  const hasList = names.length > 0 || flags.from !== undefined;
  const { from: files = [], column } = flags;
  const { keepPath, onlyPath } = givenCrawl(flags);
  const list = new SiteList({ sites: names, files, column, shard, keepPath: keepPath || onlyPath, stdin });
  return { list: hasList ? list : undefined, retry: outcomesIn(flags.retry) };
}

// Several machines: the list goes to a queue, and workers read it.
async function fill(names: readonly string[], flags: FleetFlags, url: string, context: Context): Promise<number> {
  if (flags.processes !== undefined)
    throw new UsageError("--processes does not work with --queue: start several workers");
  for (const name of [
    ...(["header", "proxy", "insecure", "ca", "allowPrivate", "publicOnly"] as const),
    ...(["previous", "concurrency", "perAddress", "logFile", "logFormat"] as const),
  ]) {
    if (flags[name] === undefined) continue;
    const flag = `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(`${flag} is for workers: sitegrove fleet worker --queue … ${flag} …`);
  }
  const { list, retry } = listOf(names, flags, context);
  if (list === undefined && retry.length === 0)
    throw new UsageError("name homepages, or a list of them with --from FILE; --help shows examples");
  await list?.expectColumn();
  const crawl = givenCrawl(flags);
  resolveOptions(crawl);
  const { out, format, archives, check, run } = flags;
  const defaults = { ...(out === undefined ? {} : { out: wholePath(out), format }), archives, check };
  // Flags that are not given change nothing of a run that is known.
  const given = Object.keys(crawl).length === 0 ? defaults : { ...defaults, crawl };
  const { fillQueue } = await import("./queue.ts");
  return fillQueue({ url, run, list, defaults: given, again: retry }, new Messages(flags, context), context);
}

async function takeBack(journal: string, out: string, retry: readonly SiteOutcome[]): Promise<void> {
  if (!isBucket(out) || !existsSync(journal)) return;
  const unpublish = await unpublisher(out, undefined);
  for await (const summary of readResults(journal)) if (retry.includes(summary.outcome)) await unpublish(summary);
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
