// A tree as one side of a diff: the caller's, or one that is built while its pages are read.
import type { OrderedEvent } from "../model/event.ts";
import type { SitemapPage } from "../model/page.ts";
import type { PagesSitemap, Sitemap } from "../model/sitemap.ts";
import type { WhileBuilding } from "../tree/build.ts";
import { walkNodes } from "../tree/parts.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { Side, SideSitemap } from "./diff-side.ts";
import type { PageList, PageLists } from "./page-lists.ts";

/** Builds a tree, and reads its documents at the same time. */
export type MakeTree = (building: WhileBuilding) => Promise<SitemapTree>;

export class TreeSide implements Side {
  readonly kind = "tree";
  readonly hasFields = true;
  readonly #source: SitemapTree | MakeTree;
  readonly sitemaps: Map<string, SideSitemap> = new Map();
  readonly #indexes = new Map<string | undefined, boolean>();
  /** By URL: the first node with it. */
  readonly #pages = new Map<string, PagesSitemap>();
  #tree: SitemapTree | undefined;

  constructor(source: SitemapTree | MakeTree) {
    this.#source = source;
  }

  get complete(): boolean {
    return this.#made.complete;
  }

  get unread(): readonly string[] {
    return Array.from(this.#made.sitemaps())
      .filter((each) => !isWhole(each))
      .map(keyOf);
  }

  get unsure(): ReadonlySet<string> {
    return new Set(unansweredUrls(this.#made));
  }

  namesAll(index: string | undefined): boolean | undefined {
    return this.#indexes.get(index);
  }

  async scan(lists: PageLists): Promise<void> {
    const source = this.#source;
    const onOrdered = (event: OrderedEvent) => (event.type === "pages" ? lists.add(event.url, event.pages) : undefined);
    const tree = typeof source === "function" ? await source({ onOrdered }) : source;
    this.#tree = tree;
    this.#look(tree);
    if (tree === source) {
      for (const { url } of this.#pages.values())
        for await (const pages of this.read({ sitemap: url })) await lists.add(url, pages);
    }
    const seen = new Set<string>();
    for (const list of lists.lists) {
      const node = this.#pages.get(list.sitemap);
      // A URL that gave two documents, one of them to an anonymous request, can be read again once.
      if (node === undefined || seen.has(list.sitemap)) {
        list.isVoid = true;
        continue;
      }
      if (node.pageCount !== list.count)
        throw new Error(`The pages of ${list.sitemap} were not read as they were counted`);
      list.key = node.declaredUrl ?? list.sitemap;
      seen.add(list.sitemap);
    }
  }

  async *read({ sitemap }: Pick<PageList, "sitemap">): AsyncGenerator<readonly SitemapPage[], void> {
    const node = this.#pages.get(sitemap);
    if (node === undefined) return;
    for await (const step of this.#made.walk(node)) if (step.type === "pages") yield step.pages;
  }

  /** Closes the tree, unless it is the caller's. */
  async close(): Promise<void> {
    if (typeof this.#source === "function") await this.#tree?.close();
  }

  get #made(): SitemapTree {
    if (this.#tree === undefined) throw new Error("The side was not read yet");
    return this.#tree;
  }

  // The root and robots.txt are not sitemaps with pages: they only list others.
  #look(tree: SitemapTree): void {
    this.#indexes.set(undefined, isWhole(tree.root));
    const parents: (string | undefined)[] = [];
    const visit = (sitemap: Sitemap, depth: number) => {
      parents.length = depth;
      const parent = parents.at(-1);
      const key = keyOf(sitemap);
      const isOwnPages = sitemap.kind === "pages" && key === parent;
      if (sitemap.kind === "pages" && !this.#pages.has(sitemap.url)) this.#pages.set(sitemap.url, sitemap);
      if (sitemap.kind === "index" && depth > 0 && !this.#indexes.has(key)) this.#indexes.set(key, sitemap.complete);
      const isNamed = depth > 0 && !isOwnPages && !(sitemap.kind === "index" && sitemap.format === "robots");
      if (isNamed && !this.sitemaps.has(key)) {
        this.sitemaps.set(key, { reason: sitemap.kind === "invalid" ? sitemap.reason : undefined, parent });
      }
      parents.push(depth === 0 ? undefined : key);
    };
    for (const { type, sitemap, depth } of walkNodes(tree.root)) if (type === "enter") visit(sitemap, depth);
  }
}

function isWhole(sitemap: Sitemap): boolean {
  return sitemap.kind !== "invalid" && sitemap.complete;
}

/** Where discovery looked, and neither found a sitemap nor learned that there is none. */
export function unansweredUrls({ discovery }: SitemapTree): string[] {
  const isUnanswered = (outcome: string) => ["failed", "blocked", "refused", "not-a-sitemap"].includes(outcome);
  return discovery.filter(({ outcome }) => isUnanswered(outcome)).map(({ url }) => url);
}

/** How both sides name a sitemap. */
export function keyOf({ url, declaredUrl }: Sitemap): string {
  return declaredUrl ?? url;
}
