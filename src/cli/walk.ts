// The steps of a walk through a tree, filtered.
import type { TreeStep } from "../model/event.ts";
import type { Sitemap } from "../model/sitemap.ts";
import type { PageBatch } from "../write/pages.ts";
import type { Filters } from "./filters.ts";

type Entered = Extract<TreeStep, { type: "enter" }>;

/** Ends with the step that reaches the limit, after leaving the sitemaps that were entered. */
export async function* filtered(
  steps: AsyncIterable<TreeStep>,
  filters: Filters,
): AsyncGenerator<TreeStep, void, undefined> {
  const path: Entered[] = [];
  // The depth of a sitemap that is left out, with everything below it.
  let leftOut = Number.POSITIVE_INFINITY;
  for await (const step of steps) {
    if (step.type === "enter" && step.depth < leftOut) {
      const parent = path.at(-1)?.sitemap;
      if (
        parent !== undefined &&
        isAsked(step, parent) &&
        !filters.follows(asDeclared(step.sitemap), { parent: parent.url })
      ) {
        leftOut = step.depth;
        continue;
      }
      path.push(step);
      filters.enter(step.sitemap.url, step.depth);
      yield step;
    } else if (step.type === "leave" && step.depth <= leftOut) {
      if (step.depth < leftOut) {
        path.pop();
        yield step;
      }
      leftOut = Number.POSITIVE_INFINITY;
    } else if (step.type === "pages" && leftOut === Number.POSITIVE_INFINITY) {
      const pages = filters.pages(step.pages);
      if (pages.length > 0) yield { ...step, pages };
      if (filters.reached) break;
    }
  }
  // Empty unless the limit was reached.
  for (const { sitemap, depth } of path.reverse()) yield { type: "leave", sitemap, depth };
}

/** The pages alone. */
export async function* pageBatches(steps: AsyncIterable<TreeStep>): AsyncGenerator<PageBatch, void, undefined> {
  for await (const step of steps) {
    if (step.type === "pages") yield { sitemap: step.sitemap.url, pages: step.pages };
  }
}

/** The pages of a sitemap that is in the tree twice are listed once, as in a crawl. */
export async function* withoutRepeats(steps: AsyncIterable<TreeStep>): AsyncGenerator<TreeStep, void, undefined> {
  const seen = new Set<string>();
  let isRepeated = false;
  for await (const step of steps) {
    if (step.type === "enter" && step.sitemap.kind === "pages") {
      isRepeated = seen.has(step.sitemap.url);
      seen.add(step.sitemap.url);
    }
    if (step.type !== "pages" || !isRepeated) yield step;
  }
}

// Only children of indexes are filtered by URL. An index that also lists pages has a child at its own URL.
function isAsked({ sitemap, depth }: Entered, parent: Sitemap): boolean {
  return depth > 1 && sitemap.url !== parent.url;
}

function asDeclared({ url, declaredUrl, lastModified }: Sitemap): { url: string; lastModified?: string } {
  return { url: declaredUrl ?? url, ...(lastModified === undefined ? {} : { lastModified }) };
}
