// Decides what a run may conclude from what is missing today. A page is removed only on positive evidence: its sitemap was fully read and
// no longer lists it, or is gone (410); or the index or robots.txt that listed the sitemap was fully read and no longer lists it. Anything
// else that is missing keeps its last known state.
import type { DocumentRequest } from "../model/exchange.ts";
import { isComplete } from "../model/problem.ts";
import { type IndexSitemap, isReadSitemap, problemsOf, type Sitemap } from "../model/sitemap.ts";
import { TextSet } from "../model/text-set.ts";
import { urlKey } from "../model/url.ts";
import { partsOf, type SitemapTree } from "../tree/tree.ts";
import { isAbsent, isOpenEnded, skippedEntries } from "./diff-side.ts";
import { declaredKey, isFeed, unansweredUrls } from "./tree-side.ts";

type Role = DocumentRequest["role"];

/** URLs of sitemaps that the last run kept, although nothing listed them any more. */
export interface HeldSitemaps {
  /** Sitemaps whose replacement could not be read. */
  readonly replaced: ReadonlySet<string>;
  /** Sitemaps from a robots.txt that has listed no sitemap since. */
  readonly fromRobots: ReadonlySet<string>;
}

/** Compares the sitemaps of today with those of the last known state. */
export class Evidence {
  readonly #now: SitemapTree;
  readonly #tree: SitemapTree | undefined;
  readonly #before: readonly Sitemap[];
  readonly #known = new Map<string, Sitemap>();
  readonly #named = new Map<string, Sitemap>();
  readonly #asked: ReadonlySet<string>;
  readonly #held: HeldSitemaps;

