// Additional work that a check does in the same pass: the report counts the pages, `--format csv` lists every occurrence.
import type { SitemapPage } from "../model/page.ts";
import type { FindingsOptions } from "./findings.ts";
import type { AlternateSet } from "./rules/languages.ts";
import type { UrlScan } from "./url-scan.ts";

/** Additional work that a check does in the same pass. */
export interface CheckExtras extends Omit<FindingsOptions, "sentenceOf"> {
  /** Creates a watcher that receives all pages, given the time of receipt in milliseconds. */
  readonly watcherFor?: ((receivedAt: number) => PageWatcher) | undefined;
}

/**
 * Receives the pages of a website during a check, so that they are read once for both the check and the report. Pages
 * come by number, in declared order. The pages of a repeated sitemap come only once.
 */
export interface PageWatcher {
  /**
   * The next page. `scan` has read its URL; `lastModified` is in milliseconds, NaN for none; `isFlawed`: a rule found an error or
   * a warning in it.
   */
  page(
    page: SitemapPage,
    scan: UrlScan,
    lastModified: number,
    alternates: AlternateSet | undefined,
    isFlawed: boolean,
  ): void;
  /** Called after the last page, for each error or warning that a rule across sitemaps found in the page with this number. */
  addFlaw(ordinal: number): void;
}
