// The leases of one process, for both kinds of queues. Also finds the website that crashes its process: all websites that were in flight when
// a process died are suspects. A process crawls sixteen of them at a time, after a second death four at a time, and then one by one. With
// more at a time, finding the website would take more deaths; with fewer, a fleet that was killed only once would wait long, because many
// suspects do not respond. After five deaths, a website is quarantined, so an operator may kill the process a few times.
import { setMaxListeners } from "node:events";
import { emptySummary, type SiteJob, type SiteSummary } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/** A website that a process crawls, or is about to. */
export interface LeasedSite {
  readonly job: SiteJob;
  readonly starts: number;
  /** How often a process died while crawling it. */
  readonly deaths: number;
  readonly replaces: string | undefined;
}

export class Leases {
  readonly #inFlight = new Set<Pick<LeasedSite, "deaths">>();
  readonly #onEnd: () => void;

  constructor(onEnd: () => void = () => {}) {
    this.#onEnd = onEnd;
  }

  /** How many websites this process crawls. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** Whether this process may crawl this website, too. */
  hasRoom(next: Pick<LeasedSite, "deaths">): boolean {
    if (next.deaths === 0) return true;
    const suspects = [next, ...this.#inFlight].filter(({ deaths }) => deaths > 0);
    return suspects.every(({ deaths }) => suspects.length <= (laneSizes[deaths - 1] ?? 1));
  }

  /**
   * Gives out a lease. Calls `settle` once, with a result, or without one to return the website to the queue. It resolves to whether that
   * counts.
   */
  give(
    site: LeasedSite,
    attemptId: string,
    settle: (summary?: SiteSummary) => Promise<boolean>,
    lost: AbortSignal = never,
  ): Lease {
    const { job, starts, replaces, deaths } = site;
    this.#inFlight.add(site);
    let isOpen = true;
    const end = () => {
      isOpen = false;
      this.#inFlight.delete(site);
      this.#onEnd();
    };
    lost.addEventListener("abort", end, { once: true });
    const settleOnce = async (summary?: SiteSummary) => {
      if (!isOpen) return false;
      isOpen = false;
      lost.removeEventListener("abort", end);
      return settle(summary).finally(end);
    };
    return {
      ...{ job, starts, attemptId, replaces, lost },
      quarantined: deaths < mostDeaths ? undefined : quarantined(job, attemptId),
      done: async (summary) => ((await settleOnce(summary)) ? "accepted" : "superseded"),
      retry: async () => void (await settleOnce()),
    };
  }
}

function quarantined(job: SiteJob, attemptId: string): SiteSummary {
  const message = `The process died ${mostDeaths} times while crawling this website`;
  return emptySummary(job, attemptId, "quarantined", message, mostDeaths);
}

// How many suspects a process crawls at a time, by their deaths.
const laneSizes = [16, 4];
const mostDeaths = 5;

// The lease of a journal is never lost, because the journal is locked: no other process can have the site.
const never = new AbortController().signal;
setMaxListeners(0, never);
