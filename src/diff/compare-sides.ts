// The passes of a diff: read both sides, join, then report what differs.

import type { Scratch } from "../archive/scratch.ts";
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
import type { Side, SideSitemap } from "./diff-side.ts";
import type { DiffSettings } from "./diff-trees.ts";
import { EarlierPages } from "./earlier-pages.ts";
import { alone, changed, matchPages } from "./match-pages.ts";
import { type PageList, PageLists } from "./page-lists.ts";

export async function* compareSides(
  before: Side,
  after: Side,
  scratch: Scratch,
  settings: DiffSettings,
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  const { kinds, signal } = settings;
  const was = await scan(before, scratch, settings);
  const is = await scan(after, scratch, settings);
  const isBeforeWhole = before.complete && knowsPages(before, after);
  const isAfterWhole = after.complete && knowsPages(after, before);

  const sitemaps = before.kind === after.kind ? [...sitemapChanges(before, after)] : [];
  if (kinds.has("sitemap") && sitemaps.length > 0) yield sitemaps;

  const earlier = new EarlierPages(scratch, is.total);
  // The new places of changed pages, by their old ones.
  const pairs = new PlacedRecords(scratch, was.total, 1);
  const marksBefore = new Marks(was.total);
  const marksAfter = new Marks(is.total);
  const counts = await matchPages({
    before: { lists: was.lists, records: was.records, marks: marksBefore },
    after: { lists: is.lists, records: is.records, marks: marksAfter },
    compareFields: before.hasFields && after.hasFields,
    compareSitemaps: before.kind === "tree" && after.kind === "tree" && !settings.ignoresSitemap,
    marks: {
      onlyBefore: kinds.has(isAfterWhole ? "removed" : "unknown"),
      onlyAfter: kinds.has(isBeforeWhole ? "added" : "unknown"),
      changed: kinds.has("changed"),
      moved: kinds.has("moved"),
    },
    onChanged: (placeBefore, placeAfter) => pairs.put(placeBefore, placeAfter),
    onMoved: (place, list) => earlier.put(place, list.number, undefined),
    async flush() {
      await pairs.flush();
      await earlier.flush();
    },
    signal,
  });

  await pairs.finish();
  for await (const { list, pages, place } of marked(before, was, marksBefore, signal)) {
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

  for await (const { list, pages, place } of marked(after, is, marksAfter, signal)) {
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
      if (known.page === undefined) {
        changes.push({ kind: "moved", page, sitemap: list.sitemap, from: old.sitemap });
        continue;
      }
      const fields = changedFields(known.page, page, settings.ignored);
      const isMoved =
        before.kind === "tree" && after.kind === "tree" && !settings.ignoresSitemap && old.key !== list.key;
      const from = isMoved ? { from: old.sitemap } : {};
      changes.push({ kind: "changed", page, sitemap: list.sitemap, fields, before: known.page, ...from });
    }
    if (changes.length > 0) yield changes;
  }
  return {
    before: totalsOf(was, isBeforeWhole),
    after: totalsOf(is, isAfterWhole),
    added: isBeforeWhole ? counts.onlyAfter : 0,
    removed: isAfterWhole ? counts.onlyBefore : 0,
    unknown: (isBeforeWhole ? 0 : counts.onlyAfter) + (isAfterWhole ? 0 : counts.onlyBefore),
    changed: counts.changed,
    changedOnlyLastModified: counts.changedOnlyLastModified,
    moved: counts.moved,
    sitemaps: sitemaps.length,
  };
}

async function scan(side: Side, scratch: Scratch, settings: DiffSettings): Promise<PageLists> {
  const lists = new PageLists(scratch, settings);
  await side.scan(lists);
  await lists.records.finish();
  return lists;
}

// The pages of the sitemaps in an index file are unknown. If both sides are such files, that does not matter.
function knowsPages(side: Side, other: Side): boolean {
  return side.kind !== "index" || side.sitemaps.size === 0 || other.kind === "index";
}

interface MarkedBatch {
  readonly list: PageList;
  readonly pages: readonly SitemapPage[];
  /** The place of the first of them. */
  readonly place: number;
}

// Reads the lists again that have a marked page.
async function* marked(
  side: Side,
  { lists }: PageLists,
  marks: Marks,
  signal: AbortSignal | undefined,
): AsyncGenerator<MarkedBatch, void> {
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
  const counted = lists.filter(({ isVoid }) => !isVoid);
  const unread = lists.filter(({ isVoid }) => isVoid).reduce((sum, { count }) => sum + count, 0);
  return { pages: total - unread, sitemaps: counted.length, complete };
}

/**
 * Sitemaps that are new, gone, no longer readable or readable again, in declared order: first those of the old side that are missing now, then those of the
 * new side.
 */
function* sitemapChanges(before: Side, after: Side): Generator<SitemapChange, void> {
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

/** Which fields of a page differ, in the order of `pageFields`, without those that are ignored. */
function changedFields(before: SitemapPage, after: SitemapPage, ignored: ReadonlySet<PageField>): readonly PageField[] {
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
