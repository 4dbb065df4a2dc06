// Fleets on several machines, for the user: fills a queue, shows the state of its runs, and prints their results.
import { isDeepStrictEqual } from "node:util";
import { openRuns } from "../../fleet/bull-queue.ts";
import type { BullRuns, RunEntry, RunSettings } from "../../fleet/bull-runs.ts";
import type { ServerNews } from "../../fleet/queue-server.ts";
import { until } from "../../fleet/run-fleet.ts";
import type { RunDefaults } from "../../fleet/run-settings.ts";
import { unpublish } from "../../fleet/site-files.ts";
import type { QueueCounts } from "../../fleet/site-queue.ts";
import { Store } from "../../fleet/store.ts";
import { counted } from "../../model/figures.ts";
import { jsonOf } from "../../write/printable.ts";
import { type Context, onStop } from "../context.ts";
import { exitCodes, Stopped, UsageError } from "../exit-codes.ts";
import { type MessageFlags, Messages } from "../output/messages.ts";
import { Output } from "../output/stdout.ts";
import { type FleetFlags, runDefaults } from "./flags.ts";
import { noList, reportList, SiteList, wasRead } from "./sites.ts";
import { FleetCounter, oldestActive } from "./totals.ts";

export function newsTo(messages: Messages): (news: ServerNews) => void {
  return (news) => {
    if (news.type === "back") messages.say("reconnected to the queue", "good");
    else if (news.type === "lost")
      messages.say(`lost the connection to the queue, reconnecting: ${news.message}`, "warning");
    else if (news.type === "idle") messages.say("no websites left: waiting for more", "quiet");
    else messages.say(news.message, "warning");
  };
}

async function withQueue<T>(url: string, messages: Messages | undefined, work: (queue: BullRuns) => Promise<T>) {
  const queue = await openRuns(url, messages === undefined ? {} : { onNews: newsTo(messages) });
  return work(queue).finally(() => queue.close());
}

async function entryOf(queue: BullRuns, run: string): Promise<RunEntry & { settings: RunDefaults }> {
  const known = await queue.runs();
  const entry = known.find((each) => each.run === run);
  if (entry !== undefined) return entry;
  const others = known.length === 0 ? "the queue has no runs" : `there are ${known.map((each) => each.run).join(", ")}`;
  throw new UsageError(`no run is named ${run}: ${others}`);
}

// Flags that a run does not pass to its workers: each worker has its own.
const workerFlags = [
  ...["header", "proxy", "insecure", "ca", "allowPrivate", "publicOnly", "previous", "concurrency"],
  ...["perAddress", "logFile", "logFormat", "failAbove", "metrics"],
];

