// The queue of several machines, as users of the library see it. Only a fleet and the program use the rest of `RunQueue`.
import { type BullQueueOptions, RunQueue } from "./run-queue.ts";
import type { SiteSummary } from "./site-job.ts";
import type { SiteQueue } from "./site-queue.ts";

/** Returns the queue that a fleet works on. */
export let siteQueueOf: (queue: SiteQueue | BullQueue) => SiteQueue;

/**
 * The queue of several machines, on Redis or Valkey through BullMQ, which has to be installed. Passwords come from the
 * environment.
 *
 * @example
 * const queue = await BullQueue.open("redis://127.0.0.1/0", { run: "monday" });
 * await runFleet({ queue, sites: ["example.org", "example.net"] });
 * for await (const { site, outcome } of queue.results()) console.log(site, outcome);
 * await queue.close();
 */
export class BullQueue {
  readonly #queue: RunQueue;

  static {
    siteQueueOf = (queue) => (#queue in queue ? queue.#queue : (queue as SiteQueue));
  }

  private constructor(queue: RunQueue) {
    this.#queue = queue;
  }

  /** Throws a `SitemapError`: `missing-package` without BullMQ, `queue-failed` if the server cannot be used. */
  static async open(url: string | URL, options: BullQueueOptions = {}): Promise<BullQueue> {
    return new BullQueue(await RunQueue.open(url, options));
  }

  /** The results so far, in the order in which the websites were added. */
  results(): AsyncIterable<SiteSummary> {
    return this.#queue.results();
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}
