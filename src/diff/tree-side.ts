// Reads a tree as one side of a diff: the caller's tree, or one that is built while its pages are read.
import type { OrderedEvent } from "../model/event.ts";
import type { SitemapPage } from "../model/page.ts";
import {
  type IndexSitemap,
  type PagesFormat,
  type PagesSitemap,
  problemsOf,
  type Sitemap,
  type SitemapReference,
} from "../model/sitemap.ts";
import { detached } from "../model/text.ts";
import type { WhileBuilding } from "../tree/build.ts";
import { walkNodes } from "../tree/parts.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { isOpenEnded, type Side, type SideFacts, type SideSitemap, skippedEntries } from "./diff-side.ts";
import type { PageList, PageLists } from "./page-lists.ts";

/** Builds a tree, and reports its pages while they are read. */
type MakeTree = (building: WhileBuilding) => Promise<SitemapTree>;

export class TreeSide implements Side {
  readonly #source: SitemapTree | MakeTree;
  readonly #declared = new Set<string>();
  /** The first sitemap with pages at each URL. */
  readonly #pages = new Map<string, PagesSitemap>();
  #tree: SitemapTree | undefined;

  constructor(source: SitemapTree | MakeTree) {
    this.#source = source;
  }

  async scan(lists: PageLists): Promise<SideFacts> {
    const source = this.#source;
    const onOrdered = (event: OrderedEvent) => {
      if (event.type === "pages") lists.add(event.url, event.pages);
      return undefined;
    };
    const recurse = ({ url }: SitemapReference) => {
      // A substring would keep the whole document in memory.
      this.#declared.add(detached(url));
      return true;
    };
    const tree = typeof source === "function" ? await source({ onOrdered, recurse }) : source;
    this.#tree = tree;
    const sitemaps = new Map<string, SideSitemap>();
    const indexes = new Map<string | undefined, boolean>([[undefined, isWhole(tree.root)]]);
    const parents: (string | undefined)[] = [];
    for (const { type, sitemap, depth } of walkNodes(tree.root)) {
      if (type === "leave") continue;
      const key = declaredKey(sitemap);
      parents.length = depth;
      const parent = parents.at(-1);
      parents.push(depth === 0 ? undefined : key);
      // The root and robots.txt only list sitemaps. An index that also has pages has a child for them with its own URL.
      const isOwnPages = sitemap.kind === "pages" && key === parent;
      const isNamed = depth > 0 && !isOwnPages && !(sitemap.kind === "index" && sitemap.format === "robots");
      if (isNamed && !sitemaps.has(key))
        sitemaps.set(key, { reason: sitemap.kind === "invalid" ? sitemap.reason : undefined, parent });
      if (sitemap.kind === "index" && depth > 0 && !indexes.has(key)) indexes.set(key, namesAll(sitemap));
      if (sitemap.kind !== "pages" || this.#pages.has(sitemap.url)) continue;
      this.#pages.set(sitemap.url, sitemap);
      if (tree !== source) continue;
      for await (const pages of pagesOf(tree, sitemap)) lists.add(sitemap.url, pages);
    }
    const seen = new Set<string>();
    for (const list of lists.lists) {
      const node = this.#pages.get(list.sitemap);
      // A URL may return different documents with and without credentials, but only one of them can be read again.
      if (node === undefined || seen.has(list.sitemap)) list.isVoid = true;
      else Object.assign(list, { key: declaredKey(node), expires: isFeed(node.format) || undefined });
      seen.add(list.sitemap);
    }
    const all = Array.from(tree.sitemaps());
    const unread = all.filter((each) => !isWhole(each));
    const openEnded = all.filter((each) => isOpenEnded(problemsOf(each)));
    const isGiven = tree.discovery.some(({ by }) => by === "given");
    const tried = new Set(tree.discovery.flatMap(({ url, outcome }) => (outcome === "skipped" ? [] : [url])));
    return {
      kind: "tree",
      hasFields: true,
      complete: tree.complete,
      unread: unread.map(declaredKey),
      skipped: new Map(all.map((each) => [declaredKey(each), skippedEntries(problemsOf(each))])),
      openEnded: new Set(openEnded.map(declaredKey)),
      unsure: new Set(unansweredUrls(tree)),
      declared: this.#declared,
      isTried: (url) => isGiven || !url.startsWith(tree.homepage) || tried.has(url),
      sitemaps,
      indexes,
    };
  }

  read({ sitemap }: PageList): AsyncIterable<readonly SitemapPage[]> {
    return pagesOf(this.#tree!, this.#pages.get(sitemap)!);
  }

  /** Closes the tree, unless it is the caller's. */
  async close(): Promise<void> {
    if (typeof this.#source === "function") await this.#tree?.close();
  }
}

async function* pagesOf(tree: SitemapTree, sitemap: PagesSitemap): AsyncGenerator<readonly SitemapPage[], void> {
  for await (const step of tree.walk(sitemap)) if (step.type === "pages") yield step.pages;
}

// Whether every sitemap that an index lists is among its children. A single invalid child may stand for all sitemaps beyond a limit.
function namesAll({ complete, children }: IndexSitemap): boolean {
  return complete && !children.some((child) => child.kind === "invalid" && (child.reason.count ?? 1) > 1);
}

function isWhole(sitemap: Sitemap): boolean {
  return sitemap.kind !== "invalid" && sitemap.complete;
}

/** Returns the URLs that discovery tried without learning whether there is a sitemap. */
export function unansweredUrls({ discovery }: SitemapTree): string[] {
  const isUnanswered = (outcome: string) => ["failed", "blocked", "refused", "not-a-sitemap"].includes(outcome);
  return discovery.filter(({ outcome }) => isUnanswered(outcome)).map(({ url }) => url);
}

/** Whether this is the format of a feed, which usually lists only the newest items. */
export function isFeed(format: PagesFormat): boolean {
  return format === "rss" || format === "atom" || format === "json";
}

/** Returns the URL that a sitemap was declared with, which identifies it on both sides. */
export function declaredKey({ url, declaredUrl }: Sitemap): string {
  return declaredUrl ?? url;
}
