// Merges the entries of one URL in one sitemap: real video sitemaps list a page once for each of its videos. The page has the place and
// the fields of the first entry, the images, videos and alternates of all entries (identical ones once), and the first news story. A
// different news story is reported as a loss. Pages wait in a window of limited size for entries to merge; details of a page that has
// left the window are reported as a loss.
import type { AllLimits } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { ListField, ObjectField } from "../model/page-fields.ts";
import type { DocumentProblemCode } from "../model/problem-code.ts";

interface Waiting {
  readonly page: { -readonly [Key in keyof SitemapPage]: SitemapPage[Key] };
  size: number;
  /** The keys of the page's images, videos and alternates, computed when another entry is first merged into it. */
  known: Set<string> | undefined;
}

export class RepeatedPages {
  readonly #limits: Pick<AllLimits, ListField>;
  readonly #report: (code: DocumentProblemCode, value?: string, limit?: number) => void;
  // Receives the pages that need not wait any longer, in declared order.
  readonly #release: (page: SitemapPage) => void;
  // The pages that wait, from `#first` on, in declared order.
  readonly #waiting: (Waiting | undefined)[] = [];
  #first = 0;
  #size = 0;
  // Created for the first repeated URL, because most documents have none.
  #byUrl: Map<string, Waiting> | undefined;

  constructor(
    limits: Pick<AllLimits, ListField>,
    report: (code: DocumentProblemCode, value?: string, limit?: number) => void,
    release: (page: SitemapPage) => void,
  ) {
    this.#limits = limits;
    this.#report = report;
    this.#release = release;
  }

  add(page: SitemapPage): void {
    const waiting: Waiting = { page, size: sizeOf(page), known: undefined };
    this.#waiting.push(waiting);
    this.#byUrl?.set(page.url, waiting);
    this.#grow(waiting.size);
  }

  /** Merges a repeated entry: a page whose URL was added before. */
  merge(page: SitemapPage): void {
    if (!hasDetails(page)) return;
    this.#byUrl ??= new Map(this.#waiting.slice(this.#first).map((waiting) => [waiting!.page.url, waiting!]));
    const first = this.#byUrl.get(page.url);
    if (first === undefined) {
      this.#report("limit-repeats", page.url, window);
      return;
    }
    const before = first.size;
    for (const name of objectFields) this.#mergeObject(first, page, name);
    for (const kind of listFields) this.#mergeList(first, page, kind);
    this.#grow(first.size - before);
  }

  /** Releases all pages. Nothing more will be added. */
  finish(): void {
    while (this.#first < this.#waiting.length) this.#releaseFirst();
  }

  #mergeObject(first: Waiting, page: SitemapPage, name: ObjectField): void {
    const added = page[name];
    if (added === undefined) return;
    first.page[name] ??= added;
    if (contentKey(first.page[name]) !== contentKey(added)) this.#report(objects[name]);
  }

  #mergeList(first: Waiting, page: SitemapPage, kind: ListField): void {
    const items = page[kind];
    if (items === undefined) return;
    const most = this.#limits[kind];
    const list = (first.page[kind] ?? []) as object[];
    first.known ??= knownIn(first);
    for (const item of items) {
      const key = kind + contentKey(item);
      if (first.known.has(key)) continue;
      if (list.length >= most) {
        this.#report(`limit-${kind}`, undefined, most);
        break;
      }
      first.known.add(key);
      list.push(item);
      first.size += 2 * key.length;
    }
    if (list.length > 0) Object.assign(first.page, { [kind]: list });
  }

  // Releases the oldest pages if the window is full.
  #grow(size: number): void {
    this.#size += size;
    while (this.#size > window && this.#first < this.#waiting.length) this.#releaseFirst();
    if (this.#first > 1024 && this.#first * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#first);
      this.#first = 0;
    }
  }

  #releaseFirst(): void {
    const { page, size } = this.#waiting[this.#first]!;
    // A long-lived list that refers to a new page would keep it alive until the next full garbage collection.
    this.#waiting[this.#first++] = undefined;
    this.#size -= size;
    this.#byUrl?.delete(page.url);
    this.#release(page);
  }
}

// The fields to merge: lists, and objects with the problem to report for a second one. The types require every such field of a page, so
// the table of page fields need not be in every bundle of `sitegrove/parse`.
const lists: Readonly<Record<ListField, true>> = { images: true, videos: true, alternates: true };
const objects: Readonly<Record<ObjectField, DocumentProblemCode>> = { newsStory: "news-repeated" };
const listFields = Object.keys(lists) as ListField[];
const objectFields = Object.keys(objects) as ObjectField[];
const details = [...listFields, ...objectFields];

function hasDetails(page: SitemapPage): boolean {
  return details.some((name) => page[name] !== undefined);
}

function knownIn(waiting: Waiting): Set<string> {
  const keys = listFields.flatMap((kind) => waiting.page[kind]?.map((item) => kind + contentKey(item)) ?? []);
  for (const key of keys) waiting.size += key.length;
  return new Set(keys);
}

// Returns a key that is equal for items with equal fields, in any order.
function contentKey(item: object): string {
  const sorted = (_: string, value: unknown) =>
    typeof value === "object" && !Array.isArray(value) ? Object.entries(value!).sort() : value;
  return JSON.stringify(item, sorted);
}

// Estimates the number of characters of a page. It names the fields, instead of using their table, because it runs for every page.
function sizeOf({ url, images, videos, alternates, newsStory }: SitemapPage): number {
  let size = 100 + url.length;
  if (alternates !== undefined) for (const each of alternates) size += 50 + each.language.length + each.url.length;
  if (images !== undefined) for (const each of images) size += textOf(each);
  if (videos !== undefined) for (const each of videos) size += textOf(each);
  return newsStory === undefined ? size : size + textOf(newsStory);
}

function textOf(value: object): number {
  let size = 50;
  for (const name in value) {
    const field: unknown = value[name as keyof typeof value];
    if (typeof field === "string") size += field.length;
    else if (typeof field === "object" && field !== null) size += textOf(field);
  }
  return size;
}

// The size of the window in characters: enough for an ordinary sitemap with images or videos.
const window = 1024 * 1024;
