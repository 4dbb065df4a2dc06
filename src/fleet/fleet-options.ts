// The options of `runFleet`, its outputs, and the events it reports.
import { availableParallelism, freemem } from "node:os";
import type { CrawlTarget } from "../crawl/prepare.ts";
import type { StreamOptions } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { SiteJob, SiteSummary } from "./site-job.ts";
import type { QueueCounts, SiteQueue } from "./site-queue.ts";

/** The options of a crawl that apply to all websites of a fleet. Archives are per website: `SiteOutput.options` names them. */
export type FleetCrawlOptions = Omit<StreamOptions, "save" | "previous" | "resume" | "onEvent">;

/** Options of `runFleet`, and of the crawl of each website. `knownPaths` is `"if-needed"` by default. */
export interface FleetOptions extends FleetCrawlOptions {
  /** Websites to add to the queue. Those that it already has are not added again. */
  sites?: AsyncIterable<CrawlTarget | SiteJob> | Iterable<CrawlTarget | SiteJob> | undefined;
  /** The queue of websites: `JournalQueue.open(folder)` for one machine, `BullQueue.open(url)` for several. */
  queue: SiteQueue;
  /** Where pages go. @default nowhere: only summaries are kept */
  sink?: SiteSink | undefined;
  /**
   * How many websites are crawled in parallel. A website that has not responded after a second makes room for another, up to four times as
   * often. @default 16 to 128, depending on memory and cores
   */
  parallelSites?: number | undefined;
  /**
   * Parallel requests per IP address, across all its host names.
   * @default 8
   */
  perAddress?: number | undefined;
  /** Start no more websites; those being read are finished. */
  drain?: AbortSignal | undefined;
  /** End everything now: the websites being read go back to the queue, and the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with the events of the fleet. */
  onEvent?: ((event: FleetEvent) => void) | undefined;
}

/** The result of a fleet: how many websites are in which state, and their summaries. */
export interface FleetResult extends QueueCounts {
  /** One summary for each finished website, read from the queue each time. */
  readonly results: AsyncIterable<SiteSummary>;
}

/** The events of a fleet. */
export type FleetEvent =
  | { readonly type: "site-start"; readonly job: SiteJob; readonly starts: number }
  | { readonly type: "site-pages"; readonly job: SiteJob; readonly pages: number }
  | { readonly type: "site-done"; readonly summary: SiteSummary; readonly accepted: boolean }
  | { readonly type: "site-back"; readonly job: SiteJob };

/** Returns 16 to 128: at most 64 per core, and one per 4 MiB of half the free memory, less 100 MiB for the process itself. */
export function defaultParallelSites(memory: number = freemem(), cores: number = availableParallelism()): number {
  const byMemory = Math.floor((memory / 2 - 100 * 2 ** 20) / (4 * 2 ** 20));
  return Math.max(16, Math.min(128, 64 * cores, byMemory));
}

/** Where the pages of a fleet go. An error makes a website `failed` after three attempts; an error such as a full disk ends the fleet. */
export interface SiteSink {
  /** Returns a result that was already published, so that the website is not crawled again, unless `replaced` is its attempt. */
  published?(job: SiteJob, replaced?: string): Promise<SiteSummary | undefined>;
  /** Records a website that failed or is quarantined. If it throws, the fleet ends, and the website goes back to the queue. */
  fail?(job: SiteJob, summary: SiteSummary): Promise<void>;
  /** Opens the output of an attempt. Use `attemptId` in file names, so that two attempts never write the same file. */
  open(job: SiteJob, attemptId: string): Promise<SiteOutput>;
}

/** The output of one attempt at one website. */
export interface SiteOutput {
  /** Options for this website, such as `save`, and `onEvent` for all events of its crawl. */
  readonly options?: StreamOptions | undefined;
  /** The returned promise is awaited. */
  pages?(sitemap: string, pages: readonly SitemapPage[]): Promise<void> | undefined;
  /** Called with the finished tree. If you supply it, documents are kept until it returns. It may take `time` milliseconds. */
  tree?(tree: SitemapTree, within: { readonly time: number; readonly signal: AbortSignal }): Promise<unknown>;
  /** Publishes the outputs. Returns fields to add to the summary, or all fields of a summary that was published first. */
  keep(summary: SiteSummary): Promise<Partial<SiteSummary>>;
  /** Removes all outputs. */
  discard(): Promise<void>;
}

/** Keeps no pages. */
export const noSink: SiteSink = {
  async open() {
    return { keep: async () => ({}), discard: async () => {} };
  },
};
