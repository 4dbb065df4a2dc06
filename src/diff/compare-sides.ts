// Runs the passes of a diff: read both sides, join their pages by URL, then report what differs.
import { isDeepStrictEqual } from "node:util";
import { pauseWhenDue } from "../crawl/read.ts";
import { Marks } from "../join/marks.ts";
import { OrderedRecords } from "../join/ordered-records.ts";
import { SpillFile } from "../join/spill-file.ts";
import { type TextSpan, Texts } from "../join/texts.ts";
import {
  type ChangedField,
  comparedFields,
  comparedValue,
  type DiffSideTotals,
  type DiffTotals,
  type PageChange,
  type PageField,
  type SitemapChange,
  type TreeChange,
} from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import { originalUrl } from "../model/rewrite.ts";
import { isAbsent, type Side, type SideFacts } from "./diff-side.ts";
import { matchPages, type PageList, PageLists, pageJoin } from "./page-lists.ts";
import type { DiffSettings } from "./settings.ts";

// The marks of pages: the page is only on this side; it is on both sides, with different fields; or it is on both sides with the same
// fields, but in different sitemaps.
const alone = 1;
const changed = 2;
const moved = 3;
// Only new pages are marked as moved, and only old ones as expired, so both marks can be 3. An expired page is only on the old side, where
// it was a news story or in a feed.
const expired = 3;

/** Reports what differs between two sides, and closes the spill file at the end. */
export async function* compareSides(
  oldSide: Side,
  newSide: Side,
  settings: DiffSettings,
  spill: SpillFile = new SpillFile(),
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  try {
    return yield* compare(oldSide, newSide, settings, spill);
  } finally {
    spill.close();
  }
}

async function* compare(
  oldSide: Side,
  newSide: Side,
  settings: DiffSettings,
  spill: SpillFile,
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  const { kinds, signal } = settings;
  const join = pageJoin(spill);
  const was = new PageLists(join, settings);
  const before = await oldSide.scan(was);
  const is = new PageLists(join, settings, was.end);
  const after = await newSide.scan(is);
  const isBeforeWhole = knowsPages(before, after);
  const isAfterWhole = knowsPages(after, before);
  const isKnownGone = ({ key }: PageList) =>
    isAfterWhole &&
    !skipsMore(after, before, before.kind === "tree" ? key : "") &&
    !isOmitted(after, key, before) &&
    !mayBeCutOff(after, key, before);
  const isKnownNew = ({ key }: PageList) => isBeforeWhole && !isOmitted(before, key, after);
  // Whether each side is certain to have all its pages.
  let [hasAllBefore, hasAllAfter] = [isBeforeWhole && before.complete, isAfterWhole && after.complete];
  const comparesFields = before.hasFields && after.hasFields;
  const isMoved = (one: PageList, other: PageList) =>
    before.kind === "tree" && after.kind === "tree" && !settings.ignoresSitemap && one.key !== other.key;

  const sitemaps = before.kind === after.kind ? [...sitemapChanges(before, after)] : [];
  if (kinds.has("sitemap") && sitemaps.length > 0) yield sitemaps;

  const total = is.end - is.start;
  // `pairs` maps the old number of each changed page to its new number. `earlier` maps the new number of each changed or moved page to its
  // old number and to the position of its old fields in `texts`.
  const pairs = new OrderedRecords(spill, is.start, 1);
  const earlier = new OrderedRecords(spill, total, 4);
  const texts = new Texts(spill);
  const marksBefore = new Marks(is.start);
  const marksAfter = new Marks(total);
  const counts = { added: 0, removed: 0, expired: 0, unknown: 0, changed: 0, changedOnlyLastModified: 0, moved: 0 };
  let steps = 0;
  for (const [one, other] of matchPages(join, was, is)) {
    if (++steps % 10_000 === 0) await turn(signal);
    if (one !== undefined && other === undefined) {
      const kind = !isKnownGone(one.list) ? "unknown" : one.expires ? "expired" : "removed";
      counts[kind] += 1;
      hasAllAfter &&= kind !== "unknown";
      if (kinds.has(kind)) marksBefore.set(one.number, kind === "expired" ? expired : alone);
    } else if (one === undefined && other !== undefined) {
      const kind = isKnownNew(other.list) ? "added" : "unknown";
      counts[kind] += 1;
      hasAllBefore &&= kind !== "unknown";
      if (kinds.has(kind)) marksAfter.set(other.number - is.start, alone);
    } else if (one === undefined || other === undefined) {
      // Only void lists declare this page.
    } else if (comparesFields && !(one.date === other.date && one.rest === other.rest)) {
      counts.changed += 1;
      if (one.rest === other.rest) counts.changedOnlyLastModified += 1;
      if (!kinds.has("changed")) continue;
      marksBefore.set(one.number, changed);
      marksAfter.set(other.number - is.start, changed);
      pairs.put(one.number, other.number - is.start);
    } else if (isMoved(one.list, other.list)) {
      counts.moved += 1;
      if (!kinds.has("moved")) continue;
      marksAfter.set(other.number - is.start, moved);
      earlier.put(other.number - is.start, one.number, 0, 0, 0);
    }
  }

  const partners = pairs[Symbol.iterator]();
  for await (const { list, pages, number } of marked(oldSide, was, marksBefore, signal)) {
    const changes: PageChange[] = [];
    for (const [at, page] of pages.entries()) {
      const mark = marksBefore.get(number + at);
      if (mark === changed) {
        const [, [partner = 0]] = partners.next().value as [number, Int32Array];
        // The URL is omitted, because the new page has the same one.
        earlier.put(partner >>> 0, number + at, ...texts.add(JSON.stringify({ ...page, url: undefined })));
      } else if (mark === expired) changes.push({ kind: "expired", page, sitemap: list.sitemap, ...declared(page) });
      else if (mark === alone) changes.push(missing("after", isKnownGone(list), page, list));
    }
    if (changes.length > 0 && !(await oldSide.holdsBack?.(list, changes))) yield changes;
  }

  const known = earlier[Symbol.iterator]();
  for await (const { list, pages, number } of marked(newSide, is, marksAfter, signal)) {
    const changes: PageChange[] = [];
    const { sitemap } = list;
    for (const [at, page] of pages.entries()) {
      const mark = marksAfter.get(number + at - is.start);
      if (mark === alone) changes.push(missing("before", isKnownNew(list), page, list));
      if (mark === alone || mark === 0) continue;
      const [, [old = 0, ...span]] = known.next().value as [number, Int32Array];
      const from = was.listOf(old >>> 0);
      if (mark === moved) {
        changes.push({ kind: "moved", page, sitemap, from: from.sitemap });
        continue;
      }
      const fields = JSON.parse(texts.get(span as unknown as TextSpan)) as Omit<SitemapPage, "url">;
      const earlierPage = { url: page.url, ...fields };
      const differing: ChangedField[] = changedFields(earlierPage, page, settings.ignored);
      const [one, other] = settings.contents ?? [];
      if (one?.(page.url) !== other?.(page.url)) differing.push("content");
      const elsewhere = isMoved(from, list) ? { from: from.sitemap } : {};
      changes.push({ kind: "changed", page, sitemap, fields: differing, before: earlierPage, ...elsewhere });
    }
    if (changes.length > 0) yield changes;
  }
  return {
    before: totalsOf(was, before, hasAllBefore),
    after: totalsOf(is, after, hasAllAfter),
    ...counts,
    sitemaps: sitemaps.length,
  };
}

