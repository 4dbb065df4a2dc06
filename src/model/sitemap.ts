// What a sitemap is: an index of other sitemaps, a list of pages, or something that could not be read.
import type { SitemapPage } from "./page.ts";
import type { Problem } from "./problem-facts.ts";

/** A node of the tree: the root, a robots.txt, or a sitemap, even if it could not be read. */
export type Sitemap = IndexSitemap | PagesSitemap | InvalidSitemap;

interface Declared {
  /** The URL of the document, after redirects. */
  readonly url: string;
  /** The URL that the parent gives, if it differs from `url`. */
  readonly declaredUrl?: string;
  /** The `lastmod` that the parent index gives for this sitemap. */
  readonly lastModified?: string;
  /** Whether the sitemap is on a different host than the homepage. */
  readonly offHost?: true;
}

interface Readable extends Declared {
  /** Whether it was read without losses. */
  readonly complete: boolean;
  readonly problems: readonly Problem[];
}

/** A sitemap that lists sitemaps. The root of a website and its robots.txt are indexes, too. */
export interface IndexSitemap extends Readable {
  readonly kind: "index";
  /** `website` is the root of every tree; `robots` is robots.txt. */
  readonly format: "website" | "robots" | "xml";
  /** For robots.txt: what it says about how pages may be used, if anything. */
  readonly preferences?: readonly RobotsPreference[];
  readonly children: readonly Sitemap[];
}

/** A line of robots.txt about how pages may be used: a Content-Signal, a Content-Usage, or a License. */
export interface RobotsPreference {
  readonly field: "Content-Signal" | "Content-Usage" | "License";
  /** As written, without comments. */
  readonly value: string;
  /** The keys and their values, such as `{ search: "yes", "ai-train": "no" }`. Absent for a License. Unknown keys are kept. */
  readonly values?: Readonly<Record<string, string>>;
  /** For a Content-Usage: the paths that it applies to, if not all. */
  readonly path?: string;
  /** The line number, starting at 1. */
  readonly line: number;
  /** The crawlers of its group. Absent before the first group, and for a License, which belongs to no group. */
  readonly agents?: readonly string[];
}

/** A sitemap that lists pages. `tree.pages(sitemap)` reads them. */
export interface PagesSitemap extends Readable {
  readonly kind: "pages";
  readonly format: PagesFormat;
  readonly pageCount: number;
}

/** A declared sitemap that could not be read at all. */
export interface InvalidSitemap extends Declared {
  readonly kind: "invalid";
  readonly reason: Problem;
}

/** The problems of a sitemap: why it is invalid, or what was repaired or lost. */
export function problemsOf(sitemap: Sitemap): readonly Problem[] {
  return sitemap.kind === "invalid" ? [sitemap.reason] : sitemap.problems;
}

/** Whether a sitemap was read: an index or a list of pages. robots.txt and the root do not count. */
export function isReadSitemap(sitemap: Sitemap): boolean {
  return sitemap.kind === "pages" || (sitemap.kind === "index" && sitemap.format === "xml");
}

/** The format that a sitemap with pages was read from. */
export type PagesFormat = "xml" | "text" | "rss" | "atom" | "json" | "llms";

/** A sitemap that an index or robots.txt lists. */
export interface SitemapReference {
  readonly url: string;
  /** ISO 8601, like `lastModified` of a page. */
  readonly lastModified?: string;
}

/** The content of one document, as `parseSitemap` and `readSitemap` return it. */
export type ParsedSitemap = ParsedPages | ParsedIndex | ParsedInvalid;

/** A document that lists pages. */
export interface ParsedPages extends Pick<PagesSitemap, "kind" | "format" | "complete" | "problems"> {
  readonly pages: readonly SitemapPage[];
  /** The next page of a feed (https://www.rfc-editor.org/rfc/rfc5005), which is not read. */
  readonly next?: string;
}

/** A document that lists sitemaps. */
export interface ParsedIndex extends Pick<IndexSitemap, "kind" | "preferences" | "complete" | "problems"> {
  readonly format: "robots" | "xml";
  readonly sitemaps: readonly SitemapReference[];
  /** Pages that an index also lists, in violation of the protocol. */
  readonly pages?: readonly SitemapPage[];
}

/** A document that is not a sitemap, or could not be read. */
export type ParsedInvalid = Pick<InvalidSitemap, "kind" | "reason">;

/** The maximum number of entries of a sitemap or index: https://www.sitemaps.org/protocol.html#index */
export const protocolEntries = 50_000;

/** The maximum size of a sitemap or index in bytes, decompressed: https://www.sitemaps.org/protocol.html#index */
export const protocolBytes = 52_428_800;

/** How much of a robots.txt Google reads: 500 KiB, the minimum of https://www.rfc-editor.org/rfc/rfc9309#section-2.5 */
export const robotsTxtBytes = 512_000;
