// Which part of a tree an argument names: all of it, or what is below one sitemap. One form for all methods of a tree.
import { boolean, expectObject, invalid, suggestion, unexpected } from "../option-checks.ts";
import type { IndexSitemap, Sitemap } from "../sitemap.ts";

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

/** The part of the tree below `root` that the argument names: a sitemap, or an object. Throws a `SitemapError`. */
export function checkPart(root: IndexSitemap, part: Sitemap | PagesPart = {}): { from: Sitemap; unique: boolean } {
  expectObject("part", part, "a sitemap or an object");
  const { from = root, unique = false, ...others } = "kind" in part ? { from: part } : part;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`Unknown option \`${unknown}\`${suggestion(unknown, ["from", "unique"])}`);
  if (typeof from !== "object" || from === null || !("kind" in from)) throw unexpected("from", "a sitemap", from);
  return { from, unique: boolean("unique", unique) };
}
