// Decides what a run may conclude from what is missing today. A page is removed only on positive evidence: its sitemap was fully read and no
// longer lists it, or is gone (410), or the index or robots.txt that listed the sitemap was fully read and no longer lists it; and no other
// document that could list the page is left unread. Sitemaps without such evidence keep their last known state, and pages are held back.
import type { DocumentRequest } from "../model/exchange.ts";
import { isComplete } from "../model/problem.ts";
import { type IndexSitemap, isReadSitemap, problemsOf, type Sitemap } from "../model/sitemap.ts";
import { TextSet } from "../model/text-set.ts";
import { urlKey } from "../model/url.ts";
import { partsOf, type SitemapTree } from "../tree/tree.ts";
import { isAbsent, isOpenEnded, skippedEntries } from "./diff-side.ts";
import type { DocumentNotes, Skipped } from "./held-pages.ts";
import type { PageList } from "./page-lists.ts";
import { declaredKey, isFeed, unansweredUrls } from "./tree-side.ts";

type Role = DocumentRequest["role"];

/** A sitemap that was read before, but that this run did not look for. */
export interface UnaskedSitemap {
  readonly url: string;
  /** The document that listed it, some time ago or in the last run. */
  readonly list: Role;
  readonly wasListed: boolean;
}

/** Compares the sitemaps of today with those of the last known state. */
export class Evidence {
  readonly #now: SitemapTree;
  readonly #tree: SitemapTree | undefined;
  readonly #before: readonly Sitemap[];
  readonly #known: ReadonlyMap<string, Sitemap>;
  readonly #named: ReadonlyMap<string, Sitemap>;
  readonly #asked: ReadonlySet<string>;
  /** What the last run noted. */
  readonly #last: { readonly [Name in keyof DocumentNotes]: ReadonlySet<string> };

  constructor(now: SitemapTree, before: SitemapTree | undefined, last: DocumentNotes) {
    this.#now = now;
    this.#tree = before;
    const { absent, unlisted, fromRobots } = last;
    this.#last = { absent: new Set(absent), unlisted: new Set(unlisted), fromRobots: new Set(fromRobots) };
    this.#before = [...(before?.sitemaps() ?? [])];
    this.#known = byKey(this.#before);
    this.#named = byKey(now.sitemaps());
    const requested = now.discovery.filter(({ outcome }) => outcome !== "skipped").map(({ url }) => url);
    this.#asked = new Set([...this.#named.keys(), ...requested]);
  }

