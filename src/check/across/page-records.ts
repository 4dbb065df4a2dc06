// Compares what sitemaps say about each URL, with one record per page on disk: finds the same URL in several sitemaps, several spellings of
// one page, and dates that contradict each other.

import { type Group, Join } from "../../join/join.ts";
import type { Marks } from "../../join/marks.ts";
import type { SpillFile } from "../../join/spill-file.ts";
import { dayLength } from "../../model/instant.ts";
import { bounds } from "../rules/bounds.ts";
import type { AlternateSet } from "../rules/languages.ts";
import type { UrlScan } from "../rules/url-scan.ts";
import type { WebsitePages } from "./website-pages.ts";

// The positions of words in a record. Before them come three words for the URL: two for the page, one for its spelling.
export const word = { lastModified: 3, ordinal: 4, selfLanguage: 5, set: 6 } as const;

/** The rules that compare pages across all sitemaps. */
export const crossRules = [
  "url-duplicate",
  "url-variants",
  "url-lastmod-conflict",
  "hreflang-no-return",
  "hreflang-return-differs",
  "hreflang-target-unlisted",
] as const;

type CrossRule = (typeof crossRules)[number];

/** A page with a finding: its number, and the number of the page it was compared with or the index of its alternate page. */
export interface Found {
  readonly rule: CrossRule;
  readonly ordinal: number;
  readonly other: number;
}

/** The limits of all joins of a check. They are needed because many records of a website may fall into one partition. */
export const joinLimits = { partitionBits: 6, most: 4_000_000 } as const;

export class UrlRecords {
  readonly join: Join;

  constructor(spill: SpillFile) {
    this.join = new Join(spill, { ...joinLimits, width: 7, keyLength: 2 });
  }

  /** Adds a page. `lastModified` is in milliseconds, NaN for none; `ordinal` is the number of the page in the website. */
  add(scan: UrlScan, ordinal: number, lastModified: number, hasTime: boolean, set: AlternateSet | undefined): void {
    const { pageHigh, pageLow, spelling } = scan;
    const date = toWord(lastModified, hasTime);
    const known = set === undefined ? 0 : set.low | 1;
    this.join.add(pageHigh, pageLow, spelling, date, ordinal, set?.ownHash ?? 0, known);
  }

  /** Yields the findings, in no particular order. Marks in `conflicts` pages that are listed with different alternate pages. */
  *findings(pages: WebsitePages, conflicts: Marks): Generator<Found, void> {
    for (const group of this.join.groups(2)) yield* compare(group, pages, conflicts);
  }
}

// Compares the records of one page, in the order of the tree. The first record of each spelling represents it.
function* compare({ words, starts }: Group, pages: WebsitePages, conflicts: Marks): Generator<Found, void> {
  // `date` is the first date of a spelling, and `dated` the number of the page that has it.
  const spellings = new Map<number, { ordinal: number; set: number; date: number; dated: number }>();
  const firstOrdinal = words[starts[0]! + word.ordinal]! >>> 0;
  for (const at of starts) {
    const ordinal = words[at + word.ordinal]! >>> 0;
    const date = words[at + word.lastModified]!;
    const set = words[at + word.set]!;
    const known = spellings.get(words[at + 2]!);
    if (known === undefined) {
      if (at !== starts[0]) yield { rule: "url-variants", ordinal, other: firstOrdinal };
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

// Limits the memory for a website that generates spellings of one page.
const mostSpellings = 10_000;

// Encodes a date in one word: a time as seconds since 1970, a day without a time as a number below -1. A date out of range becomes the
// nearest one that fits.
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
  // A day without a time may be in any time zone.
  return time < day - timeZones || time >= day + dayLength + timeZones;
}

const timeZones = 14 * 3600 * 1000;
