// A walk through a tree that passes only what the page filters choose.
import type { PageFilter } from "../crawl/page-filter.ts";
import { defined } from "../model/defined.ts";
import type { TreeStep } from "../model/event.ts";
import type { IndexSitemap } from "../model/sitemap.ts";

type Entered = Extract<TreeStep, { type: "enter" }>;

/** Ends with the step that reaches the limit, after leaving the sitemaps that were entered. */
export async function* filtered(
  steps: AsyncIterable<TreeStep>,
  filter: PageFilter,
): AsyncGenerator<TreeStep, void, undefined> {
  const path: Entered[] = [];
  // The depth of a sitemap that is left out, with everything below it.
  let leftOut = Number.POSITIVE_INFINITY;
  for await (const step of steps) {
    if (step.type === "enter" && step.depth < leftOut) {
      if (!follows(step, path.at(-1)?.sitemap as IndexSitemap | undefined, filter)) {
        leftOut = step.depth;
        continue;
      }
      path.push(step);
      yield step;
    } else if (step.type === "leave" && step.depth <= leftOut) {
      if (step.depth < leftOut) {
        path.pop();
        yield step;
      }
      leftOut = Number.POSITIVE_INFINITY;
    } else if (step.type === "pages" && leftOut === Number.POSITIVE_INFINITY) {
      const parent = path.at(-2)?.sitemap as IndexSitemap | undefined;
      const pages = filter.lists(step.sitemap.url, parent?.format) ? await filter.pages(step.pages) : [];
      if (pages.length > 0) yield { ...step, pages };
      if (filter.reached) break;
    }
  }
  // Empty unless the limit was reached.
  for (const { sitemap, depth } of path.reverse()) yield { type: "leave", sitemap, depth };
}

// Only children of indexes are chosen by their URL. An index that also lists pages has a child at its own URL.
function follows({ sitemap }: Entered, parent: IndexSitemap | undefined, filter: PageFilter): boolean {
  if (parent === undefined || parent.format === "website" || parent.url === sitemap.url) return true;
  const { url, declaredUrl = url, lastModified } = sitemap;
  return filter.follows({ url: declaredUrl, ...defined({ lastModified }) }, parent.format === "robots");
}
