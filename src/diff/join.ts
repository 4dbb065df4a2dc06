// Joins the records of both sides, partition by partition, and marks the pages that differ. A table holds one partition
// at a time; the first declaration of a URL counts, on each side.
import { alone, changed, type Marks, moved } from "./marks.ts";
import type { PageList } from "./page-lists.ts";
import { recordWidth } from "./page-records.ts";
import type { RecordLists } from "./record-lists.ts";

export interface JoinSide {
  readonly records: RecordLists;
  readonly lists: readonly PageList[];
  readonly marks: Marks;
}

export interface JoinOptions {
  readonly before: JoinSide;
  readonly after: JoinSide;
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

export interface JoinCounts {
  onlyBefore: number;
  onlyAfter: number;
  changed: number;
  changedOnlyLastModified: number;
  moved: number;
}

export async function join(options: JoinOptions): Promise<JoinCounts> {
  const counts: JoinCounts = { onlyBefore: 0, onlyAfter: 0, changed: 0, changedOnlyLastModified: 0, moved: 0 };
  const { before, after, signal } = options;
  const table = new Table();
  const places = new Map<string, number>();
  const placesOf = ({ lists }: JoinSide) =>
    lists.map(({ key }) => {
      const place = places.get(key) ?? places.size;
      places.set(key, place);
      return place;
    });
  const placesBefore = placesOf(before);
  const placesAfter = placesOf(after);
  for (let partition = 0; partition < before.records.count; partition++) {
    signal?.throwIfAborted();
    table.clear(before.records.lengthOf(partition) + after.records.lengthOf(partition));
    await fill(table, before, partition, beforeFields);
    await fill(table, after, partition, afterFields);
    compare(table, options, placesBefore, placesAfter, counts);
    await options.flush();
  }
  return counts;
}

// The words of a slot: the fingerprint of the URL, then for each side the place of the page, counted from 1 (0: it is not there),
// the fingerprints of its date and of the rest, and the number of its list.
const slotWidth = 10;
const beforeFields = 2;
const afterFields = 6;

class Table {
  slots: Int32Array = new Int32Array(1024 * slotWidth);
  /** In slots; a power of two. */
  size = 1024;

  /** Room for this many records, at most two thirds full. */
  clear(records: number): void {
    let size = 1024;
    while (size * 2 < records * 3) size *= 2;
    this.size = size;
    if (this.slots.length < size * slotWidth) this.slots = new Int32Array(size * slotWidth);
    else this.slots.fill(0, 0, size * slotWidth);
  }

  /** The slot of a fingerprint: its own, or an empty one that it takes. */
  find(first: number, second: number): number {
    const { slots, size } = this;
    for (let slot = second & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const at = slot * slotWidth;
      if (slots[at + beforeFields] === 0 && slots[at + afterFields] === 0) {
        slots[at] = first;
        slots[at + 1] = second;
        return at;
      }
      if (slots[at] === first && slots[at + 1] === second) return at;
    }
  }
}

async function fill(table: Table, side: JoinSide, partition: number, fields: number): Promise<void> {
  const { lists } = side;
  // Records come in the order of their places: each is in the list of the record before, or in a later one.
  let number = 0;
  for await (const words of side.records.read(partition)) {
    for (let at = 0; at < words.length; at += recordWidth) {
      const ordinal = words[at + 4]! >>> 0;
      while (ordinal >= lists[number]!.start + lists[number]!.count) number++;
      const list = lists[number]!;
      if (list.isVoid) continue;
      const slot = table.find(words[at]!, words[at + 1]!);
      put(table.slots, slot + fields, ordinal, words, at, number);
      const { same } = list;
      // Always a list of the side that was read first.
      if (same !== undefined) {
        put(table.slots, slot + afterFields, ordinal - list.start + same.start, words, at, same.number);
      }
    }
  }
}

function put(slots: Int32Array, to: number, ordinal: number, words: Int32Array, at: number, list: number): void {
  const known = slots[to]! >>> 0;
  if (known !== 0 && known <= ordinal + 1) return;
  slots[to] = ordinal + 1;
  slots[to + 1] = words[at + 2]!;
  slots[to + 2] = words[at + 3]!;
  slots[to + 3] = list;
}

function compare(
  { slots, size }: Table,
  options: JoinOptions,
  placesBefore: readonly number[],
  placesAfter: readonly number[],
  counts: JoinCounts,
): void {
  const { before, after, compareFields, compareSitemaps, marks } = options;
  for (let at = 0; at < size * slotWidth; at += slotWidth) {
    const was = slots[at + beforeFields]! >>> 0;
    const is = slots[at + afterFields]! >>> 0;
    if (was === 0 && is === 0) continue;
    if (is === 0) {
      if (marks.onlyBefore) before.marks.set(was - 1, alone);
      counts.onlyBefore += 1;
    } else if (was === 0) {
      if (marks.onlyAfter) after.marks.set(is - 1, alone);
      counts.onlyAfter += 1;
    } else {
      const isDateSame = slots[at + 3] === slots[at + 7];
      const isRestSame = slots[at + 4] === slots[at + 8];
      if (compareFields && !(isDateSame && isRestSame)) {
        counts.changed += 1;
        if (isRestSame) counts.changedOnlyLastModified += 1;
        if (!marks.changed) continue;
        before.marks.set(was - 1, changed);
        after.marks.set(is - 1, changed);
        options.onChanged(was - 1, is - 1);
      } else if (compareSitemaps) {
        const list = slots[at + 5]!;
        if (placesBefore[list] === placesAfter[slots[at + 9]!]) continue;
        counts.moved += 1;
        if (!marks.moved) continue;
        after.marks.set(is - 1, moved);
        options.onMoved(is - 1, before.lists[list]!);
      }
    }
  }
}
