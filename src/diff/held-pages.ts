// What a run remembers besides documents, as notes at the end of the state: pages that seem to be removed while something could not be
// read, and documents whose absence is not believed yet. The notes are lines of JSON: one about documents, then one for each batch of pages.
import { parseJson } from "../archive/info.ts";
import type { Archive } from "../archive/reader.ts";
import { appendNotes } from "../archive/store.ts";
import { isJsonObject } from "../model/json.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Block } from "../storage/file.ts";
import { Scratch } from "../storage/scratch.ts";
import { isPageLine } from "./ndjson-side.ts";
import type { PageList } from "./page-lists.ts";

/** URLs of documents that were read before. */
export interface DocumentNotes {
  /** The website had nothing there. */
  readonly absent: readonly string[];
  /** Sitemaps that robots.txt or the homepage no longer listed, although they listed no others instead. */
  readonly unlisted: readonly string[];
  /** Sitemaps from a robots.txt that has listed no sitemap since. */
  readonly fromRobots: readonly string[];
}

export const noNotes: DocumentNotes = { absent: [], unlisted: [], fromRobots: [] };

/** How many entries were skipped when a page was last seen: if there are more now, one of them may be the page. */
export interface Skipped {
  readonly inSitemap: number;
  /** In all indexes, one of which may list the sitemap. */
  readonly inIndexes: number;
}

/** Pages of a sitemap, as they were when they were last seen. */
export interface HeldBatch extends Pick<PageList, "sitemap" | "key"> {
  /** What to report once everything can be read. */
  readonly kind: "removed" | "expired";
  readonly skipped: Skipped;
  readonly pages: readonly SitemapPage[];
}

// A line has at most this many pages, because it is parsed as a whole.
const batchLength = 100;

export class HeldPages {
  /** How many of the added pages were beyond the limit. */
  omitted = 0;
  #count = 0;
  readonly #most: number;
  readonly #scratch = new Scratch();
  readonly #lines: Block[] = [];

  /** `most` is how many pages are remembered. */
  constructor(most: number = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** Adds the pages in the notes of a state, and returns what they say about documents. Throws a `SitemapError` if they are damaged. */
  async read(archive: Archive): Promise<DocumentNotes> {
    let documents: DocumentNotes | undefined;
    let rest = "";
    const decoder = new TextDecoder();
    for await (const piece of archive.notes()) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) {
        const value = parseJson(line);
        if (documents === undefined ? !isDocumentNotes(value) : !isBatch(value)) throw archive.records.damaged();
        if (documents === undefined) documents = value as DocumentNotes;
        else this.#lines.push(await this.#scratch.put(Buffer.from(`${line}\n`)));
      }
    }
    return documents ?? noNotes;
  }

  async add({ pages, ...about }: HeldBatch): Promise<void> {
    const kept = pages.slice(0, this.#most - this.#count);
    this.#count += kept.length;
    this.omitted += pages.length - kept.length;
    for (let from = 0; from < kept.length; from += batchLength) {
      const batch: HeldBatch = { ...about, pages: kept.slice(from, from + batchLength) };
      this.#lines.push(await this.#scratch.put(lineOf(batch)));
    }
  }

  /** Yields the batches, each with where it is stored. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly [Block, HeldBatch], void> {
    for (const line of this.#lines) yield [line, await this.batch(line)];
  }

  async batch(line: Block): Promise<HeldBatch> {
    return JSON.parse(Buffer.from(await this.#scratch.get(line)).toString()) as HeldBatch;
  }

  /** Writes the notes to an archive, unless there is nothing to remember. */
  async save(archive: string, documents: DocumentNotes): Promise<void> {
    const isEmpty = this.#lines.length === 0 && Object.values(documents).every((urls) => urls.length === 0);
    if (!isEmpty) await appendNotes(archive, [lineOf(documents), ...this.#lines]);
  }

  close(): Promise<void> {
    return this.#scratch.close();
  }
}

function lineOf(value: HeldBatch | DocumentNotes): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function isDocumentNotes(value: unknown): boolean {
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((each) => typeof each === "string");
  return isJsonObject(value) && Object.keys(noNotes).every((name) => areTexts(value[name]));
}

function isBatch(value: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(value["skipped"])) return false;
  const { sitemap, key, kind, skipped, pages } = value;
  const isPage = (page: unknown) => isJsonObject(page) && isPageLine({ ...page, sitemap });
  const areCounts = [skipped["inSitemap"], skipped["inIndexes"]].every(Number.isSafeInteger);
  const isKind = kind === "removed" || kind === "expired";
  return typeof key === "string" && isKind && areCounts && Array.isArray(pages) && pages.every(isPage);
}
