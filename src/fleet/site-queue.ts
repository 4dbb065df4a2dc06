// The contract of a queue of websites: who works on what, and what came of it. The journal of one machine is one; a queue on a server
// is another. One suite of tests runs for each.
import type { Problem } from "../problem.ts";
import type { SiteJob, SiteSummary } from "./site-job.ts";

/** Who works on which website, and what came of it. */
export interface SiteQueue {
  /** Idempotent by run and key: a site that is known already is not added again. */
  add(run: string, sites: AsyncIterable<SiteJob> | Iterable<SiteJob>): Promise<{ added: number; known: number }>;
  /** The next site. Undefined when the run is finished: nothing waits, and nobody works any more. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<Lease | undefined>;
  counts(run: string): Promise<QueueCounts>;
  /** What was accepted so far, one summary for each site. */
  results(run: string): AsyncIterable<SiteSummary>;
  close(): Promise<void>;
}

/** How many websites are in which state. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly done: number;
  /** Of those that are done: set aside, or failed for reasons that are not the website's. */
  readonly failed: number;
}

/** The right to work on one site. Kept alive until it is settled. */
export interface Lease {
  readonly job: SiteJob;
  /** How often the site was started in this run, this time and crashes included. */
  readonly starts: number;
  /** Part of every file name: two attempts never write the same file. */
  readonly attemptId: string;
  /** Aborted when somebody else has the site. */
  readonly lost: AbortSignal;
  /** Superseded: somebody else's result counts. */
  done(summary: SiteSummary): Promise<"accepted" | "superseded">;
  /** Gives the site back: it is tried again, after a while. */
  retry(reason: Problem | undefined, afterMs: number): Promise<void>;
}
