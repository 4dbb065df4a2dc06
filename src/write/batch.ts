// The input of the page formats: pages of one sitemap, in batches.
import type { SitemapPage } from "../model/page.ts";
import type { SitemapReference } from "../model/sitemap.ts";

export interface PageBatch {
  /** The URL of the sitemap that declares the pages. */
  readonly sitemap: string;
  readonly pages: readonly SitemapPage[];
}

/** Writes pages and sitemaps as whole lines. */
export interface PageWriter {
  /** The text before the first page. */
  readonly header: string;
  write(batch: PageBatch): string;
  /** The same for the sitemaps of an index, if the index itself is shown. */
  writeReferences(sitemap: string, references: readonly SitemapReference[]): string;
}

/**
 * The header, then one chunk for each batch, so that a page is visible as soon as it is known. Large batches are split:
 * the texts of a million pages must never be one string.
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
