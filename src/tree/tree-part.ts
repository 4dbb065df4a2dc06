// Which part of a tree an argument names: all of it, or what is below one sitemap. One form for all methods of a tree.
import { boolean, expectObject, optionsIn, readable, unexpected } from "../model/option-checks.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import { walkSitemaps } from "./walk.ts";

/** A part of a tree: all of it, or one sitemap and those below it. */
export interface TreePart {
  /** @default the root */
  readonly from?: Sitemap | undefined;
}

/** The pages of a part of a tree. */
export interface PagesPart extends TreePart {
  /**
   * Each URL once across all sitemaps.
   * @default false
   */
  readonly unique?: boolean | undefined;
}

/**
 * The part of the tree below `root` that the argument names: a sitemap, or an object with these names. Throws a
 * `SitemapError`.
 */
export function checkPart(
  root: IndexSitemap,
  part: Sitemap | PagesPart | undefined,
  names: readonly (keyof PagesPart)[],
): { from: Sitemap; unique: boolean } {
  if (part === undefined) return { from: root, unique: false };
  expectObject("part", part, "a sitemap or an object");
  return readable("part", () => {
    if ("kind" in part) return { from: checkSitemap(root, part, "part"), unique: false };
    optionsIn("part", part, names);
    const { from = root, unique = false } = part;
    return { from: checkSitemap(root, from, "from"), unique: boolean("unique", unique) };
  });
}

/** A sitemap of the tree below `root`, or a copy of one. Throws a `SitemapError`. */
export function checkSitemap(root: IndexSitemap, value: unknown, name: string): Sitemap {
  if (value === root) return root;
  expectObject(name, value, "a sitemap");
  const { kind, url } = readable(name, () => ({ ...(value as Partial<Sitemap>) }));
  if (kind === undefined || typeof url !== "string") throw unexpected(name, "a sitemap", value);
  if (!urlsOf(root).has(url)) throw unexpected(name, "a sitemap of this tree", url);
  return value as Sitemap;
}

// Made when they are needed first, and once for each tree.
const urls = new WeakMap<IndexSitemap, ReadonlySet<string>>();

function urlsOf(root: IndexSitemap): ReadonlySet<string> {
  const known = urls.get(root) ?? new Set(Array.from(walkSitemaps(root), ({ url }) => url));
  urls.set(root, known);
  return known;
}
