// A local file or a stream as one side of a diff: a sitemap of any format, or a list of URLs. Nothing in it is fetched.

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";
import { type Reading, type ReadSettings, read } from "../crawl/read.ts";
import { SitemapError } from "../model/errors.ts";
import { defaultLimits } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Problem } from "../model/problem.ts";
import { isRobotsPath } from "../model/url.ts";
import { kindOfBytes } from "./archive-magic.ts";
import type { DiffBytes, Side, SideSitemap } from "./diff-side.ts";
import type { OpenSideOptions } from "./open-side.ts";
import type { PageLists } from "./page-lists.ts";

export class FileSide implements Side {
  complete = true;
  readonly sitemaps: Map<string, SideSitemap> = new Map();
  readonly #source: string | DiffBytes;
  readonly #scratch: Scratch;
  readonly #options: OpenSideOptions;
  readonly #settings: ReadSettings;
  // Of a stream, which can be read only once.
  readonly #blocks: Block[] = [];
  #ranges: readonly Range[] = [];
  #outcome: Reading["outcome"] | undefined;

  /** `source`: a path, or a stream, which is stored while it is received. */
  constructor(source: string | DiffBytes, scratch: Scratch, options: OpenSideOptions) {
    this.#source = source;
    this.#scratch = scratch;
    this.#options = options;
    const { limits, strict = false } = options.crawl ?? {};
    // The file is the caller's own: no limit on its length.
    const endless = { documentBytes: Number.POSITIVE_INFINITY, documentEntries: Number.POSITIVE_INFINITY };
    this.#settings = { limits: { ...defaultLimits, ...endless, ...limits }, strict };
  }

  get hasFields(): boolean {
    return !(this.#outcome?.kind === "pages" && this.#outcome.format === "text");
  }

  get kind(): "index" | "file" {
    return this.#outcome?.kind === "index" ? "index" : "file";
  }

  namesAll(index: string | undefined): boolean | undefined {
    return index === undefined ? this.complete : undefined;
  }

  async scan(lists: PageLists): Promise<void> {
    const source = this.#source;
    const name = typeof source === "string" ? path.basename(source) : source.name;
    this.#ranges = typeof source === "string" ? await lineRanges(source) : await this.#receive(source);
    for (const range of this.#ranges) {
      const entries = this.#entries(range);
      let step = await entries.next();
      for (; !step.done; step = await entries.next()) {
        const { pages, sitemaps } = step.value;
        for (const { url } of sitemaps) this.sitemaps.set(url, { reason: undefined, parent: undefined });
        if (pages.length > 0) await lists.add(name, pages);
      }
      const { outcome, complete, problems } = step.value;
      // The first range of a divided text decides its format.
      this.#outcome ??= outcome;
      this.complete &&= complete || outcome.kind === "invalid";
      this.#options.onProblems?.(problems);
    }
    if (this.#outcome?.kind === "invalid") this.#expectEmptyList(this.#outcome.reason);
  }

  // A list may be empty, which is complete; any other file without pages is not a sitemap.
  #expectEmptyList(reason: Problem): void {
    const source = this.#source;
    const mayBeEmpty = typeof source !== "string" || /\.txt$/i.test(source);
    const shown = typeof source === "string" ? source : source.name;
    if (reason.code !== "empty" || !mayBeEmpty)
      throw new SitemapError("invalid-file", `${shown} is neither an archive nor a sitemap: ${reason.message}`);
    this.#outcome = { kind: "pages", format: "text" };
    this.#options.onProblems?.([reason]);
  }

  async *read(): AsyncGenerator<readonly SitemapPage[], void> {
    for (const range of this.#ranges) {
      for await (const { pages } of this.#entries(range)) if (pages.length > 0) yield pages;
    }
  }

  #entries(range: Range): ReturnType<typeof read> {
    const source = this.#source;
    const { signal } = this.#options;
    const isFile = typeof source === "string";
    const body = isFile ? createReadStream(source, { highWaterMark: blockLength, signal, ...range }) : this.#received();
    return read({ url: undefined, headers: [], body, isRobots: isFile && isRobotsPath(source) }, this.#settings);
  }

  async #receive({ name, bytes: chunks }: DiffBytes): Promise<readonly Range[]> {
    for await (const bytes of chunks) {
      this.#options.signal?.throwIfAborted();
      const kind = this.#blocks.length === 0 ? kindOfBytes(bytes) : "other";
      if (kind !== "other") throw new SitemapError("invalid-file", `${name} holds ${notText[kind]}`);
      // A copy: the producer may reuse its buffer.
      this.#blocks.push(await this.#scratch.put(bytes.slice()));
    }
    return [{ start: 0, end: Number.POSITIVE_INFINITY }];
  }

  async *#received(): AsyncGenerator<Uint8Array> {
    for (const block of this.#blocks) yield await this.#scratch.get(block);
  }
}

const notText = {
  archive: "an archive, which must be a file",
  ndjson: "NDJSON, which must be a file",
  table: "a table: list with -f ndjson or --save to compare",
};
const blockLength = 256 * 1024;

interface Range {
  readonly start: number;
  /** The last byte. */
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
