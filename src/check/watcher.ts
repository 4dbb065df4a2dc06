// Lets other code work in the same pass as a check: the report counts the pages, and `--format csv` lists occurrences.
import type { SitemapPage } from "../model/page.ts";
import type { DateCounts } from "./dates/date-counts.ts";
import type { FindingsOptions } from "./findings/findings.ts";
import type { UrlScan } from "./rules/url-scan.ts";

/** Additional work that a check does in the same pass. */
export interface CheckExtras extends FindingsOptions {
  /** Creates a watcher that receives the checked pages. `dates` counts their dates while they come. */
  readonly watcherFor?: ((dates: DateCounts) => PageWatcher) | undefined;
}

/**
 * Receives the pages of a website during a check, so that they are read once for both the check and the report. Pages
 * come by number, in declared order. The pages of a repeated sitemap come only once.
 */
export interface PageWatcher {
  /**
   * Receives the next page. `scan` has read its URL, `age` is the class of its date, and `isFlawed` is true if a rule found an error or a
   * warning in it.
   */
  page(page: SitemapPage, scan: UrlScan, age: number, isFlawed: boolean): void;
  /** Called after the last page, for each error or warning that a comparison of pages found in the page with this number. */
  addFlaw(ordinal: number): void;
}
