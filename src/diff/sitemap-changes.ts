// Sitemaps that are new, gone, no longer readable or readable again.
import type { SitemapChange } from "../model/change.ts";
import type { Side, SideSitemap } from "./side.ts";

/** In declared order: first those of the old side that are missing now, then those of the new side. */
export function* sitemapChanges(before: Side, after: Side): Generator<SitemapChange, void> {
  for (const [sitemap, was] of before.sitemaps) {
    if (after.sitemaps.has(sitemap)) continue;
    const isGone = isKnownToLack(after, was, before);
    yield isGone
      ? { kind: "sitemap", change: "gone", sitemap }
      : { kind: "sitemap", change: "unknown", sitemap, missing: "after" };
  }
  for (const [sitemap, is] of after.sitemaps) {
    const was = before.sitemaps.get(sitemap);
    const why = is.reason === undefined ? {} : { reason: is.reason };
    if (was === undefined) {
      const isAdded = isKnownToLack(before, is, after);
      yield isAdded
        ? { kind: "sitemap", change: "added", sitemap, ...why }
        : { kind: "sitemap", change: "unknown", sitemap, missing: "before", ...why };
    } else if (was.reason === undefined && is.reason !== undefined) {
      yield { kind: "sitemap", change: "now-invalid", sitemap, ...why };
    } else if (was.reason !== undefined && is.reason === undefined) {
      yield { kind: "sitemap", change: "now-readable", sitemap };
    }
  }
}

// A missing sitemap is known to be gone if the index that names it on the other side was read to its end here. If that
// index is missing, too, the same is checked for it. Indexes can name one another, and robots.txt.
function isKnownToLack(side: Side, sitemap: SideSitemap, other: Side): boolean {
  const seen = new Set<string>();
  for (
    let { parent } = sitemap;
    parent !== undefined && !seen.has(parent);
    parent = other.sitemaps.get(parent)?.parent
  ) {
    seen.add(parent);
    const namesAll = side.namesAll(parent);
    if (namesAll !== undefined) return namesAll;
    const own = side.sitemaps.get(parent);
    if (own !== undefined) return own.reason === undefined;
  }
  return side.namesAll(undefined) ?? false;
}
