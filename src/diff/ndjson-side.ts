// A file of pages in the format `ndjson` as one side of a diff: one page a line, with the sitemap that declares it.
import { createReadStream } from "node:fs";
import { SitemapError } from "../model/errors.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Side, SideSitemap } from "./diff-side.ts";
import type { PageList, PageLists } from "./page-lists.ts";

export interface NdjsonSideOptions {
  /** Undefined where there are no pages. */
  readonly file: string | undefined;
  /** Whether everything that was declared was read. */
  readonly complete: boolean;
  /** Where the other side is not of this kind, what the file knows of sitemaps says nothing. */
  readonly kind: "tree" | "file";
}

export class NdjsonSide implements Side {
  readonly homepage = undefined;
  readonly hasFields = true;
  readonly kind: "tree" | "file";
  /** The last line of the file may say that it is not. */
  complete: boolean;
  readonly #file: string | undefined;
  readonly #sitemaps = new Map<string, SideSitemap>();
  // Where each list begins in the file, and where it ends; by the number of the list.
  readonly #ranges: { readonly start: number; end: number }[] = [];

  constructor({ file, complete, kind }: NdjsonSideOptions) {
    this.#file = file;
    this.complete = complete;
    this.kind = kind;
  }

  get sitemaps(): ReadonlyMap<string, SideSitemap> {
    return this.#sitemaps;
  }

  namesAll(index: string | undefined): boolean | undefined {
    return index === undefined ? this.complete : undefined;
  }

  async scan(lists: PageLists): Promise<void> {
    let last: string | undefined;
    for await (const { sitemap, pages, start, end } of this.#batches({ start: 0 })) {
      if (sitemap !== last) this.#ranges.push({ start, end });
      (this.#ranges.at(-1) as { end: number }).end = end;
      last = sitemap;
      if (this.kind === "tree") this.#sitemaps.set(sitemap, { reason: undefined, parent: undefined });
      await lists.add(sitemap, pages);
    }
  }

  async *read(list: PageList): AsyncGenerator<readonly SitemapPage[], void> {
    const range = this.#ranges[list.number];
    if (range === undefined) return;
    for await (const { pages } of this.#batches({ start: range.start, end: range.end - 1 })) yield pages;
  }

  async close(): Promise<void> {}

  async *#batches(range: { readonly start: number; readonly end?: number }): AsyncGenerator<Batch, void> {
    let batch: Batch | undefined;
    let start = range.start;
    for await (const { text, end } of this.#lines(range)) {
      const parsed = this.#parsed(text);
      if (parsed !== undefined) {
        const { sitemap, ...page } = parsed;
        if (batch === undefined || batch.sitemap !== sitemap || batch.pages.length >= batchLength) {
          if (batch !== undefined) yield batch;
          batch = { sitemap, pages: [], start, end };
        }
        batch.pages.push(page);
        batch.end = end;
      }
      start = end;
    }
    if (batch !== undefined) yield batch;
  }

  // The lines, and where the next one begins. Chunks of a long line are joined once, at its end.
  async *#lines(range: {
    readonly start: number;
    readonly end?: number;
  }): AsyncGenerator<{ readonly text: string; readonly end: number }, void> {
    if (this.#file === undefined) return;
    let open: Buffer[] = [];
    let length = 0;
    let at = range.start;
    for await (const chunk of createReadStream(this.#file, range) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        const line =
          open.length === 0 ? chunk.subarray(from, end) : Buffer.concat([...open, chunk.subarray(from, end)]);
        from = end + 1;
        [open, length] = [[], 0];
        yield { text: line.toString(), end: at + from };
      }
      open.push(chunk.subarray(from));
      length += chunk.length - from;
      at += chunk.length;
      if (length > longestLine) throw this.#unreadable("it has a line that is not a page with its sitemap");
    }
    if (length === 0) return;
    const text = Buffer.concat(open).toString();
    // What is cut off is not JSON.
    if (!isWhole(text)) throw this.#unreadable("its last line is cut off");
    yield { text, end: at };
  }

  // Undefined for the line at the end, which says whether everything was read.
  #parsed(line: string): (SitemapPage & { readonly sitemap: string }) | undefined {
    try {
      const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (isPageLine(value)) return value as never;
      if (value["kind"] === "finished" && typeof value["complete"] === "boolean") {
        this.complete &&= value["complete"];
        return undefined;
      }
    } catch {
      // Said below.
    }
    throw this.#unreadable("it has a line that is not a page with its sitemap");
  }

  #unreadable(reason: string): SitemapError {
    return new SitemapError("invalid-file", `${this.#file} cannot be compared: ${reason}`);
  }
}

// Everything that writers rely on: a field of another type would end a run with half of its output written.
function isPageLine(page: Readonly<Record<string, unknown>>): boolean {
  const { url, sitemap, lastModified = "", changeFrequency = "", priority = 0 } = page;
  const { newsStory = {}, images = [], videos = [], alternates = [] } = page;
  const lists = [images, videos, alternates];
  return (
    [url, sitemap, lastModified, changeFrequency].every((text) => typeof text === "string") &&
    url !== "" &&
    typeof priority === "number" &&
    isRecord(newsStory) &&
    lists.every((list) => Array.isArray(list) && list.every(isRecord))
  );
}

// A story, an image, a video or an alternate page.
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { title = "", language = "", url = "" } = value as Readonly<Record<string, unknown>>;
  return [title, language, url].every((text) => typeof text === "string");
}

function isWhole(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

interface Batch {
  readonly sitemap: string;
  readonly pages: SitemapPage[];
  readonly start: number;
  end: number;
}

const batchLength = 1000;
// In bytes: more than any page that is written.
const longestLine = 64 * 1024 * 1024;
