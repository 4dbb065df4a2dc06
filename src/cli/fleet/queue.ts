// Fleets on several machines, on the side of the user: fills a queue, shows the state of its runs, prints their
// results.
import { isDeepStrictEqual } from "node:util";
import { BullQueue } from "../../fleet/bull-queue.ts";
import type { RunSettings, ServerNews } from "../../fleet/run-data.ts";
import type { SiteOutcome } from "../../fleet/site-job.ts";
import type { QueueCounts } from "../../fleet/site-queue.ts";
import { counted } from "../../model/figures.ts";
import type { Options } from "../../model/options.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import { type Context, onStop } from "../context.ts";
import { exitCodes, Stopped, UsageError } from "../exit-codes.ts";
import type { Messages } from "../output/messages.ts";
import { Output } from "../output/stdout.ts";
import type { FleetFormat } from "./formats.ts";
import { outputRemover, unpublisher } from "./outputs.ts";
import { unitTimes } from "./queue-command.ts";
import { reportList, type SiteList, unreadLines } from "./sites.ts";

/** The configuration of a run for its workers, whose own flags take precedence. */
export interface RunDefaults {
  readonly out?: string | undefined;
  readonly format?: FleetFormat | undefined;
  readonly archives?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly crawl?: Options | undefined;
}

export function newsTo(messages: Messages): (news: ServerNews) => void {
  return (news) => {
    if (news.type === "back") messages.say("the queue is back", "good");
    else if (news.type === "lost") messages.say(`lost the queue, trying again: ${news.message}`, "warning");
    else messages.say(news.message, "warning");
  };
}

export interface FillOptions {
  readonly url: string;
  readonly run: string;
  /** Undefined if only `again` is wanted. */
  readonly list: SiteList | undefined;
  readonly defaults: RunDefaults;
  /** Sites with these outcomes are read again. */
  readonly again: readonly SiteOutcome[];
}

/** Returns the exit code. */
export async function fillQueue(
  { url, run, list, defaults, again }: FillOptions,
  messages: Messages,
  context: Context,
): Promise<number> {
  const queue = await BullQueue.open(url, { onNews: newsTo(messages) });
  const stop = new AbortController();
  const unlisten = onStop(context, [(stopped) => stop.abort(stopped)]);
  try {
    const known = (await queue.runs()).find((entry) => entry.run === run);
    if (list === undefined && known === undefined)
      throw new UsageError(`there is no run ${run}: name homepages, or a list of them with --from FILE`);
    if (known !== undefined) expectSame(run, known.settings, defaults, list === undefined);
    if (again.length > 0) {
      const count = await queue.retry(run, again, await unpublisher(defaults.out ?? (await outOf(queue, run)), run));
      messages.say(`${run}: ${counted(count, "website")} to read again`);
    }
    if (list !== undefined) {
      const { added, known: before } = await queue.add(run, until(list, stop.signal), defaults as RunSettings);
      reportList(list, messages);
      if (list.count === 0) {
        messages.say("the list names no website", "bad");
        return exitCodes.usage;
      }
      const already = before === 0 ? "" : `; ${counted(before, "website")} known already`;
      const isCut = stop.signal.aborted;
      const rest = isCut ? "; stopped before the end of the list: fill it again" : "";
      messages.say(`${run}: added ${counted(added, "website")}${already}${rest}`, isCut ? "warning" : "good");
    }
    const unread = list === undefined ? undefined : unreadLines(list);
    if (unread !== undefined) messages.say(unread, "warning");
    const stopped: unknown = stop.signal.reason;
    if (stopped instanceof Stopped) return stopped.exitCode;
    return unread === undefined ? exitCodes.complete : exitCodes.incomplete;
  } finally {
    if (stop.signal.aborted) context.stdin.destroy();
    await queue.close();
    unlisten();
  }
}

export interface ScheduleOptions {
  readonly url: string;
  readonly run: string;
  /** In milliseconds; undefined to show what is scheduled. */
  readonly every: number | undefined;
  /** How many repetitions stay on the queue. */
  readonly keep: number | undefined;
  readonly stop: boolean;
}

/** Returns the exit code. */
export async function scheduleRun(
  { url, run, every, keep, stop }: ScheduleOptions,
  messages: Messages,
  { stdout }: Context,
): Promise<number> {
  const queue = await BullQueue.open(url, { onNews: newsTo(messages) });
  try {
    if (stop) {
      if (!(await queue.unschedule(run))) throw new UsageError(`${run} is not scheduled`);
      messages.say(`${run}: no longer scheduled`, "good");
    } else if (every === undefined) {
      for (const { run: name, every: time, next, keep: kept } of await queue.schedules()) {
        const most = kept === undefined ? "" : `, keeps ${kept}`;
        const when = next === undefined ? "" : `, next ${new Date(next).toISOString()}`;
        stdout.write(`${printable(name)}: every ${interval(time)}${most}${when}\n`);
      }
    } else {
      if (!(await queue.runs()).some((entry) => entry.run === run))
        throw new UsageError(`there is no run ${run}: fill it with sitegrove fleet --queue … --run ${run}`);
      await queue.schedule(run, every, keep);
      messages.say(`${run}: again every ${interval(every)}`, "good");
    }
    return exitCodes.complete;
  } finally {
    await queue.close();
  }
}

