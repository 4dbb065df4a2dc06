// The data of a report: what its page shows.
import type { LastmodTrust } from "../check/lastmod-trust.ts";
import type { FindingExample, NotChecked, PageResults } from "../check/result.ts";
import type { Basis, Engine, Severity } from "../check/rule.ts";
import type { ChangeCounts, ChangedField, DiffTotals, SitemapChange } from "../model/change.ts";
import type { DiscoveryRecord } from "../model/event.ts";
import type { PagesFormat, RobotsPreference } from "../model/sitemap.ts";

/** The data of a report: the first or the largest of each list, and how many more there are. Long texts are truncated. */
export interface ReportFacts {
  /** The version of this format. */
  readonly version: 1;
  /** `sitegrove 1.0.0`. */
  readonly generator: string;
  readonly homepage: string;
  /** ISO 8601: when the website was received. Ages are counted from it. */
  readonly receivedAt: string;
  /** Whether everything declared was fully read. */
  readonly complete: boolean;
  /** The verdict in one or two sentences. */
  readonly verdict: string;
  /** Why nothing could be read, if so. */
  readonly unreachable?: string | undefined;
  readonly figures: ReportFigures;
  readonly findings: readonly ReportFinding[];
  /** How many rules failed, by severity, and the number of occurrences: the same as in `check`. */
  readonly rulesFailed: Readonly<Record<Severity, number>>;
  readonly occurrences: Readonly<Record<Severity, number>>;
  readonly notChecked: readonly NotChecked[];
  /** The result of the pages that were requested, if any. */
  readonly pages?: PageResults | undefined;
  /** Whether the dates of the pages can be trusted. */
  readonly lastmodTrust: LastmodTrust;
  /** The website as a tree of its hosts and directories; if there is only one host, that host. */
  readonly sections: ReportSection;
  readonly timeline: ReportTimeline;
  readonly languages: ReportLanguages;
  readonly hosts: readonly ReportShare[];
  readonly formats: readonly ReportFormat[];
  readonly media: ReportMedia;
  readonly sitemaps: ReportSitemaps;
  readonly discovery: ReportDiscovery;
  /** What robots.txt says about how pages may be used. */
  readonly preferences: readonly RobotsPreference[];
  /** How many more lines of preferences there are. */
  readonly otherPreferences: number;
  /** With `previous`: the differences since then. */
  readonly changes?: ReportChanges | undefined;
}

/** The figures at the top. */
export interface ReportFigures {
  /** All pages of all sitemaps; one that is listed twice counts twice. */
  readonly pages: number;
  /** Pages that another sitemap also lists. */
  readonly duplicates: number;
  /** Pages with errors or warnings. */
  readonly flawedPages: number;
  /** Sitemaps that could be read, at least in part. robots.txt is not counted. */
  readonly sitemaps: number;
  /** Sitemaps that could not be read, and of those that could, those that are incomplete. */
  readonly unreadable: number;
  readonly incomplete: number;
  /** Bytes as received, and after decompression. */
  readonly wireBytes: number;
  readonly decodedBytes: number;
  /** Pages with a date. */
  readonly dated: number;
  /** In days: half of the pages with a date changed since then. */
  readonly medianAge?: number | undefined;
  readonly languages: number;
  /** From the first request to the last byte, in milliseconds. */
  readonly duration?: number | undefined;
  /** The median time from the request to the first byte of a sitemap, in milliseconds. */
  readonly medianFirstByte?: number | undefined;
}

/** The findings of a rule. */
export interface ReportFinding {
  readonly rule: string;
  readonly severity: Severity;
  /** The number of occurrences in all sitemaps. */
  readonly count: number;
  /** The number of sitemaps. */
  readonly sitemaps: number;
  readonly sentence: string;
  readonly fix: string;
  readonly link: string;
  readonly basis: Basis;
  readonly engines: readonly Engine[];
  /** The number of occurrences in each sitemap, as far as the check keeps them. */
  readonly occurrences: readonly { readonly sitemap: string; readonly count: number }[];
  readonly examples: readonly ({ readonly sitemap: string } & {
    readonly [Name in keyof FindingExample]?: FindingExample[Name] | undefined;
  })[];
}