  constructor(now: SitemapTree, before: SitemapTree | undefined, held: HeldSitemaps) {
    this.#now = now;
    this.#tree = before;
    this.#held = held;
    // `unread` and `replaced` rely on the root being the first.
    this.#before = [...(before?.sitemaps() ?? [])];
    for (const each of this.#before) if (!this.#known.has(declaredKey(each))) this.#known.set(declaredKey(each), each);
    for (const each of now.sitemaps())
      if (!this.#named.has(declaredKey(each))) this.#named.set(declaredKey(each), each);
    const requested = now.discovery.filter(({ outcome }) => outcome !== "skipped").map(({ url }) => url);
    this.#asked = new Set([...this.#named.keys(), ...requested]);
  }

  /**
   * Returns sitemaps that were read before, but that this run did not look for. A sitemap from robots.txt is gone if robots.txt was fully
   * read and lists others now. A sitemap found in another way never counts as gone: a homepage without its link may be another page.
   */
  unasked(): { readonly url: string; readonly list: Role }[] {
    const lists = this.#before.filter((each): each is IndexSitemap => each.kind === "index" && each.format !== "xml");
    return lists.flatMap((list) => {
      const role = list.format === "robots" ? "robots" : "homepage";
      if (role === "robots" && this.#isConvincing(this.#named.get(declaredKey(list)))) return [];
      const { replaced, fromRobots } = this.#held;
      const read = list.children.filter(isReadSitemap).map(declaredKey);
      const missing = read.filter((url) => !this.#asked.has(url) && !replaced.has(url));
      const isGone = (url: string) => fromRobots.has(url) && this.#areAllConvincing();
      return missing.flatMap((url) => (isGone(url) ? [] : { url, list: fromRobots.has(url) ? "robots" : role }));
    });
  }

  // A homepage with a path may have two robots.txt files. Both must be convincing, because it is not known which one listed a held sitemap.
  #areAllConvincing(): boolean {
    const requested = this.#now.discovery.filter(({ by }) => by === "robots");
    return requested.length > 0 && requested.every(({ url }) => this.#isConvincing(this.#named.get(url)));
  }

  // A robots.txt that lists no sitemap is not convincing: it may be an error message, or the default file of a server. Nor is one without a
  // length, which may be cut off.
  #isConvincing(robots: Sitemap | undefined): boolean {
    return robots?.kind === "index" && robots.complete && robots.children.length > 0 && !isOpenEnded(robots.problems);
  }

  /** Returns URLs that were read before, but that discovery could not read or find today. Status 410 means gone; 404 may be a mistake. */
  kept(): string[] {
    const unanswered = new Set(unansweredUrls(this.#now));
    for (const { url, by, outcome, status } of this.#now.discovery)
      if (outcome === "absent" && status !== 410 && by !== "robots") unanswered.add(url);
    return [...unanswered].filter((url) => this.#wasRead(url));
  }

  #wasRead(url: string): boolean {
    const last = this.#known.get(url);
    return last !== undefined && last.kind !== "invalid";
  }

  /**
   * Returns the URLs of sitemaps that may have lost entries since the last state, and of redirects to them. Adds sitemaps that seemed to be
   * fully read to `kept`.
   */
  async stale(kept: string[]): Promise<Set<string>> {
    const { responses } = partsOf(this.#now);
    const stale = new Set<string>();
    const listed = this.#mayListElsewhere() ? await this.#listed(undefined) : undefined;
    for (const [key, sitemap] of this.#named) {
      const last = this.#known.get(key);
      if (last === undefined || last.kind === "invalid" || isUnread(last) || sitemap === this.#now.root) continue;
      const isDoubtful =
        isUnread(sitemap) ||
        skipsMore(sitemap, last) ||
        isEmptied(sitemap, last) ||
        (await this.#isStart(sitemap, last));
      const isOfPages = sitemap.kind === "pages" && last.kind === "pages";
      if (!isDoubtful && !(isOfPages && listed !== undefined)) continue;
      if (isOfPages && (await this.#hasAll(isDoubtful ? await this.#listed(sitemap) : listed!, last))) continue;
      if (!isUnread(sitemap)) kept.push(key);
      const hops = responses.get(sitemap.url)?.hops ?? [];
      for (const url of [key, sitemap.url, ...hops.map((hop) => hop.url)]) stale.add(urlKey(url));
    }
    return stale;
  }

  // Whether a page that its sitemap lost may have moved to a document that this run could not read: a new sitemap, or one listed by an index
  // or robots.txt that can no longer be fully read. A new sitemap counts only in its first run: otherwise, while it stays unreadable, no
  // sitemap that lost a page could list new ones.
  #mayListElsewhere(): boolean {
    const isNews = ([key, each]: [string, Sitemap]) => {
      const last = this.#known.get(key);
      return last === undefined || (last.kind === "index" && !isUnread(last) && each !== this.#now.root);
    };
    return this.unread().has("robots") || [...this.#named].some((named) => isUnread(named[1]) && isNews(named));
  }

  // Returns the pages that a sitemap lists today or, without a sitemap, all pages of the website.
  async #listed(sitemap: Sitemap | undefined): Promise<TextSet> {
    const listed = new TextSet();
    for await (const { url } of this.#now.pages(sitemap)) listed.add(url);
    return listed;
  }

  // Whether a list that may be cut off has only pages that it had before, except for its last URL, which may be cut off, too. If it also has
  // new ones, it is accepted, because otherwise a list without a length could never add a page.
  async #isStart(sitemap: Sitemap, last: Sitemap): Promise<boolean> {
    if (!isOpenEnded(problemsOf(sitemap)) || sitemap.kind !== "pages") return false;
    const before = new TextSet();
    for await (const { url } of this.#tree?.pages(last) ?? []) before.add(url);
    let isNew = false;
    for await (const { url } of this.#now.pages(sitemap)) {
      if (isNew) return false;
      isNew = !before.has(url);
    }
    return true;
  }

  // Whether all pages that a sitemap had in the last state are among the listed ones.
  async #hasAll(listed: TextSet, last: Sitemap): Promise<boolean> {
    for await (const { url } of this.#tree?.pages(last) ?? []) if (!listed.has(url)) return false;
    return true;
  }

  /** Returns the roles of the documents (robots.txt, homepage) that could not be fully read today, unless the last state has the same problem. */
  unread(): Set<Role> {
    const asBefore = new Set(this.#before.slice(0, 1).flatMap((root) => problemsOf(root).map(({ code }) => code)));
    const { problems } = this.#now.root;
    return new Set(problems.flatMap(({ code }) => (asBefore.has(code) ? [] : (unreadRoles[code] ?? []))));
  }

  /**
   * Returns sitemaps that are no longer listed, but whose pages may be in a document that cannot be read today: an index, or a sitemap that
   * was never read before. Such a sitemap, if not found (404, 410), counts only in the first run that misses it.
   */
  replaced(): { readonly url: string }[] {
    const mayHave = (each: Sitemap) => {
      const last = this.#known.get(declaredKey(each));
      const isNew = last === undefined || (last.kind === "invalid" && !(isMissing(last) && isMissing(each)));
      return isUnread(each) && (isNew || last.kind === "index");
    };
    if (isComplete(this.#now.root.problems) && !Array.from(this.#now.sitemaps()).some(mayHave)) return [];
    const lists = this.#before.filter((each, at) => at === 0 || this.#named.has(declaredKey(each)));
    const children = lists.flatMap((each) => (each.kind === "index" ? each.children.filter(isReadSitemap) : []));
    return children.map((each) => ({ url: declaredKey(each) })).filter(({ url }) => !this.#asked.has(url));
  }
}

// Maps problems of a website to the role of the document that could not be fully read.
const unreadRoles: Readonly<Record<string, Role>> = {
  "robots-unreachable": "robots",
  "homepage-unreachable": "homepage",
  "homepage-blocked": "homepage",
  "homepage-cut": "homepage",
};

function isMissing(sitemap: Sitemap): boolean {
  return sitemap.kind === "invalid" && isAbsent(sitemap.reason.code);
}

/** Whether a sitemap could not be fully read, so that entries may be missing. */
export function isUnread(sitemap: Sitemap): boolean {
  return !isComplete(problemsOf(sitemap));
}

// Whether a feed became empty, which is probably a mistake, because a feed normally keeps its newest items.
function isEmptied(sitemap: Sitemap, last: Sitemap): boolean {
  const isEmpty = sitemap.kind === "pages" && isFeed(sitemap.format) && sitemap.pageCount === 0;
  return isEmpty && last.kind === "pages" && last.pageCount > 0;
}

// Whether more entries were skipped than before: a skipped entry may be the page that seems to be missing.
function skipsMore(sitemap: Sitemap, last: Sitemap): boolean {
  return skippedEntries(problemsOf(sitemap)) > skippedEntries(problemsOf(last));
}
