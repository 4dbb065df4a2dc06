// The options of a report, and its data: what its page shows.
import type { LastmodTrust } from "../check/dates/lastmod-trust.ts";
import type { FindingExample, NotChecked, PageResults } from "../check/findings/result.ts";
import type { CheckOptions } from "../check/options.ts";
import type { Basis, Severity } from "../check/rules/rule.ts";
import type { DiffSide } from "../diff/diff-side.ts";
import type { ChangeCounts, ChangedField, DiffTotals, SitemapChange } from "../model/change.ts";
import type { DiscoveryRecord } from "../model/event.ts";

/** Options of `reportHtml` and `reportFacts`. */
export interface ReportOptions {
  /** How the tree is checked. */
  check?: CheckOptions | undefined;
  /** An earlier state of the website, such as the path of an archive: the report shows what changed since. */
  previous?: DiffSide | undefined;
  /** Aborts: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The data of a report. Long lists have only the first or largest items, most with a count of the others. Long texts are shortened. */
export interface ReportFacts {
  /** The version of this format. */
  readonly version: 1;
  /** The program and its version: `sitegrove 1.0.0`. */
  readonly generator: string;
  readonly homepage: string;
  /** When the website was received (ISO 8601). Ages are counted from then. */
  readonly receivedAt: string;
  /** Whether everything declared was fully read and checked in time. */
  readonly complete: boolean;
  /** The verdict in a few sentences. */
  readonly verdict: string;
  /** Why nothing could be read. Absent if something could. */
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
  /** How many pages have alternate pages, images, videos, and a news story or the title of a feed entry. */
  readonly extensions: Readonly<Record<"alternates" | "images" | "videos" | "newsStory", number>>;
  readonly sitemaps: ReportSitemaps;
  readonly discovery: ReportDiscovery;
  /** With `previous`: the differences since then. */
  readonly changes?: ReportChanges | undefined;
}

/** The figures at the top. */
export interface ReportFigures {
  /** All pages of all sitemaps. A page that is listed twice counts twice, but a sitemap that is listed twice counts once. */
  readonly pages: number;
  /** Pages that an earlier sitemap also lists. */
  readonly duplicates: number;
  /** Pages with errors or warnings. */
  readonly flawedPages: number;
  /** Sitemaps that could be read, at least in part, as `check` counts them: one that is listed twice counts twice. */
  readonly sitemaps: number;
  /** Sitemaps that could not be read. */
  readonly unreadable: number;
  /** Sitemaps that could only be partly read. */
  readonly incomplete: number;
  /** Bytes as received, and after decompression. */
  readonly wireBytes: number;
  readonly decodedBytes: number;
  /** Pages with a date. */
  readonly dated: number;
  /** The median age of the pages with a date, in days. */
  readonly medianAge?: number | undefined;
  /** The median time from the request to the first byte of a sitemap, in milliseconds. */
  readonly medianFirstByte?: number | undefined;
  /** The longest time from the request to the last byte of a sitemap, in milliseconds. */
  readonly slowest?: number | undefined;
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
  /** The sitemaps with the most occurrences first, as far as the check keeps them. */
  readonly occurrences: readonly { readonly sitemap: string; readonly count: number }[];
  readonly examples: readonly ({ readonly sitemap: string } & {
    readonly [Name in keyof FindingExample]?: FindingExample[Name] | undefined;
  })[];
}

/** A section of the website: a host, a directory, the pages of one script (`product.php?`), or several such sections counted together. */
export interface ReportSection {
  /** The name as it is written in URLs. The website itself has none, nor does `other`. */
  readonly name: string;
  readonly pages: number;
  /** Pages by how long ago they changed: 30 days, 90 days, 6 months, 1 year, 2 years, older, no date. */
  readonly ages: readonly number[];
  /** Pages with errors or warnings. */
  readonly flawed: number;
  readonly sections?: readonly ReportSection[] | undefined;
  /** `own` are the pages directly in the section around it; `other` are smaller sections counted together. */
  readonly kind?: "own" | "other" | undefined;
  /** How many sections `other` stands for, if that is known. */
  readonly count?: number | undefined;
}

/** When pages last changed. */
export interface ReportTimeline {
  readonly sentence: string;
  /** The period of a bar. */
  readonly unit: "day" | "month" | "year";
  /** The bars from the oldest to the newest, without gaps. `from` is the first day of a bar. */
  readonly bars: readonly { readonly from: string; readonly pages: number }[];
  /** Pages with a date before the first bar, with a date in the future, and without a date. */
  readonly before: number;
  readonly future: number;
  readonly undated: number;
  /** The most common time, if many pages have it. */
  readonly common?: { readonly at: string; readonly pages: number } | undefined;
}

/** The tree of sitemaps, in declared order, and how they were fetched. */
export interface ReportSitemaps {
  readonly rows: readonly ReportSitemap[];
  /** The number of sitemaps without a row. */
  readonly others: number;
}

/** A sitemap, and how it was fetched. */
export interface ReportSitemap {
  readonly url: string;
  readonly depth: number;
  readonly kind: "index" | "pages" | "invalid";
  readonly format?: string | undefined;
  readonly complete: boolean;
  readonly pages?: number | undefined;
  /** The first problem that caused a loss. */
  readonly problem?: string | undefined;
  readonly status?: number | undefined;
  readonly wireBytes?: number | undefined;
  readonly decodedBytes?: number | undefined;
  /** From the request to the last byte, in milliseconds. */
  readonly duration?: number | undefined;
}

/** The URLs that discovery tried. */
export interface ReportDiscovery {
  /** How many of them had a sitemap or a robots.txt. */
  readonly found: number;
  /** Well-known paths that were not tried, because robots.txt lists a readable sitemap or the website had refused all requests so far. */
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

/** The differences from an earlier state of the website. */
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
    /** The fields of a changed page that differ; the old and new sitemap of a moved page. */
    readonly what?: string | undefined;
  }[];
}
