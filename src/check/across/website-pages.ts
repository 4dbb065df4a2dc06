// Numbers the pages of a website in declared order, and reads them again by number.
import { type Marks, runAt } from "../../join/marks.ts";
import type { SitemapPage } from "../../model/page.ts";
import type { PagesSitemap } from "../../model/sitemap.ts";
import type { SitemapTree } from "../../tree/tree.ts";

/**
 * The pages of a website by number: tells which sitemap a page is in, and reads pages again if they are needed. A sitemap in
 * two indexes is in the tree twice, but its pages are counted once.
 */
export class WebsitePages {
  readonly #tree: SitemapTree;
  readonly #sitemaps: PagesSitemap[] = [];
  // The number of the first page of each sitemap.
  readonly #starts: number[] = [];
  /** The number of pages so far, which is also the number of the next page. */
  count = 0;

  constructor(tree: SitemapTree) {
    this.#tree = tree;
  }

  begin(sitemap: PagesSitemap): void {
    this.#sitemaps.push(sitemap);
    this.#starts.push(this.count);
  }

  /** The sitemap of the page with this number. */
  sitemapOf(ordinal: number): PagesSitemap {
    return this.#sitemaps[runAt(this.#starts, ordinal)]!;
  }

  /** Reads all pages again, and yields each with the URL of its sitemap. */
  async *all(): AsyncGenerator<readonly [SitemapPage, string], void> {
    for (const sitemap of this.#sitemaps)
      for await (const step of this.#tree.walk(sitemap))
        if (step.type === "pages") for (const page of step.pages) yield [page, sitemap.url];
  }

  /** Reads the marked pages again, and yields them with their numbers. Reads only their sitemaps, and no further than needed. */
  async *marked(marks: Marks): AsyncGenerator<readonly (readonly [number, SitemapPage])[], void> {
    for (const [number, sitemap] of this.#sitemaps.entries()) {
      let ordinal = this.#starts[number]!;
      let end = this.#starts[number + 1] ?? this.count;
      while (end > ordinal && marks.get(end - 1) === 0) end -= 1;
      if (end === ordinal) continue;
      for await (const step of this.#tree.walk(sitemap)) {
        if (step.type !== "pages") continue;
        const first = ordinal;
        ordinal += step.pages.length;
        yield step.pages.map((page, at) => [first + at, page] as const).filter(([at]) => marks.get(at) !== 0);
        if (ordinal >= end) break;
      }
    }
  }
}
