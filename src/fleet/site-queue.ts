// The contract of a queue of websites: leases and results. The journal of one machine implements it, and so does a queue on a server. The
// same tests run for both.
import type { SiteJob, SiteSummary } from "./site-job.ts";

/** A queue of websites: hands out leases and keeps the results. */
export interface SiteQueue {
  /** False if others may add websites. Then only public addresses are crawled, unless `network` allows more. */
  readonly isTrusted?: boolean;
  /** Adds sites. Idempotent by key: a known site is not added again. If the list throws, the sites before that are added. */
  add(sites: AsyncIterable<SiteJob> | Iterable<SiteJob>): Promise<{ added: number; known: number }>;
  /** Returns the next site, or undefined when no site is waiting or being read any more. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<Lease | undefined>;
  counts(): Promise<QueueCounts>;
  /** The accepted results so far, one summary for each finished site. */
  results(): AsyncIterable<SiteSummary>;
  close(): Promise<void>;
}

/** How many websites are in which state. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly done: number;
  /** Those of `done` whose outcome is `failed` or `quarantined`. */
  readonly failed: number;
}

/** The permission to read one site, until it is settled or lost. */
export interface Lease {
  readonly job: SiteJob;
  /** How often the site was started in this run, including this time and crashes. */
  readonly starts: number;
  /** The name of this attempt. It is part of the names of its files, so that two attempts never write the same file. */
  readonly attemptId: string;
  /** The attempt whose result the user asked to replace. */
  readonly replaces?: string | undefined;
  /** The result to report instead of reading the site, because processes died while reading it. */
  readonly quarantined?: SiteSummary | undefined;
  /** A signal that is aborted when another worker has the site. */
  readonly lost: AbortSignal;
  /** Reports the result. `superseded` means that it does not count, because the lease was lost or is settled. */
  done(summary: SiteSummary): Promise<"accepted" | "superseded">;
  /** Returns the site to the queue, to be crawled later. */
  retry(): Promise<void>;
}
