// The facts of the report, as data: the content of "Download the data". Every list is limited, and says what it leaves
// out.

import type { FindingExample } from "../check/findings.ts";
import type { NotJudged } from "../check/result.ts";
import type { Basis, Engine, Severity } from "../check/rule.ts";
import type { ChangeCounts, DiffTotals, PageField, SitemapChange } from "../model/change.ts";
import type { DiscoveryRecord } from "../model/event.ts";
import type { PagesFormat } from "../model/sitemap.ts";
import type { LanguageCount, LanguageLinks } from "./languages.ts";

/** Everything that a report says, as data. */
export interface ReportFacts {
  /** The version of this format. */
  readonly version: 1;
  /** `sitegrove 0.1.0`. */
  readonly generator: string;
  readonly homepage: string;
  /** ISO 8601: when the website was received. Ages are counted from it. */
  readonly receivedAt: string;
  /** Whether everything declared was read to its end. */
  readonly complete: boolean;
  /** The verdict in one or two sentences. */
  readonly verdict: string;
  /** Why nothing could be read, if so. */
  readonly unreachable?: string;
  readonly figures: ReportFigures;
  readonly findings: readonly ReportFinding[];
  /** How many rules failed, by severity, and in how many places: the same as in `check`. */
  readonly counts: Readonly<Record<Severity, number>>;
  readonly places: Readonly<Record<Severity, number>>;
  readonly notJudged: readonly NotJudged[];
  /** The largest sections of the website, as a tree. */
  readonly sections: ReportSection;
  readonly timeline: ReportTimeline;
  readonly languages: ReportLanguages;
  readonly hosts: readonly ReportShare[];
  readonly formats: readonly ReportFormat[];
  readonly media: ReportMedia;
  readonly sitemaps: ReportSitemaps;
  readonly discovery: ReportDiscovery;
  /** With `previous`: the differences since then. */
  readonly changes?: ReportChanges;
}

/** The figures at the top. */
export interface ReportFigures {
  /** All pages of all sitemaps; one that is listed twice counts twice. */
  readonly pages: number;
  /** Pages that another sitemap lists, too. */
  readonly duplicates: number;
  /** Pages with errors or warnings of their own. */
  readonly flawedPages: number;
  /** Sitemaps that could be read, at least in part, without robots.txt. */
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
  readonly medianAge?: number;
  readonly languages: number;
  /** From the first request to the last byte, in milliseconds. */
  readonly duration?: number;
  /** The median time from the request to the first byte of a sitemap, in milliseconds. */
  readonly medianFirstByte?: number;
}

/** The findings of a rule. */
export interface ReportFinding {
  readonly rule: string;
  readonly severity: Severity;
  /** How often, in all sitemaps. */
  readonly count: number;
  /** In how many sitemaps. */
  readonly sitemaps: number;
  readonly sentence: string;
  readonly fix: string;
  readonly link: string;
  readonly basis: Basis;
  readonly engines: readonly Engine[];
  /** The first ones. */
  readonly places: readonly { readonly sitemap: string; readonly count: number }[];
  readonly examples: readonly (FindingExample & { readonly sitemap: string })[];
}

/** A section of the website: a host, a directory, the pages of one program; or several counted together. */
export interface ReportSection {
  /** As it is written in URLs; empty for the website. */
  readonly name: string;
  readonly pages: number;
  /** Pages by how long ago they changed: 30 days, 90 days, 6 months, 1 year, 2 years, older, no date. */
  readonly ages: readonly number[];
  /** Pages with errors or warnings of their own. */
  readonly flawed: number;
  readonly sections?: readonly ReportSection[];
  /** `own`: pages directly in the section. `other`: this many smaller sections. */
  readonly kind?: "own" | "other";
  readonly count?: number;
}

/** When pages last changed. */
export interface ReportTimeline {
  readonly sentence: string;
  /** What is unusual. */
  readonly odd?: string;
  /** What a bar stands for. */
  readonly unit: "day" | "month" | "year";
  /** From the oldest to the newest, without gaps. `from` is the first day. */
  readonly bars: readonly { readonly from: string; readonly pages: number }[];
  /** Pages with a date from before the first bar, from the future, and without one. */
  readonly before: number;
  readonly future: number;
  readonly undated: number;
  /** The time that most pages share, if there are many. */
  readonly common?: { readonly at: string; readonly pages: number };
}

/** Which languages link to which. */
export interface ReportLanguages {
  readonly languages: readonly LanguageCount[];
  /** Languages that are left out. */
  readonly others: number;
  /** Row by row: the links of pages in one language to alternate pages in another. */
  readonly links: readonly (readonly (LanguageLinks | null)[])[];
  /** Whether return links could be judged: only if everything could be read. */
  readonly judged: boolean;
  /** Pages that name a page for all other languages. */
  readonly defaultPages: number;
  /** Pages that name alternate pages. */
  readonly pages: number;
}

/** A host and its pages; of several hosts together, how many. */
export interface ReportShare {
  readonly name: string;
  readonly pages: number;
  readonly others?: number;
}

/** A format, how many sitemaps have it, and their pages. */
export interface ReportFormat {
  readonly format: PagesFormat;
  readonly sitemaps: number;
  readonly pages: number;
}

/** Images, videos and news stories. */
export interface ReportMedia {
  readonly images: number;
  readonly pagesWithImages: number;
  readonly videos: number;
  readonly pagesWithVideos: number;
  readonly stories: number;
}

/** The tree of sitemaps, in declared order, and how they were fetched. */
export interface ReportSitemaps {
  readonly rows: readonly ReportSitemap[];
  /** Sitemaps that are left out: how many, their pages and bytes. */
  readonly others?: { readonly count: number; readonly pages: number; readonly wireBytes: number };
}

/** A sitemap, and how it was fetched. */
export interface ReportSitemap {
  readonly url: string;
  readonly depth: number;
  readonly kind: "index" | "pages" | "invalid";
  readonly format?: string;
  readonly complete: boolean;
  readonly pages?: number;
  /** Its problems. */
  readonly problem?: string;
  readonly status?: number;
  readonly wireBytes?: number;
  readonly decodedBytes?: number;
  /** When it was requested, in milliseconds since the first request. */
  readonly start?: number;
  /** In milliseconds, from the request to the first byte, and to the last. */
  readonly firstByte?: number;
  readonly duration?: number;
}

/** The places where sitemaps were looked for. */
export interface ReportDiscovery {
  readonly rows: readonly {
    readonly url: string;
    readonly by: DiscoveryRecord["by"];
    readonly outcome: DiscoveryRecord["outcome"];
    readonly status?: number;
    readonly finalUrl?: string;
    readonly reason?: string;
  }[];
  readonly others: number;
}

/** The differences since an earlier archive. */
export interface ReportChanges {
  readonly totals: DiffTotals;
  /** Sections with the most changes first. */
  readonly sections: readonly { readonly name: string; readonly counts: ChangeCounts }[];
  readonly otherSections: number;
  /** The number of pages in which each field differs. */
  readonly fields: Partial<Readonly<Record<PageField, number>>>;
  readonly sitemaps: readonly Pick<SitemapChange, "change" | "sitemap">[];
  readonly examples: readonly {
    readonly kind: "added" | "removed" | "changed" | "moved" | "unknown";
    readonly url: string;
    /** Of a changed page: which fields. Of a moved one: from which sitemap to which. */
    readonly what?: string;
  }[];
}
