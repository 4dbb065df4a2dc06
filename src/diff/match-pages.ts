// Joins the records of both sides, partition by partition. The first declaration of a URL counts, on each side.
import { RecordGroups } from "../join/record-groups.ts";
import type { Records } from "../join/record-store.ts";
import { listAt, type PageList, type PageLists, recordWidth } from "./page-lists.ts";

/** A page of one side. */
export interface Declared {
  readonly place: number;
  readonly list: PageList;
  /** Fingerprints of its date and of its other fields. */
  readonly date: number;
  readonly rest: number;
}

/** A page on both sides. */
export type Match = readonly [before: Declared | undefined, after: Declared | undefined];

/** Each URL once, in batches. */
export async function* matchPages(before: PageLists, after: PageLists): AsyncGenerator<Iterable<Match>, void> {
  for (let partition = 0; partition < before.records.count; partition++) {
    const ones = await before.records.load(partition);
    yield matches(before.lists, ones, after.lists, await after.records.load(partition));
  }
}

function* matches(
  lists: readonly PageList[],
  records: Records,
  otherLists: readonly PageList[],
  otherRecords: Records,
): Generator<Match, void> {
  const groups = new RecordGroups(records, recordWidth, 2);
  const others = new RecordGroups(otherRecords, recordWidth, 2);
  for (const first of groups.firsts()) {
    const other = others.find(records.words, first * recordWidth);
    yield [firstDeclared(lists, records, groups, first), firstDeclared(otherLists, otherRecords, others, other)];
  }
  for (const first of others.firsts()) {
    if (groups.find(otherRecords.words, first * recordWidth) !== -1) continue;
    yield [undefined, firstDeclared(otherLists, otherRecords, others, first)];
  }
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
