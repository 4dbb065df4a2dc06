// Which fields of a page differ.
import { type PageField, pageFields } from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";

/** In the order of `pageFields`, without those that are ignored. */
export function changedFields(
  before: SitemapPage,
  after: SitemapPage,
  ignored: ReadonlySet<PageField>,
): readonly PageField[] {
  return pageFields.filter((field) => !ignored.has(field) && !isSame(before[field], after[field]));
}

// Equal as data: the order of fields in an object does not matter.
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length || Array.isArray(one) !== Array.isArray(other)) return false;
  return names.every((name) => isSame(one[name as keyof typeof one], other[name as keyof typeof other]));
}
