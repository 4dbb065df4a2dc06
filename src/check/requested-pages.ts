// Chooses the pages that a check requests: a sample, or all of them. Pages that several sitemaps list are requested once.
import { PageSample } from "../crawl/page-sample.ts";
import type { SitemapPage } from "../model/page.ts";
import { TextSet } from "../model/text-set.ts";
import { urlKey } from "../model/url.ts";
import type { WebsitePages } from "./website-pages.ts";

/** A page, and the sitemap that lists it. */
export interface RequestedPage {
  readonly page: SitemapPage;
  readonly sitemap: string;
}

export class RequestedPages {
  /** How many pages the caller asked for. */
  readonly count: number | "all";
  readonly #sample: PageSample<string> | undefined;
  readonly #listed = new TextSet();

  constructor(count: number | "all") {
    this.count = count;
    this.#sample = count === "all" ? undefined : new PageSample(count, 0);
  }

  add(page: SitemapPage, sitemap: string): void {
    if (this.#listed.add(urlKey(page.url))) this.#sample?.add(sitemap, [page], sitemap);
  }

  /** How many different pages are listed. Valid after all pages were seen. */
  get listedCount(): number {
    return this.#listed.size;
  }

  /** How many pages are requested. */
  get size(): number {
    return this.count === "all" ? this.listedCount : Math.min(this.count, this.listedCount);
  }

  isListed(url: string): boolean {
    return this.#listed.has(urlKey(url));
  }

  /** Yields the pages in declared order. If all pages are wanted, reads them again, because they may not fit into memory. */
  async *pages(website: WebsitePages): AsyncGenerator<RequestedPage, void> {
    if (this.#sample !== undefined) {
      for (const { origin: sitemap, pages } of this.#sample.take()) for (const page of pages) yield { page, sitemap };
      return;
    }
    const seen = new TextSet();
    for await (const [page, sitemap] of website.all()) if (seen.add(urlKey(page.url))) yield { page, sitemap };
  }
}
