// Decides what may be visited, by ancestors, depth, budgets and earlier visits. Does no I/O. All decisions follow the declared order, never
// the order of arrival, so that two runs agree.
import { documentKey, type Provenance } from "../model/exchange.ts";
import type { AllLimits } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { type IndexSitemap, protocolEntries, type Sitemap, type SitemapReference } from "../model/sitemap.ts";
import { isRobotsUrl, urlKey } from "../model/url.ts";
import type { Frame, Missing } from "./frame.ts";
import type { PageFilter } from "./page-filter.ts";
import type { Reading } from "./read.ts";
import type { Hop } from "./redirects.ts";

export class Frontier {
  /** The number of pages so far, which count against the budget for pages. */
  pages = 0;
  /** Bytes of documents that this run transferred, and of those that it reused. */
  wireBytes = 0;
  reusedBytes = 0;
  // The bytes that count against the budget for bytes.
  #bytes = 0;
  readonly #limits: AllLimits;
  readonly #filter: PageFilter | undefined;
  readonly #visited = new Map<string, Sitemap>();
  // The number of nodes below an index, by its children.
  readonly #sizes = new WeakMap<readonly Sitemap[], number>();
  // Guesses that found no sitemap.
  readonly #abandoned = new Map<string, Missing>();
  // The homepage, if it is an HTML page: guesses that redirect there have found no sitemap.
  #homepage: Missing | undefined;
  #homepageKeys: readonly string[] = [];
  // The indexes being read.
  readonly #active = new Set<string>();
  // References whose documents were read before their visit. Each counts against the budget for documents until then.
  readonly #reserved = new Set<string>();
  // Nodes of the tree, except its root and robots.txt.
  #sitemaps = 0;
  #refused = 0;
  // How many more characters the URLs of sitemaps may have.
  #textLeft: number;
  // The URLs of sitemaps by identity (what they list), and the largest number of pages in one of them.
  readonly #contents = new Map<string, string>();
  #mostPages = 0;

  /** The `filter` knows whether the caller's own limit of pages is reached. */
  constructor(limits: AllLimits, filter?: PageFilter) {
    this.#limits = limits;
    this.#filter = filter;
    this.#textLeft = this.#mostText;
  }

