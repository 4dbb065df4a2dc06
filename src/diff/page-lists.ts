// Numbers the pages of both sides in declared order: first those of the old side, then those of the new. The pages of each sitemap have
// consecutive numbers, so a number identifies the sitemap. A page becomes a record of 20 bytes: fingerprints of its URL (64 bits), of its
// date and of its other fields (32 bits each), and its number.
import { Join } from "../join/join.ts";
import { runAt } from "../join/marks.ts";
import type { SpillFile } from "../join/spill-file.ts";
import { comparedFields, comparedValue, type PageField } from "../model/change.ts";
import { FingerprintReader, mix } from "../model/fingerprints.ts";
import type { SitemapPage } from "../model/page.ts";
import type { ContentOf, DiffSettings } from "./settings.ts";

/** The pages that one sitemap declares. */
export interface PageList {
  /** The URL of the sitemap, after redirects. */
  readonly sitemap: string;
  /** The URL that the sitemap was declared with, which identifies it on both sides. */
  key: string;
  /** The number of the sitemap's first page. */
  readonly start: number;
  count: number;
  /** Set if the records do not count, because the document turned out not to be a sitemap, or cannot be read again. */
  isVoid?: true;
  /** Whether pages that disappear have expired, as from a feed. By default, only news stories have. */
  expires?: boolean | undefined;
}

/** Creates a join for the records of all pages, by the fingerprint of their URL. */
export function pageJoin(spill: SpillFile): Join {
  // 256 partitions are enough to keep each one small with a hundred million pages, and few enough to keep their buffers small.
  return new Join(spill, { width: 5, keyLength: 2, partitionBits: 8 });
}

export class PageLists {
  readonly lists: PageList[] = [];
  /** The number of the first page of this side. */
  readonly start: number;
  /** The number of the last page, plus 1. */
  end: number;
  readonly #starts: number[] = [];
  readonly #join: Join;
  readonly #settings: DiffSettings;
  readonly #onListed: ((url: string) => void) | undefined;
  readonly #contentOf: ContentOf | undefined;
  readonly #reader = new FingerprintReader();
  readonly #fields: readonly PageField[];

  /** Creates the lists of a side. The new side needs `start`, the number of its first page; the old side starts at 0. */
  constructor(join: Join, settings: DiffSettings, start?: number) {
    const isNew = start !== undefined;
    this.#onListed = isNew ? settings.onListed : undefined;
    this.#contentOf = settings.contents?.[isNew ? 1 : 0];
    this.#join = join;
    this.#settings = settings;
    this.start = start ?? 0;
    this.end = this.start;
    this.#fields = comparedFields.filter((field) => field !== "lastModified" && !settings.ignored.has(field));
  }

  /**
   * Adds a batch of pages to the list of its sitemap, or to a new one, and returns the list. The batches of a list must come one after the
   * other. Throws the signal's reason if it is aborted.
   */
  add(sitemap: string, pages: readonly SitemapPage[], isNew = false): PageList {
    this.#settings.signal?.throwIfAborted();
    let list = this.lists.at(-1);
    if (isNew || list?.sitemap !== sitemap) {
      list = { sitemap, key: sitemap, start: this.end, count: 0 };
      this.lists.push(list);
      this.#starts.push(this.end);
    }
    for (const page of pages) this.#record(page, this.end++);
    list.count += pages.length;
    // Page numbers have 32 bits.
    if (this.end > 2 ** 32 - 2) throw new Error("More than four billion pages cannot be compared");
    return list;
  }

  /** Returns the list that contains the page with this number. */
  listOf(number: number): PageList {
    return this.lists[runAt(this.#starts, number)]!;
  }

  #record(page: SitemapPage, number: number): void {
    const { ignored, include } = this.#settings;
    this.#onListed?.(page.url);
    if (include?.(page.url) === false) return;
    this.#reader.read(page.url);
    const first = mix(this.#reader.high ^ (this.#reader.low >>> 15), 0x85ebca6b);
    const second = mix(this.#reader.low ^ (first >>> 13), 0xc2b2ae35);
    const date = ignored.has("lastModified") ? 0 : hashOf(page.lastModified);
    // The lowest bit says whether the page is a news story.
    const rest = (this.#restOf(page) & ~1) | (page.newsStory === undefined ? 0 : 1);
    this.#join.add(first, second, date, rest, number);
  }

  #restOf(page: SitemapPage): number {
    let hash = 0;
    for (const field of this.#fields) hash = mix(hash ^ hashOf(comparedValue(page, field)), factor);
    return this.#contentOf === undefined ? hash : mix(hash ^ hashOf(this.#contentOf(page.url)), factor);
  }
}

const factor = 0x9e3779b1;

/** A page on one side: the first declaration of its URL. */
interface Declared {
  readonly number: number;
  readonly list: PageList;
  /** The fingerprints of the page's date and of its other fields. */
  readonly date: number;
  readonly rest: number;
  /** Whether all declarations of the page are news stories or in feeds, which expire. */
  expires: boolean;
}

/** The page with a URL on each side, if the side has it. */
type Match = readonly [before: Declared | undefined, after: Declared | undefined];

/** Yields each URL once. On each side, its first declaration counts. */
export function* matchPages(join: Join, before: PageLists, after: PageLists): Generator<Match, void> {
  for (const { words, starts } of join.groups()) {
    const found: [Declared | undefined, Declared | undefined] = [undefined, undefined];
    for (const at of starts) {
      const number = words[at + 4]! >>> 0;
      const side = number < after.start ? 0 : 1;
      const list = (side === 0 ? before : after).listOf(number);
      if (list.isVoid) continue;
      const expires = list.expires ?? (words[at + 3]! & 1) === 1;
      const known = found[side];
      if (known !== undefined) known.expires &&= expires;
      else found[side] = { number, list, date: words[at + 2]!, rest: words[at + 3]! >>> 1, expires };
    }
    yield found;
  }
}

// Returns the same hash for equal values. The order of fields in an object does not matter.
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
