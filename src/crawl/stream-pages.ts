// The pages alone, as they come: each document is read once and nothing is kept.
import type { Options } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import { type CrawlTarget, ordered } from "./crawl.ts";
import { flatten } from "./flatten.ts";
import { type Prepared, prepare } from "./prepare.ts";

/**
 * The pages of a website in tree order, while its sitemaps are being fetched. A sitemap that is declared twice gives its pages
 * once. Leaving the loop ends the crawl.
 *
 * @example
 * for await (const page of streamPages("https://example.org/")) console.log(page.url);
 */
export function streamPages(target: CrawlTarget, options?: Options): AsyncIterable<SitemapPage> {
  const prepared = prepare(target, options);
  return { [Symbol.asyncIterator]: () => flatten(batches(prepared)) };
}

async function* batches(prepared: Prepared): AsyncGenerator<readonly SitemapPage[], void> {
  for await (const event of ordered({ prepared })) {
    if (event.type === "pages") yield event.pages;
  }
}