/** Adds the list to a queue, from which workers read it. Returns the exit code. */
export async function fillQueue(
  names: readonly string[],
  flags: FleetFlags,
  url: string,
  context: Context,
): Promise<number> {
  const own = workerFlags.find((name) => flags[name] !== undefined);
  if (own !== undefined) {
    const flag = `--${own.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(`${flag} is for workers: sitegrove fleet worker --queue … ${flag} …`);
  }
  const list = new SiteList(names, flags, context.stdin);
  const { retry } = list;
  if (!list.isGiven && retry.length === 0) throw new UsageError(noList);
  await list.expectColumn();
  const { run = "default" } = flags;
  const { out, format, crawl = {}, ...others } = runDefaults(flags);
  // Flags that are not given do not change a known run.
  const defaults: RunDefaults = {
    ...others,
    ...(out === undefined ? {} : { out, format }),
    ...(Object.keys(crawl).length === 0 ? {} : { crawl }),
  };
  const messages = new Messages(flags, context);
  const stop = new AbortController();
  const unlisten = onStop(context, [(stopped) => stop.abort(stopped)]);
  const fill = async (queue: BullRuns) => {
    const known = (await queue.runs()).find((entry) => entry.run === run);
    if (!list.isGiven && known === undefined)
      throw new UsageError(`no run is named ${run}; to create it, give homepages, or a list of them with --from FILE`);
    if (known !== undefined) expectSame(run, known.settings, defaults, !list.isGiven);
    if (retry.length > 0) {
      const place = defaults.out ?? (known?.settings as RunDefaults | undefined)?.out;
      const store = place === undefined ? undefined : await Store.open(place);
      const count = await queue.retry(run, retry, async (summary) => store && unpublish(store, run, summary));
      messages.say(`${run}: ${counted(count, "website")} to crawl again`);
    }
    if (list.isGiven) {
      const { added, known: before } = await queue.add(run, until(list, stop.signal), defaults as RunSettings);
      reportList(list, messages);
      if (list.count === 0 && list.elsewhere === 0) {
        messages.say("the list contains no website", "bad");
        return exitCodes.usage;
      }
      const already = before === 0 ? "" : `; ${counted(before, "website")} known already`;
      const isCut = stop.signal.aborted;
      const rest = isCut ? "; stopped before the end of the list: add it again" : "";
      messages.say(`${run}: added ${counted(added, "website")}${already}${rest}`, isCut ? "warning" : "good");
    }
    const isRead = wasRead(list, messages);
    const stopped: unknown = stop.signal.reason;
    if (stopped instanceof Stopped) return stopped.exitCode;
    return isRead ? exitCodes.complete : exitCodes.incomplete;
  };
  try {
    return await withQueue(url, messages, fill);
  } finally {
    if (stop.signal.aborted) context.stdin.destroy();
    unlisten();
  }
}

/** The flags of commands about a run. */
export interface QueueFlags extends MessageFlags {
  readonly queue: string;
  readonly run: string;
}

/** Returns the exit code. */
export function removeRun(flags: QueueFlags & { readonly outputs?: true }, context: Context): Promise<number> {
  const { queue: url, run, outputs } = flags;
  const messages = new Messages(flags, context);
  return withQueue(url, messages, async (queue) => {
    const { out } = (await entryOf(queue, run)).settings;
    if (outputs && out === undefined) throw new UsageError(`the run ${run} has no output folder on record`);
    if ((await queue.counts(run)).active > 0)
      throw new UsageError(`workers are still crawling websites of ${run}: stop them first`);
    let files = 0;
    const store = outputs && out !== undefined ? await Store.open(out) : undefined;
    if (store) for await (const summary of queue.results(run)) files += await unpublish(store, run, summary, true);
    await queue.remove(run);
    messages.say(`${run}: removed${outputs ? `, with ${counted(files, "file")}` : ""}`, "good");
    return exitCodes.complete;
  });
}

/** Shows one run, or all of them together. Returns the exit code. */
export function queueStatus(
  url: string,
  run: string | undefined,
  format: "text" | "json" | "ndjson",
  { stdout }: Context,
): Promise<number> {
  return withQueue(url, undefined, async (queue) => {
    const names = (run === undefined ? await queue.runs() : [await entryOf(queue, run)]).map((entry) => entry.run);
    const lines: string[] = [];
    if (format === "json") lines.push(jsonOf(await figuresOf(queue, names)));
    else if (format === "ndjson")
      for (const name of names) lines.push(jsonOf({ run: name, ...(await figuresOf(queue, [name])) }));
    else {
      for (const name of names) lines.push(sentence(name, await queue.counts(name)));
      lines.push(names.length === 0 ? "no runs" : counted((await queue.workers()).length, "worker"));
    }
    stdout.write(lines.map((line) => `${line}\n`).join(""));
    return exitCodes.complete;
  });
}

/** The sums over several runs. */
async function figuresOf(queue: BullRuns, runs: readonly string[]): Promise<object> {
  const counts = { waiting: 0, active: 0, done: 0, failed: 0 };
  const counter = new FleetCounter();
  const starts: number[] = [];
  for (const run of runs) {
    const more = await queue.counts(run);
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += more[name];
    starts.push(await queue.oldestStart(run));
    for await (const summary of queue.results(run)) counter.see(summary);
  }
  return { ...counts, ...oldestActive(starts), ...counter.totals() };
}

function sentence(run: string, { waiting, active, done, failed }: QueueCounts): string {
  const state = waiting + active === 0 ? "finished" : active === 0 ? "waiting for workers" : "running";
  return `${run}: ${state}; ${counted(done, "website")} done (${failed} failed), ${active} in progress, ${waiting} waiting`;
}

/** Returns the exit code. */
export function queueResults(url: string, run: string, { stdout }: Context): Promise<number> {
  return withQueue(url, undefined, async (queue) => {
    await entryOf(queue, run);
    const output = new Output(stdout);
    for await (const summary of queue.results(run)) await output.write(`${jsonOf(summary)}\n`);
    await output.flush();
    return exitCodes.complete;
  });
}

// Workers read the settings of a run once: with other settings later, some websites would be crawled with the old ones, others with the new.
function expectSame(run: string, known: RunSettings, given: RunDefaults, isOnlyRetry: boolean): void {
  const asKept = JSON.parse(JSON.stringify(given)) as RunSettings;
  // The location of earlier results may be given.
  const isAllowed = (name: string) => isOnlyRetry && (name === "out" || name === "format");
  const other = Object.keys(asKept).find((name) => !isAllowed(name) && !isDeepStrictEqual(asKept[name], known[name]));
  if (other === undefined) return;
  const what =
    other === "crawl" ? "other limits or options" : known[other] === undefined ? `no --${other}` : `another --${other}`;
  throw new UsageError(
    `the run ${run} was created with ${what}: use the same ones, or another --run; workers may have their own flags`,
  );
}
