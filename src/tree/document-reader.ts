// Reads the documents of a tree, on demand and until it is closed. Where a document was not read when the tree was made, because an
// archive says what is in it, reading it shows whether that is true.
import { type Reading, read, textOf } from "../crawl/read.ts";
import { SitemapError } from "../errors.ts";
import type { DocumentRole, DocumentSource, Fetched } from "../exchange.ts";
import type { Settings } from "../options.ts";
import type { SitemapPage } from "../page.ts";
import { problem } from "../problem.ts";
import type { PagesSitemap, Sitemap } from "../sitemap.ts";

/** The documents of a tree: a store or an archive. */
export interface StoredDocuments extends DocumentSource {
  save(path: string): Promise<void>;
}

export interface DocumentReaderOptions {
  readonly root: Sitemap;
  readonly documents: StoredDocuments;
  readonly settings: Pick<Settings, "limits" | "strict" | "onEvent">;
  /** The URLs of documents whose pages were not counted: their number is what the archive says. */
  readonly believed?: Set<string> | undefined;
}

export class DocumentReader {
  readonly settings: DocumentReaderOptions["settings"];
  readonly #root: Sitemap;
  readonly #documents: StoredDocuments;
  readonly #believed: Set<string>;
  readonly #onWrong: (pagesMore: number) => void;
  #closed = false;

  /** `onWrong` is called when an archive was wrong about a document, with the difference in pages. */
  constructor({ root, documents, settings, believed }: DocumentReaderOptions, onWrong: (pagesMore: number) => void) {
    this.settings = settings;
    this.#root = root;
    this.#documents = documents;
    this.#believed = believed ?? new Set();
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
    const isBelieved = this.#believed.has(sitemap.url);
    let left = isBelieved ? Number.POSITIVE_INFINITY : sitemap.pageCount;
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
    if (isBelieved && step.done) this.#compare(sitemap, count, step.value);
  }

  async *text(sitemap: Sitemap): AsyncGenerator<string, void> {
    const document = await this.find(sitemap.url, roleOf(sitemap));
    if (document.outcome === "found" && sitemap !== this.#root) yield* textOf(document, this.settings);
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
  #compare(sitemap: PagesSitemap, pageCount: number, { complete, problems }: Reading): void {
    this.#believed.delete(sitemap.url);
    const said = new Set(sitemap.problems.map(({ code }) => code));
    const unsaid = problems.filter(({ code }) => !said.has(code));
    if (pageCount === sitemap.pageCount && complete && unsaid.length === 0) return;
    // Other bytes than those that were counted explain other counts.
    const damage = unsaid.find(({ code }) => code === "archive-digest");
    const difference = damage ?? problem("archive-counts");
    if (damage === undefined) unsaid.push(difference);
    this.#onWrong(pageCount - sitemap.pageCount);
    Object.assign(sitemap, { complete: false, pageCount, problems: [...sitemap.problems, ...unsaid] });
    this.settings.onEvent?.({ type: "problem", url: sitemap.url, problem: difference });
  }
}

/** What the document of a sitemap was requested as. */
export function roleOf(sitemap: Sitemap): DocumentRole {
  return sitemap.kind === "index" && sitemap.format === "robots" ? "robots" : "sitemap";
}
