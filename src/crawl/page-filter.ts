// Applies the page filters, for crawls, trees and single documents. A `PageFilter` counts the pages that each filter accepted and, for
// `unique`, remembers the pages seen.
import type { FilterCounts, ProblemEvent } from "../model/event.ts";
import { lastInstant } from "../model/instant.ts";
import type { PageFilterSettings } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { PageList } from "../model/page-list.ts";
import { anyPattern, type Matches } from "../model/pattern.ts";
import { problem } from "../model/problem.ts";
import type { IndexSitemap, SitemapReference } from "../model/sitemap.ts";
import { TextSet } from "../model/text-set.ts";
import { bareHost, originOf, parseUrl } from "../model/url.ts";
import { allowedUrls, type RobotsOf } from "./host-robots.ts";
import { PageSample } from "./page-sample.ts";

/** A filter that looks at each page. */
interface Step {
  readonly name: keyof PageFilterSettings;
  readonly passes: (page: SitemapPage) => boolean;
  /** How many pages passed this filter. */
  passed: number;
}

export class PageFilter {
  readonly settings: PageFilterSettings;
  readonly #steps: Step[] = [];
  readonly #includeSitemap: Matches | undefined;
  readonly #excludeSitemap: Matches | undefined;
  // Whether a URL is on the website that is being listed.
  #isAtHome: Matches = () => true;
  #allows: ReturnType<typeof allowedUrls> | undefined;
  /** The number of pages seen, and of pages to list. */
  seen = 0;
  listed = 0;
  #undated = 0;
  #unknown = 0;
  /** The origins whose robots.txt could not be read. */
  readonly unknownHosts: Set<string> = new Set();
  #reported = 0;
  /** Whether a page was skipped because of `limit`. */
  isCut = false;
  /** Whether, before any page was listed, `include` would have matched a URL if it ignored case. */
  matchesInOtherCase = false;

