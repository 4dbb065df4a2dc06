// The results of the tools: plain data, each about 48 kB at most as JSON, however large a website is.
import { createContext, runInContext } from "node:vm";
import { checkTree } from "../../check/check-tree.ts";
import { groupedByRule } from "../../check/findings/result.ts";
import { PageFilter } from "../../crawl/page-filter.ts";
import type { SitemapProblem } from "../../model/event.ts";
import { counted } from "../../model/figures.ts";
import { type PageFilters, resolvePageFilters } from "../../model/options.ts";
import type { SitemapPage } from "../../model/page.ts";
import { passing } from "../../model/pattern.ts";
import { isLossy } from "../../model/problem.ts";
import { isReadSitemap, type Sitemap } from "../../model/sitemap.ts";
import { shortened } from "../../model/text.ts";
import { sectionOf } from "../../model/url.ts";
import { robotsOf, type SitemapTree } from "../../tree/tree.ts";
import { jsonOf } from "../../write/printable.ts";
import { Counts, otherNames } from "../output/counts.ts";
import { NoAnswer } from "./sites.ts";

/** The maximum size of the items in an answer as JSON, in bytes. The rest takes a few hundred more. */
const mostBytes = 24_000;
// How long a call may search, in milliseconds. The next call continues the search.
const longestSearch = 10_000;
// How long patterns may take for one batch of pages, in milliseconds.
const longestMatching = 1000;
const longestText = 500;

/** A sentence, the data, and perhaps what to do once both have been sent to the agent. */
export type Answer = readonly [text: string, facts: object, onSent?: (() => void) | undefined];

/** A page as an agent gets it. */
export interface ListedPage {
  readonly url: string;
  readonly [field: string]: unknown;
}

/** Converts a page for an agent. A page of more than 12 kB is cut to its date and the start of its URL, and marked with `cut`. */
export function listed({ url, lastModified, newsStory, alternates, images, videos }: SitemapPage): ListedPage {
  const { title, section, publishDate } = newsStory ?? {};
  const page = {
    url,
    ...(lastModified && { lastModified }),
    ...(title && { title: short(title) }),
    ...(section && { section: short(section) }),
    ...(publishDate && { published: publishDate }),
    ...(alternates && { languages: alternates.slice(0, 50).map(({ language }) => short(language)) }),
    ...(images && { images: images.length }),
    ...(videos && { videos: videos.length }),
  };
  if (Buffer.byteLength(jsonOf(page)) <= largestPage) return page;
  return { url: url.slice(0, 2000), ...(lastModified && { lastModified }), cut: true };
}

const largestPage = 12_000;

/** A list that accepts items until one does not fit. */
export class Bounded<T> {
  readonly items: T[] = [];
  omitted = 0;
  #left: number;

  constructor(bytes: number = mostBytes, items: Iterable<T> = []) {
    this.#left = bytes;
    for (const item of items) this.add(item);
  }

  get facts(): { readonly list: readonly T[]; readonly omitted: number } {
    return { list: this.items, omitted: this.omitted };
  }

  /** Returns whether the item was taken. */
  add(item: T): boolean {
    this.#left -= Buffer.byteLength(jsonOf(item)) + 1;
    const fits = this.#left >= 0 && this.omitted === 0;
    if (fits) this.items.push(item);
    else this.omitted += 1;
    return fits;
  }
}

/** The arguments of a tool. */
export interface Question {
  readonly site: string;
  readonly refresh?: boolean;
  readonly cursor?: string;
}

/** The arguments of `list_pages`: which pages to list, and how many. */
export interface PageQuestion extends Question, Omit<PageFilters, "limit"> {
  readonly words?: string;
  readonly limit?: number;
}

