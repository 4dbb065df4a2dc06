// Lists of pages: an array or, if only their URLs are needed, lines of text, because most readers just count or print them.
import type { SitemapPage } from "./page.ts";

/** The methods that an array of pages and `PageLines` have in common. */
export interface PageList extends Iterable<SitemapPage> {
  readonly length: number;
  slice(from?: number, to?: number): readonly SitemapPage[];
  filter(passes: (page: SitemapPage) => boolean): readonly SitemapPage[];
  map<T>(change: (page: SitemapPage) => T): T[];
}

export class PageLines implements PageList {
  /** The URLs, each followed by a line end. */
  readonly text: string;
  readonly length: number;
  /** Whether the URLs are ASCII. They never have control characters. */
  readonly isAscii: boolean;
  /** The URL of the sitemap that lists these pages. */
  sitemap: string | undefined;

  constructor(text: string, length: number, isAscii: boolean) {
    this.text = text;
    this.length = length;
    this.isAscii = isAscii;
  }

  /** Appends other pages to a copy of these. */
  with(others: PageLines): PageLines {
    return new PageLines(this.text + others.text, this.length + others.length, this.isAscii && others.isAscii);
  }

  /** Creates each page only when it is asked for. */
  *[Symbol.iterator](): Generator<SitemapPage, void> {
    const { text, sitemap } = this;
    for (let from = 0, to = 0; from < text.length; from = to + 1) {
      to = text.indexOf("\n", from);
      const url = text.slice(from, to);
      yield sitemap === undefined ? { url } : ({ url, sitemap } as SitemapPage);
    }
  }

  slice(from?: number, to?: number): SitemapPage[] {
    return [...this].slice(from, to);
  }

  filter(passes: (page: SitemapPage) => boolean): SitemapPage[] {
    return [...this].filter(passes);
  }

  map<T>(change: (page: SitemapPage) => T): T[] {
    return Array.from(this, change);
  }
}
