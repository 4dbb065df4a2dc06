// `sitegrove fleet worker`: reads websites from a queue until nothing is left, or until it is stopped.
import { expectUsable } from "../../fetch/fetcher.ts";
import { BullQueue, type RunEntry } from "../../fleet/bull-queue.ts";
import { defaultPerAddress } from "../../fleet/fleet-options.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { resolveStreamOptions } from "../../model/options.ts";
import type { Context } from "../context.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import type { FleetFlags } from "./flags.ts";
import { runDefaults, runSinks, settingsProblem, usablePlace } from "./outputs.ts";
import { newsTo } from "./queue.ts";
import { FleetWatch } from "./watch.ts";

/** `idle` and `lease` are in seconds. */
export type WorkerFlags = FleetFlags & {
  readonly queue: string;
  readonly stay?: true;
  readonly idle: number;
  readonly lease: number;
};

/** Returns the exit code. */
export async function fleetWorker(flags: WorkerFlags, context: Context): Promise<number> {
  const { run, lease, idle, stay, concurrency } = flags;
  const own = runDefaults(flags);
  const { out, crawl = {} } = own;
  if (lease < 1) throw new UsageError("--lease takes at least 1 second");
  await usablePlace(out);
  expectUsable(resolveStreamOptions(crawl));
  const watch = new FleetWatch(flags, context);
  const refused = new Set<string>();
  const isUsable = ({ run: name, settings }: RunEntry) => {
    const why = settingsProblem(settings, crawl);
    if (why !== undefined && !refused.has(name)) watch.messages.say(`skipping the run ${name}: ${why}`, "warning");
    if (why !== undefined) refused.add(name);
    return why === undefined;
  };
  const queue = await BullQueue.open(flags.queue, {
    run,
    leaseTime: lease * 1000,
    idle: stay ? Number.POSITIVE_INFINITY : idle * 1000,
    isUsable,
    onFinished: (entry) => {
      finishing = finishing.then(() => finish(entry));
      finishing.catch(() => undefined);
    },
    onNews: newsTo(watch.messages),
  });
  const sink = runSinks(queue, own);
  // Of one run at a time, by one worker at a time: also what workers left that died.
  let finishing = Promise.resolve();
  const finish = async ({ run: name, settings }: RunEntry) => {
    const dataset = await sink.dataset(name, settings);
    if (dataset !== undefined) await queue.alone(name, () => dataset.finish(queue.results(name)));
  };
  // One server may be behind websites of several workers.
  let workers = 1;
  const look = setInterval(async () => {
    workers = Math.max(1, await queue.workers().catch(() => workers));
  }, lookTime);
  const perAddress = () => Math.floor((flags.perAddress ?? defaultPerAddress) / workers);
  const figures = { total: () => watch.own.totals().websites + queue.left, before: 0, lost: () => queue.lost };
  try {
    await watch.run(figures, [], async (options) => {
      await runFleet({ queue, sink, concurrency, perAddress, crawl, ...options });
      await finishing;
    });
  } finally {
    clearInterval(look);
    await queue.close();
  }
  watch.print();
  return watch.stopped(false) ?? (refused.size > 0 ? exitCodes.unexpected : exitCodes.complete);
}

// In milliseconds.
const lookTime = 2000;
