// Reads a file of pages in the format `ndjson` as one side of a diff: one page per line, with the sitemap that declares it.
import { createReadStream } from "node:fs";
import { SitemapError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { Options } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import { type FieldType, type FieldTypes, itemTypes, objectTypes, pageFieldRows } from "../model/page-fields.ts";
import { rewrite as checkedRewrite, type Rewrite, rewrittenPages } from "../model/rewrite.ts";
import { emptyFile, type Side, type SideFacts } from "./diff-side.ts";
import type { PageList, PageLists } from "./page-lists.ts";

export class NdjsonSide implements Side {
  readonly #file: string;
  readonly #rewrite: Rewrite;
  // Whether the run that wrote the file read everything that the website declares. A line, usually the last, may say that it did not.
  #complete = true;
  // Where each list starts and ends in the file, in bytes.
  readonly #ranges = new Map<PageList, { readonly start: number; readonly end: number }>();

  constructor(file: string, rewrite: Options["rewrite"] = []) {
    this.#rewrite = checkedRewrite("rewrite", rewrite);
    this.#file = file;
  }

  async scan(lists: PageLists): Promise<SideFacts> {
    for await (const { sitemap, pages, start, end } of this.#batches({ start: 0 })) {
      lists.add(sitemap, pages);
      const list = lists.lists.at(-1)!;
      this.#ranges.set(list, { start: this.#ranges.get(list)?.start ?? start, end });
    }
    return { ...emptyFile, complete: this.#complete };
  }

  async *read(list: PageList): AsyncGenerator<readonly SitemapPage[], void> {
    const range = this.#ranges.get(list);
    if (range === undefined) return;
    for await (const { pages } of this.#batches({ start: range.start, end: range.end - 1 })) yield pages;
  }

  async *#batches(range: { readonly start: number; readonly end?: number }): AsyncGenerator<Batch, void> {
    let batch: Batch | undefined;
    let start = range.start;
    for await (const line of this.#lines(range)) {
      const parsed = this.#parsed(line.toString());
      const end = start + line.length;
      if (parsed !== undefined) {
        const { sitemap, ...page } = parsed;
        if (batch === undefined || batch.sitemap !== sitemap || batch.pages.length >= batchLength) {
          if (batch !== undefined) yield batch;
          batch = { sitemap, pages: [], start, end };
        }
        batch.pages.push(...(this.#rewrite.length === 0 ? [page] : rewrittenPages([page], this.#rewrite)));
        batch.end = end;
      }
      start = end;
    }
    if (batch !== undefined) yield batch;
  }

  // Yields lines with their line ends.
  async *#lines(range: { readonly start: number; readonly end?: number }): AsyncGenerator<Buffer, void> {
    // Chunks of a long line are joined once, at its end.
    let open: Buffer[] = [];
    let length = 0;
    for await (const chunk of createReadStream(this.#file, range) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10) + 1; end !== 0; end = chunk.indexOf(10, from) + 1) {
        yield open.length === 0 ? chunk.subarray(from, end) : Buffer.concat([...open, chunk.subarray(from, end)]);
        [open, length, from] = [[], 0, end];
      }
      if (from < chunk.length) open.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > longestLine) throw this.#unreadable();
    }
    if (length > 0) yield Buffer.concat(open);
  }

  // Returns the page on a line, or undefined for a line that says whether everything was read, usually the last.
  #parsed(line: string): (SitemapPage & { readonly sitemap: string }) | undefined {
    try {
      const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (isPageLine(value)) return value as never;
      if (value["kind"] === "finished" && typeof value["complete"] === "boolean") {
        this.#complete &&= value["complete"];
        return undefined;
      }
    } catch {
      if (!line.endsWith("\n")) throw this.#unreadable("its last line is cut off");
    }
    throw this.#unreadable();
  }

  #unreadable(reason = "a line is not a page in the format of `ls -f ndjson`"): SitemapError {
    return new SitemapError("invalid-file", `${this.#file} cannot be compared: ${reason}`);
  }
}

/** Whether all known fields have the types that writers expect. Without this check, a run could fail after half of its output was written. */
export function isPageLine(page: Readonly<Record<string, unknown>>): boolean {
  return typeof page["sitemap"] === "string" && hasTypes(page, pageTypes);
}

const pageTypes: FieldTypes = Object.fromEntries(pageFieldRows.map(({ name, type }) => [name, type]));

// Accepts unknown fields, which later versions may add.
function hasTypes(value: unknown, types: FieldTypes): boolean {
  if (!isJsonObject(value)) return false;
  for (const name in types) if (!hasType(value[name], types[name]!)) return false;
  return true;
}

function hasType(value: unknown, type: FieldType): boolean {
  if (type === "page") return typeof value === "string" && value !== "";
  if (value === undefined) return true;
  if (type === "number" || type === "boolean") return typeof value === type;
  if (type === "texts") return Array.isArray(value) && value.every((each) => typeof each === "string");
  if (typeof type === "string") return typeof value === "string";
  if ("oneOf" in type) return type.oneOf.includes(value as string);
  const items = itemTypes(type);
  if (items === undefined) return hasTypes(value, objectTypes(type)!);
  return Array.isArray(value) && value.every((each) => hasTypes(each, items));
}

interface Batch {
  readonly sitemap: string;
  readonly pages: SitemapPage[];
  readonly start: number;
  end: number;
}

const batchLength = 1000;
// The longest line that is accepted, in bytes. Real pages are far shorter.
const longestLine = 64 * 1024 * 1024;
