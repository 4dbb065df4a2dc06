// The pages of a website by number: which sitemap a page is in, and its content if it is needed again. A sitemap in two
// indexes is in the tree twice; its pages are counted once.
import type { SitemapPage } from "../model/page.ts";
import type { PagesSitemap } from "../model/sitemap.ts";
import type { SitemapTree } from "../tree/tree.ts";

export class WebsitePages {
  readonly #tree: SitemapTree;
  readonly #sitemaps: PagesSitemap[] = [];
  // The number of the first page of each sitemap.
  readonly #starts: number[] = [];
  /** All pages so far; the number of the next one. */
  count = 0;

  constructor(tree: SitemapTree) {
    this.#tree = tree;
  }

  begin(sitemap: PagesSitemap): void {
    this.#sitemaps.push(sitemap);
    this.#starts.push(this.count);
  }

  get sitemapCount(): number {
    return this.#sitemaps.length;
  }

  sitemap(number: number): PagesSitemap {
    return this.#sitemaps[number]!;
  }

  /** The number of the first page of a sitemap; for the one after the last, the number of all pages. */
  start(number: number): number {
    return this.#starts[number] ?? this.count;
  }

  /** The number of the sitemap that a page is in. */
  sitemapOf(ordinal: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#starts[middle]! <= ordinal) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Reads pages again: those with these numbers, in order. Only their sitemaps are read, and no further than needed. */
  async *readAgain(ordinals: Iterable<number>): AsyncGenerator<{ ordinal: number; page: SitemapPage }, void> {
    const wanted = [...new Set(ordinals)].sort((one, two) => one - two);
    for (let next = 0; next < wanted.length; ) {
      const number = this.sitemapOf(wanted[next]!);
      const end = this.start(number + 1);
      let before = this.start(number);
      reading: for await (const pages of this.batches(number)) {
        while (next < wanted.length && wanted[next]! < before + pages.length) {
          const ordinal = wanted[next++]!;
          yield { ordinal, page: pages[ordinal - before]! };
          if (wanted[next] === undefined || wanted[next]! >= end) break reading;
        }
        before += pages.length;
      }
      // The document was cut off since: missing pages are skipped.
      while (next < wanted.length && wanted[next]! < end) next += 1;
    }
  }

  /** All pages of a sitemap. */
  async *batches(number: number): AsyncGenerator<readonly SitemapPage[], void> {
    for await (const step of this.#tree.walk(this.sitemap(number))) if (step.type === "pages") yield step.pages;
  }
}
