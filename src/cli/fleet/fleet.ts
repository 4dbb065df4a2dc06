// `sitegrove fleet`: checks the flags, and reads the websites of the list with a journal on this machine; at its end, the summary.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expectUsable } from "../../fetch/fetcher.ts";
import { expectRunName } from "../../fleet/bull-queue.ts";
import { defaultPerAddress } from "../../fleet/fleet-options.ts";
import { journalName, readResults } from "../../fleet/journal-file.ts";
import { JournalQueue } from "../../fleet/journal-queue.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { isBucket, S3Bucket } from "../../fleet/s3-bucket.ts";
import type { SiteSummary } from "../../fleet/site-job.ts";
import { Store } from "../../fleet/store.ts";
import { counted } from "../../model/figures.ts";
import { resolveStreamOptions } from "../../model/options.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { checkSince } from "../flags.ts";
import { expectDistinct } from "../input/target.ts";
import { type FleetFlags, givenCrawl, withDefaults } from "./flags.ts";
import { datasetAt, expectNewRun, runDefaults, sinkFor, stateFolder, unpublisher, usablePlace } from "./outputs.ts";
import { removeAttempts } from "./sink.ts";
import { noList, reportList, SiteList, wasRead } from "./sites.ts";
import { damagedLines, FleetCounter, summaryName } from "./totals.ts";
import { FleetWatch } from "./watch.ts";

/** Returns the exit code. */
export async function fleet(names: readonly string[], flags: FleetFlags, context: Context): Promise<number> {
  const { out } = flags;
  checkSince(flags);
  if (flags.queue !== undefined) return (await import("./queue.ts")).fillQueue(names, flags, flags.queue, context);
  if (flags.run !== undefined && flags.dataset === undefined) throw new UsageError("--run needs --queue or --dataset");
  for (const [name, isGiven] of [
    ["-f changes", flags.format === "changes"],
    ["--retry-dead-after", flags.retryDeadAfter !== undefined],
  ])
    if (isGiven && flags.previous === undefined) throw new UsageError(`${name} needs --previous`);
  if (out === undefined || out === "") throw new UsageError("no output folder given; use --out DIR");
  checkProcesses(flags);
  const list = new SiteList(names, flags, context.stdin);
  const { retry } = list;
  const { dataset, crawl } = runDefaults(flags, retry);
  expectUsable(resolveStreamOptions(crawl));
  for (const place of [out, dataset]) await usablePlace(place);
  // The journal is on this machine; what was published is known from the bucket, too.
  const folder = isBucket(out) ? stateFolder(out, flags.shard) : out;
  const journal = path.join(folder, journalName);
  if (!list.isGiven && !existsSync(journal)) throw new UsageError(noList);
  expectFiles(folder, flags);
  await list.expectColumn();
  // Before anything is made: an earlier run has to have archives.
  if (flags.previous !== undefined) await sinkFor(flags);
  const watch = new FleetWatch(flags, context);
  if (isBucket(out) && retry.length > 0 && existsSync(journal)) {
    const unpublish = await unpublisher(out, undefined);
    for await (const summary of readResults(journal))
      if (retry.includes(summary.outcome as never)) await unpublish(summary);
  }
  const queue = await JournalQueue.open(folder, { retry });
  try {
    const named = dataset === undefined ? flags : { ...flags, dataset, run: await runIn(folder, dataset, flags) };
    return await run(named, folder, list, queue, watch, context);
  } finally {
    await queue.close();
  }
}

// The name of the run in a dataset: the same when it continues. Others add to it only as parts of one list, or from the same bucket.
async function runIn(folder: string, dataset: string, { run: given, out, shard }: FleetFlags): Promise<string> {
  const file = path.join(folder, "run.txt");
  const known = existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  const run = given ?? known ?? new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  if (known !== undefined && run !== known) throw new UsageError(`${folder} belongs to the run ${known}`);
  expectRunName(run);
  if (known !== undefined) return run;
  if (shard === undefined && !isBucket(out)) await expectNewRun(dataset, run);
  writeFileSync(file, `${run}\n`);
  return run;
}

