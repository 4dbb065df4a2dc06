// Where the pages of websites go. What one attempt writes is put in its place when the attempt has ended well, and is gone otherwise.
import type { SitemapEvent } from "../event.ts";
import type { Options } from "../options.ts";
import type { SitemapPage } from "../page.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { SiteJob, SiteSummary } from "./site-job.ts";

/** Where the pages of a fleet go. */
export interface SiteSink {
  /** What was published of a website already, where somebody else may do so; it is not read again. */
  published?(job: SiteJob): Promise<SiteSummary | undefined>;
  /** `attemptId` is part of every file name. */
  open(job: SiteJob, attemptId: string): Promise<SiteOutput>;
}

/** The output of one attempt at one website. */
export interface SiteOutput {
  /** Options for this website, such as `save`. */
  readonly options?: Options | undefined;
  /** What it returns is waited for. */
  pages?(sitemap: string, pages: readonly SitemapPage[]): Promise<void> | undefined;
  sitemap?(event: SitemapEvent): Promise<void> | undefined;
  /** Wants the tree once it is whole; its documents are then kept until here. */
  tree?(tree: SitemapTree): Promise<void>;
  /** Puts the outputs in their place. Gives what to add to the summary; the whole of another where that was published first. */
  keep(summary: SiteSummary): Promise<Partial<SiteSummary>>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** Nothing but summaries. */
export const noSink: SiteSink = {
  async open() {
    return { keep: async () => ({}), discard: async () => {} };
  },
};
