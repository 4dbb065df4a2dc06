// Reads the documents of a tree, on demand and until it is closed. Where a document was not read when the tree was made, because an
// archive says what is in it, reading it shows whether that is true.
import { type Reading, read, textOf } from "../crawl/read.ts";
import type { Believed } from "../crawl/reading-log.ts";
import { SitemapError } from "../model/errors.ts";
import type { DocumentRole, DocumentSource, Fetched } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { IndexSitemap, InvalidSitemap, PagesSitemap, Sitemap } from "../model/sitemap.ts";

/** The documents of a tree: a store or an archive. */
export interface StoredDocuments extends DocumentSource {
  save(path: string): Promise<void>;
  forgetReading(url: string): void;
}

export interface DocumentReaderOptions {
  readonly root: Sitemap;
  readonly documents: StoredDocuments;
  readonly settings: Pick<Settings, "limits" | "strict" | "onEvent">;
  /** Documents whose pages were not counted: their number is what an archive says. */
  readonly believed?: Believed | undefined;
}

export class DocumentReader {
  readonly settings: DocumentReaderOptions["settings"];
  readonly #root: Sitemap;
  readonly #documents: StoredDocuments;
  readonly #believed: Believed;
  // A sitemap that is declared twice has two nodes.
  readonly #compared = new WeakSet<PagesSitemap>();
  readonly #onWrong: (pagesMore: number) => void;
  #closed = false;

  /** `onWrong` is called when a sitemap is not what was counted, with the difference in pages. */
  constructor({ root, documents, settings, believed }: DocumentReaderOptions, onWrong: (pagesMore: number) => void) {
    this.settings = settings;
    this.#root = root;
    this.#documents = documents;
    this.#believed = believed ?? new Map();
    this.#onWrong = onWrong;
  }

  /** The document that was found at this URL. */
  find(url: string, role: DocumentRole = "sitemap"): Promise<Fetched> {
    this.expectOpen();
    return this.#documents.fetch({ url, role });
  }

  /** Exactly as many pages as the node counts: a budget may have ended it before the document does. */
  async *pages(sitemap: PagesSitemap): AsyncGenerator<readonly SitemapPage[], void> {
    const document = await this.find(sitemap.url);
    if (document.outcome !== "found") return;
    const told = this.#compared.has(sitemap) ? undefined : this.#believed.get(sitemap.url);
    const isBelieved = told !== undefined;
    // What a file holds that others may write to is known at its end.
    const readsOn = document.body.mayChange === true;
    let left = told === sitemap.pageCount ? Number.POSITIVE_INFINITY : sitemap.pageCount;
    let count = 0;
    const reading = read(document, this.settings);
    let step = await reading.next();
    for (; !step.done && (left > 0 || readsOn); step = await reading.next(left > 0 || readsOn)) {
      const { pages } = step.value;
      const taken = pages.length <= left ? pages : pages.slice(0, left);
      left -= taken.length;
      count += taken.length;
      if (taken.length > 0) yield taken;
    }
    if (!step.done) return;
    if (isBelieved) this.#compare(sitemap, count, step.value);
    else this.#expectSame(sitemap, step.value.problems, count);
  }

  async *text(sitemap: Sitemap): AsyncGenerator<string, void> {
    const document = await this.find(sitemap.url, roleOf(sitemap));
    if (document.outcome !== "found" || sitemap === this.#root) return;
    yield* textOf(document, this.settings);
    const { problem } = document.body;
    if (problem !== undefined && sitemap.kind !== "invalid") this.#expectSame(sitemap, [problem]);
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

  // Compares the counts in the archive with what was read now.
  #compare(sitemap: PagesSitemap, pageCount: number, { outcome, problems }: Reading): void {
    this.#compared.add(sitemap);
    const unsaid = unsaidBy(sitemap, problems);
    // An index whose sitemaps nobody saw has as many pages as none.
    const isOfKind = outcome.kind === "pages" && outcome.format === sitemap.format;
    const isAsSaid = isOfKind && pageCount === sitemap.pageCount && unsaid.every(isOfDetails);
    if (isAsSaid && unsaid.length === 0) return;
    // Other bytes than those that were counted explain other counts.
    const isExplained = isAsSaid || unsaid.some(isChangedContent);
    this.#correct(sitemap, isExplained ? unsaid : [...unsaid, problem("archive-counts")], pageCount);
  }

  // The file of an earlier run was changed since its document was read, or details are missing that nobody had asked for.
  #expectSame(sitemap: ReadableSitemap, problems: readonly Problem[], pageCount?: number): void {
    const found = unsaidBy(sitemap, problems).filter((each) => isChangedContent(each) || isOfDetails(each));
    if (found.length > 0) this.#correct(sitemap, found, pageCount);
  }

  #correct(sitemap: ReadableSitemap, unsaid: readonly Problem[], pageCount?: number): void {
    const difference = unsaid.find(isChangedContent) ?? unsaid.at(-1)!;
    const before = sitemap.kind === "pages" ? sitemap.pageCount : 0;
    this.#onWrong((pageCount ?? before) - before);
    const node: Correctable = sitemap;
    node.complete = false;
    node.problems = [...sitemap.problems, ...unsaid];
    if (pageCount !== undefined && node.kind === "pages") node.pageCount = pageCount;
    this.#documents.forgetReading(sitemap.url);
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
