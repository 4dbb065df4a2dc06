// What the page formats are written from: the pages that one sitemap declares, as many as came at a time.
import type { SitemapPage } from "../page.ts";
import type { SitemapReference } from "../sitemap.ts";

export interface PageBatch {
  /** The URL of the sitemap that declares the pages. */
  readonly sitemap: string;
  readonly pages: readonly SitemapPage[];
}

/** Turns what sitemaps declare into whole lines. */
export interface PageWriter {
  /** What comes before the first page. */
  readonly header: string;
  write(batch: PageBatch): string;
  /** The same for the sitemaps that an index names, where the index itself is what is shown. */
  writeReferences(sitemap: string, references: readonly SitemapReference[]): string;
}

/**
 * The pieces to put out: the header, then one for each batch, so that a page is seen as soon as it is known. A batch is cut
 * where it is large: the texts of a million pages must never be one string.
 */
export async function* writeBatches(
  batches: AsyncIterable<PageBatch> | Iterable<PageBatch>,
  writer: PageWriter,
): AsyncGenerator<string, void, undefined> {
  if (writer.header !== "") yield writer.header;
  for await (const { sitemap, pages } of batches) {
    for (let from = 0; from < pages.length; from += batchLength) {
      const some = pages.length <= batchLength ? pages : pages.slice(from, from + batchLength);
      yield writer.write({ sitemap, pages: some });
    }
  }
}

// About 64 KB of URLs.
const batchLength = 1000;
