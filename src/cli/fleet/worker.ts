// `sitegrove fleet worker`: reads websites from a queue until nothing is left, or until it is stopped.

import { BullQueue } from "../../fleet/bull-queue.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import type { Context } from "../context.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { type FleetFlags, openOutputs } from "./flags.ts";
import { newsTo, type QueueFlags } from "./queue.ts";
import { FleetWatch } from "./watch.ts";

/** `idle` and `lease` are in seconds. */
export type WorkerFlags = FleetFlags &
  QueueFlags & { readonly stay?: true; readonly idle: number; readonly lease: number };

export async function fleetWorker(flags: WorkerFlags, context: Context): Promise<ExitCode> {
  const { run = "default", lease, idle, stay } = flags;
  if (flags["header"] !== undefined)
    throw new UsageError("--header cannot be used with a queue: whoever adds a website to it would receive the header");
  if (lease < 1) throw new UsageError("--lease takes at least 1 second");
  const { options } = await openOutputs(flags, run);
  const watch = new FleetWatch(flags, context);
  const queue = await BullQueue.open(flags.queue, {
    run,
    leaseTime: lease * 1000,
    idle: stay ? Number.POSITIVE_INFINITY : idle * 1000,
    onNews: newsTo(watch.messages),
  });
  const total = () => watch.own.totals().websites + queue.left;
  try {
    await watch.run({ total, before: 0 }, [], (signals) => runFleet({ ...options, ...signals, queue }));
  } finally {
    await queue.close();
  }
  watch.print();
  return watch.stopped(false) ?? exitCodes.complete;
}