/** Lists the matching pages after the cursor, as many as fit. A cursor is valid for one `state` of the website. */
export async function pagesOf(
  tree: SitemapTree,
  { site: _, refresh: __, cursor, words = "", limit = 100, ...filters }: PageQuestion,
  state: number,
): Promise<Answer> {
  const matches = hasWords(words);
  const from = placeIn(cursor, state);
  if (from === undefined)
    throw new NoAnswer("The cursor belongs to an earlier state of the website; call the tool without a cursor");
  const { include, exclude, ...settings } = resolvePageFilters(filters);
  const passes = passing(include, exclude);
  const filter = new PageFilter({ ...settings, include: [], exclude: [] });
  await filter.begin(tree.homepage, robotsOf(tree));
  const found = new Bounded<ListedPage>();
  const until = performance.now() + longestSearch;
  // The number of the page at which the next answer continues, or undefined at the end.
  let next: number | undefined;
  // Earlier pages are read again only if no page may be listed twice.
  search: for await (const { number, pages } of batchesOf(tree, settings.unique ? 0 : from)) {
    if (number > from && performance.now() > until) {
      next = number;
      break;
    }
    const matching = passes ? inTime(() => pages.filter(({ url }) => passes(url))) : pages;
    let at = 0;
    for (const page of await filter.pages(matching)) {
      at = pages.indexOf(page, at);
      if (number + at < from || !matches(page)) continue;
      if (found.items.length < limit && found.add(listed(page))) continue;
      next = number + at;
      break search;
    }
  }
  const { complete } = tree;
  const pages = found.items;
  const note = noteOn(tree, filter, pages);
  const text = [counted(pages.length, "page"), ...(next === undefined ? [] : ["there are more"]), ...note].join("; ");
  const more = {
    ...(next !== undefined && { nextCursor: cursorOf(state, next) }),
    ...(note[0] && { note: note.join("; ") }),
  };
  return [text + unlessComplete(complete), { complete, crawledAt: new Date(state).toISOString(), pages, ...more }];
}

const stoppable = createContext({});

