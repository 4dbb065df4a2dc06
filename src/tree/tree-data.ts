// A tree as plain data, without or with its pages.
import type { DiscoveryRecord, TreeStep, UnreachableWebsite } from "../model/event.ts";
import type { SitemapPage } from "../model/page.ts";
import type { IndexSitemap, InvalidSitemap, PagesSitemap } from "../model/sitemap.ts";

/** A tree as data. */
export interface TreeData {
  readonly homepage: string;
  readonly complete: boolean;
  readonly pageCount: number;
  readonly reachable: boolean;
  readonly unreachable?: UnreachableWebsite;
  readonly discovery: readonly DiscoveryRecord[];
  readonly root: IndexSitemap;
}

/** A tree as data, with all of its pages: what `sitegrove ls -f json` prints. */
export interface TreeDataWithPages extends Omit<TreeData, "root"> {
  readonly root: IndexWithPages;
}

/** A sitemap with its pages, or with sitemaps that have theirs. */
export type SitemapWithPages = IndexWithPages | (PagesSitemap & { pages: SitemapPage[] }) | InvalidSitemap;

/** An index whose sitemaps have their pages. */
export interface IndexWithPages extends Omit<IndexSitemap, "children"> {
  children: SitemapWithPages[];
}

/** A copy of the sitemaps of a walk, with their pages. */
export async function withPages(steps: AsyncIterable<TreeStep>): Promise<SitemapWithPages> {
  const open: SitemapWithPages[][] = [[]];
  for await (const step of steps) {
    const { sitemap } = step;
    if (step.type === "enter") {
      const copy: SitemapWithPages =
        sitemap.kind === "index"
          ? { ...sitemap, children: [] }
          : sitemap.kind === "pages"
            ? { ...sitemap, pages: [] }
            : sitemap;
      open.at(-1)?.push(copy);
      if (copy.kind === "index") open.push(copy.children);
    } else if (step.type === "pages") {
      const copy = open.at(-1)?.at(-1);
      if (copy?.kind === "pages") for (const page of step.pages) copy.pages.push(page);
    } else if (sitemap.kind === "index") {
      open.pop();
    }
  }
  return open[0]?.[0] as SitemapWithPages;
}
