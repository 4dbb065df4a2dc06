// Merges the entries of one URL in one sitemap: real video sitemaps list a page once for each of its videos. The page has the place and
// the fields of the first entry, the images, videos and alternates of all of them (identical ones once), and the first news story. For
// that, pages wait in a window of limited size. In a document without such details, none waits.
import type { Limits } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { ProblemCode } from "../model/problem.ts";
import type { PageDraft } from "./page-shapes.ts";

export interface RepeatedPagesOptions {
  readonly limits: Pick<Limits, "images" | "videos" | "alternates">;
  /** All pages are kept by whoever reads the document: any number may wait. */
  readonly keepsAll?: boolean | undefined;
  /** Takes the pages that wait no longer, in declared order. */
  readonly release: (page: SitemapPage) => void;
  readonly report: (code: ProblemCode, value?: string, limit?: number) => void;
}

interface Waiting {
  readonly page: PageDraft;
  size: number;
  /** What it has, once something was added. */
  known: Set<string> | undefined;
}

export class RepeatedPages {
  readonly #options: RepeatedPagesOptions;
  #most: number;
  #isWaiting = false;
  // From `#first` on, in declared order.
  #waiting: Waiting[] = [];
  #first = 0;
  #size = 0;
  // Made for the first repeated URL: most documents have none.
  #byUrl: Map<string, Waiting> | undefined;

  constructor(options: RepeatedPagesOptions) {
    this.#options = options;
    this.#most = options.keepsAll ? Number.POSITIVE_INFINITY : usualWindow;
  }

  /** From now on, pages wait. */
  wait(): void {
    this.#isWaiting = true;
  }

  add(page: SitemapPage): void {
    this.#isWaiting ||= hasDetails(page);
    if (page.images !== undefined || page.videos !== undefined) this.#most = Math.max(this.#most, mediaWindow);
    if (!this.#isWaiting) {
      this.#options.release(page);
      return;
    }
    const waiting: Waiting = { page, size: sizeOf(page), known: undefined };
    this.#waiting.push(waiting);
    this.#byUrl?.set(page.url, waiting);
    this.#grow(waiting.size);
  }

  /** A repeated entry: a page with the URL of one that was added before. */
  merge(page: SitemapPage): void {
    if (!hasDetails(page)) return;
    this.#byUrl ??= new Map(this.#waiting.slice(this.#first).map((waiting) => [waiting.page.url, waiting]));
    const first = this.#byUrl.get(page.url);
    if (first === undefined) {
      this.#options.report("limit-repeats", page.url, this.#most);
      return;
    }
    const before = first.size;
    if (page.newsStory !== undefined) first.page.newsStory ??= page.newsStory;
    for (const kind of kinds) this.#mergeList(first, page, kind);
    this.#grow(first.size - before);
  }

  /** Nothing more will be added. */
  finish(): void {
    while (this.#first < this.#waiting.length) this.#releaseFirst();
  }

  #mergeList(first: Waiting, page: SitemapPage, kind: Kind): void {
    const items = page[kind];
    if (items === undefined) return;
    const { limits, report } = this.#options;
    const list = (first.page[kind] ?? []) as object[];
    first.known ??= knownIn(first);
    for (const item of items) {
      const key = keyOf(kind, item);
      if (first.known.has(key)) continue;
      if (list.length >= limits[kind]) {
        report(`limit-${kind}`, undefined, limits[kind]);
        break;
      }
      first.known.add(key);
      list.push(item);
      first.size += 2 * key.length;
    }
    if (list.length > 0) Object.assign(first.page, { [kind]: list });
  }

  // Releases the first ones where there is no more room.
  #grow(size: number): void {
    this.#size += size;
    while (this.#size > this.#most && this.#first < this.#waiting.length) this.#releaseFirst();
    if (this.#first > 1024 && this.#first * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
  }

  #releaseFirst(): void {
    const { page, size } = this.#waiting[this.#first++]!;
    this.#size -= size;
    this.#byUrl?.delete(page.url);
    this.#options.release(page);
  }
}

const kinds = ["images", "videos", "alternates"] as const;
type Kind = (typeof kinds)[number];

function hasDetails({ images, videos, alternates, newsStory }: SitemapPage): boolean {
  return images !== undefined || videos !== undefined || alternates !== undefined || newsStory !== undefined;
}

function knownIn(waiting: Waiting): Set<string> {
  const keys = kinds.flatMap((kind) => waiting.page[kind]?.map((item) => keyOf(kind, item)) ?? []);
  for (const key of keys) waiting.size += key.length;
  return new Set(keys);
}

// Equal for items that say the same, in whatever order.
function keyOf(kind: Kind, item: object): string {
  return kind + JSON.stringify(item, (_, value) => (isRecord(value) ? Object.entries(value).sort() : value));
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// About as many characters as a page takes in memory.
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

// In characters. To wait takes as long as to read. Where a page is listed once for each video or image, the sitemap fits whole if it is
// an ordinary one; elsewhere repeated entries are rare, and follow one another.
const usualWindow = 256 * 1024;
const mediaWindow = 8 * 1024 * 1024;
