// One side of a diff: the source of its pages.
import type { SitemapPage } from "../model/page.ts";
import type { Problem } from "../model/problem.ts";
import type { PageList, PageLists } from "./page-lists.ts";

/** A sitemap of a side: whether it could be read, and whether its index could. */
export interface SideSitemap {
  /** Why it is invalid; undefined if it could be read, at least in part. */
  readonly reason: Problem | undefined;
  /** The key of its index or robots.txt; undefined for what discovery found. */
  readonly parent: string | undefined;
}

export interface Side {
  /** Reads everything once, in declared order. `before` is the side that was read already, if one was. */
  scan(lists: PageLists, before: Side | undefined): Promise<void>;
  /** The totals, including what is known only at the end. The following members are known once `scan` is done. */
  readonly homepage: string | undefined;
  readonly complete: boolean;
  /** Whether pages have more fields than their URL. */
  readonly hasFields: boolean;
  /**
   * `tree`: sitemaps of a website. `index`: a file that names sitemaps, which were not read. `file`: one file with pages; which
   * sitemap they are from says nothing.
   */
  readonly kind: "tree" | "index" | "file";
  /** By the URL that they were declared with, in declared order. */
  readonly sitemaps: ReadonlyMap<string, SideSitemap>;
  /**
   * Whether every sitemap that this index names is known; without a name, every sitemap that discovery could find. Undefined
   * where there is no such index.
   */
  namesAll(index: string | undefined): boolean | undefined;
  /** Reads the pages of a list again. */
  read(list: PageList): AsyncIterable<readonly SitemapPage[]>;
  close(): Promise<void>;
}
