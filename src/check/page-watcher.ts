// Receives the pages of a website during a check, so that they are read once for both the check and the report. Pages
// come by number, in declared order; those of a repeated sitemap once.
import type { SitemapPage } from "../model/page.ts";
import type { AlternateSet } from "./language-rules.ts";
import type { UrlScan } from "./url-scan.ts";

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
  /** Writes the records to the disk. Called now and then. */
  flush(): Promise<void>;
  /** After the last page: a rule across sitemaps found an error or a warning in the page with this number. In no order. */
  addFlaw(ordinal: number): void;
  /** A number for two languages: that of a page, where it names itself, and that of an alternate page it names. */
  languagePair(own: string | undefined, language: string): number;
  /** An alternate page that does not name the page back, or that no sitemap lists. */
  link(pair: number, outcome: "no-return" | "unlisted"): void;
}
