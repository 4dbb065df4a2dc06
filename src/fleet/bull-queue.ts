// The public face of the queue of several machines. What workers and the program do with its runs is in bull-runs.ts.
import { functionValue, number, optionsIn } from "../model/option-checks.ts";
import { type BullQueueOptions, BullRuns, expectRunName } from "./bull-runs.ts";
import { openServer, queueAddress } from "./queue-server.ts";
import type { SiteSummary } from "./site-job.ts";
import type { SiteQueue } from "./site-queue.ts";

/** The queue that a fleet works with, behind the public class. */
export let siteQueueOf: (queue: SiteQueue | BullQueue) => SiteQueue;

/**
 * The queue of several machines, on Redis or Valkey through BullMQ, which has to be installed. Passwords come from the
 * environment.
 *
 * @example
 * const queue = await BullQueue.open("redis://127.0.0.1/0", { run: "monday" });
 * await runFleet({ queue, run: "monday", sites: ["example.org", "example.net"] });
 * for await (const { site, outcome } of queue.results("monday")) console.log(site, outcome);
 * await queue.close();
 */
export class BullQueue {
  readonly #runs: BullRuns;

  private constructor(runs: BullRuns) {
    this.#runs = runs;
  }

  /** Throws a `SitemapError`: `missing-package` without BullMQ, `queue-failed` if the server cannot be used. */
  static async open(url: string | URL, options: BullQueueOptions = {}): Promise<BullQueue> {
    optionsIn("options", options, ["run", "leaseTime", "idle", "onNews"]);
    return new BullQueue(await openRuns(url, options));
  }

  /** The results of a run so far, in the order of the list. */
  results(run = "default"): AsyncIterable<SiteSummary> {
    return this.#runs.results(run);
  }

  close(): Promise<void> {
    return this.#runs.close();
  }

  static {
    siteQueueOf = (queue) => (queue instanceof BullQueue ? queue.#runs : queue);
  }
}

export async function openRuns(
  url: string | URL,
  options: ConstructorParameters<typeof BullRuns>[1] = {},
): Promise<BullRuns> {
  const { run, leaseTime = 30_000, idle = 0, onNews = () => {} } = options;
  if (run !== undefined) expectRunName(run);
  number("leaseTime", leaseTime, 1);
  number("idle", idle, 0);
  functionValue("onNews", onNews);
  return new BullRuns(await openServer(queueAddress(url), leaseTime, onNews), options, leaseTime);
}
