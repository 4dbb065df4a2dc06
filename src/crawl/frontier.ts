// Decides what may be visited: ancestors, depth, budgets, and what was visited before. No I/O; all decisions follow the declared order,
// never the order of arrival, so that two runs agree.
import { documentKey } from "../model/exchange.ts";
import type { Limits } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import type { Frame, Missing } from "./frame.ts";
import type { PageFilter } from "./page-filter.ts";
import type { Reading } from "./read.ts";
import type { Hop } from "./redirects.ts";

export class Frontier {
  /** Counted against the budgets. */
  pages = 0;
  bytes = 0;
  readonly #limits: Limits;
  readonly #filter: PageFilter | undefined;
  readonly #visited = new Map<string, Sitemap>();
  // The number of nodes below an index, by its children.
  readonly #sizes = new WeakMap<readonly Sitemap[], number>();
  // Guesses that found no sitemap.
  readonly #abandoned = new Map<string, Missing>();
  // The indexes being read.
  readonly #active = new Set<string>();
  // Nodes of the tree, except its root and robots.txt.
  #sitemaps = 0;
  // The URLs of sitemaps by content, and their first pages, so that few candidates must be fully read before they are reported.
  readonly #contents = new Map<string, string>();
  readonly #firstPages = new Set<string>();
  #hasUnread = false;

  /** `filter`: may have reached its limit of pages. */
  constructor(limits: Limits, filter?: PageFilter) {
    this.#limits = limits;
    this.#filter = filter;
  }

  /** Why a document must not be visited, if so. Depth counts from the candidates of discovery, which have depth 1; it limits what is read. */
  refusal(key: string, depth: number): Problem | undefined {
    if (this.#active.has(key)) return problem("cycle");
    const isTooDeep = depth - 1 > this.#limits.depth && !this.#visited.has(key);
    if (isTooDeep) return problem("limit-depth", { limit: this.#limits.depth });
    return this.exhausted();
  }

  /** The budget that is used up, or not sufficient for this many more documents, if any. */
  exhausted(more = 1): Problem | undefined {
    const { documents, bytes, pages } = this.#limits;
    if (this.#sitemaps + more > documents) return problem("limit-documents", { limit: documents });
    if (this.bytes >= bytes) return problem("limit-bytes", { limit: bytes });
    if (this.pages >= pages) return problem("limit-pages", { limit: pages });
    if (this.#filter?.reached) return problem("limit-pages", { limit: this.#filter.settings.limit });
    return undefined;
  }

  /** How many more documents may be visited. */
  get documentsLeft(): number {
    return Math.max(0, this.#limits.documents - this.#sitemaps);
  }

  /** Whether this hop leads to an index that is being read. */
  isActive({ key, readKey }: Hop): boolean {
    return this.#active.has(key) || this.#active.has(readKey);
  }

  /** Whether the document with this key was visited or is being visited: it need not be fetched. */
  isKnown(key: string): boolean {
    return this.#active.has(key) || this.#visited.has(key) || this.#abandoned.has(key);
  }

  /** What an earlier visit found there. */
  visited({ key, readKey }: Hop): Sitemap | undefined {
    const read = this.#visited.get(readKey);
    return this.#visited.get(key) ?? (read?.kind === "invalid" ? undefined : read);
  }

  /** The guess that found no sitemap at this key, if there was one. */
  missing(key: string): Missing | undefined {
    return this.#abandoned.get(key);
  }

  /** How many of these pages the budget still allows. */
  takePages(count: number): number {
    const taken = Math.min(count, this.#limits.pages - this.pages);
    this.pages += taken;
    return taken;
  }

  /** From now on the index is an ancestor of all visited sitemaps. robots.txt does not count against the budget for documents. */
  enter({ node, keys }: Frame): void {
    if (node.format !== "robots") this.#sitemaps += 1;
    for (const key of keysOf(node, keys)) this.#active.add(key);
  }

  /** The index is finished: `node` is its result. */
  leave({ keys }: Frame, node: IndexSitemap): void {
    for (const key of keysOf(node, keys)) this.#active.delete(key);
    this.#sizes.set(
      node.children,
      node.children.reduce((sum, child) => sum + this.sizeOf(child), 0),
    );
    this.#remember(node, keys);
  }

  /** A sitemap without children to visit is finished. From now on these keys are known. */
  finish(node: Sitemap, keys: readonly string[]): void {
    // A sitemap that is declared twice counts twice, and so does one that is refused: a few documents that list each other must not
    // become an endless tree. A repeated node shares its subtree in memory.
    this.#sitemaps += this.sizeOf(node);
    this.#remember(node, keys);
  }

  /** The number of nodes of a finished sitemap and everything below it. */
  sizeOf(node: Sitemap): number {
    return 1 + (node.kind === "index" ? (this.#sizes.get(node.children) ?? 0) : 0);
  }

  /** Remembers a guess that found no sitemap, so that it is not fetched again. */
  abandon(missing: Missing): void {
    for (const key of missing.keys) this.#abandoned.set(key, missing);
  }

  /** A sitemap was read; `firstPage` is undefined if its pages were not. */
  contains(url: string, reading: Reading, firstPage: string | undefined): void {
    const content = contentOf(reading);
    if (content === undefined || this.#contents.size >= mostContents) return;
    if (!this.#contents.has(content)) this.#contents.set(content, url);
    if (firstPage !== undefined) this.#firstPages.add(firstPage);
    this.#hasUnread ||= reading.untoldPages !== undefined;
  }

  /** Whether a sitemap that begins with this page may be in the tree. */
  mayContain(firstPage: string): boolean {
    return this.#hasUnread || this.#firstPages.has(firstPage);
  }

  /** The URL of a sitemap in the tree with the same content, if there is one. From now on the keys lead to it. */
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

// Guesses are compared with this many sitemaps; later ones are not remembered.
const mostContents = 10_000;

// Undefined for documents with relative URLs, which mean something else at another URL.
function contentOf({ checksum, decodedBytes, problems }: Reading): string | undefined {
  if (checksum === undefined || problems.some(({ code }) => code === "url-relative")) return undefined;
  return `${checksum} ${decodedBytes}`;
}

// A document that was read is also known by its URL, however it was requested: a tree has one document per URL.
function keysOf({ url }: Pick<Sitemap, "url">, keys: readonly string[]): Set<string> {
  return new Set([...keys, documentKey({ url })]);
}
