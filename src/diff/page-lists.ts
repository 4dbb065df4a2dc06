// The pages of one side, list by list: the pages of each sitemap have consecutive places in the order of their side, so
// that a place identifies the sitemap. The fields of the pages go into records.
import type { SitemapPage } from "../model/page.ts";
import type { PageRecords } from "./page-records.ts";

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
  /** The list of the other side with the same bytes. Only one of both has records. */
  same?: PageList;
  /** It turned out not to be a sitemap: its records do not count. */
  isVoid?: true;
}

export class PageLists {
  readonly lists: PageList[] = [];
  readonly records: PageRecords;
  readonly #signal: AbortSignal | undefined;
  #total = 0;

  /** Adding pages throws the reason of the signal. */
  constructor(records: PageRecords, signal: AbortSignal | undefined) {
    this.records = records;
    this.#signal = signal;
  }

  /** How many pages there are, those of all lists. */
  get total(): number {
    return this.#total;
  }

  /** Adds pages of a sitemap; those of one sitemap come together. The result must be awaited. */
  add(sitemap: string, pages: readonly SitemapPage[]): Promise<void> | undefined {
    this.#signal?.throwIfAborted();
    let list = this.lists.at(-1);
    if (list?.sitemap !== sitemap || list.same !== undefined) list = this.#begin(sitemap);
    const { records } = this;
    let ordinal = this.#total;
    for (const page of pages) records.add(page, ordinal++);
    list.count += pages.length;
    this.#count(pages.length);
    return records.lists.isWaiting ? records.lists.flush() : undefined;
  }

  /** Adds a whole sitemap whose pages the other side has read. */
  addSame(sitemap: string, other: PageList): void {
    const list = this.#begin(sitemap);
    list.count = other.count;
    list.same = other;
    other.same = list;
    this.#count(other.count);
  }

  #begin(sitemap: string): PageList {
    const list: PageList = { sitemap, number: this.lists.length, key: sitemap, start: this.#total, count: 0 };
    this.lists.push(list);
    return list;
  }

  #count(pages: number): void {
    this.#total += pages;
    // A place has 32 bits.
    if (this.#total > mostPages) throw new Error("More than four billion pages cannot be compared");
  }
}

const mostPages = 2 ** 32 - 2;
