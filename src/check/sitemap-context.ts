// What rules know about the sitemap whose pages they judge.
import type { PagesSitemap } from "../model/sitemap.ts";
import type { SitemapFindings } from "./findings.ts";
import type { Origin } from "./hosts.ts";

export interface SitemapContext {
  readonly sitemap: PagesSitemap;
  readonly findings: SitemapFindings;
  /** The URL of the document; undefined for a file without a known URL. */
  readonly location: Location | undefined;
  /** The caller named the sitemap: the owner of a website does so in Search Console, and may put it anywhere. */
  readonly isGiven: boolean;
  /** The hosts whose robots.txt names the sitemap, or the index that does: they may be in it. */
  readonly submittedBy: ReadonlySet<string>;
  /** When the document was received, in milliseconds. */
  readonly receivedAt: number;
}

export interface Location {
  readonly origin: Origin;
  /** The beginning of all URLs of its host: `https://example.org`. */
  readonly start: string;
  /** The beginning of all URLs in or below its directory: `https://example.org/blog/`. */
  readonly directory: string;
}
