// The pages of one side, list by list: the pages of each sitemap have consecutive places in the order of their side, so
// that a place identifies the sitemap. A page is a record of 20 bytes: fingerprints of its URL (64 bits), of its date and of
// its other fields (32 bits each), and its place. Records of the same URL are in the same partition.

import { RecordGroups } from "../join/record-groups.ts";
import { RecordStore } from "../join/record-store.ts";
import { runAt } from "../join/run-at.ts";
import { type PageField, pageFields } from "../model/change.ts";
import { FingerprintReader, mix } from "../model/fingerprints.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Scratch } from "../storage/scratch.ts";
import type { DiffSettings } from "./diff-trees.ts";

/** The pages that one sitemap declares. */
export interface PageList {
  /** Its URL, after redirects. */
  readonly sitemap: string;
  /** Its index among the lists of its side. */
  readonly number: number;
  /** What identifies the sitemap on both sides: the URL that declares it. */
  key: string;
  /** The place of its first page. */
  readonly start: number;
  count: number;
  /** It turned out not to be a sitemap: its records do not count. */
  isVoid?: true;
}

export class PageLists {
  readonly lists: PageList[] = [];
  /** Of the lists. */
  readonly starts: number[] = [];
  readonly records: RecordStore;
  readonly #settings: DiffSettings;
  readonly #reader = new FingerprintReader();
  readonly #fields: readonly PageField[];
  /** How many pages there are, those of all lists. */
  total = 0;

  /** Adding pages throws the reason of the signal. */
  constructor(scratch: Scratch, settings: DiffSettings) {
    this.records = new RecordStore(scratch, partitionCount, recordWidth);
    this.#settings = settings;
    this.#fields = pageFields.filter((field) => field !== "lastModified" && !settings.ignored.has(field));
  }

  /** Adds pages of a sitemap; those of one sitemap come together. The result must be awaited. */
  add(sitemap: string, pages: readonly SitemapPage[]): Promise<void> | undefined {
    this.#settings.signal?.throwIfAborted();
    let list = this.lists.at(-1);
    if (list?.sitemap !== sitemap) {
      list = { sitemap, number: this.lists.length, key: sitemap, start: this.total, count: 0 };
      this.lists.push(list);
      this.starts.push(this.total);
    }
    for (const page of pages) this.#record(page, this.total++);
    list.count += pages.length;
    // A place has 32 bits.
    if (this.total > 2 ** 32 - 2) throw new Error("More than four billion pages cannot be compared");
    return this.records.flush();
  }

  #record(page: SitemapPage, ordinal: number): void {
    const { ignored, include } = this.#settings;
    if (include?.(page.url) === false) return;
    this.#reader.read(page.url);
    const first = mix(this.#reader.high ^ (this.#reader.low >>> 15), 0x85ebca6b);
    const second = mix(this.#reader.low ^ (first >>> 13), 0xc2b2ae35);
    const date = ignored.has("lastModified") ? 0 : hashOf(page.lastModified);
    // Groups of a partition use bits of the second word: if they were the same, all its records would collide.
    this.records.add(first >>> 24, first, second, date, this.#restOf(page), ordinal);
  }

  #restOf(page: SitemapPage): number {
    let hash = 0;
    for (const field of this.#fields) hash = mix(hash ^ hashOf(page[field]), factor);
    return hash;
  }
}

const recordWidth = 5;
// Enough that a partition of a hundred million pages stays small, few enough that their buffers do.
const partitionCount = 256;

const factor = 0x9e3779b1;

/** A page of one side. */
interface Declared {
  readonly place: number;
  readonly list: PageList;
  /** Fingerprints of its date and of its other fields. */
  readonly date: number;
  readonly rest: number;
}

/** A page on both sides. */
type Match = readonly [before: Declared | undefined, after: Declared | undefined];

/** Joins the records of both sides, partition by partition: each URL once. The first declaration of a URL counts, on each side. */
export async function* matchPages(before: PageLists, after: PageLists): AsyncGenerator<Iterable<Match>, void> {
  for (let partition = 0; partition < before.records.count; partition++)
    yield matches(await pagesIn(before, partition), await pagesIn(after, partition));
}

function* matches(one: PartitionPages, other: PartitionPages): Generator<Match, void> {
  for (const first of one.groups.firsts())
    yield [one.declared(first), other.declared(other.groups.find(one.words, first * recordWidth))];
  for (const first of other.groups.firsts())
    if (one.groups.find(other.words, first * recordWidth) === -1) yield [undefined, other.declared(first)];
}

type PartitionPages = Awaited<ReturnType<typeof pagesIn>>;

async function pagesIn({ records, lists, starts }: PageLists, partition: number) {
  const loaded = await records.load(partition);
  const { words } = loaded;
  const groups = new RecordGroups(loaded, recordWidth, 2);
  // The first declaration among the records of one URL.
  const declared = (first: number): Declared | undefined => {
    for (const at of groups.members(first)) {
      const place = words[at + 4]! >>> 0;
      const list = lists[runAt(starts, place)]!;
      if (!list.isVoid) return { place, list, date: words[at + 2]!, rest: words[at + 3]! };
    }
    return undefined;
  };
  return { words, groups, declared };
}

// Equal for equal values: the order of fields in an object does not matter.
function hashOf(value: unknown): number {
  if (typeof value === "object" && value !== null) {
    let sum = 0;
    for (const name of Object.keys(value)) {
      const item = hashOf(value[name as keyof typeof value]);
      sum = (sum + mix(Math.imul(item, factor) ^ hashOf(name), 0x2c1b3c6d)) | 0;
    }
    return sum;
  }
  const text = typeof value === "string" ? value : String(value ?? "");
  let hash = text.length;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), factor);
    hash ^= hash >>> 15;
  }
  return mix(hash, 0x85ebca6b);
}
