// Decides whether the dates of a website's sitemaps can be trusted, and why not. The evidence comes from the dates themselves, from pages
// that were requested, and from an earlier run.
import { counted, grouped } from "../../model/figures.ts";
import { bounds } from "../rules/bounds.ts";
import type { DateCounts } from "./date-counts.ts";

/** Whether the dates (`lastmod`) of a website can be trusted. */
export interface LastmodTrust {
  /** The verdict; `unknown` only if there are too few dates, and too few pages to compare them with. */
  readonly verdict: "trustworthy" | "partly" | "not" | "unknown";
  /** How many pages have a date. */
  readonly dated: number;
  /** What speaks against the dates; empty if nothing does. */
  readonly reasons: readonly LastmodReason[];
}

/** What speaks against the dates of a website. */
export interface LastmodReason {
  /**
   * - `all-equal`: nearly all dates of a sitemap are the same
   * - `all-today`: nearly all dates of a sitemap are within a day of the request
   * - `request-time`: nearly all dates of a sitemap are the time of the request
   * - `common-date`: many pages of the website have the same date
   * - `in-future`: dates are in the future
   * - `newer-than-page`: pages say that they are older
   * - `older-than-page`: pages say that they changed later
   * - `always-changes`: dates changed since the earlier run, pages did not
   * - `never-changes`: pages changed since the earlier run, dates did not
   */
  readonly code: LastmodReasonCode;
  /** How many pages have this fault, and of how many. */
  readonly pages: number;
  readonly of: number;
  readonly message: string;
}

type LastmodReasonCode =
  | "all-equal"
  | "all-today"
  | "request-time"
  | "common-date"
  | "in-future"
  | "newer-than-page"
  | "older-than-page"
  | "always-changes"
  | "never-changes";

// What each reason is about (whole sitemaps, all dates, requested pages, or pages of an earlier run), and what its pages have, in words.
const reasonTable: Readonly<Record<LastmodReasonCode, readonly ["sitemaps" | "dates" | "pages" | "runs", string]>> = {
  "all-equal": ["sitemaps", "the same date as the rest of their sitemap"],
  "all-today": ["sitemaps", "a date within a day of the request, like the rest of their sitemap"],
  "request-time": ["sitemaps", "the time of the request"],
  "common-date": ["dates", "the same date"],
  "in-future": ["dates", "a date in the future"],
  "newer-than-page": ["pages", "a later date than the page itself"],
  "older-than-page": ["pages", "an earlier date than the page itself"],
  "always-changes": ["runs", "a date that changes with every run, although the page does not"],
  "never-changes": ["runs", "the same date as in the earlier run, although the page changed"],
};

/** The dates of one sitemap. */
export interface SitemapDates {
  readonly dated: number;
  /** The most common date, and how many pages have it. */
  readonly equal: { readonly value: number; readonly count: number };
  /** How many dates are within a minute of the request, and within a day. */
  readonly atRequest: number;
  readonly today: number;
  /** Whether most of its dated pages are news stories, whose dates should be recent. */
  readonly isNews: boolean;
}

export class LastmodEvidence {
  readonly #against = new Map<LastmodReasonCode, number>();
  // The sums of the sitemaps with too few dates of their own, which are assessed together.
  readonly #small = { dated: 0, atRequest: 0, today: 0, isNews: false };
  readonly #smallValues = new Map<number, number>();
  #compared = 0;
  #pairs = 0;

  /** Adds the dates of a sitemap, after all of them were seen. */
  addSitemap(dates: SitemapDates): void {
    const { dated, equal, atRequest, today, isNews } = dates;
    if (dated >= bounds.trustedDates) {
      this.#assess(dates);
      return;
    }
    this.#small.dated += dated;
    this.#small.atRequest += atRequest;
    this.#small.today += isNews ? 0 : today;
    const values = this.#smallValues;
    if (values.has(equal.value) || values.size < mostValues) increase(values, equal.value, equal.count);
  }

  /** Adds the result of comparing a page's own date with its date in the sitemap. */
  compare(verdict: "older" | "newer" | "same" | undefined): void {
    if (verdict === undefined) return;
    this.#compared += 1;
    if (verdict === "older") increase(this.#against, "newer-than-page", 1);
    if (verdict === "newer") increase(this.#against, "older-than-page", 1);
  }

  /** Adds how many pages were compared with an earlier run, and how many changed without their date or vice versa. */
  compareRuns(compared: number, neverChanges: number, alwaysChanges: number): void {
    this.#pairs = compared;
    if (neverChanges > 0) this.#against.set("never-changes", neverChanges);
    if (alwaysChanges > 0) this.#against.set("always-changes", alwaysChanges);
  }

  /** Returns the verdict, after everything was added. */
  verdict({ dated, future, common }: DateCounts): LastmodTrust {
    const [value, count] = [...this.#smallValues].reduce((most, each) => (each[1] > most[1] ? each : most), [0, 0]);
    if (this.#small.dated >= bounds.trustedDates) this.#assess({ ...this.#small, equal: { value, count } });
    // A sitemap has at most one reason of the kind `sitemaps`, so the pages of these reasons can be added up.
    const bySitemap = [...this.#against].reduce(
      (sum, [code, pages]) => sum + (kindOf(code) === "sitemaps" ? pages : 0),
      0,
    );
    if (common !== undefined && common.pages > bySitemap) this.#against.set("common-date", common.pages);
    if (future > 0) this.#against.set("in-future", future);
    const sizes = { sitemaps: dated, dates: dated, pages: this.#compared, runs: this.#pairs };
    const reasons = [...this.#against].map(([code, pages]): LastmodReason => {
      const of = sizes[kindOf(code)];
      const have = `${grouped(pages)} of ${counted(of, "page")} ${pages === 1 ? "has" : "have"} ${reasonTable[code][1]}`;
      return { code, pages, of, message: code === "common-date" ? `${have}, ${common?.at}` : have };
    });
    const shares = [
      { pages: bySitemap, of: dated, most: nearly },
      ...reasons
        .filter(({ code }) => kindOf(code) !== "sitemaps")
        .map(({ code, pages, of }) => ({ pages, of, most: kindOf(code) === "dates" ? nearly : half })),
    ];
    const isKnown = dated >= bounds.trustedDates || this.#compared + this.#pairs >= fewestCompared;
    let verdict: LastmodTrust["verdict"] = isKnown ? "trustworthy" : "unknown";
    if (shares.some(({ pages, of }) => pages > 0 && pages >= of * bounds.untrustedShare)) verdict = "partly";
    if (shares.some(({ pages, of, most }) => of >= fewestCompared && pages >= of * most)) verdict = "not";
    return { verdict, dated, reasons };
  }

  #assess({ dated, equal, atRequest, today, isNews }: SitemapDates): void {
    const isAll = (count: number) => count >= dated * bounds.nearlyAll;
    if (isAll(atRequest)) increase(this.#against, "request-time", dated);
    else if (isAll(equal.count)) increase(this.#against, "all-equal", dated);
    else if (isAll(today) && !isNews) increase(this.#against, "all-today", dated);
  }
}

function kindOf(code: LastmodReasonCode): "sitemaps" | "dates" | "pages" | "runs" {
  return reasonTable[code][0];
}

function increase<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

// No date can be trusted if `nearly` all dates are wrong, or `half` of those that were compared with their page or an earlier run.
const nearly = 0.9;
const half = 0.5;
/** With fewer compared pages, the comparison says nothing about the website. */
export const fewestCompared = 5;
const mostValues = 1000;
