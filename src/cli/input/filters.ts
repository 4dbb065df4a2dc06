// Which sitemaps are followed and which pages are listed: --include, --exclude, --since, --unique, --limit and the filters for sitemaps.
import { counted } from "../../model/figures.ts";
import type { RecurseContext } from "../../model/options.ts";
import type { SitemapPage } from "../../model/page.ts";
import type { SitemapReference } from "../../model/sitemap.ts";
import { isRobotsUrl } from "../../model/url.ts";
import { wildcard } from "../../model/wildcard.ts";
import { UniqueUrls } from "../../tree/parts.ts";
import { UsageError } from "../exit-codes.ts";

export interface FilterFlags {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly since?: string | undefined;
  readonly unique?: true | undefined;
  readonly limit?: number | undefined;
  readonly includeSitemap?: readonly string[] | undefined;
  readonly excludeSitemap?: readonly string[] | undefined;
  readonly skipOldSitemaps?: true | undefined;
}

/** One object for each run: it remembers what was listed. */
export class Filters {
  readonly #include: Matches | undefined;
  readonly #exclude: Matches | undefined;
  readonly #includeSitemap: Matches | undefined;
  readonly #excludeSitemap: Matches | undefined;
  readonly #since: number | undefined;
  readonly #skipOldSitemaps: boolean;
  readonly #seen: UniqueUrls | undefined;
  // The URLs from the root to the sitemap that is being read.
  readonly #path: string[] = [];
  #left: number;
  #undated = 0;
  #listed = 0;

  constructor(flags: FilterFlags, now: number) {
    this.#include = anyPattern(flags.include);
    this.#exclude = anyPattern(flags.exclude);
    this.#includeSitemap = anyPattern(flags.includeSitemap);
    this.#excludeSitemap = anyPattern(flags.excludeSitemap);
    this.#since = flags.since === undefined ? undefined : sinceInstant(flags.since, now);
    this.#skipOldSitemaps = flags.skipOldSitemaps ?? false;
    this.#seen = flags.unique ? new UniqueUrls() : undefined;
    this.#left = flags.limit ?? Number.POSITIVE_INFINITY;
  }

  /** How many pages were listed. */
  get listed(): number {
    return this.#listed;
  }

  /** Sentences for the user about what was left out. */
  notes(): string[] {
    const said: string[] = [];
    if (this.reached) said.push(`stopped at --limit ${this.#listed}`);
    if (this.#undated > 0) said.push(`--since left out ${counted(this.#undated, "page")} without a date`);
    return said;
  }

  /** Whether --limit was reached: no more pages are listed. */
  get reached(): boolean {
    return this.#left <= 0;
  }

  /** Whether every page passes until the limit is reached. */
  get passesAll(): boolean {
    return !(
      this.#include ||
      this.#exclude ||
      this.#includeSitemap ||
      this.#excludeSitemap ||
      this.#seen ||
      this.#since !== undefined
    );
  }

  /** Called when a sitemap is entered: what follows is inside it. */
  enter(sitemap: string, depth: number): void {
    this.#path.length = depth;
    this.#path.push(sitemap);
  }

  /** The pages to list, of the sitemap that was entered last. */
  pages(pages: readonly SitemapPage[]): readonly SitemapPage[] {
    let kept = pages;
    if (!this.passesAll) kept = this.#listsPages() ? pages.filter((page) => this.#passes(page)) : [];
    if (kept.length > this.#left) kept = kept.slice(0, this.#left);
    this.#left -= kept.length;
    this.#listed += kept.length;
    return kept;
  }

  /** Whether to follow a child of an index; `recurse` of the options. */
  follows(child: SitemapReference, { parent }: Pick<RecurseContext, "parent">): boolean {
    if (this.#excludeSitemap?.(child.url)) return false;
    if (this.#skipOldSitemaps && this.#since !== undefined && child.lastModified !== undefined) {
      if (lastInstant(child.lastModified) < this.#since) return false;
    }
    // A sitemap that robots.txt names may be an index whose children match: it is read, and the filter applies to its
    // pages only.
    return this.#includeSitemap === undefined || isRobotsUrl(parent) || this.#includeSitemap(child.url);
  }

  // Children of an index were filtered before they were fetched, by the URL in the index. A redirect may have led
  // elsewhere since. What was found in other ways is filtered here.
  #listsPages(): boolean {
    const sitemap = this.#path.at(-1) ?? "";
    const parent = this.#path.length > 2 ? this.#path.at(-2) : undefined;
    if (parent === undefined && this.#excludeSitemap?.(sitemap)) return false;
    const wasAsked = parent !== undefined && !isRobotsUrl(parent);
    return wasAsked || (this.#includeSitemap?.(sitemap) ?? true);
  }

  #passes({ url, lastModified, newsStory }: SitemapPage): boolean {
    if (this.#include?.(url) === false || this.#exclude?.(url)) return false;
    if (this.#since !== undefined) {
      // News sitemaps and feeds give the date of publication, and rarely that of a change.
      const date = lastModified ?? newsStory?.publishDate;
      if (date === undefined) {
        this.#undated += 1;
        return false;
      }
      if (lastInstant(date) < this.#since) return false;
    }
    return this.#seen?.add(url) ?? true;
  }
}

export type Matches = (url: string) => boolean;

export function pattern(text: string): Matches {
  if (text === "") throw new UsageError("a pattern must not be empty");
  const expression = /^\/(.+)\/([a-z]*)$/s.exec(text);
  if (expression !== null) return regularExpression(expression[1] as string, expression[2] as string);
  if (!text.includes("*")) return (url) => url.includes(text);
  return wildcard(text);
}

/** Whether one of the patterns matches; undefined if there are none. */
export function anyPattern(texts: readonly string[] = []): Matches | undefined {
  if (texts.length === 0) return undefined;
  const all = texts.map(pattern);
  return (url) => all.some((matches) => matches(url));
}

function regularExpression(source: string, flags: string): Matches {
  try {
    // With `g` or `y`, each test would depend on the one before.
    const expression = new RegExp(source, flags.replaceAll(/[gy]/g, ""));
    return (url) => expression.test(url);
  } catch (error) {
    throw new UsageError(`not a regular expression: /${source}/${flags} (${(error as Error).message})`);
  }
}

/** The instant in milliseconds: `2024-05-01`, `2024-05-01T12:00Z`, `36h`, `7d`, `2w`. */
export function sinceInstant(text: string, now: number): number {
  const span = /^(\d{1,6})([hdw])$/.exec(text);
  if (span !== null) return now - Number(span[1]) * spans[span[2] as keyof typeof spans];
  const instant = isoDate.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instant)) {
    throw new UsageError(`--since takes a date such as 2024-05-31, or a time span such as 36h, 7d or 2w, not ${text}`);
  }
  return instant;
}

/** The last instant of a date, in milliseconds; NaN if it is not a date. */
export function lastInstant(date: string): number {
  const end = new Date(date);
  if (date.length === 4) end.setUTCFullYear(end.getUTCFullYear() + 1);
  else if (date.length === 7) end.setUTCMonth(end.getUTCMonth() + 1);
  else if (date.length === 10) end.setUTCDate(end.getUTCDate() + 1);
  else return end.getTime();
  return end.getTime() - 1;
}

const spans = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
// What Date.parse reads without guessing; a time without an offset would be local time.
const isoDate = /^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?)?)?$/;