  constructor(settings: PageFilterSettings) {
    this.settings = settings;
    const { include, exclude, since, undated, scope, unique } = settings;
    this.#includeSitemap = anyPattern(settings.includeSitemap);
    this.#excludeSitemap = anyPattern(settings.excludeSitemap);
    const included = anyPattern(include);
    const excluded = anyPattern(exclude);
    const inOtherCase = anyPattern(include.flatMap((each) => (typeof each === "string" ? each.toLowerCase() : [])));
    const add = (name: Step["name"], passes: Step["passes"]) => this.#steps.push({ name, passes, passed: 0 });
    if (included)
      add("include", ({ url }) => {
        const isIncluded = included(url);
        if (!isIncluded && this.listed === 0) this.matchesInOtherCase ||= inOtherCase?.(url.toLowerCase()) ?? false;
        return isIncluded;
      });
    if (excluded) add("exclude", ({ url }) => !excluded(url));
    if (scope !== "any") add("scope", ({ url }) => this.#isAtHome(url));
    if (since !== undefined)
      add("since", ({ lastModified, newsStory }) => {
        // News sitemaps and feeds give the date of publication, but rarely the date of a change.
        const date = lastModified ?? newsStory?.publishDate;
        if (date === undefined && undated === "drop") this.#undated += 1;
        return date === undefined ? undated === "keep" : !(lastInstant(date) < since);
      });
    if (unique) {
      const known = new TextSet();
      add("unique", ({ url }) => known.add(url));
    }
    if (settings.allowedFor !== undefined) add("allowedFor", () => true);
  }

  /** Prepares for a website. Call this before `pages`. */
  async begin(homepage: string, robotsOf: RobotsOf): Promise<void> {
    const { scope, allowedFor } = this.settings;
    if (allowedFor !== undefined) this.#allows = allowedUrls(allowedFor, robotsOf);
    if (scope === "any") return;
    const domainOf = scope === "host" ? undefined : await registrableDomains();
    const home = parseUrl(homepage);
    // A host is the same website with or without `www.`, even one without a public suffix, such as localhost.
    const isHost = (url: URL) => bareHost(url.host) === bareHost(home?.host ?? "");
    const isSite = (url: URL) =>
      home !== null && domainOf !== undefined && domainOf(url.hostname) === domainOf(home.hostname);
    this.#isAtHome = byOrigin((url) => isHost(url) || isSite(url));
  }

  /** Whether `limit` was reached, so that no more pages are listed. */
  get isLimitReached(): boolean {
    return this.listed >= this.settings.limit;
  }

  /** Whether sitemaps are chosen by their URL. */
  get choosesSitemaps(): boolean {
    return (this.#includeSitemap ?? this.#excludeSitemap) !== undefined;
  }

  /** Whether every page passes until `limit` is reached. */
  get passesAll(): boolean {
    const isSampled = this.settings.sample < Number.POSITIVE_INFINITY;
    return this.#steps.length === 0 && !this.#includeSitemap && !this.#excludeSitemap && !isSampled;
  }

  /** Creates a sample to collect the pages that pass, or returns undefined if all of them are listed. */
  sample<Origin>(): PageSample<Origin> | undefined {
    const { sample, seed } = this.settings;
    return sample === Number.POSITIVE_INFINITY ? undefined : new PageSample(sample, seed);
  }

  get counts(): FilterCounts {
    return { listed: this.listed, undated: this.#undated, robotsUnknown: this.#unknown };
  }

  /** If no page passed, the filters up to and including the first that rejected all pages. */
  get empty(): readonly (keyof PageFilterSettings)[] {
    const end = this.seen === 0 ? -1 : this.#steps.findIndex(({ passed }) => passed === 0);
    return this.#steps.slice(0, end + 1).map(({ name }) => name);
  }

  /** Yields a problem for each origin whose robots.txt could not be read, once per origin. */
  *newProblems(): Generator<ProblemEvent, void> {
    for (const origin of [...this.unknownHosts].slice(this.#reported)) {
      this.#reported += 1;
      yield { type: "problem", url: `${origin}/robots.txt`, problem: problem("robots-unknown") };
    }
  }

  /** Whether to follow a reference. One in robots.txt need not match `includeSitemap`, because it may be an index whose children match. */
  follows({ url }: SitemapReference, isInRobots: boolean): boolean {
    if (this.#excludeSitemap?.(url)) return false;
    return isInRobots || (this.#includeSitemap?.(url) ?? true);
  }

  /** Whether the pages of a sitemap are listed. Children of indexes were chosen before they were fetched, by the URL in the index. */
  lists(sitemap: string, parent: IndexSitemap["format"] | undefined): boolean {
    if (parent === "xml") return true;
    return !(parent !== "robots" && this.#excludeSitemap?.(sitemap)) && (this.#includeSitemap?.(sitemap) ?? true);
  }

  /** Returns the pages to list. */
  async pages<List extends PageList>(pages: List): Promise<List | readonly SitemapPage[]> {
    if (this.isLimitReached) {
      this.isCut ||= pages.length > 0;
      return [];
    }
    this.seen += pages.length;
    let kept: List | readonly SitemapPage[] =
      this.#steps.length === 0 ? pages : pages.filter((page) => this.#passes(page));
    if (this.#allows !== undefined) kept = await this.#allowedOf([...kept], this.#allows);
    // `left` is computed after waiting, because pages of other documents may have been listed in the meantime.
    const left = this.settings.limit - this.listed;
    this.isCut ||= kept.length > left;
    if (kept.length > left) kept = kept.slice(0, Math.max(0, left));
    this.listed += kept.length;
    return kept;
  }

  #passes(page: SitemapPage): boolean {
    for (const step of this.#steps) {
      if (!step.passes(page)) return false;
      step.passed += 1;
    }
    return true;
  }

  async #allowedOf(
    pages: readonly SitemapPage[],
    allows: ReturnType<typeof allowedUrls>,
  ): Promise<readonly SitemapPage[]> {
    const answers = await Promise.all(pages.map(({ url }) => allows(url)));
    const kept = pages.filter((_, index) => answers[index]);
    for (const [index, { url }] of pages.entries()) {
      if (answers[index] !== undefined) continue;
      this.#unknown += 1;
      if (this.unknownHosts.size < mostHosts) this.unknownHosts.add(parseUrl(url)?.origin ?? "");
    }
    // The last step, `allowedFor`, has counted all pages as passed.
    (this.#steps.at(-1) as Step).passed -= pages.length - kept.length;
    return kept;
  }
}

const mostHosts = 1000;

// Remembers the results for some origins, as they are spelled.
function byOrigin(judge: (url: URL) => boolean): Matches {
  const known = new Map<string, boolean>();
  return (text) => {
    const origin = originOf(text) ?? text;
    let result = known.get(origin);
    if (result !== undefined) return result;
    const url = parseUrl(text);
    result = url !== null && judge(url);
    if (known.size >= mostHosts) known.clear();
    known.set(origin, result);
    return result;
  };
}

/**
 * Loads a function that finds the registrable domain of a host, such as `example.co.uk`. A host without a public suffix is its own domain.
 */
export async function registrableDomains(): Promise<(hostname: string) => string> {
  const { getDomain } = await import("tldts");
  return (hostname) => getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}
