// The pages alone, as they come: each document is read once and nothing is kept.
import type { Options } from "../options.ts";
import type { SitemapPage } from "../page.ts";
import { type CrawlTarget, ordered } from "./crawl.ts";
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

/** One item at a time from batches. By hand, because a generator that yields each item costs three times as much. */
export function flatten<T>(source: AsyncGenerator<readonly T[], void>): AsyncIterableIterator<T> {
  let batch: readonly T[] = [];
  let at = 0;
  async function advance(): Promise<IteratorResult<T, undefined>> {
    const step = await source.next();
    if (step.done) return { value: undefined, done: true };
    batch = step.value;
    at = 0;
    return iterator.next();
  }
  const iterator: AsyncIterableIterator<T> = {
    next(): Promise<IteratorResult<T, undefined>> {
      if (at < batch.length) {
        const value = batch[at] as T;
        at += 1;
        return Promise.resolve({ value, done: false });
      }
      return advance();
    },
    async return(): Promise<IteratorResult<T, undefined>> {
      batch = [];
      await source.return();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return iterator;
    },
  };
  return iterator;
}
