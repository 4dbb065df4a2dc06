// Where the pages of websites go. The files of an attempt are renamed when the attempt has succeeded, and removed otherwise.
import type { SitemapEvent } from "../model/event.ts";
import type { Options } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { SiteJob, SiteSummary } from "./site-job.ts";

/** Where the pages of a fleet go. */
export interface SiteSink {
  /** The result of a website that another process has published already: it is not read again. */
  published?(job: SiteJob): Promise<SiteSummary | undefined>;
  /** `attemptId` is part of every file name. */
  open(job: SiteJob, attemptId: string): Promise<SiteOutput>;
}

/** The output of one attempt at one website. */
export interface SiteOutput {
  /** Options for this website, such as `save`. */
  readonly options?: Options | undefined;
  /** The returned promise is awaited. */
  pages?(sitemap: string, pages: readonly SitemapPage[]): Promise<void> | undefined;
  sitemap?(event: SitemapEvent): Promise<void> | undefined;
  /** Called with the finished tree; with it, documents are kept until then. `time`: how many milliseconds it may take. */
  tree?(tree: SitemapTree, within: { readonly time: number; readonly signal: AbortSignal }): Promise<void>;
  /** Puts the outputs in their place. Returns fields to add to the summary, or all fields of a summary that was published first. */
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
