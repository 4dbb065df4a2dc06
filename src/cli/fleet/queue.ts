// The commands about a queue: they fill it, show the state of a run, print its results, or remove the run.

import { BullQueue } from "../../fleet/bull-queue.ts";
import type { ServerNews } from "../../fleet/queue-server.ts";
import { until } from "../../fleet/run-fleet.ts";
import type { QueueCounts } from "../../fleet/site-queue.ts";
import { counted } from "../../model/figures.ts";
import { jsonOf } from "../../write/printable.ts";
import { type Context, onStop } from "../context.ts";
import { type ExitCode, exitCodes, Stopped, UsageError } from "../exit-codes.ts";
import { type MessageFlags, Messages } from "../output/messages.ts";
import { Output } from "../output/stdout.ts";
import type { FleetFlags } from "./flags.ts";
import { noList, reportList, reportMalformed, SiteList } from "./sites.ts";
import { fleetTable, reportGaps, stateText, totalsOf } from "./status.ts";

/** The flags of commands about a run on a queue. */
export interface QueueFlags extends MessageFlags {
  readonly queue: string;
  readonly run?: string | undefined;
}

export function newsTo(messages: Messages): (news: ServerNews) => void {
  return (news) => {
    if (news.type === "back") messages.say("reconnected to the queue", "good");
    else if (news.type === "lost")
      messages.say(`lost the connection to the queue, reconnecting: ${news.message}`, "warning");
    else if (news.type === "idle") messages.say("no websites left: waiting for more", "quiet");
    else messages.say(news.message, "warning");
  };
}

async function withQueue<T>(
  { queue: url, run }: QueueFlags,
  messages: Messages | undefined,
  work: (queue: BullQueue) => Promise<T>,
): Promise<T> {
  const queue = await BullQueue.open(url, { run, onNews: messages && newsTo(messages) });
  return work(queue).finally(() => queue.close());
}

async function expectWebsites(queue: BullQueue): Promise<QueueCounts> {
  const counts = await queue.counts();
  if (counts.waiting + counts.active + counts.done === 0)
    throw new UsageError(`the run ${queue.run} has no websites on this queue`);
  return counts;
}

/** Puts the websites of --retry back into a queue, and adds the listed ones. */
export async function fillQueue(
  names: readonly string[],
  flags: FleetFlags & QueueFlags,
  context: Context,
): Promise<ExitCode> {
  const list = new SiteList(names, flags, context.stdin);
  if (!list.isGiven && list.retry.length === 0) throw new UsageError(noList);
  await list.expectColumn();
  const messages = new Messages(flags, context);
  const stop = new AbortController();
  const unlisten = onStop(context, [(stopped) => stop.abort(stopped)]);
  const fill = async (queue: BullQueue) => {
    const { run } = queue;
    if (!list.isGiven) await expectWebsites(queue);
    if (list.retry.length > 0)
      messages.say(`${run}: ${counted(await queue.retry(list.retry), "website")} to crawl again`);
    if (list.isGiven) {
      reportMalformed(list, messages);
      const end = await queue.add(until(list, stop.signal)).catch((error: unknown) => {
        messages.say(`${run}: the end of the list may be missing: add it again`, "warning");
        if (!(error instanceof Stopped)) throw error;
        return error;
      });
      reportList(list, messages);
      if (end instanceof Stopped) return end.exitCode;
      if (list.count === 0 && list.inOtherShards === 0) {
        messages.say("the list contains no website", "bad");
        return exitCodes.usage;
      }
      const already = end.known === 0 ? "" : `; ${counted(end.known, "website")} already known`;
      messages.say(`${run}: added ${counted(end.added, "website")}${already}`, "good");
    }
    const hasGaps = reportGaps({ malformed: list.malformedCount }, messages);
    return hasGaps ? exitCodes.incomplete : exitCodes.complete;
  };
  try {
    return await withQueue(flags, messages, fill);
  } finally {
    if (stop.signal.aborted) context.stdin.destroy();
    unlisten();
  }
}

export function removeRun(flags: QueueFlags, context: Context): Promise<ExitCode> {
  const messages = new Messages(flags, context);
  return withQueue(flags, messages, async (queue) => {
    await expectWebsites(queue);
    await queue.remove();
    messages.say(`${queue.run}: removed`, "good");
    return exitCodes.complete;
  });
}

export function queueStatus(flags: QueueFlags, asJson: boolean, { stdout }: Context): Promise<ExitCode> {
  return withQueue(flags, undefined, async (queue) => {
    const { done, failed, ...left } = await expectWebsites(queue);
    const active = Math.min(left.active, await queue.held());
    const waiting = left.waiting + left.active - active;
    const totals = await totalsOf(queue.results());
    const name = waiting + active === 0 ? "finished" : active === 0 ? "waiting for workers" : "running";
    const figures = { run: queue.run, waiting, active, done, failed, ...totals };
    const text = `${queue.run}: ${stateText(name, active, waiting)}\n${fleetTable(totals)}`;
    stdout.write(asJson ? `${jsonOf(figures)}\n` : text);
    return exitCodes.complete;
  });
}

export function queueResults(flags: QueueFlags, { stdout }: Context): Promise<ExitCode> {
  return withQueue(flags, undefined, async (queue) => {
    await expectWebsites(queue);
    const output = new Output(stdout);
    for await (const summary of queue.results()) await output.write(`${jsonOf(summary)}\n`);
    await output.flush();
    return exitCodes.complete;
  });
}