/** Returns the exit code. */
export async function removeRun(url: string, run: string, andOutputs: boolean, messages: Messages): Promise<number> {
  const queue = await BullQueue.open(url, { onNews: newsTo(messages) });
  try {
    const entry = (await queue.runs()).find((each) => each.run === run);
    if (entry === undefined) throw new UsageError(`there is no run ${run}`);
    const { out } = entry.settings as RunDefaults;
    if (andOutputs && out === undefined) throw new UsageError(`${run} does not say where its outputs are`);
    if ((await queue.counts(run)).active > 0)
      throw new UsageError(`websites of ${run} are being read: stop its workers first`);
    let files = 0;
    const remove = andOutputs && out !== undefined ? await outputRemover(out, run) : async () => 0;
    for await (const summary of queue.results(run)) files += await remove(summary);
    await queue.remove(run);
    messages.say(`${run}: removed${andOutputs ? `, with ${counted(files, "file")}` : ""}`, "good");
    return exitCodes.complete;
  } finally {
    await queue.close();
  }
}

/** Returns the exit code. Without a run: all of them together. */
export async function queueStatus(
  url: string,
  run: string | undefined,
  format: "text" | "json" | "ndjson",
  { stdout }: Context,
): Promise<number> {
  const queue = await BullQueue.open(url);
  try {
    const known = await queue.runs();
    const entries = run === undefined ? known : known.filter((entry) => entry.run === run);
    if (run !== undefined && entries.length === 0) {
      const others =
        known.length === 0 ? "the queue has none" : `there are ${known.map((entry) => entry.run).join(", ")}`;
      throw new UsageError(`there is no run ${run}: ${others}`);
    }
    const rows: (QueueCounts & { run: string })[] = [];
    for (const entry of entries) rows.push({ run: entry.run, ...(await queue.counts(entry.run)) });
    const lines =
      format === "json"
        ? [jsonOf(sum(rows))]
        : format === "ndjson"
          ? rows.map((row) => jsonOf(row))
          : rows.length === 0
            ? ["no runs"]
            : [...rows.map(sentence), workersInWords(await queue.workers())];
    stdout.write(lines.map((line) => `${line}\n`).join(""));
    return exitCodes.complete;
  } finally {
    await queue.close();
  }
}

/** Returns the exit code. */
export async function queueResults(url: string, run: string, { stdout }: Context): Promise<number> {
  const queue = await BullQueue.open(url);
  try {
    if (!(await queue.runs()).some((entry) => entry.run === run)) throw new UsageError(`there is no run ${run}`);
    const output = new Output(stdout);
    for await (const summary of queue.results(run)) await output.write(`${jsonOf(summary)}\n`);
    await output.flush();
    return exitCodes.complete;
  } finally {
    await queue.close();
  }
}

/** As it is typed: `1d`, `90s`. */
function interval(time: number): string {
  const [unit, size] = Object.entries(unitTimes).findLast(([, each]) => time % each === 0) ?? ["s", 1000];
  return `${time / size}${unit}`;
}

// Workers read what a run is filled with when they begin: with other settings later, some websites would be read so, some otherwise.
function expectSame(run: string, known: RunSettings, given: RunDefaults, isOnlyRetry: boolean): void {
  const asKept = JSON.parse(JSON.stringify(given)) as RunSettings;
  // Where to take results back from may be said.
  const isAllowed = (name: string) => isOnlyRetry && (name === "out" || name === "format");
  const other = Object.keys(asKept).find((name) => !isAllowed(name) && !isDeepStrictEqual(asKept[name], known[name]));
  if (other === undefined) return;
  const what =
    other === "crawl" ? "other limits or options" : known[other] === undefined ? `no --${other}` : `another --${other}`;
  throw new UsageError(
    `the run ${run} was filled with ${what}: give the same, or a --run of another name; workers may have flags of their own`,
  );
}

async function outOf(queue: BullQueue, run: string): Promise<string | undefined> {
  const entry = (await queue.runs()).find((each) => each.run === run);
  return (entry?.settings as RunDefaults | undefined)?.out;
}

// A list may come slowly, from a pipe: its next line is not waited for once somebody says stop.
async function* until<T>(list: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = list[Symbol.asyncIterator]();
  let stop = () => {};
  signal.addEventListener("abort", () => stop(), { once: true });
  while (!signal.aborted) {
    const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
      stop = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

function sum(rows: readonly QueueCounts[]): QueueCounts {
  const of = (name: keyof QueueCounts) => rows.reduce((total, row) => total + row[name], 0);
  return { waiting: of("waiting"), active: of("active"), done: of("done"), failed: of("failed") };
}

function sentence({ run, waiting, active, done, failed }: QueueCounts & { run: string }): string {
  const state = waiting + active === 0 ? "finished" : active === 0 ? "waiting for workers" : "running";
  return `${run}: ${state}; ${counted(done, "website")} done (${failed} failed), ${active} being read, ${waiting} waiting`;
}

function workersInWords(count: number | undefined): string {
  return count === undefined ? "the server does not say how many workers there are" : counted(count, "worker");
}
