// `sitegrove fleet worker`: reads websites from a queue until nothing is left, or until it is stopped.
import { expectUsable } from "../../fetch/fetcher.ts";
import { openRuns } from "../../fleet/bull-queue.ts";
import type { BullRuns, RunEntry } from "../../fleet/bull-runs.ts";
import { defaultPerAddress } from "../../fleet/fleet-options.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { earlierRun, expectUsableLocation, runSinks, settingsProblem } from "../../fleet/run-settings.ts";
import { resolveStreamOptions } from "../../model/options.ts";
import type { Context } from "../context.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { type FleetFlags, runDefaults } from "./flags.ts";
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
  const { run, lease, idle, stay, concurrency, previous } = flags;
  const own = runDefaults(flags);
  const { out, crawl = {} } = own;
  if (lease < 1) throw new UsageError("--lease takes at least 1 second");
  await expectUsableLocation(out);
  expectUsable(resolveStreamOptions(crawl));
  const earlier = previous === undefined ? undefined : await earlierRun(previous);
  const watch = new FleetWatch(flags, context);
  const refused = new Set<string>();
  const isUsable = ({ run: name, settings }: RunEntry) => {
    const why = settingsProblem(settings, crawl);
    if (why !== undefined && !refused.has(name)) watch.messages.say(`skipping the run ${name}: ${why}`, "warning");
    if (why !== undefined) refused.add(name);
    return why === undefined;
  };
  const queue = await openRuns(flags.queue, {
    run,
    leaseTime: lease * 1000,
    idle: stay ? Number.POSITIVE_INFINITY : idle * 1000,
    isUsable,
    onNews: newsTo(watch.messages),
  });
  try {
    const { share, leave } = await shareOf(queue, flags.perAddress ?? defaultPerAddress);
    const figures = { total: () => watch.own.totals().websites + queue.left, before: 0, lost: () => queue.lost };
    try {
      await watch.run(figures, [], (options) =>
        runFleet({
          ...{ ...crawl, ...options, queue, sink: runSinks(queue, own, earlier) },
          ...{ parallelSites: concurrency, perAddress: share },
        }),
      );
    } finally {
      await leave();
    }
  } finally {
    await queue.close();
  }
  watch.print();
  return watch.stopped(false) ?? (refused.size > 0 ? exitCodes.unexpected : exitCodes.complete);
}

// Workers whose websites share an address divide the lowest limit. Throws a `UsageError` if there are more workers than that.
async function shareOf(queue: BullRuns, limit: number): Promise<{ share(): number; leave(): Promise<void> }> {
  const leaveQueue = await queue.join(limit);
  let workers = await queue.workers();
  const lowest = Math.min(limit, ...workers);
  if (workers.length > lowest) {
    await leaveQueue();
    throw new UsageError(
      `--per-address ${lowest} cannot be divided among ${workers.length} workers: raise it on all of them`,
    );
  }
  const look = setInterval(async () => {
    workers = await queue.workers().catch(() => workers);
  }, lookTime);
  return {
    share: () => Math.floor(Math.min(limit, ...workers) / Math.max(1, workers.length)),
    async leave() {
      clearInterval(look);
      await leaveQueue();
    },
  };
}

// In milliseconds.
const lookTime = 1000;
