// The interface of all document parsers, which turn text into entries, synchronously and without I/O. However the text is split
// into chunks, the entries and problems are the same.
import { FingerprintReader, Fingerprints } from "../model/fingerprints.ts";
import type { AllLimits } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import { PageLines } from "../model/page-list.ts";
import type { DocumentProblemCode } from "../model/problem-code.ts";
import type { Problem } from "../model/problem-facts.ts";
import type { PagesFormat, ParsedSitemap, RobotsPreference, SitemapReference } from "../model/sitemap.ts";
import { protocolEntries } from "../model/sitemap.ts";
import type { TextPiece } from "../model/text.ts";
import { lengthFacts, originOf } from "../model/url.ts";
import { UrlResolver, urlsIn } from "../model/url-forms.ts";
import { RepeatedPages } from "./repeated-pages.ts";
import { noHints, type TextHints } from "./text-hints.ts";
import type { ScannerOptions } from "./xml/scanner.ts";

/** Entries in declared order. A document has at most one page and one sitemap for each URL. */
export interface Entries {
  readonly pages: SitemapPage[];
  /** With `urlsOnly`: the URLs, in place of pages. */
  readonly lines?: PageLines | undefined;
  readonly sitemaps: SitemapReference[];
}

// Uses loops, because `flatMap` would take a third as long as parsing itself.
export function joined(batches: readonly Entries[]): Entries {
  const all: Entries = { pages: [], sitemaps: [] };
  for (const { pages, lines, sitemaps } of batches) {
    for (const page of lines ?? pages) all.pages.push(page);
    for (const sitemap of sitemaps) all.sitemaps.push(sitemap);
  }
  return all;
}

export interface EntryParser {
  /** Takes a chunk of the document; returns the entries that became complete. */
  write(piece: TextPiece): Entries;
  /** Ends the document; returns the entries that became complete. */
  end(): Entries;
  /** Whether a limit was reached or the document is refused. The caller may then stop reading, and call `end`. */
  readonly stopped: boolean;
  /** The format of the document, or why it is invalid. Valid after `end`. */
  readonly outcome: ParseOutcome;
}

export type ParseOutcome =
  /** `next` is the URL of the next page of a feed. */
  | { readonly kind: "pages"; readonly format: PagesFormat; readonly next?: string }
  | { readonly kind: "index"; readonly format: "robots" | "xml"; readonly preferences?: readonly RobotsPreference[] }
  | { readonly kind: "invalid"; readonly reason: Problem };

/** The result of parsing one document. */
export function parsedSitemap(
  { outcome, complete, problems }: { outcome: ParseOutcome; complete: boolean; problems: readonly Problem[] },
  { pages, sitemaps }: Entries,
): ParsedSitemap {
  if (outcome.kind === "invalid") return outcome;
  if (outcome.kind === "pages") return { ...outcome, pages, complete, problems };
  // Only an index that violates the protocol has pages, so the field is usually absent.
  return { ...outcome, sitemaps, ...(pages.length > 0 ? { pages } : {}), complete, problems };
}

/** Identities (`Fingerprints`) of the URLs that a document lists: equal if the URLs are the same, in any format and order. */
export interface ListedUrls {
  pages?: string;
  sitemaps?: string;
}

/** The shared context of the parsers of one document. */
export interface ParseContext extends ScannerOptions {
  /** The document's own URL: the base of relative URLs. */
  readonly url: string | undefined;
  /** Whether only the URLs of pages are needed, so that other fields may be absent. Losses of merging repeated entries are not reported then. */
  readonly urlsOnly?: boolean | undefined;
  /** Filled in when the document ends. */
  readonly listed?: ListedUrls | undefined;
  readonly entries?: EntryListener | undefined;
}

/** Finds out which entry each problem belongs to. */
export interface EntryListener {
  /** Called when an entry ends. All problems since the last entry belong to it. */
  onEnd(): void;
  /** Called with the URL of that entry if it is a page, or with undefined if the URL is invalid. */
  onPage(url: string | undefined): void;
}

// Collects the entries of a document, within its limits: one for each URL, in the order of their first declarations.

/** What a sink needs from its parser. */
export interface EntrySource {
  report(code: DocumentProblemCode, value?: string, limit?: number): void;
  stop(): void;
}

/** A record that is still being built. */
export type Draft<T> = { -readonly [Key in keyof T]?: T[Key] };
export type PageDraft = Draft<SitemapPage> & Pick<SitemapPage, "url">;

/** What the URL of an entry points to. */
export type EntryKind = "page" | "sitemap";

export class EntrySink {
  readonly #source: EntrySource;
  readonly #limits: AllLimits;
  readonly #urls: UrlResolver;
  readonly #listed: ListedUrls | undefined;
  readonly #listener: EntryListener | undefined;
  // The URLs seen so far, as fingerprints: the first declaration counts.
  readonly #taken = { page: new Fingerprints(), sitemap: new Fingerprints() };
  #pages: SitemapPage[] = [];
  readonly #urlsOnly: boolean;
  #lines: PageLines | undefined;
  #sitemaps: SitemapReference[] = [];
  // The number of entries that were added.
  #count = 0;
  readonly repeats: RepeatedPages;
  /** The URL of the last entry, if it occurred before in the document. */
  repeatedUrl: string | undefined = undefined;
  /** How many entries the document has, including repeated and invalid ones. */
  entryCount = 0;

