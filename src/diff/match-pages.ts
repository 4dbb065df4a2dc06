// Joins the records of both sides, partition by partition, and marks the pages that differ. The first declaration of a URL
// counts, on each side.
import type { Marks } from "../join/marks.ts";
import { RecordGroups } from "../join/record-groups.ts";
import type { RecordStore, Records } from "../join/record-store.ts";
import { listAt, type PageList, recordWidth } from "./page-lists.ts";

/** Marks: a page is on this side only; its fields differ on the other side; another sitemap declares it there, with the same fields. */
export const alone = 1;
export const changed = 2;
const moved = 3;

export interface MatchSide {
  readonly records: RecordStore;
  readonly lists: readonly PageList[];
  readonly marks: Marks;
}

export interface MatchOptions {
  readonly before: MatchSide;
  readonly after: MatchSide;
  /** Whether pages with different fields have changed. */
  readonly compareFields: boolean;
  /** Whether pages in another sitemap have moved. */
  readonly compareSitemaps: boolean;
  /** The kinds to mark; the others are only counted. */
  readonly marks: {
    readonly onlyBefore: boolean;
    readonly onlyAfter: boolean;
    readonly changed: boolean;
    readonly moved: boolean;
  };
  /** Called for each changed page, with its places on both sides. */
  readonly onChanged: (before: number, after: number) => void;
  /** Called for each page that only moved, with its new place and its old list. */
  readonly onMoved: (after: number, before: PageList) => void;
  /** Called and awaited now and then, so that buffers can be written. */
  readonly flush: () => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

export interface MatchCounts {
  onlyBefore: number;
  onlyAfter: number;
  changed: number;
  changedOnlyLastModified: number;
  moved: number;
}

export async function matchPages(options: MatchOptions): Promise<MatchCounts> {
  const counts: MatchCounts = { onlyBefore: 0, onlyAfter: 0, changed: 0, changedOnlyLastModified: 0, moved: 0 };
  const { before, after, signal } = options;
  for (let partition = 0; partition < before.records.count; partition++) {
    signal?.throwIfAborted();
    const ones = await before.records.load(partition);
    const others = await after.records.load(partition);
    const groups = new RecordGroups(ones, recordWidth, 2);
    const otherGroups = new RecordGroups(others, recordWidth, 2);
    for (const first of groups.firsts()) {
      const was = firstDeclared(before.lists, ones, groups, first);
      const other = otherGroups.find(ones.words, first * recordWidth);
      compare(was, firstDeclared(after.lists, others, otherGroups, other), options, counts);
    }
    for (const first of otherGroups.firsts()) {
      if (groups.find(others.words, first * recordWidth) !== -1) continue;
      compare(undefined, firstDeclared(after.lists, others, otherGroups, first), options, counts);
    }
    await options.flush();
  }
  return counts;
}

/** A page of one side. */
interface Declared {
  readonly place: number;
  readonly list: PageList;
  /** Fingerprints of its date and of its other fields. */
  readonly date: number;
  readonly rest: number;
}

// The first declaration among the records of one URL.
function firstDeclared(
  lists: readonly PageList[],
  { words }: Records,
  groups: RecordGroups,
  first: number,
): Declared | undefined {
  for (let record = first; record !== -1; record = groups.next(record)) {
    const at = record * recordWidth;
    const place = words[at + 4]! >>> 0;
    const list = listAt(lists, place);
    if (!list.isVoid) return { place, list, date: words[at + 2]!, rest: words[at + 3]! };
  }
  return undefined;
}

function compare(
  was: Declared | undefined,
  is: Declared | undefined,
  { before, after, compareFields, compareSitemaps, marks, onChanged, onMoved }: MatchOptions,
  counts: MatchCounts,
): void {
  if (was === undefined && is === undefined) return;
  if (is === undefined) {
    if (marks.onlyBefore) before.marks.set(was!.place, alone);
    counts.onlyBefore += 1;
  } else if (was === undefined) {
    if (marks.onlyAfter) after.marks.set(is.place, alone);
    counts.onlyAfter += 1;
  } else if (compareFields && !(was.date === is.date && was.rest === is.rest)) {
    counts.changed += 1;
    if (was.rest === is.rest) counts.changedOnlyLastModified += 1;
    if (!marks.changed) return;
    before.marks.set(was.place, changed);
    after.marks.set(is.place, changed);
    onChanged(was.place, is.place);
  } else if (compareSitemaps && was.list.key !== is.list.key) {
    counts.moved += 1;
    if (!marks.moved) return;
    after.marks.set(is.place, moved);
    onMoved(is.place, was.list);
  }
}
