// `sitegrove fleet`: checks the flags, crawls the websites of the list with a journal on this machine, and writes the summary at the end.
import { existsSync } from "node:fs";
import path from "node:path";
import { journalName, stateFolder } from "../../fleet/journal-file.ts";
import { JournalQueue } from "../../fleet/journal-queue.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { isBucket } from "../../fleet/s3-bucket.ts";
import { siteOutcomes } from "../../fleet/site-job.ts";
import { Store } from "../../fleet/store.ts";
import { counted, grouped } from "../../model/figures.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { expectDistinct } from "../input/target.ts";
import { type FleetFlags, type FleetOutputs, openOutputs } from "./flags.ts";
import { noList, reportList, reportMalformed, SiteList } from "./sites.ts";
import { reportGaps, summaryName, totalsOf } from "./status.ts";
import { FleetWatch } from "./watch.ts";

export async function fleet(names: readonly string[], flags: FleetFlags, context: Context): Promise<ExitCode> {
  const { out } = flags;
  if (flags.run !== undefined) throw new UsageError("--run needs --queue");
  if (out === undefined || out === "") throw new UsageError("no output folder given; use --out DIR");
  const list = new SiteList(names, flags, context.stdin);
  const outputs = await openOutputs(flags);
  // The journal is on this machine, even if the outputs go to a bucket.
  const folder = isBucket(out) ? stateFolder(out, flags.shard) : out;
  if (!list.isGiven && !existsSync(path.join(folder, journalName))) throw new UsageError(noList);
  expectFiles(folder, flags);
  await list.expectColumn();
  const watch = new FleetWatch(flags, context);
  const queue = await JournalQueue.open(folder, { retry: list.retry });
  try {
    return await run(flags, list, queue, watch, outputs);
  } finally {
    await queue.close();
  }
}

async function run(
  flags: FleetFlags,
  list: SiteList,
  queue: JournalQueue,
  watch: FleetWatch,
  { store, options }: FleetOutputs,
): Promise<ExitCode> {
  const { messages } = watch;
  const before = await queue.counts();
  const known = before.done + before.waiting;
  if (known > 0) {
    const [done, waiting] = [counted(before.done, "website"), counted(before.waiting, "website")];
    messages.say(`continuing: ${done} done, ${waiting} waiting`, "quiet");
  }
  reportMalformed(list, messages, (sentence) => watch.note(sentence));
  const total = () => Math.max(known, list.count, queue.size);
  await watch.run({ total, before: before.done }, ["SIGTERM"], (signals) =>
    runFleet({ ...options, ...signals, queue, sites: list }),
  );
  const totals = await totalsOf(queue.results());
  const { outcomes, websites } = totals;
  const { waiting } = await queue.counts();
  reportList(list, messages);
  // With a small list, a shard may be empty.
  if (websites === 0 && waiting === 0 && list.inOtherShards === 0) {
    messages.say("the list contains no website", "bad");
    return exitCodes.usage;
  }
  const input = list.isGiven ? { duplicates: list.duplicates, malformed: list.malformedCount } : {};
  const text = `${jsonOf({ ...totals, waiting, ...input }, 2)}\n`;
  await new Store(queue.folder).replace(summaryName, text);
  const part = flags.shard === undefined ? summaryName : `summary-${flags.shard.replace("/", "-of-")}.json`;
  if (store?.bucket !== undefined) await store.replace(part, text);
  watch.print(totals);
  if (waiting > 0) messages.say(`${counted(waiting, "website")} left: run it again to continue`, "warning");
  const { damaged, cutLists } = queue;
  const isWhole = !reportGaps({ malformed: list.malformedCount, damaged, cutLists }, messages);
  const lossy = siteOutcomes.filter((name) => name !== "complete" && name !== "none" && outcomes[name] > 0);
  const isComplete = lossy.length === 0 && waiting === 0 && isWhole;
  const bad = outcomes.unreachable + outcomes.failed + outcomes.quarantined;
  const isBad = flags.failAbove !== undefined && bad * 100 > flags.failAbove * websites;
  if (isBad)
    messages.say(
      `unreachable, failed or quarantined: ${bad} of ${counted(websites, "website")}, more than --fail-above`,
      "bad",
    );
  else if (lossy.length > 0) {
    const count = websites - outcomes.complete - outcomes.none;
    const each = lossy.map((name) => `${grouped(outcomes[name])} ${name}`).join(", ");
    messages.say(`incomplete: ${grouped(count)} of ${counted(websites, "website")} not fully read: ${each}`, "warning");
  }
  const code = isBad ? exitCodes.findings : isComplete ? exitCodes.complete : exitCodes.incomplete;
  return watch.stopped(true) ?? code;
}

function expectFiles(folder: string, { from = [], logFile, previous }: FleetFlags): void {
  const [journal = "", summary = ""] = [journalName, summaryName].map((name) => path.join(folder, name));
  const earlier = previous === undefined || isBucket(previous) ? [] : [path.join(previous, journalName)];
  expectDistinct([...from, ...earlier], { "--log-file": logFile, [summaryName]: summary, [journalName]: journal });
  if (!existsSync(journal) && existsSync(summary))
    throw new UsageError(`${summary} exists, but is not from a fleet; use another folder`);
}
