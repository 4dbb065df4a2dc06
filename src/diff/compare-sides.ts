// The passes of a diff: read both sides, join, then report what differs.

import type { Scratch } from "../archive/scratch.ts";
import type { DiffSideTotals, DiffTotals, PageChange, TreeChange } from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import { changedFields } from "./changed-fields.ts";
import type { DiffSettings } from "./diff-trees.ts";
import { EarlierPages } from "./earlier-pages.ts";
import { join } from "./join.ts";
import { alone, changed, Marks, unmarked } from "./marks.ts";
import { type PageList, PageLists } from "./page-lists.ts";
import { PageRecords } from "./page-records.ts";
import { PlacePairs } from "./place-pairs.ts";
import type { Side } from "./side.ts";
import { sitemapChanges } from "./sitemap-changes.ts";

export async function* compareSides(
  before: Side,
  after: Side,
  scratch: Scratch,
  settings: DiffSettings,
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  const { kinds, signal } = settings;
  const was = await scan(before, undefined, scratch, settings);
  const is = await scan(after, before, scratch, settings);
  const isBeforeWhole = before.complete && knowsPages(before, after);
  const isAfterWhole = after.complete && knowsPages(after, before);

  const sitemaps = before.kind === after.kind ? [...sitemapChanges(before, after)] : [];
  if (kinds.has("sitemap") && sitemaps.length > 0) yield sitemaps;

  const earlier = new EarlierPages(scratch, is.total);
  const pairs = new PlacePairs(scratch, was.total);
  const marksBefore = new Marks(was.total);
  const marksAfter = new Marks(is.total);
  const counts = await join({
    before: { records: was.records.lists, lists: was.lists, marks: marksBefore },
    after: { records: is.records.lists, lists: is.lists, marks: marksAfter },
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
        const opening = pairs.open(place + at);
        if (opening !== undefined) await opening;
        earlier.put(pairs.at(place + at), list.number, pages[at]);
      }
      if (mark === alone) changes.push(missing("after", isAfterWhole, pages[at]!, list));
    }
    await earlier.flush();
    if (changes.length > 0) yield changes;
  }
  await earlier.finish();

  for await (const { list, pages, place } of marked(after, is, marksAfter, signal)) {
    const changes: PageChange[] = [];
    for (let at = 0; at < pages.length; at++) {
      const mark = marksAfter.get(place + at);
      if (mark === unmarked) continue;
      const page = pages[at]!;
      if (mark === alone) {
        changes.push(missing("before", isBeforeWhole, page, list));
        continue;
      }
      const found = earlier.take(place + at, page);
      const known = found instanceof Promise ? await found : found;
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

async function scan(
  side: Side,
  before: Side | undefined,
  scratch: Scratch,
  { ignored, include, signal }: DiffSettings,
): Promise<PageLists> {
  const lists = new PageLists(new PageRecords(scratch, ignored, include), signal);
  await side.scan(lists, before);
  await lists.records.lists.finish();
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