  constructor(source: EntrySource, context: ParseContext) {
    const { url, limits, listed, entries, urlsOnly = false } = context;
    this.#urlsOnly = urlsOnly;
    this.#source = source;
    this.#limits = limits;
    this.#listed = listed;
    this.#listener = entries;
    this.#urls = new UrlResolver(url, limits.urlLength);
    this.repeats = new RepeatedPages(limits, source.report.bind(source), (page) => this.#push(page));
  }

  /** How many different URLs there are. */
  count(kind: EntryKind): number {
    return this.#taken[kind].size;
  }

  /** Resolves the URL of an entry. Returns undefined if it is invalid or repeated. If it is repeated, sets `repeatedUrl`. */
  takeUrl(kind: EntryKind, text: string, hints: TextHints = noHints): string | undefined {
    const url = this.#resolve(text, hints);
    const { high, low } = hints.isUrl ? hints : this.#urls.fingerprint;
    const isNew =
      url !== undefined &&
      (kind === "sitemap" && url.includes("#") ? this.#addDocument(url) : this.#taken[kind].add(high, low));
    this.repeatedUrl = isNew ? undefined : url;
    this.#reportUrl(isNew || url === undefined ? this.#urls.problem : "url-repeated", text);
    if (kind === "page") this.#listener?.onPage(url);
    return isNew ? url : undefined;
  }

  // Fragments are never sent, so URLs of sitemaps that differ only in the fragment are one document.
  #addDocument(url: string): boolean {
    documents.read(url.slice(0, url.indexOf("#")));
    return this.#taken.sitemap.add(documents.high, documents.low);
  }

  /** Resolves any other URL, such as that of an image. `relative` is the problem to report if the URL is relative. */
  resolveUrl(
    text: string,
    hints: TextHints = noHints,
    relative: "url-relative" | "alternate-relative" = "url-relative",
  ): string | undefined {
    if (!hints.isUrl && urlsIn(text).length > 1) {
      this.#source.report("url-invalid", text);
      return undefined;
    }
    const url = this.#resolve(text, hints);
    const { problem } = this.#urls;
    this.#reportUrl(problem === "url-relative" ? relative : problem, text);
    return url;
  }

  #resolve(text: string, hints: TextHints): string | undefined {
    if (hints.isUrl) {
      this.#urls.problem = undefined;
      return text;
    }
    const url = this.#urls.resolve(text, hints.isExact);
    const origin = url === text && hints.acceptOrigin !== undefined ? originOf(url) : undefined;
    if (origin !== undefined) hints.acceptOrigin!(origin);
    return url;
  }

  #reportUrl(problem: DocumentProblemCode | undefined, text: string): void {
    if (problem === undefined) return;
    this.#source.report(problem, text, lengthFacts(problem, this.#limits.urlLength).limit);
  }

  /** Counts an entry that has ended, valid or not. Repeated ones also count toward the protocol's limit. */
  countEntry(): void {
    this.entryCount++;
    this.#listener?.onEnd();
    if (this.entryCount === protocolEntries + 1) this.#source.report("protocol-entries", undefined, protocolEntries);
  }

  /** Adds a page. `mayGrow` means that the entry may be repeated with more details. */
  addPage(page: SitemapPage, mayGrow = false): void {
    if (!this.#hasRoom()) return;
    if (mayGrow) this.repeats.add(page);
    else this.#push(page);
  }

  #push(page: SitemapPage): void {
    if (this.#urlsOnly) this.addLines(new PageLines(`${page.url}\n`, 1, visible.test(page.url)));
    else this.#pages.push(page);
  }

  /** With `urlsOnly`: takes a page by the fingerprint of its URL. Returns whether the caller should add it. */
  takeLine(high: number, low: number, urlOf: () => string): boolean {
    this.countEntry();
    if (this.#taken.page.add(high, low)) return this.#hasRoom();
    this.#reportUrl("url-repeated", urlOf());
    return false;
  }

  /** Adds the pages that `takeLine` accepted. */
  addLines(lines: PageLines): void {
    this.#lines = this.#lines === undefined ? lines : this.#lines.with(lines);
  }

  /** Takes an entry that has only a URL, which is valid and has this fingerprint. */
  takeBare(url: string, high: number, low: number): void {
    this.countEntry();
    const isNew = this.#taken.page.add(high, low);
    if (!isNew) this.#reportUrl("url-repeated", url);
    this.#listener?.onPage(url);
    if (isNew) this.addPage({ url }, true);
  }

  addSitemap(sitemap: SitemapReference): void {
    if (this.#hasRoom()) this.#sitemaps.push(sitemap);
  }

  #hasRoom(): boolean {
    const { documentEntries } = this.#limits;
    if (this.#count++ < documentEntries) return true;
    this.#source.report("limit-document-entries", undefined, documentEntries);
    this.#source.stop();
    return false;
  }

  /** Returns the last entries. Nothing may be added after this call. */
  finish(): Entries {
    this.repeats.finish();
    if (this.#listed !== undefined) {
      this.#listed.pages = this.#taken.page.identity;
      this.#listed.sitemaps = this.#taken.sitemap.identity;
    }
    this.#taken.page.finish();
    this.#taken.sitemap.finish();
    return this.take();
  }

  /** Returns the entries added since the last call. */
  take(): Entries {
    const entries = { pages: this.#pages, lines: this.#lines, sitemaps: this.#sitemaps };
    this.#pages = [];
    this.#lines = undefined;
    this.#sitemaps = [];
    return entries;
  }
}

const documents = new FingerprintReader();
const visible = /^[\x21-\x7e]*$/;
