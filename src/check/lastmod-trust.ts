// Whether the dates of a website's sitemaps can be trusted, and why not: evidence from the dates themselves, from the pages that were
// requested, and from an earlier run.
import { counted, grouped } from "../model/figures.ts";
import { bounds } from "./bounds.ts";

/** Whether the dates (`lastmod`) of a website can be trusted. */
export interface LastmodTrust {
  /** `unknown`: there are too few dates, and no pages to compare them with. */
  readonly verdict: "trustworthy" | "partly" | "not" | "unknown";
  /** How many pages have a date. */
  readonly dated: number;
  /** What speaks against the dates. */
  readonly reasons: readonly LastmodReason[];
}

/** What speaks against the dates of a website. */
export interface LastmodReason {
  /**
   * - `all-equal`: all pages of a sitemap have the same date
   * - `all-today`: all pages of a sitemap changed within a day of the request
   * - `request-time`: dates are the time of the request
   * - `newer-than-page`: pages say that they are older
   * - `older-than-page`: pages say that they changed later
   * - `always-changes`: dates changed since the earlier run, pages did not
   * - `never-changes`: pages changed since the earlier run, dates did not
   */
  readonly code: LastmodReasonCode;
  /** How many of the compared pages have this fault. */
  readonly pages: number;
  readonly of: number;
  readonly message: string;
}

type LastmodReasonCode =
  | "all-equal"
  | "all-today"
  | "request-time"
  | "newer-than-page"
  | "older-than-page"
  | "always-changes"
  | "never-changes";

const sentences: Readonly<Record<LastmodReasonCode, string>> = {
  "all-equal": "the same date as the rest of their sitemap",
  "all-today": "a date within a day of the request, like the rest of their sitemap",
  "request-time": "the time of the request",
  "newer-than-page": "a later date than the page itself",
  "older-than-page": "an earlier date than the page itself",
  "always-changes": "a date that changes with every run, although the page does not",
  "never-changes": "the same date as in the earlier run, although the page changed",
};

/** The dates of one sitemap. */
export interface SitemapDates {
  readonly dated: number;
  /** The most common date, and how many pages have it. */
  readonly equal: { readonly value: number; readonly count: number };
  /** How many dates are within a minute of the request, and within a day. */
  readonly atRequest: number;
  readonly today: number;
  /** Most of its pages are news stories, whose dates are always recent. */
  readonly isNews: boolean;
}

export class LastmodEvidence {
  #dated = 0;
  readonly #against = new Map<LastmodReasonCode, number>();
  // Sitemaps with few dates are judged together.
  readonly #small = { dated: 0, atRequest: 0, today: 0, values: new Map<number, number>() };
  #compared = 0;
  #pairs = 0;

  /** Adds the dates of a sitemap, after all of them were seen. */
  addSitemap(dates: SitemapDates): void {
    this.#dated += dates.dated;
    if (dates.dated >= bounds.trustedDates) this.#judge(dates);
    else this.#addSmall(dates);
  }

  #addSmall(dates: SitemapDates): void {
    const small = this.#small;
    small.dated += dates.dated;
    small.atRequest += dates.atRequest;
    small.today += dates.isNews ? 0 : dates.today;
    const { value, count } = dates.equal;
    if (small.values.has(value) || small.values.size < mostValues)
      small.values.set(value, (small.values.get(value) ?? 0) + count);
  }

  /** Adds the result of comparing a page's own date with its date in the sitemap. */
  compare(verdict: "older" | "newer" | "same" | undefined): void {
    if (verdict === undefined) return;
    this.#compared += 1;
    if (verdict === "older") this.#count("newer-than-page", 1);
    if (verdict === "newer") this.#count("older-than-page", 1);
  }

  /** Adds the result of comparing pages and their dates with an earlier run. */
  compareRuns(isSameDate: boolean, isSamePage: boolean, pages: number): void {
    this.#pairs += pages;
    if (pages === 0 || isSameDate === isSamePage) return;
    this.#count(isSamePage ? "always-changes" : "never-changes", pages);
  }

  verdict(): LastmodTrust {
    const { dated: few, atRequest, today, values } = this.#small;
    const [value, count] = [...values].reduce((most, each) => (each[1] > most[1] ? each : most), [0, 0]);
    if (few >= bounds.trustedDates)
      this.#judge({ dated: few, equal: { value, count }, atRequest, today, isNews: false });
    this.#small.dated = 0;
    const reasons = [...this.#against].map(([code, pages]): LastmodReason => {
      const of = this.#sizeOf(code);
      const have = `${grouped(pages)} of ${counted(of, "page")} ${pages === 1 ? "has" : "have"}`;
      return { code, pages, of, message: `${have} ${sentences[code]}` };
    });
    const dated = this.#dated;
    // A sitemap has one of these reasons at most, so their pages can be added up.
    const byDates = reasons.filter(({ code }) => isAboutDates(code)).reduce((sum, { pages }) => sum + pages, 0);
    const others = reasons.filter(({ code }) => !isAboutDates(code));
    const isNot =
      (byDates > 0 && byDates >= dated * nearly) ||
      others.some(({ pages, of }) => of >= fewestCompared && pages >= of * half);
    const isPartly = [{ pages: byDates, of: dated }, ...others].some(
      ({ pages, of }) => pages > 0 && pages >= of * bounds.untrustedShare,
    );
    if (isNot || isPartly) return { verdict: isNot ? "not" : "partly", dated, reasons };
    const isKnown = dated >= bounds.trustedDates || this.#compared + this.#pairs >= fewestCompared;
    return { verdict: isKnown ? "trustworthy" : "unknown", dated, reasons: [] };
  }

  #judge({ dated, equal, atRequest, today, isNews }: SitemapDates): void {
    const isAll = (count: number) => count >= dated * bounds.nearlyAll;
    if (isAll(atRequest)) this.#count("request-time", dated);
    else if (isAll(equal.count)) this.#count("all-equal", dated);
    else if (isAll(today) && !isNews) this.#count("all-today", dated);
  }

  #count(code: LastmodReasonCode, pages: number): void {
    this.#against.set(code, (this.#against.get(code) ?? 0) + pages);
  }

  #sizeOf(code: LastmodReasonCode): number {
    if (isAboutDates(code)) return this.#dated;
    return code.endsWith("-page") ? this.#compared : this.#pairs;
  }
}

function isAboutDates(code: LastmodReasonCode): boolean {
  return code === "all-equal" || code === "all-today" || code === "request-time";
}

// If this share of the dates is wrong, none of them can be trusted.
const nearly = 0.9;
const half = 0.5;
/** If fewer pages were compared, they say nothing about the website. */
export const fewestCompared = 5;
const mostValues = 1000;