// Pauses a long loop, so that timers and signals can run.
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await pauseWhenDue();
  signal?.throwIfAborted();
}

// Whether a page that this side lacks is known to be missing. Unread sitemaps do not matter if they do not exist on either side. An index
// file does not show the pages of its sitemaps, which matters unless both sides are index files.
function knowsPages(side: SideFacts, other: SideFacts): boolean {
  const lacks = ({ sitemaps }: SideFacts, key: string) => isAbsent(sitemaps.get(key)?.reason?.code);
  const { unread = [], unsure = [] } = side;
  const areAbsent = unread.length > 0 && unread.every((key) => lacks(side, key) && lacks(other, key));
  const isRead = side.kind !== "index" || side.sitemaps.size === 0 || other.kind === "index";
  const isSure = ![...unsure].some((url) => other.sitemaps.has(url) || other.indexes.has(url));
  const skipsSitemaps = [...side.indexes.keys()].some((key) => key !== undefined && skipsMore(side, other, key));
  return (side.complete || areAbsent) && isRead && isSure && !skipsSitemaps;
}

// Whether a sitemap has more skipped entries on this side: a skipped entry may be the page that seems to be missing. Sides of different
// kinds have no sitemaps in common, so the skipped entries of all sitemaps are compared.
function skipsMore(side: SideFacts, other: SideFacts, key: string): boolean {
  const skips = ({ skipped = new Map() }: SideFacts): number =>
    side.kind === other.kind ? (skipped.get(key) ?? 0) : [...skipped.values()].reduce((sum, count) => sum + count, 0);
  return skips(side) > skips(other);
}

