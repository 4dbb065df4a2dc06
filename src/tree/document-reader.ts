// Reads the documents of a tree, on demand and until it is closed, and compares them with what the tree says: its counts may come from the
// index of an archive, and its file may be damaged.

import type { Counts } from "../archive/contract.ts";
import { type Reading, read, textOf } from "../crawl/read.ts";
import { SitemapError } from "../model/errors.ts";
import type { DocumentRole, DocumentSource, Fetched } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { IndexSitemap, InvalidSitemap, PagesSitemap, Sitemap } from "../model/sitemap.ts";

/** The documents of a tree: a store or an archive. */
export interface StoredDocuments extends DocumentSource {
  save(path: string): Promise<void>;
  /** What an archive says that is in the sitemap at this URL. */
  counts?(url: string): Counts | undefined;
  forgetCounts(url: string): void;
}

export interface DocumentReaderOptions {
  readonly root: Sitemap;
  readonly documents: StoredDocuments;
  readonly settings: Pick<Settings, "limits" | "strict" | "onEvent">;
}

export class DocumentReader {
  readonly settings: DocumentReaderOptions["settings"];
  readonly #root: Sitemap;
  readonly #documents: StoredDocuments;
  readonly #onWrong: (pagesMore: number) => void;
  #closed = false;

  /** `onWrong` is called when a sitemap is not what was counted, with the difference in pages. */
  constructor({ root, documents, settings }: DocumentReaderOptions, onWrong: (pagesMore: number) => void) {
    this.settings = settings;
    this.#root = root;
    this.#documents = documents;
    this.#onWrong = onWrong;
  }

  /** The document that was found at this URL. */
  find(url: string, role: DocumentRole = "sitemap"): Promise<Fetched> {
    this.expectOpen();
    return this.#documents.fetch({ url, role });
  }

  /** If the sitemap is not complete, exactly as many pages as it counts: a budget may have ended it before the document does. */
  async *pages(sitemap: PagesSitemap): AsyncGenerator<readonly SitemapPage[], void> {
    const document = await this.find(sitemap.url);
    if (document.outcome !== "found") {
      const reason = "reason" in document ? document.reason : problem("archive-missing");
      this.#add(sitemap, [reason], 0);
      return;
    }
    const isWhole = sitemap.complete;
    let left = isWhole ? Number.POSITIVE_INFINITY : sitemap.pageCount;
    let count = 0;
    const reading = read(document, this.settings);
    let step = await reading.next();
    for (; !step.done && left > 0; step = await reading.next(left > 0)) {
      const { pages } = step.value;
      const taken = pages.length <= left ? pages : pages.slice(0, left);
      left -= taken.length;
      count += taken.length;
      if (taken.length > 0) yield taken;
    }
    if (step.done && isWhole) this.#compare(sitemap, count, step.value);
  }

  async *text(sitemap: Sitemap): AsyncGenerator<string, void> {
    const document = await this.find(sitemap.url, roleOf(sitemap));
    if (document.outcome !== "found" || sitemap === this.#root) return;
    yield* textOf(document, this.settings);
    const { problem } = document.body;
    if (problem !== undefined && sitemap.kind !== "invalid") this.#add(sitemap, [problem]);
  }

  async save(path: string): Promise<void> {
    this.expectOpen();
    await this.#documents.save(path);
  }

  /** Throws a `SitemapError` (`tree-closed`). */
  expectOpen(): void {
    if (this.#closed) throw new SitemapError("tree-closed", "The tree is closed: its documents are gone");
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#documents.close();
  }

  #compare(sitemap: PagesSitemap, pageCount: number, { outcome, problems }: Reading): void {
    const isCounted = this.#documents.counts?.(sitemap.url) !== undefined;
    const unsaid = unsaidBy(sitemap, problems).filter((each) => {
      return isCounted || isChangedContent(each) || isOfDetails(each);
    });
    // An index whose sitemaps nobody saw has as many pages as none.
    const isOfKind = !isCounted || (outcome.kind === "pages" && outcome.format === sitemap.format);
    const isAsSaid = isOfKind && pageCount === sitemap.pageCount && unsaid.every(isOfDetails);
    if (isAsSaid && unsaid.length === 0) return;
    // Other bytes than those that were counted explain other counts.
    const isExplained = isAsSaid || unsaid.some(isChangedContent);
    this.#correct(sitemap, isExplained ? unsaid : [...unsaid, problem("archive-counts")], pageCount);
  }

  // The file was changed since its document was read.
  #add(sitemap: ReadableSitemap, problems: readonly Problem[], pageCount?: number): void {
    const unsaid = unsaidBy(sitemap, problems);
    if (unsaid.length > 0) this.#correct(sitemap, unsaid, pageCount);
  }

  #correct(sitemap: ReadableSitemap, unsaid: readonly Problem[], pageCount?: number): void {
    const difference = unsaid.find(isChangedContent) ?? unsaid.at(-1)!;
    const before = sitemap.kind === "pages" ? sitemap.pageCount : 0;
    this.#onWrong((pageCount ?? before) - before);
    const node: Correctable = sitemap;
    node.complete = false;
    node.problems = [...sitemap.problems, ...unsaid];
    if (pageCount !== undefined && node.kind === "pages") node.pageCount = pageCount;
    this.#documents.forgetCounts(sitemap.url);
    this.settings.onEvent?.({ type: "problem", url: sitemap.url, problem: difference });
  }
}

type ReadableSitemap = Exclude<Sitemap, InvalidSitemap>;
// The tree's own nodes say what its documents hold. What an archive says of them counts until they are read.
type Correctable = Writable<IndexSitemap> | Writable<PagesSitemap>;
type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

function unsaidBy({ problems: said }: ReadableSitemap, problems: readonly Problem[]): Problem[] {
  const codes = new Set(said.map(({ code }) => code));
  return problems.filter(({ code }) => !codes.has(code));
}

function isChangedContent({ code }: Problem): boolean {
  return code === "archive-digest";
}

// Where entries of one URL are merged, only who reads their details knows what has no room.
function isOfDetails({ code }: Problem): boolean {
  return code === "limit-repeats" || code === "limit-images" || code === "limit-videos" || code === "limit-alternates";
}

/** What the document of a sitemap was requested as. */
export function roleOf(sitemap: Sitemap): DocumentRole {
  return sitemap.kind === "index" && sitemap.format === "robots" ? "robots" : "sitemap";
}
