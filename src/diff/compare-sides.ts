// The passes of a diff: read both sides, join, then report what differs.
import { isDeepStrictEqual } from "node:util";
import { Marks } from "../join/marks.ts";
import { PlacedRecords } from "../join/placed-records.ts";
import {
  type DiffSideTotals,
  type DiffTotals,
  type PageChange,
  type PageField,
  pageFields,
  type SitemapChange,
  type TreeChange,
} from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Scratch } from "../storage/scratch.ts";
import { isAbsent, type Side, type SideFacts } from "./diff-side.ts";
import type { DiffSettings } from "./diff-trees.ts";
import { EarlierPages } from "./earlier-pages.ts";
import { matchPages, type PageList, PageLists } from "./page-lists.ts";

// Marks of pages: on this side only; with other fields on the other side; declared by another sitemap there, with the same fields.
const alone = 1;
const changed = 2;
const moved = 3;

export async function* compareSides(
  oldSide: Side,
  newSide: Side,
  scratch: Scratch,
  settings: DiffSettings,
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  const { kinds, signal } = settings;
  const [was, is] = [new PageLists(scratch, settings), new PageLists(scratch, settings)];
  const before = await oldSide.scan(was);
  await was.records.finish();
  const after = await newSide.scan(is);
  await is.records.finish();
  const isBeforeWhole = knowsPages(before, after);
  const isAfterWhole = knowsPages(after, before);
  const comparesFields = before.hasFields && after.hasFields;
  const isMoved = (one: PageList, other: PageList) =>
    before.kind === "tree" && after.kind === "tree" && !settings.ignoresSitemap && one.key !== other.key;

  const sitemaps = before.kind === after.kind ? [...sitemapChanges(before, after)] : [];
  if (kinds.has("sitemap") && sitemaps.length > 0) yield sitemaps;

  const earlier = new EarlierPages(scratch, is.total);
  // The new places of changed pages, by their old ones.
  const pairs = new PlacedRecords(scratch, was.total, 1);
  const marksBefore = new Marks(was.total);
  const marksAfter = new Marks(is.total);
  const counts = { onlyBefore: 0, onlyAfter: 0, changed: 0, changedOnlyLastModified: 0, moved: 0 };
  for await (const matches of matchPages(was, is)) {
    signal?.throwIfAborted();
    for (const [one, other] of matches) {
      if (one !== undefined && other === undefined) {
        counts.onlyBefore += 1;
        if (kinds.has(isAfterWhole ? "removed" : "unknown")) marksBefore.set(one.place, alone);
      } else if (one === undefined && other !== undefined) {
        counts.onlyAfter += 1;
        if (kinds.has(isBeforeWhole ? "added" : "unknown")) marksAfter.set(other.place, alone);
      } else if (one === undefined || other === undefined) {
        // Both were declared only by documents that turned out not to be sitemaps.
      } else if (comparesFields && !(one.date === other.date && one.rest === other.rest)) {
        counts.changed += 1;
        if (one.rest === other.rest) counts.changedOnlyLastModified += 1;
        if (!kinds.has("changed")) continue;
        marksBefore.set(one.place, changed);
        marksAfter.set(other.place, changed);
        pairs.put(one.place, other.place);
      } else if (isMoved(one.list, other.list)) {
        counts.moved += 1;
        if (!kinds.has("moved")) continue;
        marksAfter.set(other.place, moved);
        earlier.put(other.place, one.list.number, undefined);
      }
    }
    await pairs.store.flush();
    await earlier.flush();
  }

  await pairs.store.finish();
  for await (const { list, pages, place } of marked(oldSide, was, marksBefore, signal)) {
    const changes: PageChange[] = [];
    for (let at = 0; at < pages.length; at++) {
      const mark = marksBefore.get(place + at);
      if (mark === changed) {
        earlier.put((await pairs.at(place + at))[0]! >>> 0, list.number, pages[at]);
        await earlier.flush();
      }
      if (mark === alone) changes.push(missing("after", isAfterWhole, pages[at]!, list));
    }
    if (changes.length > 0) yield changes;
  }
  await earlier.finish();

  for await (const { list, pages, place } of marked(newSide, is, marksAfter, signal)) {
    const changes: PageChange[] = [];
    for (let at = 0; at < pages.length; at++) {
      const mark = marksAfter.get(place + at);
      if (mark === 0) continue;
      const page = pages[at]!;
      if (mark === alone) {
        changes.push(missing("before", isBeforeWhole, page, list));
        continue;
      }
      const known = await earlier.take(place + at, page.url);
      const old = was.lists[known.list]!;
      const { sitemap } = list;
      if (known.page === undefined) {
        changes.push({ kind: "moved", page, sitemap, from: old.sitemap });
        continue;
      }
      const fields = changedFields(known.page, page, settings.ignored);
      const from = isMoved(old, list) ? { from: old.sitemap } : {};
      changes.push({ kind: "changed", page, sitemap, fields, before: known.page, ...from });
    }
    if (changes.length > 0) yield changes;
  }
  const { onlyBefore, onlyAfter, ...both } = counts;
  return {
    before: totalsOf(was, isBeforeWhole && before.complete),
    after: totalsOf(is, isAfterWhole && after.complete),
    added: isBeforeWhole ? onlyAfter : 0,
    removed: isAfterWhole ? onlyBefore : 0,
    unknown: (isBeforeWhole ? 0 : onlyAfter) + (isAfterWhole ? 0 : onlyBefore),
    ...both,
    sitemaps: sitemaps.length,
  };
}

