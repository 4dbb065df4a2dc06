// Collects the entries of XML formats: one for each URL, in the order of their first declarations. The limits of the
// document are checked.
import type { SitemapPage } from "../model/page.ts";
import type { ProblemCode } from "../model/problem.ts";
import { protocolEntries } from "../model/protocol-limits.ts";
import type { SitemapReference } from "../model/sitemap.ts";
import { lengthFacts, originOf } from "../model/url.ts";
import { UrlResolver } from "../model/url-resolver.ts";
import type { Entries, ParseContext } from "./entry-parser.ts";
import { ListDraft } from "./list-draft.ts";
import { RepeatedPages } from "./repeated-pages.ts";
import { noFacts, type TextFacts } from "./text-facts.ts";
import { UrlCollector } from "./url-collector.ts";

/** What the sink needs from the scanner. */
export interface EntrySource {
  report(code: ProblemCode, value?: string, limit?: number): void;
  stop(): void;
}

export class EntrySink {
  readonly #source: EntrySource;
  readonly #maxEntries: number;
  readonly #maxUrlLength: number;
  readonly #pageUrls: UrlCollector;
  readonly #sitemapUrls: UrlCollector;
  readonly #otherUrls: UrlResolver;
  readonly #pages = new ListDraft<SitemapPage>();
  readonly #sitemaps = new ListDraft<SitemapReference>();
  readonly #repeats: RepeatedPages;
  // Those that were added.
  #count = 0;
  #entries = 0;

  constructor(source: EntrySource, { url, limits, keepsAll }: ParseContext) {
    this.#source = source;
    this.#maxEntries = limits.documentEntries;
    this.#maxUrlLength = limits.urlLength;
    this.#pageUrls = new UrlCollector(url, limits.urlLength);
    this.#sitemapUrls = new UrlCollector(url, limits.urlLength);
    this.#otherUrls = new UrlResolver(url, limits.urlLength);
    this.#repeats = new RepeatedPages({
      limits,
      keepsAll,
      release: (page) => this.#pages.add(page),
      report: (code, value, limit) => source.report(code, value, limit),
    });
  }

  get pageCount(): number {
    return this.#pageUrls.size;
  }

  get sitemapCount(): number {
    return this.#sitemapUrls.size;
  }

  /** The URL of a page that is not in the document yet. */
  takePageUrl(text: string, facts: TextFacts = noFacts): string | undefined {
    return this.#take(this.#pageUrls, text, facts);
  }

  /** The URL of the last page, if it is in the document already. */
  get repeatedUrl(): string | undefined {
    return this.#pageUrls.repeated;
  }

  /** The URL of a sitemap that is not in the document yet. */
  takeSitemapUrl(text: string, facts: TextFacts = noFacts): string | undefined {
    return this.#take(this.#sitemapUrls, text, facts);
  }

  /** Any other URL. `relative`: the problem to report if it is relative. */
  resolveUrl(
    text: string,
    facts: TextFacts = noFacts,
    relative: "url-relative" | "alternate-relative" = "url-relative",
  ): string | undefined {
    if (facts.isUrl) return text;
    const resolved = this.#otherUrls.resolve(text, facts.isExact);
    const { problem } = this.#otherUrls;
    const url = this.#checked(resolved, problem === "url-relative" ? relative : problem, text);
    if (url === text) acceptOrigin(url, facts);
    return url;
  }

  /** An entry has ended, valid or not. */
  countEntry(): void {
    this.#entries++;
    if (this.#entries === protocolEntries + 1) {
      this.#source.report("protocol-entries", undefined, protocolEntries);
    }
  }

  /** How many entries the document has, including repeated and invalid ones. */
  get entryCount(): number {
    return this.#entries;
  }

  addPage(page: SitemapPage): void {
    if (this.#hasRoom()) this.#pages.add(page);
  }

  /** Adds a page whose entry may be repeated, with more details. */
  addDetailedPage(page: SitemapPage): void {
    if (this.#hasRoom()) this.#repeats.add(page);
  }

  /** Adds the details of a repeated entry to its page. */
  mergePage(page: SitemapPage): void {
    this.#repeats.merge(page);
  }

  /** The document declares extensions: any of its entries may have details. */
  expectDetails(): void {
    this.#repeats.wait();
  }

  addSitemap(sitemap: SitemapReference): void {
    if (this.#hasRoom()) this.#sitemaps.add(sitemap);
  }

  /** Nothing more will be added. */
  finish(): void {
    this.#repeats.finish();
    this.#pageUrls.finish();
    this.#sitemapUrls.finish();
  }

  /** The entries since the last call. */
  take(): Entries {
    const entries = { pages: this.#pages.toArray(), sitemaps: this.#sitemaps.toArray() };
    this.#pages.clear();
    this.#sitemaps.clear();
    return entries;
  }

  #take(urls: UrlCollector, text: string, facts: TextFacts): string | undefined {
    if (facts.isUrl) {
      const known = urls.takeKnown(text, facts.high, facts.low);
      if (known === undefined) this.#source.report("url-repeated", text);
      return known;
    }
    const url = this.#checked(urls.take(text, 0, text.length, facts.isExact), urls.problem, text);
    if (url === text) acceptOrigin(url, facts);
    return url;
  }

  #checked(url: string | undefined, problem: ProblemCode | undefined, text: string): string | undefined {
    if (problem === undefined) return url;
    this.#source.report(problem, text, lengthFacts(problem, this.#maxUrlLength).limit);
    return url;
  }

  #hasRoom(): boolean {
    if (this.#count >= this.#maxEntries) {
      this.#source.report("limit-document-entries", undefined, this.#maxEntries);
      this.#source.stop();
      return false;
    }
    this.#count++;
    return true;
  }
}

function acceptOrigin(url: string, facts: TextFacts): void {
  const origin = facts.acceptOrigin === undefined ? undefined : originOf(url);
  if (origin !== undefined) facts.acceptOrigin!(origin);
}
