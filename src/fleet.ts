// The public API of `sitegrove/fleet`: re-exports, nothing else.
/**
 * Many websites at a time: their queues, and what is kept of each.
 * @module sitegrove/fleet
 */
export { BullQueue, type BullQueueOptions } from "./fleet/bull-queue.ts";
export type { FleetEvent, FleetOptions, SiteOutput, SiteSink } from "./fleet/fleet-options.ts";
export { JournalQueue, type JournalQueueOptions, type Reading } from "./fleet/journal-queue.ts";
export type { ListedSite, RunEntry, RunSettings, RunsUnderWay, Schedule, ServerNews } from "./fleet/run-data.ts";
export { runFleet } from "./fleet/run-fleet.ts";
export { type SiteJob, type SiteOutcome, type SiteReason, type SiteSummary, siteJob } from "./fleet/site-job.ts";
export type { Lease, QueueCounts, SiteQueue } from "./fleet/site-queue.ts";
