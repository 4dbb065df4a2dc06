// Limits one crawl: the number of documents, their depth, bytes and pages, and the length of the URLs that indexes list.
import type { Provenance } from "../model/exchange.ts";
import type { AllLimits } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { protocolEntries, type SitemapReference } from "../model/sitemap.ts";
import { urlKey } from "../model/url.ts";
import type { Frame } from "./frame.ts";
import type { PageFilter } from "./page-filter.ts";

export class Budget {
  /** The number of pages so far. */
  pages = 0;
  /** Bytes of documents that this run transferred, and of those that it reused. */
  wireBytes = 0;
  reusedBytes = 0;
  // The bytes that count against the limit.
  #bytes = 0;
  readonly #limits: AllLimits;
  readonly #filter: PageFilter | undefined;
  // References whose documents were read before their visit. Each counts against the limit of documents until then.
  readonly #reserved = new Set<string>();
  // Nodes of the tree, except its root and readable robots.txt files, and refused references without a node.
  #sitemaps = 0;
  #refused = 0;
  // How many more characters the URLs of sitemaps may have.
  #urlLengthLeft: number;

  /** The `filter` knows whether the caller's own limit of pages is reached. */
  constructor(limits: AllLimits, filter?: PageFilter) {
    this.#limits = limits;
    this.#filter = filter;
    this.#urlLengthLeft = this.#mostUrlLength;
  }

  /** Returns the problem if a limit forbids this many more documents at this depth. Candidates of discovery have depth 1. */
  exhausted(more = 1, at = 0): Problem | undefined {
    const { depth, sitemaps, bytes, pages } = this.#limits;
    if (at - 1 > depth) return problem("limit-depth", { limit: depth });
    if (this.#sitemaps + this.#reserved.size + more > sitemaps) return problem("limit-sitemaps", { limit: sitemaps });
    if (this.#bytes >= bytes) return problem("limit-bytes", { limit: bytes });
    return this.pages >= pages ? this.pageLimit : undefined;
  }

  get pageLimit(): Problem {
    return problem("limit-pages", { limit: this.#limits.pages });
  }

  /** Counts a reference whose document is about to be read before its visit. Returns false, without counting it, if a limit is reached. */
  reserve(key: string): boolean {
    if (this.isEnough || this.exhausted() !== undefined || this.#reserved.size >= mostReserved) return false;
    this.#reserved.add(key);
    return true;
  }

  /** Undoes `reserve`. Returns whether the reference was reserved. */
  unreserve(key: string): boolean {
    return this.#reserved.delete(key);
  }

  isReserved(key: string): boolean {
    return this.#reserved.has(key);
  }

  /** Counts nodes of the tree. */
  spendSitemaps(count: number): void {
    this.#sitemaps += count;
  }

  /** Counts a refused reference. Returns whether it may have a node; without one, it still counts against the limit of documents. */
  mayShowRefused(): boolean {
    this.#refused += 1;
    if (this.#refused <= mostRefused) return true;
    this.#sitemaps += 1;
    return false;
  }

  /** How many more documents may be visited. */
  get documentsLeft(): number {
    return Math.max(0, this.#limits.sitemaps - this.#sitemaps);
  }

  /** Counts the bytes of a document. Bytes of the run that is resumed count against the limit; those reused after a 304 do not. */
  spendBytes(count: number, obtained: Provenance = "fetched"): void {
    if (obtained !== "not-modified") this.#bytes += count;
    if (obtained === "fetched") this.wireBytes += count;
    else this.reusedBytes += count;
  }

  /** Counts pages. Returns how many of them are within the limit. */
  spendPages(count: number): number {
    const within = Math.min(count, this.#limits.pages - this.pages);
    this.pages += within;
    return within;
  }

  /** How many more pages may be listed. */
  get pagesLeft(): number {
    const filter = this.#filter;
    const left = this.#limits.pages - this.pages;
    return filter === undefined ? left : Math.min(left, filter.settings.limit - filter.listed);
  }

  /** Whether the caller's own `limit` is reached. The crawl then ends without a loss. */
  get isEnough(): boolean {
    const filter = this.#filter;
    // With a limit of 0, the crawl still finds out whether there is anything to list.
    return filter?.isLimitReached === true && (filter.settings.limit > 0 || filter.isCut);
  }

  /** Counts the characters of a listed URL in its encoded form, where one letter may become nine. Returns false if there are too many. */
  spendUrl({ url }: SitemapReference): boolean {
    this.#urlLengthLeft -= urlKey(url).length;
    return this.#urlLengthLeft >= 0;
  }

  /** Returns why the next reference of this index must not be visited, if the URLs up to it are too long in total. */
  exhaustedUrls({ next, withinBudget }: Frame): Problem | undefined {
    return next < withinBudget ? undefined : problem("limit-sitemap-urls", { limit: this.#mostUrlLength });
  }

  // URLs have a budget, because 50 kB of a compressed index can list 50,000 sitemaps with long URLs.
  get #mostUrlLength(): number {
    const { sitemaps, sitemapUrlLength } = this.#limits;
    return Math.max(sitemaps, protocolEntries) * sitemapUrlLength;
  }
}

// How many documents may have been read but not visited. Their results are kept until the visit.
const mostReserved = 10_000;

// How many refused references have a node of their own: 50 kB of a compressed index can list 50,000 with long URLs.
const mostRefused = 1000;