async function run(
  flags: FleetFlags,
  folder: string,
  list: SiteList,
  queue: JournalQueue,
  watch: FleetWatch,
  { program }: Context,
): Promise<number> {
  const { messages } = watch;
  const before = await queue.counts();
  const known = before.done + before.waiting;
  if (known > 0) {
    const [done, waiting] = [counted(before.done, "website"), counted(before.waiting, "website")];
    messages.say(`continuing: ${done} done, ${waiting} waiting`, "quiet");
  }
  if (queue.damaged > 0 && flags.dataset !== undefined)
    throw new UsageError(
      `${damagedLines(queue.damaged)}, so rows could be repeated in ${flags.dataset}; start another run`,
    );
  if (queue.damaged > 0)
    messages.say(`${damagedLines(queue.damaged)}; --from FILE restores missing websites`, "warning");
  list.onMalformed = (sentence) => watch.note(sentence);
  const total = () => Math.max(known, list.count, queue.size);
  const figures = { total, before: before.done, suspects: () => queue.suspects };
  await watch.run(figures, ["SIGTERM"], async (options) => {
    const { processes = 1, concurrency, perAddress } = flags;
    if (processes > 1) {
      const { runProcesses } = await import("./processes.ts");
      const onDeath = (how: string) =>
        messages.say(`a process died (${how}): its websites will be crawled again`, "warning");
      return runProcesses({ ...options, queue, program, list, flags, onDeath });
    }
    const crawl = withDefaults(givenCrawl(flags));
    const sink = await sinkFor(flags);
    return runFleet({ ...options, queue, sites: list, sink, concurrency, perAddress, crawl });
  });
  if (flags.dataset !== undefined) await (await datasetAt(flags.dataset, flags.run)).finish(queue.results());
  const counter = new FleetCounter();
  let otherFormat = 0;
  for await (const summary of queue.results()) {
    counter.see(summary);
    if (summary.outcome === "quarantined") await removeAttempts(await Store.open(flags.out ?? folder), summary);
    if (!isInFormat(summary, flags.format)) otherFormat += 1;
  }
  const totals = counter.totals();
  const { outcomes, websites } = totals;
  const { waiting } = await queue.counts();
  reportList(list, messages);
  // A small list may leave nothing for one of its parts.
  if (websites === 0 && waiting === 0 && list.elsewhere === 0) {
    messages.say("the list contains no website", "bad");
    return exitCodes.usage;
  }
  const input = list.isGiven ? { duplicates: list.duplicates, malformed: list.malformedCount } : {};
  await writeSummary(flags, folder, `${jsonOf({ ...totals, waiting, ...input }, 2)}\n`);
  watch.print(totals);
  if (otherFormat > 0)
    messages.say(`the files of ${counted(otherFormat, "finished website")} stay in the earlier format`, "warning");
  if (waiting > 0) messages.say(`${counted(waiting, "website")} left: run it again to continue`, "warning");
  const isRead = wasRead(list, messages);
  const isComplete = outcomes.complete + outcomes.none === websites && waiting === 0 && isRead;
  const bad = outcomes.unreachable + outcomes.failed + outcomes.quarantined;
  const isBad = flags.failAbove !== undefined && bad * 100 > flags.failAbove * websites;
  if (isBad)
    messages.say(`${bad} of ${counted(websites, "website")} unreachable or failed: more than --fail-above`, "bad");
  const code = isBad ? exitCodes.findings : isComplete ? exitCodes.complete : exitCodes.incomplete;
  return watch.stopped(true) ?? code;
}

// An earlier run may have had another one.
function isInFormat({ files, sitemaps, outcome }: SiteSummary, format = "ndjson"): boolean {
  const { changes, pages = "no.none" } = files;
  const isRead = sitemaps > 0 && outcome !== "failed";
  return !isRead || (changes === undefined ? path.extname(pages) : ".changes") === `.${format}`;
}

async function writeSummary({ out, shard }: FleetFlags, folder: string, text: string): Promise<void> {
  await new Store(folder).put(summaryName, text);
  if (!isBucket(out)) return;
  const name = shard === undefined ? summaryName : `summary-${shard.replace("/", "-of-")}.json`;
  await (await S3Bucket.open(out)).replace(name, text);
}

function expectFiles(folder: string, { from = [], logFile, previous }: FleetFlags): void {
  const [journal = "", summary = ""] = [journalName, summaryName].map((name) => path.join(folder, name));
  const earlier = previous === undefined ? [] : [path.join(previous, journalName)];
  expectDistinct([...from, ...earlier], { "--log-file": logFile, [summaryName]: summary, [journalName]: journal });
  if (!existsSync(journal) && existsSync(summary))
    throw new UsageError(`${summary} exists, but is not from a fleet; use another folder`);
}

// Each process has a part of these limits, which is at least one: more processes would raise what was asked for.
function checkProcesses({ processes = 1, concurrency = processes, perAddress = defaultPerAddress }: FleetFlags): void {
  const expect = (flag: string, limit: number, why: string) => {
    if (processes > limit) throw new UsageError(`--processes ${processes} needs ${flag} ${processes} or more: ${why}`);
  };
  expect("--concurrency", concurrency, "each crawls a website");
  expect("--per-address", perAddress, "each may send a request to the same address");
}