// A regular expression can take years for one URL, during which the server would answer nobody. `vm` can stop it.
function inTime<T>(run: () => T): T {
  try {
    return runInContext("run()", Object.assign(stoppable, { run }), { timeout: longestMatching }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new NoAnswer("A regular expression took too long; use a wildcard pattern such as */blog/*, or `words`");
  }
}

/** Returns what to append to the sentence of an answer: a remark if it is incomplete, or else nothing. */
export function unlessComplete(complete: boolean): string {
  return complete ? "" : "; incomplete, because not every sitemap could be read: see site_summary";
}

function noteOn(tree: SitemapTree, { counts, unknownHosts }: PageFilter, pages: readonly ListedPage[]): string[] {
  if (![...tree.sitemaps()].some(isReadSitemap)) return [`no sitemap found for ${tree.homepage}`];
  const unknown = counted(counts.robotsUnknown, "page");
  const cut = pages.filter((page) => page["cut"]).length;
  return [
    ...(counts.robotsUnknown > 0 ? [`skipped ${unknown}: could not read robots.txt of ${[...unknownHosts][0]}`] : []),
    ...(cut > 0 ? [`${counted(cut, "page")} cut short (\`cut\`): too large for an answer`] : []),
  ];
}

/** Creates an opaque cursor: the number of the item at which the next answer continues. It is valid for one `state`. */
export function cursorOf(state: number, place: number): string {
  return Buffer.from(`${state}.${place}`).toString("base64url");
}

/** Reads the number from a cursor; 0 without one. Returns undefined if the cursor belongs to another state. */
export function placeIn(cursor: string | undefined, state: number): number | undefined {
  if (cursor === undefined) return 0;
  const [known, place = Number.NaN] = Buffer.from(cursor, "base64url").toString().split(".").map(Number);
  return known === state && Number.isSafeInteger(place) ? place : undefined;
}

// Yields the pages of all sitemaps in batches, each with the number of its first page. Does not read sitemaps that end before page `from`.
async function* batchesOf(
  tree: SitemapTree,
  from = 0,
): AsyncGenerator<{ readonly number: number; readonly pages: readonly SitemapPage[] }, void> {
  const all = [...tree.sitemaps()].filter((each) => each.kind === "pages");
  let number = 0;
  // A sitemap in two indexes lists its pages once: at the position of the first, from the node of the last. Both have the same pages.
  for (const sitemap of new Map(all.map((each) => [each.url, each])).values()) {
    const end = number + sitemap.pageCount;
    if (end > from) {
      for await (const step of tree.walk(sitemap)) {
        if (step.type !== "pages") continue;
        yield { number, pages: step.pages };
        number += step.pages.length;
      }
    }
    number = end;
  }
}

// Returns a filter for pages that have all words in their path or in texts such as titles and descriptions.
function hasWords(words: string): (page: SitemapPage) => boolean {
  const wanted = words.toLowerCase().match(/\S+/g) ?? [];
  return ({ url, newsStory, images = [], videos = [] }) => {
    const media = [...images, ...videos].flatMap((each) => [
      each.title,
      "caption" in each ? each.caption : "",
      "description" in each ? each.description : "",
    ]);
    // Leaves out scheme and host, because most pages share them.
    const path = decoded(url.replace(/^[a-z]+:\/\/[^/?#]*/i, ""));
    const text = [path, newsStory?.title, newsStory?.section, ...media].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** Summarizes a website in one pass over its pages. */
export async function summaryOf(tree: SitemapTree, state: number): Promise<Answer> {
  const sections = new Counts();
  const languages = new Counts();
  let [dated, newest, oldest] = [0, "", ""];
  let [latest, first] = [Number.NaN, Number.NaN];
  for await (const { pages } of batchesOf(tree)) {
    for (const { url, lastModified, alternates } of pages) {
      sections.add(sectionOf(url));
      for (const { language } of alternates?.slice(0, 100) ?? []) languages.add(language);
      if (lastModified === undefined) continue;
      dated += 1;
      // Compares instants, because texts with different offsets or precisions cannot be compared.
      const instant = Date.parse(lastModified);
      if (!(instant <= latest)) [latest, newest] = [instant, `${lastModified}`];
      if (!(instant >= first)) [first, oldest] = [instant, `${lastModified}`];
    }
  }
  const all = [...tree.sitemaps()].filter((each) => each !== tree.root);
  const lost = [...tree.problems()].filter(({ problem }) => isLossy(problem.code));
  const preferences = tree.root.children.flatMap((child) => (child.kind === "index" && child.preferences) || []);
  const readable = all.filter(isReadSitemap).length;
  const found = readable > 0 ? counted(tree.pageCount, "page") : "no sitemap found";
  const facts = {
    site: tree.homepage,
    complete: tree.complete,
    crawledAt: new Date(state).toISOString(),
    pages: tree.pageCount,
    sitemaps: { readable, ...new Bounded(mostBytes / 4, all.map(sitemapLine)).facts },
    sections: largest("section", sections, mostBytes / 8),
    dates: { pages: dated, ...(dated > 0 && { oldest, newest }) },
    languages: largest("language", languages, mostBytes / 16),
    preferences: new Bounded(mostBytes / 8, preferences).items,
    problems: new Bounded(mostBytes / 8, lost.map(problemLine)).facts,
  };
  return [`${tree.homepage}: ${found}${tree.complete ? "" : ", incomplete"}`, facts];
}

// Lists the largest counts that fit, and adds up the pages of all others.
function largest(name: string, counts: Counts, bytes: number): object {
  const list = new Bounded<object>(bytes);
  let others = 0;
  for (const [value, pages] of counts.sorted())
    if (value === otherNames || !list.add({ [name]: short(value), pages })) others += pages;
  return { list: list.items, others };
}

function sitemapLine(sitemap: Sitemap): object {
  const { kind, url, lastModified } = sitemap;
  if (kind === "invalid") return { url: short(url), kind, problem: short(sitemap.reason.message) };
  const pages = kind === "pages" ? { pages: sitemap.pageCount } : { sitemaps: sitemap.children.length };
  return { url: short(url), kind, format: sitemap.format, ...pages, ...(lastModified && { lastModified }) };
}

function problemLine({ url, problem: { code, message, line, count } }: SitemapProblem): object {
  return { url: short(url), code, message: short(message), ...(line && { line }), ...(count && { count }) };
}

/** Checks a website. Returns an entry with a few examples for each rule that failed, as many as fit. */
export async function findingsOf(tree: SitemapTree, signal: AbortSignal): Promise<Answer> {
  const result = await checkTree(tree, { signal, time: 5 * longestSearch });
  const { complete, rulesFailed, notChecked } = result;
  const rows = new Map(result.rules.map((rule) => [rule.id, rule]));
  const found = new Bounded<object>();
  for (const group of groupedByRule(result.findings)) {
    const [{ rule, severity }] = group;
    const { sentence, fix, link } = rows.get(rule) ?? {};
    const examples = group.flatMap((each) => each.examples).slice(0, 3);
    found.add({
      rule,
      severity,
      count: group.reduce((sum, { count }) => sum + count, 0),
      sentence,
      fix,
      link,
      sitemaps: group.slice(0, 3).map(({ sitemap }) => short(sitemap)),
      examples: examples.map(({ url, value, line }) => ({
        ...(url && { url: short(url) }),
        ...(value && { value: short(value) }),
        ...(line && { line }),
      })),
    });
  }
  const { error, warning, info } = rulesFailed;
  const failed = [counted(error, "error"), counted(warning, "warning"), counted(info, "note")].join(", ");
  const { items: findings, omitted } = found;
  const facts = { site: tree.homepage, complete, rulesFailed, findings, omitted, notChecked: notChecked.length };
  return [`${tree.homepage}: rules that failed: ${failed}`, facts];
}

function short(text: string): string {
  return shortened(text, longestText);
}
