// The parts of a tree and the walks through them, depth first and in declared order.
import type { SitemapWithPages, TreeStep } from "../model/event.ts";
import { expectObject, optionsIn, unexpected } from "../model/option-checks.ts";
import { type PageFilterSettings, type PageFilters, resolvePageFilters } from "../model/options.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";

/** A part of a tree: all of it, or one sitemap and those below it. */
export interface TreePart {
  /** @default the root */
  readonly from?: Sitemap | undefined;
}

/** Selects pages of a tree: those below one sitemap, those that pass the filters, or both. */
export interface PagesPart extends TreePart, PageFilters {}

/** Returns the part of the tree that a sitemap or an object selects, and its filters. Throws a `SitemapError` if `part` is invalid. */
export function checkPart(
  root: IndexSitemap,
  part: Sitemap | PagesPart | undefined,
  names: readonly string[] = [],
): { from: Sitemap; filters?: PageFilterSettings } {
  if (part === undefined) return { from: root };
  expectObject("part", part, "a sitemap or an object");
  if ("kind" in part) return { from: checkSitemap(root, part, "part") };
  const { from = root, ...filters } = Object.fromEntries(optionsIn("part", part, ["from", ...names]));
  return { from: checkSitemap(root, from, "from"), filters: resolvePageFilters(filters) };
}

/** Returns the value if it is a sitemap with a URL of the tree below `root`. Otherwise throws a `SitemapError`. */
export function checkSitemap(root: IndexSitemap, value: unknown, name: string): Sitemap {
  if (value === root) return root;
  expectObject(name, value, "a sitemap");
  const { kind, url } = value as Partial<Sitemap>;
  if (kind === undefined || typeof url !== "string") throw unexpected(name, "a sitemap", value);
  if (!urlsOf(root).has(url)) throw unexpected(name, "a sitemap of this tree", url);
  return value as Sitemap;
}

// The URLs of the sitemaps of each tree, computed on first use.
const urls = new WeakMap<IndexSitemap, ReadonlySet<string>>();

function urlsOf(root: IndexSitemap): ReadonlySet<string> {
  const known = urls.get(root) ?? new Set(Array.from(walkSitemaps(root), ({ url }) => url));
  urls.set(root, known);
  return known;
}

/** Yields the sitemap itself, then everything below it. */
export function* walkSitemaps(from: Sitemap): Generator<Sitemap, void> {
  for (const step of walkNodes(from)) if (step.type === "enter") yield step.sitemap;
}

/** Enters and leaves each node. Uses an explicit stack, because a website chooses how deep its indexes go. */
export function* walkNodes(from: Sitemap): Generator<Exclude<TreeStep, { type: "pages" }>, void> {
  const stack: { index: IndexSitemap; next: number }[] = [];
  let node: Sitemap | undefined = from;
  for (;;) {
    if (node !== undefined) {
      yield { type: "enter", sitemap: node, depth: stack.length };
      if (node.kind === "index") stack.push({ index: node, next: 0 });
      else yield { type: "leave", sitemap: node, depth: stack.length };
    }
    const top = stack.at(-1);
    if (top === undefined) return;
    node = top.index.children[top.next];
    top.next += 1;
    if (node !== undefined) continue;
    stack.pop();
    yield { type: "leave", sitemap: top.index, depth: stack.length };
  }
}

/** Copies the sitemaps of a walk, with their pages. */
export async function withPages(steps: AsyncIterable<TreeStep>): Promise<SitemapWithPages> {
  const path: SitemapWithPages[] = [];
  let last: SitemapWithPages | undefined;
  for await (const step of steps) {
    const { type, sitemap } = step;
    const within = path.at(-1);
    if (type === "enter") {
      const own = sitemap.kind === "index" ? { children: [] } : sitemap.kind === "pages" ? { pages: [] } : {};
      const copy = { ...sitemap, ...own } as SitemapWithPages;
      if (within?.kind === "index") within.children.push(copy);
      path.push(copy);
    } else if (type === "leave") last = path.pop();
    else if (within?.kind === "pages") for (const page of step.pages) within.pages.push(page);
  }
  return last as SitemapWithPages;
}
