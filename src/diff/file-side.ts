// A local file as one side of a diff: a sitemap of any format, or a list of URLs. Nothing in it is fetched.

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";
import { type Reading, type ReadSettings, read } from "../crawl/read.ts";
import { SitemapError } from "../model/errors.ts";
import { defaultLimits, type Options } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Problem } from "../model/problem.ts";
import { isRobotsPath } from "../model/url.ts";
import { kindOfBytes } from "./archive-magic.ts";
import type { DiffBytes, Side, SideSitemap } from "./diff-side.ts";
import type { PageLists } from "./page-lists.ts";

export class FileSide implements Side {
  complete = true;
  readonly sitemaps: Map<string, SideSitemap> = new Map();
  readonly #content: FileContent;
  readonly #settings: ReadSettings;
  readonly #onProblems: OnProblems;
  #ranges: readonly Range[] = [];
  #outcome: Reading["outcome"] | undefined;

  constructor(content: FileContent, { limits, strict = false }: Options, onProblems: OnProblems = () => {}) {
    this.#content = content;
    this.#onProblems = onProblems;
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
    this.#ranges = await this.#content.ranges();
    for (const range of this.#ranges) {
      const entries = this.#entries(range);
      let step = await entries.next();
      for (; !step.done; step = await entries.next()) {
        const { pages, sitemaps } = step.value;
        for (const { url } of sitemaps) this.sitemaps.set(url, { reason: undefined, parent: undefined });
        if (pages.length > 0) await lists.add(this.#content.name, pages);
      }
      const { outcome, complete, problems } = step.value;
      // The first range of a divided text decides its format.
      this.#outcome ??= outcome;
      this.complete &&= complete || outcome.kind === "invalid";
      this.#onProblems(problems);
    }
    if (this.#outcome?.kind === "invalid") this.#expectEmptyList(this.#outcome.reason);
  }

  // A list may be empty, which is complete; any other file without pages is not a sitemap.
  #expectEmptyList(reason: Problem): void {
    const { shown, mayBeEmpty } = this.#content;
    if (reason.code !== "empty" || !mayBeEmpty)
      throw new SitemapError("invalid-file", `${shown} is neither an archive nor a sitemap: ${reason.message}`);
    this.#outcome = { kind: "pages", format: "text" };
    this.#onProblems([reason]);
  }

  async *read(): AsyncGenerator<readonly SitemapPage[], void> {
    for (const range of this.#ranges) {
      for await (const { pages } of this.#entries(range)) if (pages.length > 0) yield pages;
    }
  }

  async close(): Promise<void> {}

  #entries(range: Range): ReturnType<typeof read> {
    const { isRobots } = this.#content;
    return read({ url: undefined, headers: [], body: this.#content.open(range), isRobots }, this.#settings);
  }
}

/** Receives the problems of a file. */
export type OnProblems = (problems: readonly Problem[]) => void;

/** The bytes of a local file or of a stream, for reading more than once. */
interface FileContent {
  /** Its name in messages, and the name of the sitemap of its pages. */
  readonly shown: string;
  readonly name: string;
  readonly isRobots: boolean;
  /** Whether it may be a list without a URL. */
  readonly mayBeEmpty: boolean;
  /** The parts that can be read as separate documents, in order. */
  ranges(): Promise<readonly Range[]>;
  open(range: Range): AsyncIterable<Uint8Array>;
}

export function pathContent(file: string, signal: AbortSignal | undefined): FileContent {
  const name = path.basename(file);
  return {
    shown: file,
    name,
    isRobots: isRobotsPath(file),
    mayBeEmpty: /\.txt$/i.test(name),
    ranges: () => lineRanges(file),
    open: (range) => createReadStream(file, { highWaterMark: blockLength, signal, ...range }),
  };
}

/** Stored while it is received. */
export function streamContent(
  { name, bytes: received }: DiffBytes,
  scratch: Scratch,
  signal: AbortSignal | undefined,
): FileContent {
  const blocks: Block[] = [];
  return {
    shown: name,
    name,
    isRobots: false,
    mayBeEmpty: true,
    async ranges() {
      for await (const bytes of received) {
        signal?.throwIfAborted();
        const kind = blocks.length === 0 ? kindOfBytes(bytes) : "other";
        if (kind !== "other") throw new SitemapError("invalid-file", `${name} holds ${notText[kind]}`);
        // A copy: the producer may reuse its buffer.
        blocks.push(await scratch.put(bytes.slice()));
      }
      return [{ start: 0, end: Number.POSITIVE_INFINITY }];
    },
    async *open() {
      for (const block of blocks) yield await scratch.get(block);
    },
  };
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