// Reads the lists that contain marked pages again. Each batch comes with the number of its first page.
async function* marked(
  side: Side,
  { lists, start }: PageLists,
  marks: Marks,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ list: PageList; pages: readonly SitemapPage[]; number: number }, void> {
  for (const list of lists) {
    if (marks.isClear(list.start - start, list.count)) continue;
    let number = list.start;
    for await (const pages of side.read(list)) {
      signal?.throwIfAborted();
      yield { list, pages, number };
      number += pages.length;
    }
    if (number !== list.start + list.count) throw new Error(`${list.sitemap} changed while it was compared`);
  }
}

function missing(side: "before" | "after", isWhole: boolean, page: SitemapPage, { sitemap }: PageList): PageChange {
  if (!isWhole) return { kind: "unknown", page, sitemap, missing: side, ...declared(page) };
  return side === "before" ? { kind: "added", page, sitemap } : { kind: "removed", page, sitemap, ...declared(page) };
}

// A page that was rewritten and has no counterpart may never have had its new URL, so the change also gives the old one.
function declared(page: SitemapPage): { readonly declaredUrl?: string } {
  const declaredUrl = originalUrl(page);
  return declaredUrl === page.url ? {} : { declaredUrl };
}

function totalsOf({ lists, start, end }: PageLists, side: SideFacts, complete: boolean): DiffSideTotals {
  const unread = lists.filter(({ isVoid }) => isVoid);
  const pages = unread.reduce((sum, { count }) => sum - count, end - start);
  const read = [...side.sitemaps.values()].filter(({ reason }) => reason === undefined).length;
  return { pages, sitemaps: side.kind === "tree" ? read : lists.length - unread.length, complete };
}

// Yields the sitemaps that differ: first those that are missing on the new side, then those that it has.
function* sitemapChanges(before: SideFacts, after: SideFacts): Generator<SitemapChange, void> {
  const kind = "sitemap";
  for (const sitemap of before.sitemaps.keys()) {
    if (after.sitemaps.has(sitemap)) continue;
    const isGone = isKnownToLack(after, sitemap, before) && !mayBeCutOff(after, sitemap, before);
    if (isGone) yield { kind, change: "gone", sitemap };
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

// Yields a sitemap of a side and those above it, up to discovery. Indexes can list one another, so each comes only once.
function* ancestry({ sitemaps }: SideFacts, sitemap: string): Generator<string, void> {
  const seen = new Set<string>();
  for (let key: string | undefined = sitemap; key !== undefined && !seen.has(key); key = sitemaps.get(key)?.parent) {
    seen.add(key);
    yield key;
  }
}

// Whether a sitemap that this side lacks is known not to exist: the index that lists it on the other side was fully read here. If that
// index is missing, too, its own index decides.
function isKnownToLack(side: SideFacts, sitemap: string, other: SideFacts): boolean {
  if (isOmitted(side, sitemap, other)) return false;
  for (const key of ancestry(other, sitemap)) {
    if (side.unsure?.has(key)) return false;
    if (key === sitemap) continue;
    if (side.indexes.has(key)) return namesAll(side, other, key);
    const own = side.sitemaps.get(key);
    if (own !== undefined) return own.reason === undefined;
  }
  return namesAll(side, other, undefined);
}

// Whether this side did not look for a sitemap of the other side. It may list the sitemap, or an index that leads to it, without having
// read it; or its discovery did not try the URL where the other side found it.
function isOmitted({ sitemaps, declared, isTried }: SideFacts, sitemap: string, other: SideFacts): boolean {
  for (const key of ancestry(other, sitemap)) {
    if (sitemaps.has(key)) return false;
    if (declared?.has(key)) return true;
    if (other.sitemaps.get(key)?.parent === undefined) return isTried?.(key) === false;
  }
  return false;
}

// Whether a page of this sitemap may be missing here because a document is cut off: the sitemap, or an index above it. Sides of
// different kinds have no sitemaps in common, so any document counts.
function mayBeCutOff({ kind, sitemaps, openEnded = new Set() }: SideFacts, sitemap: string, other: SideFacts): boolean {
  if (kind !== other.kind) return openEnded.size > 0;
  for (const key of ancestry(other, sitemap)) if (openEnded.has(key) || sitemaps.has(key)) return openEnded.has(key);
  return false;
}

// Whether this side knows everything that an index lists. The key `undefined` stands for discovery, or for a file.
function namesAll(side: SideFacts, other: SideFacts, index: string | undefined): boolean {
  return side.indexes.get(index) === true && !skipsMore(side, other, index ?? "");
}

// Returns the fields that differ, in the order of `comparedFields`. The order of fields inside an object does not matter.
function changedFields(before: SitemapPage, after: SitemapPage, ignored: ReadonlySet<PageField>): PageField[] {
  return comparedFields.filter(
    (field) => !ignored.has(field) && !isDeepStrictEqual(comparedValue(before, field), comparedValue(after, field)),
  );
}