// Whether a page that is missing on this side is known to be missing. A sitemap that does not exist on both sides has no pages. The pages
// of the sitemaps in an index file are unknown, which does not matter if both sides are such files.
function knowsPages(side: SideFacts, other: SideFacts): boolean {
  const lacks = ({ sitemaps }: SideFacts, key: string) => isAbsent(sitemaps.get(key)?.reason?.code);
  const { unread = [], unsure = [] } = side;
  const areAbsent = unread.length > 0 && unread.every((key) => lacks(side, key) && lacks(other, key));
  const isRead = side.kind !== "index" || side.sitemaps.size === 0 || other.kind === "index";
  const isSure = ![...unsure].some((url) => other.sitemaps.has(url) || other.indexes.has(url));
  return (side.complete || areAbsent) && isRead && isSure;
}

// Reads the lists again that have a marked page. `place`: of the first page of a batch.
async function* marked(
  side: Side,
  { lists }: PageLists,
  marks: Marks,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ list: PageList; pages: readonly SitemapPage[]; place: number }, void> {
  for (const list of lists) {
    if (marks.isClear(list.start, list.count)) continue;
    let place = list.start;
    for await (const pages of side.read(list)) {
      signal?.throwIfAborted();
      yield { list, pages, place };
      place += pages.length;
    }
    if (place !== list.start + list.count) throw new Error(`${list.sitemap} changed while it was compared`);
  }
}

function missing(side: "before" | "after", isWhole: boolean, page: SitemapPage, { sitemap }: PageList): PageChange {
  if (!isWhole) return { kind: "unknown", page, sitemap, missing: side };
  return { kind: side === "before" ? "added" : "removed", page, sitemap };
}

function totalsOf({ lists, total }: PageLists, complete: boolean): DiffSideTotals {
  const unread = lists.filter(({ isVoid }) => isVoid);
  const pages = unread.reduce((sum, { count }) => sum - count, total);
  return { pages, sitemaps: lists.length - unread.length, complete };
}

// Sitemaps that are new, gone, no longer readable or readable again: first those of the old side that are missing now, then those of the
// new.
function* sitemapChanges(before: SideFacts, after: SideFacts): Generator<SitemapChange, void> {
  const kind = "sitemap";
  for (const sitemap of before.sitemaps.keys()) {
    if (after.sitemaps.has(sitemap)) continue;
    if (isKnownToLack(after, sitemap, before)) yield { kind, change: "gone", sitemap };
    else yield { kind, change: "unknown", sitemap, missing: "after" };
  }
  for (const [sitemap, is] of after.sitemaps) {
    const was = before.sitemaps.get(sitemap);
    const why = is.reason && { reason: is.reason };
    if (was === undefined && isKnownToLack(before, sitemap, after)) yield { kind, change: "added", sitemap, ...why };
    else if (was === undefined) yield { kind, change: "unknown", sitemap, missing: "before", ...why };
    else if (!was.reason && why) yield { kind, change: "now-invalid", sitemap, ...why };
    else if (was.reason && !why) yield { kind, change: "now-readable", sitemap };
  }
}

// A missing sitemap is known to be gone if the index that lists it on the other side was fully read here. If that index is missing, too,
// the same is checked for it. Indexes can list one another, and robots.txt.
function isKnownToLack(side: SideFacts, sitemap: string, other: SideFacts): boolean {
  const parentOf = (key: string) => other.sitemaps.get(key)?.parent;
  const seen = new Set([sitemap]);
  if (side.unsure?.has(sitemap)) return false;
  for (let parent = parentOf(sitemap); parent !== undefined && !seen.has(parent); parent = parentOf(parent)) {
    seen.add(parent);
    if (side.unsure?.has(parent)) return false;
    const namesAll = side.indexes.get(parent);
    if (namesAll !== undefined) return namesAll;
    const own = side.sitemaps.get(parent);
    if (own !== undefined) return own.reason === undefined;
  }
  return side.indexes.get(undefined) ?? false;
}

// In the order of `pageFields`. Equal as data: the order of fields in an object does not matter.
function changedFields(before: SitemapPage, after: SitemapPage, ignored: ReadonlySet<PageField>): readonly PageField[] {
  return pageFields.filter((field) => !ignored.has(field) && !isDeepStrictEqual(before[field], after[field]));
}
