// Compares what sitemaps say about each URL: the same URL in several sitemaps, several spellings of one page, dates
// that contradict each other. One record per page on disk, joined one partition at a time, in flat memory.

import type { Marks } from "../join/marks.ts";
import { RecordGroups } from "../join/record-groups.ts";
import { RecordStore } from "../join/record-store.ts";
import { dayLength } from "../model/instant.ts";
import type { Scratch } from "../storage/scratch.ts";
import { bounds } from "./bounds.ts";
import type { WebsitePages } from "./cross-rules.ts";
import type { RuleId } from "./rule-table.ts";
import type { AlternateSet } from "./rules/languages.ts";
import type { UrlScan } from "./url-scan.ts";

// The words of a record. The first three are the URL: two for the page, one for its spelling.
export const pageWidth = 7;
export const word = { lastModified: 3, ordinal: 4, selfLanguage: 5, set: 6 } as const;

/** A page with a finding: its number, and that of the page it is compared with, or the index of its alternate page. */
export interface Found {
  readonly rule: RuleId;
  readonly ordinal: number;
  readonly other: number;
}

/** Records of at most so many pages in a partition: a website can construct URLs that all fall into one. */
const mostRecords = 4_000_000;
// With this many, a partition of a hundred million records has some 40 MB.
export const partitionCount = 64;

/** `first`, the first word of a record, decides. */
export function partitionOf(first: number): number {
  return first >>> 26;
}

export function recordStore(scratch: Scratch, width: number): RecordStore {
  return new RecordStore(scratch, partitionCount, width, mostRecords);
}

export class UrlRecords {
  readonly store: RecordStore;

  constructor(scratch: Scratch) {
    this.store = recordStore(scratch, pageWidth);
  }

  /** `lastModified` in milliseconds, NaN for none. `ordinal`: the number of the page in the website. */
  add(scan: UrlScan, ordinal: number, lastModified: number, hasTime: boolean, set: AlternateSet | undefined): void {
    const { pageHigh, pageLow, spelling } = scan;
    const date = toWord(lastModified, hasTime);
    const known = set === undefined ? 0 : set.low | 1;
    const own = set?.choice.selfLanguage ?? 0;
    this.store.add(partitionOf(pageHigh), pageHigh, pageLow, spelling, date, ordinal, own, known);
  }

  /** All findings across sitemaps, in no order. `conflicts`: marks pages that are listed several times with different alternate pages. */
  async *join(pages: WebsitePages, conflicts: Marks): AsyncGenerator<Found, void> {
    for (let partition = 0; partition < partitionCount; partition++) {
      const records = await this.store.load(partition);
      const groups = new RecordGroups(records, pageWidth, 2);
      for (const first of groups.firsts()) {
        if (!groups.isAlone(first)) yield* this.#compare(records.words, groups.members(first), pages, conflicts);
      }
    }
  }

  // The records of one page, in the order of the tree. There are few spellings: each is represented by its first record.
  *#compare(words: Int32Array, own: readonly number[], pages: WebsitePages, conflicts: Marks): Generator<Found, void> {
    // How the page was first written; `date`: the first one, and `dated` the page that gives it.
    const spellings = new Map<number, { ordinal: number; set: number; date: number; dated: number }>();
    const firstOrdinal = words[own[0]! + word.ordinal]! >>> 0;
    for (const at of own) {
      const ordinal = words[at + word.ordinal]! >>> 0;
      const date = words[at + word.lastModified]!;
      const set = words[at + word.set]!;
      const known = spellings.get(words[at + 2]!);
      if (known === undefined) {
        if (at !== own[0]) yield { rule: "url-variants", ordinal, other: firstOrdinal };
        if (spellings.size < mostSpellings) spellings.set(words[at + 2]!, { ordinal, date, dated: ordinal, set });
        continue;
      }
      if (pages.sitemapOf(ordinal) !== pages.sitemapOf(known.ordinal))
        yield { rule: "url-duplicate", ordinal, other: known.ordinal };
      if (contradicts(known.date, date)) yield { rule: "url-lastmod-conflict", ordinal, other: known.dated };
      if (known.date === noDate) {
        known.date = date;
        known.dated = ordinal;
      }
      if (set !== known.set) for (const each of [ordinal, known.ordinal]) conflicts.set(each);
    }
  }
}

// A limit: a website that generates spellings of one page must not fill the memory.
const mostSpellings = 10_000;

// A time is its second since 1970; a day without a time is below -1. Times that do not fit become the last that does.
function toWord(milliseconds: number, hasTime: boolean): number {
  if (Number.isNaN(milliseconds)) return noDate;
  const most = 2 ** 31 - 1;
  if (hasTime) return Math.min(Math.max(Math.floor(milliseconds / 1000), 0), most);
  return -2 - Math.min(Math.max(Math.floor(milliseconds / dayLength), 0), most - 2);
}

const noDate = -1;

function contradicts(one: number, two: number): boolean {
  if (one === noDate || two === noDate || one === two) return false;
  if (one >= 0 && two >= 0) return Math.abs(one - two) * 1000 > bounds.lastmodConflict;
  if (one < 0 && two < 0) return true;
  const time = Math.max(one, two) * 1000;
  const day = (-2 - Math.min(one, two)) * dayLength;
  // A day begins and ends at other times in other time zones.
  return time < day - timeZones || time >= day + dayLength + timeZones;
}

const timeZones = 14 * 3600 * 1000;