/** A section of the website: a host, a directory, the pages of one program; or several counted together. */
export interface ReportSection {
  /** As it is written in URLs; empty for the website. */
  readonly name: string;
  readonly pages: number;
  /** Pages by how long ago they changed: 30 days, 90 days, 6 months, 1 year, 2 years, older, no date. */
  readonly ages: readonly number[];
  /** Pages with errors or warnings. */
  readonly flawed: number;
  readonly sections?: readonly ReportSection[] | undefined;
  /** `own`: pages directly in the section. `other`: this many smaller sections. */
  readonly kind?: "own" | "other" | undefined;
  readonly count?: number | undefined;
}

/** When pages last changed. */
export interface ReportTimeline {
  readonly sentence: string;
  /** What is suspicious. */
  readonly odd?: string | undefined;
  /** The period of a bar. */
  readonly unit: "day" | "month" | "year";
  /** From the oldest to the newest, without gaps. `from` is the first day. */
  readonly bars: readonly { readonly from: string; readonly pages: number }[];
  /** Pages with a date from before the first bar, from the future, and without one. */
  readonly before: number;
  readonly future: number;
  readonly undated: number;
  /** The time that most pages share, if there are many. */
  readonly common?: { readonly at: string; readonly pages: number } | undefined;
}

/** The languages of pages with alternate pages. */
export interface ReportLanguages {
  /** The largest first. `language` is as written by the pages that name themselves. */
  readonly languages: readonly { readonly language: string; readonly pages: number }[];
  /** Pages in other languages. */
  readonly otherPages: number;
  /** Pages with alternate pages. */
  readonly pages: number;
  /** Pages with an `x-default` page. */
  readonly defaultPages: number;
}

/** A host and its pages; for several hosts together, their number. */
export interface ReportShare {
  readonly name: string;
  readonly pages: number;
  readonly others?: number | undefined;
}

/** A format, how many sitemaps have it, and their pages. */
export interface ReportFormat {
  readonly format: PagesFormat;
  readonly sitemaps: number;
  readonly pages: number;
}

/** Images, videos and news stories. */
export type ReportMedia = Readonly<
  Record<"images" | "pagesWithImages" | "videos" | "pagesWithVideos" | "stories", number>
>;

/** The tree of sitemaps, in declared order, and how they were fetched. */
export interface ReportSitemaps {
  readonly rows: readonly ReportSitemap[];
  /** Sitemaps that the page does not show: their number, pages and bytes. */
  readonly others?: { readonly count: number; readonly pages: number; readonly wireBytes: number } | undefined;
}

/** A sitemap, and how it was fetched. */
export interface ReportSitemap {
  readonly url: string;
  readonly depth: number;
  readonly kind: "index" | "pages" | "invalid";
  readonly format?: string | undefined;
  readonly complete: boolean;
  readonly pages?: number | undefined;
  /** The first problem because of which something is missing. */
  readonly problem?: string | undefined;
  readonly status?: number | undefined;
  readonly wireBytes?: number | undefined;
  readonly decodedBytes?: number | undefined;
  /** When it was requested, in milliseconds since the first request. */
  readonly start?: number | undefined;
  /** In milliseconds, from the request to the first byte, and to the last. */
  readonly firstByte?: number | undefined;
  readonly duration?: number | undefined;
}

/** The URLs that discovery tried. */
export interface ReportDiscovery {
  /** How many of them had a sitemap or a robots.txt. */
  readonly found: number;
  /** Well-known paths that were not tried, because enough was found. */
  readonly skipped: number;
  readonly rows: readonly {
    readonly url: string;
    readonly by: DiscoveryRecord["by"];
    readonly outcome: DiscoveryRecord["outcome"];
    readonly status?: number | undefined;
    readonly finalUrl?: string | undefined;
    readonly reason?: string | undefined;
  }[];
  readonly others: number;
}

/** The differences since an earlier archive. */
export interface ReportChanges {
  readonly totals: DiffTotals;
  /** Sections with the most changes first. */
  readonly sections: readonly { readonly name: string; readonly changes: ChangeCounts }[];
  readonly otherSections: number;
  /** The number of pages in which each field differs. */
  readonly fields: Partial<Readonly<Record<ChangedField, number>>>;
  readonly sitemaps: readonly Pick<SitemapChange, "change" | "sitemap">[];
  readonly examples: readonly {
    readonly kind: "added" | "removed" | "changed" | "moved" | "unknown" | "expired";
    readonly url: string;
    /** For a changed page, the fields; for a moved one, the old and new sitemap. */
    readonly what?: string | undefined;
  }[];
}
