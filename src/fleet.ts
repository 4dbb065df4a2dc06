// The public API of `sitegrove/fleet`: re-exports, nothing else.
/**
 * Many websites in parallel: their queues and results.
 * @module sitegrove/fleet
 */
export { BullQueue, type BullQueueOptions } from "./fleet/bull-queue.ts";
export type { FleetEvent, FleetOptions, FleetResult, SiteOutput, SiteSink } from "./fleet/fleet-options.ts";
export { JournalQueue, type JournalQueueOptions } from "./fleet/journal-queue.ts";
export type { ServerNews } from "./fleet/queue-server.ts";
export { runFleet } from "./fleet/run-fleet.ts";
export {
  type SiteJob,
  type SiteOutcome,
  type SiteReason,
  type SiteSummary,
  siteJob,
} from "./fleet/site-job.ts";
export type { Lease, QueueCounts, SiteQueue } from "./fleet/site-queue.ts";