  /**
   * Returns sitemaps that were read before, but that this run did not look for. A sitemap from robots.txt is gone if robots.txt was fully
   * read and lists others now. A sitemap found in another way never counts as gone: a homepage without its link may be another page.
   */
  unasked(): UnaskedSitemap[] {
    const lists = this.#before.filter((each): each is IndexSitemap => each.kind === "index" && each.format !== "xml");
    const links = this.#tree?.discovery.filter(({ by }) => by.startsWith("homepage")).map(({ url }) => url);
    const areLinked = new Set(links);
    return lists.flatMap((list) => {
      const isRobots = list.format === "robots";
      if (isRobots && this.#isConvincing(this.#named.get(declaredKey(list)))) return [];
      const urls = list.children.filter(isReadSitemap).map(declaredKey);
      return urls.flatMap((url) => {
        const isFromRobots = this.#last.fromRobots.has(url);
        if (this.#asked.has(url) || (isFromRobots && this.#areAllConvincing())) return [];
        const role = isRobots || isFromRobots ? "robots" : "homepage";
        return { url, list: role, wasListed: isRobots || areLinked.has(url) };
      });
    });
  }

  // A homepage with a path may have two robots.txt files. Both must be convincing, because it is not known which one listed a sitemap.
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
    return [...unansweredUrls(this.#now), ...this.#notFound()].filter((url) => this.#wasRead(url));
  }

  #notFound(): string[] {
    const { discovery } = this.#now;
    return discovery.flatMap(({ url, by, outcome, status }) =>
      outcome === "absent" && status !== 410 && by !== "robots" ? [url] : [],
    );
  }

  #wasRead(url: string): boolean {
    const last = this.#known.get(url);
    return last !== undefined && last.kind !== "invalid";
  }

  /**
   * Returns the URLs of sitemaps that were read before, but could not be fully read today, and of redirects to them. Adds sitemaps that
   * seemed to be fully read to `kept`.
   */
  async stale(kept: string[]): Promise<Set<string>> {
    const { responses } = partsOf(this.#now);
    const stale = new Set<string>();
    for (const [key, sitemap] of this.#named) {
      const last = this.#known.get(key);
      if (last === undefined || last.kind === "invalid" || sitemap === this.#now.root) continue;
      // If only a part could be read then, too, today's part is the better one.
      if (sitemap.kind !== "invalid" && isUnread(last)) continue;
      if (!isUnread(sitemap)) {
        if (!(await this.#isStart(sitemap, last))) continue;
        kept.push(key);
      }
      const hops = responses.get(sitemap.url)?.hops ?? [];
      for (const url of [key, sitemap.url, ...hops.map((hop) => hop.url)]) stale.add(urlKey(url));
    }
    return stale;
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

  /** Returns the roles of the documents (robots.txt, homepage) that could not be fully read today, unless the last state has the same problem. */
  unread(): Set<Role> {
    const before = this.#tree === undefined ? [] : problemsOf(this.#tree.root).map(({ code }) => code);
    return this.#unreadRoles(before);
  }

  #unreadRoles(except: readonly string[] = []): Set<Role> {
    const { problems } = this.#now.root;
    return new Set(problems.flatMap(({ code }) => (except.includes(code) ? [] : (unreadRoles[code] ?? []))));
  }

  /**
   * Decides whether all documents that could list a page were fully read today, and returns what the next run must know to decide that.
   * What does not exist, or is no longer listed, has no pages, but only if that was so in the last run, too: once may be a mistake. A
   * document in which an entry is always skipped counts as fully read. If `unasked` sitemaps are not `expected`, they do not matter.
   */
  conclude(unasked: readonly UnaskedSitemap[], areExpected: boolean): { seesAll: boolean; notes: DocumentNotes } {
    const declared = [...this.#named].flatMap(([key, sitemap]) => (isMissing(sitemap) ? [key] : []));
    const pages = this.#now.discovery.flatMap(({ url, outcome }) => (outcome === "not-a-sitemap" ? [url] : []));
    const absent = new Set([...declared, ...this.#notFound(), ...pages].filter((url) => this.#wasRead(url)));
    const unread = this.#unreadRoles();
    const unlisted = new Set(unasked.flatMap(({ url, list }) => (unread.has(list) ? [] : [url])));
    const fromRobots = new Set(unasked.flatMap(({ url, list }) => (list === "robots" ? [url] : [])));

    const isAbsent = (url: string) => absent.has(url) && this.#last.absent.has(url);
    const isUnlisted = (url: string) => unlisted.has(url) && this.#last.unlisted.has(url);
    const isSeen = (sitemap: Sitemap) => {
      const key = declaredKey(sitemap);
      const last = this.#known.get(key);
      if (isUnread(sitemap)) return isMissing(sitemap) && (isAbsent(key) || (last !== undefined && isMissing(last)));
      if (skippedIn(sitemap) > (last === undefined ? 0 : skippedIn(last))) return false;
      return last === undefined || !isEmptyFeed(sitemap) || isEmptyFeed(last);
    };
    const seesAll =
      this.kept().every(isAbsent) &&
      (!areExpected || unasked.every(({ url, wasListed }) => !wasListed || isUnlisted(url))) &&
      Array.from(this.#now.sitemaps()).every(isSeen);
    return { seesAll, notes: { absent: [...absent], unlisted: [...unlisted], fromRobots: [...fromRobots] } };
  }
}

/**
 * Returns a function that says whether it is certain that a list of `tree` no longer has a page, given how many entries were skipped when
 * it had the page.
 */
export function certainty(tree: SitemapTree): (list: Pick<PageList, "sitemap" | "key">, before: Skipped) => boolean {
  const sitemaps = [...tree.sitemaps()];
  const byUrl = new Map([...sitemaps.map((each) => [each.url, each] as const), ...byKey(sitemaps)]);
  const areIndexesWhole = !sitemaps.some((each) => each.kind === "index" && isOpenEnded(each.problems));
  const inIndexes = skippedInIndexes(sitemaps);
  return ({ sitemap, key }, before) => {
    const found = byUrl.get(key) ?? byUrl.get(sitemap);
    if (found === undefined) return areIndexesWhole && inIndexes <= before.inIndexes;
    return !isOpenEnded(problemsOf(found)) && !isEmptyFeed(found) && skippedIn(found) <= before.inSitemap;
  };
}

/** Returns how many entries were skipped when the lists of a tree were read. */
export function skippedFor(tree: SitemapTree): (list: PageList) => Skipped {
  const sitemaps = byKey(tree.sitemaps());
  const inIndexes = skippedInIndexes(sitemaps.values());
  return ({ key }) => {
    const sitemap = sitemaps.get(key);
    return { inSitemap: sitemap === undefined ? 0 : skippedIn(sitemap), inIndexes };
  };
}

/** Returns the first sitemap with each key. */
function byKey(sitemaps: Iterable<Sitemap>): Map<string, Sitemap> {
  const found = new Map<string, Sitemap>();
  for (const each of sitemaps) if (!found.has(declaredKey(each))) found.set(declaredKey(each), each);
  return found;
}

// Maps problems of a website to the role of the document that could not be fully read.
const unreadRoles: Readonly<Record<string, Role>> = {
  "robots-unreachable": "robots",
  "homepage-unreachable": "homepage",
  "homepage-blocked": "homepage",
  "homepage-cut": "homepage",
  "sitemap-ignored": "robots",
};

function isMissing(sitemap: Sitemap): boolean {
  return sitemap.kind === "invalid" && isAbsent(sitemap.reason.code);
}

// Whether a sitemap could not be fully read, so that entries may be missing.
function isUnread(sitemap: Sitemap): boolean {
  return !isComplete(problemsOf(sitemap));
}

// A feed without items is probably a mistake, because a feed normally keeps its newest items.
function isEmptyFeed(sitemap: Sitemap): boolean {
  return sitemap.kind === "pages" && isFeed(sitemap.format) && sitemap.pageCount === 0;
}

function skippedIn(sitemap: Sitemap): number {
  return skippedEntries(problemsOf(sitemap));
}

function skippedInIndexes(sitemaps: Iterable<Sitemap>): number {
  return Array.from(sitemaps).reduce((sum, each) => sum + (each.kind === "index" ? skippedIn(each) : 0), 0);
}
