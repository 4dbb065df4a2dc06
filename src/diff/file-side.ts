// A local file or a stream as one side of a diff: a sitemap of any format, or a list of URLs. Nothing in it is fetched.

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { type Reading, type ReadSettings, read } from "../crawl/read.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { SitemapPage } from "../model/page.ts";
import { defaultLimits } from "../model/parse-options.ts";
import type { Problem } from "../model/problem.ts";
import { rewrite as checkedRewrite } from "../model/rewrite.ts";
import { isRobotsPath } from "../model/url.ts";
import type { Block } from "../storage/file.ts";
import { Scratch } from "../storage/scratch.ts";
import { kindOfBytes, withStart } from "./archive-magic.ts";
import {
  type DiffBytes,
  type OpenSideOptions,
  type Side,
  type SideFacts,
  type SideSitemap,
  skippedEntries,
} from "./diff-side.ts";
import type { PageLists } from "./page-lists.ts";
import { isFeed } from "./tree-side.ts";
import { urlColumn } from "./url-table.ts";

/** A part that is read as a document, as often as it is needed. */
type Part = () => AsyncIterable<Uint8Array>;

export class FileSide implements Side {
  readonly #source: string | DiffBytes;
  // Keeps the bytes of a stream, which can be read only once.
  readonly #scratch = new Scratch();
  readonly #options: OpenSideOptions;
  readonly #settings: ReadSettings;
  #parts: readonly Part[] = [];
  #isTable: boolean;

  /** `source`: a path, or a stream, which is stored while it is received. */
  constructor(source: string | DiffBytes, options: OpenSideOptions, isTable = false) {
    this.#isTable = isTable;
    this.#source = source;
    this.#options = options;
    const { limits, strict = false } = options.crawl ?? {};
    const rewrite = checkedRewrite("rewrite", options.crawl?.rewrite ?? []);
    // The file is the caller's own, so its length has no limit.
    const endless = { documentBytes: Number.POSITIVE_INFINITY, documentEntries: Number.POSITIVE_INFINITY };
    this.#settings = { limits: { ...defaultLimits, ...endless, ...defined(limits ?? {}) }, strict, rewrite };
  }

  async scan(lists: PageLists): Promise<SideFacts> {
    const source = this.#source;
    const name = typeof source === "string" ? path.basename(source) : source.name;
    this.#parts = typeof source === "string" ? await this.#fileParts(source) : [await this.#receive(source)];
    const sitemaps = new Map<string, SideSitemap>();
    let complete = true;
    let skipped = 0;
    let found: Reading["outcome"] | undefined;
    for (const part of this.#parts) {
      const entries = this.#entries(part);
      let step = await entries.next();
      for (; !step.done; step = await entries.next()) {
        for (const { url } of step.value.sitemaps) sitemaps.set(url, { reason: undefined, parent: undefined });
        if (step.value.pages.length > 0) lists.add(name, step.value.pages);
      }
      const { outcome, complete: isWhole, problems } = step.value;
      // The first part of a divided text decides its format.
      found ??= outcome;
      complete &&= isWhole || outcome.kind === "invalid";
      skipped += skippedEntries(problems);
      this.#options.onProblems?.(problems);
    }
    if (found?.kind === "invalid") this.#expectEmptyList(found.reason);
    const isNews = found?.kind === "pages" && isFeed(found.format);
    for (const list of lists.lists) list.isFeed = isNews;
    return {
      kind: found?.kind === "index" ? "index" : "file",
      hasFields: found?.kind === "index" || (found?.kind === "pages" && found.format !== "text"),
      complete,
      skipped: new Map([["", skipped]]),
      sitemaps,
      indexes: new Map([[undefined, complete]]),
    };
  }

  // A list may be empty, which is complete; any other file without pages is not a sitemap.
  #expectEmptyList(reason: Problem): void {
    const source = this.#source;
    const mayBeEmpty = typeof source !== "string" || /\.txt$/i.test(source);
    const shown = typeof source === "string" ? source : source.name;
    if (reason.code !== "empty" || !mayBeEmpty)
      throw new SitemapError("invalid-file", `${shown} is neither an archive nor a sitemap: ${reason.message}`);
    this.#options.onProblems?.([reason]);
  }

  async *read(): AsyncGenerator<readonly SitemapPage[], void> {
    for (const part of this.#parts) {
      for await (const { pages } of this.#entries(part)) if (pages.length > 0) yield pages;
    }
  }

  close(): Promise<void> {
    return this.#scratch.close();
  }

  #entries(part: Part): ReturnType<typeof read> {
    const isRobots = typeof this.#source === "string" && isRobotsPath(this.#source);
    const shown = typeof this.#source === "string" ? this.#source : this.#source.name;
    const body = this.#isTable ? urlColumn(shown, part(), this.#options.column) : part();
    return read({ url: undefined, headers: [], body, isRobots }, this.#settings);
  }

  async #fileParts(file: string): Promise<readonly Part[]> {
    const { signal } = this.#options;
    const ranges = this.#isTable ? [{}] : await lineRanges(file);
    return ranges.map((range) => () => createReadStream(file, { highWaterMark: blockLength, signal, ...range }));
  }

  // A stream can be read only once.
  async #receive({ name, bytes: chunks }: DiffBytes): Promise<Part> {
    const scratch = this.#scratch;
    const blocks: Block[] = [];
    const { start, bytes: all } = await withStart(chunks);
    const kind = kindOfBytes(start);
    if (kind === "table") this.#isTable = true;
    else if (kind !== "other") throw new SitemapError("invalid-file", `${name} contains ${notText[kind]}`);
    for await (const bytes of all) {
      this.#options.signal?.throwIfAborted();
      // A copy, because the producer may reuse its buffer.
      blocks.push(await scratch.put(bytes.slice()));
    }
    return async function* () {
      for (const block of blocks) yield await scratch.get(block);
    };
  }
}

const notText = {
  archive: "an archive, which must be a file",
  ndjson: "NDJSON, which must be a file",
};
const blockLength = 256 * 1024;

interface Range {
  readonly start: number;
  /** The offset of the last byte. */
  readonly end: number;
}

const rangeLength = 16 * 1024 * 1024;

// Divides a long text of URLs into ranges at line ends: each is read as a separate document, so that memory depends on the range and not
// on the text. One range for any other file.
export async function lineRanges(file: string, length: number = rangeLength): Promise<readonly Range[]> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const block = Buffer.alloc(64 * 1024);
    const textAt = async (at: number) =>
      block.toString("latin1", 0, (await handle.read(block, 0, block.length, at)).bytesRead);
    const starts = [0];
    const isList = size > length && /^(?:\xef\xbb\xbf|\s)*https?:\/\//i.test(await textAt(0));
    for (let at = length; isList && at < size; ) {
      const end = (await textAt(at)).indexOf("\n") + 1;
      at += end || block.length;
      if (end > 0 && at < size) starts.push(at);
      if (end > 0) at += length;
    }
    return starts.map((start, number) => ({ start, end: (starts[number + 1] ?? Number.POSITIVE_INFINITY) - 1 }));
  } finally {
    await handle.close();
  }
}