  /** Returns why a document must not be visited, or undefined if it may be. Candidates of discovery have depth 1. */
  refusal(key: string, depth: number): Problem | undefined {
    if (this.#active.has(key)) return problem("cycle");
    // A document that was read before its visit was already counted.
    if (this.#reserved.delete(key)) return undefined;
    const isTooDeep = depth - 1 > this.#limits.depth && !this.#visited.has(key);
    if (isTooDeep) return problem("limit-depth", { limit: this.#limits.depth });
    return this.exhausted();
  }

  /** Returns the problem of a budget that is used up, or too small for this many more documents, if there is one. */
  exhausted(more = 1): Problem | undefined {
    const { sitemaps, bytes, pages } = this.#limits;
    if (this.#sitemaps + this.#reserved.size + more > sitemaps) return problem("limit-sitemaps", { limit: sitemaps });
    if (this.#bytes >= bytes) return problem("limit-bytes", { limit: bytes });
    if (this.pages >= pages) return problem("limit-pages", { limit: pages });
    return undefined;
  }

  /** Counts a reference whose document is about to be read before its visit. Returns false if a budget is used up. */
  reserve(key: string): boolean {
    if (this.isEnough || this.exhausted() !== undefined || this.#reserved.size >= mostReserved) return false;
    this.#reserved.add(key);
    return true;
  }

  /** Undoes `reserve`, because the reference is being visited, or its document was read for another reference. */
  unreserve(key: string): void {
    this.#reserved.delete(key);
  }

  isReserved(key: string): boolean {
    return this.#reserved.has(key);
  }

  /** Counts the bytes of a document. Bytes that a resumed run transferred before count against the budget; those of a 304 do not. */
  takeBytes(count: number, obtained: Provenance = "fetched"): void {
    if (obtained !== "not-modified") this.#bytes += count;
    if (obtained === "fetched") this.wireBytes += count;
    else this.reusedBytes += count;
  }

  /** How many more documents may be visited. */
  get documentsLeft(): number {
    return Math.max(0, this.#limits.sitemaps - this.#sitemaps);
  }

  /** Whether the caller's own `limit` is reached. The crawl then ends without a loss. */
  get isEnough(): boolean {
    const filter = this.#filter;
    // With a limit of 0, the crawl still finds out whether there is anything to list.
    return filter?.reached === true && (filter.settings.limit > 0 || filter.isCut);
  }

  /** How many more pages may be listed. */
  get pagesLeft(): number {
    const filter = this.#filter;
    const left = this.#limits.pages - this.pages;
    return filter === undefined ? left : Math.min(left, filter.settings.limit - filter.listed);
  }

  /** Whether this hop leads to an index that is being read. */
  isActive({ key, readKey }: Hop): boolean {
    return this.#active.has(key) || this.#active.has(readKey);
  }

  /** Whether the document with this key was visited or is being visited, so that it need not be fetched. */
  isKnown(key: string): boolean {
    return this.#active.has(key) || this.#visited.has(key) || this.#abandoned.has(key);
  }

  /** Whether fetching this hop as a sitemap would gain nothing: its document is known, or is a robots.txt. */
  isPointless({ key, readKey, url }: Hop): boolean {
    return isRobotsUrl(url) || this.isKnown(key) || this.isKnown(readKey);
  }

  /** Returns what an earlier visit found at this hop. */
  visited({ key, readKey }: Hop): Sitemap | undefined {
    const read = this.#visited.get(readKey);
    return this.#visited.get(key) ?? (read?.kind === "invalid" ? undefined : read);
  }

  /** Returns the earlier guess that found no sitemap at this key, if there was one. With `isGuess`, the homepage counts as such a guess. */
  missing(key: string, isGuess: boolean): Missing | undefined {
    return this.#abandoned.get(key) ?? (isGuess && this.#homepage?.keys.includes(key) ? this.#homepage : undefined);
  }

  /** Counts pages. Returns how many of them the budget still allows. */
  takePages(count: number): number {
    const taken = Math.min(count, this.#limits.pages - this.pages);
    this.pages += taken;
    return taken;
  }

  /** Makes the index an ancestor of all sitemaps visited from now on. robots.txt does not count against the budget for documents. */
  enter({ node, keys }: Frame): void {
    if (node.format !== "robots") this.#sitemaps += 1;
    for (const key of keysOf(node, keys)) this.#active.add(key);
  }

  /**
   * Counts the characters of a listed URL in its encoded form, in which one letter may become nine. Returns false if there are too many.
   */
  takeText({ url }: SitemapReference): boolean {
    this.#textLeft -= urlKey(url).length;
    return this.#textLeft >= 0;
  }

  /** Returns why the next reference of this index must not be visited, if its URL exceeds the budget. */
  beyondText({ next, within }: Frame): Problem | undefined {
    return next < within ? undefined : problem("limit-sitemap-urls", { limit: this.#mostText });
  }

  // URLs have a budget, because 50 kB of a compressed index can list 50,000 sitemaps with long URLs.
  get #mostText(): number {
    const { sitemaps, sitemapUrlLength } = this.#limits;
    return Math.max(sitemaps, protocolEntries) * sitemapUrlLength;
  }

  /** Ends an index. `node` is its result. */
  leave({ keys }: Frame, node: IndexSitemap): void {
    for (const key of keysOf(node, keys)) this.#active.delete(key);
    this.#sizes.set(
      node.children,
      node.children.reduce((sum, child) => sum + this.sizeOf(child), 0),
    );
    this.#remember(node, keys);
  }

  /** Records a finished sitemap that has no children to visit. From now on its keys are known. */
  finish(node: Sitemap, keys: readonly string[]): void {
    // A sitemap counts each time it is declared, even if it is refused, so that a few documents that list each other cannot become an
    // endless tree. A repeated node shares its subtree in memory.
    this.#sitemaps += this.sizeOf(node);
    this.#remember(node, keys);
  }

  /** Whether another refused reference may have its own node. Each counts against the budget, with or without one. */
  mayShowRefused(): boolean {
    this.#refused += 1;
    if (this.#refused <= mostRefused) return true;
    this.#sitemaps += 1;
    return false;
  }

  /** The number of nodes of a finished sitemap and everything below it. */
  sizeOf(node: Sitemap): number {
    return 1 + (node.kind === "index" ? (this.#sizes.get(node.children) ?? 0) : 0);
  }

  /** Remembers where the homepage is. With `page`, it is not a sitemap, and guesses that redirect there do not fetch it again. */
  foundHomepage(keys: readonly string[], page: Missing | undefined): void {
    this.#homepageKeys = keys;
    this.#homepage = page;
  }

  /** Whether these are keys of the homepage. */
  isHomepage(keys: readonly string[]): boolean {
    return keys.some((key) => this.#homepageKeys.includes(key));
  }

  /** Remembers a guess that found no sitemap, so that it is not fetched again. */
  abandon(missing: Missing): void {
    for (const key of missing.keys) this.#abandoned.set(key, missing);
  }

  /** Remembers what a sitemap lists, after all of its pages were reported. */
  contains(url: string, reading: Reading, pages: number): void {
    const content = contentOf(reading);
    if (content === undefined || this.#contents.size >= mostContents) return;
    if (!this.#contents.has(content)) this.#contents.set(content, url);
    this.#mostPages = Math.max(this.#mostPages, pages);
  }

  /** Whether the tree may have a sitemap with at least this many pages. */
  mayList(pages: number): boolean {
    return this.#contents.size > 0 && pages <= this.#mostPages;
  }

  /** Returns the URL of a sitemap in the tree that lists the same URLs, if there is one. From now on the keys lead to it. */
  sameAs(reading: Reading, keys: readonly string[]): string | undefined {
    const url = this.#contents.get(contentOf(reading) ?? "");
    const node = url === undefined ? undefined : this.#visited.get(documentKey({ url }));
    if (node !== undefined) this.#remember(node, keys);
    return node && url;
  }

  #remember(node: Sitemap, keys: readonly string[]): void {
    const all = node.kind === "invalid" ? keys : keysOf(node, keys);
    for (const key of all) if (!this.#visited.has(key)) this.#visited.set(key, node);
  }
}

// How many documents may be read before their visit: their results are kept until then.
const mostReserved = 10_000;

// How many refused references have a node of their own: 50 kB of a compressed index can list 50,000 with long URLs.
const mostRefused = 1000;

// Guesses are compared with this many sitemaps; later ones are not remembered.
const mostContents = 10_000;

// Returns the identity of a sitemap: what it lists. Returns undefined if that is uncertain, or if the sitemap is one page of a feed.
function contentOf({ outcome, listed, complete, isWhole }: Reading): string | undefined {
  const isFeedPage = outcome.kind === "pages" && outcome.next !== undefined;
  return complete && isWhole && outcome.kind !== "invalid" && !isFeedPage ? listed : undefined;
}

// A document that was read is also known by its URL, however it was requested: a tree has one document per URL.
function keysOf({ url }: Pick<Sitemap, "url">, keys: readonly string[]): Set<string> {
  return new Set([...keys, documentKey({ url })]);
}
