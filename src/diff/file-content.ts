// The bytes of a local file or of a stream, for reading more than once.
import { createReadStream } from "node:fs";
import path from "node:path";
import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";
import { SitemapError } from "../model/errors.ts";
import { isRobotsPath } from "../model/url.ts";
import { looksLikeArchive, looksLikePages, looksLikeTable } from "./archive-magic.ts";
import { lineRanges, type Range } from "./line-ranges.ts";

export interface FileContent {
  /** Its name in messages, and the name of the sitemap of its pages. */
  readonly shown: string;
  readonly name: string;
  readonly isRobots: boolean;
  /** Whether it may be a list without a URL. */
  readonly mayBeEmpty: boolean;
  /** The parts that can be read as documents of their own, in order. */
  ranges(): Promise<readonly Range[]>;
  open(range: Range): AsyncIterable<Uint8Array>;
}

export class PathContent implements FileContent {
  readonly shown: string;
  readonly #signal: AbortSignal | undefined;

  constructor(file: string, signal: AbortSignal | undefined) {
    this.shown = file;
    this.#signal = signal;
  }

  get name(): string {
    return path.basename(this.shown);
  }

  get isRobots(): boolean {
    return isRobotsPath(this.shown);
  }

  get mayBeEmpty(): boolean {
    return /\.txt$/i.test(this.name);
  }

  ranges(): Promise<readonly Range[]> {
    return lineRanges(this.shown);
  }

  open(range: Range): AsyncIterable<Uint8Array> {
    return createReadStream(this.shown, { highWaterMark: blockLength, signal: this.#signal, ...range });
  }
}

/** Stored while it is received. */
export class StreamContent implements FileContent {
  readonly name: string;
  readonly isRobots = false;
  readonly mayBeEmpty = true;
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #scratch: Scratch;
  readonly #signal: AbortSignal | undefined;
  readonly #pieces: Block[] = [];

  constructor(name: string, bytes: AsyncIterable<Uint8Array>, scratch: Scratch, signal: AbortSignal | undefined) {
    this.name = name;
    this.#bytes = bytes;
    this.#scratch = scratch;
    this.#signal = signal;
  }

  get shown(): string {
    return this.name;
  }

  async ranges(): Promise<readonly Range[]> {
    for await (const bytes of this.#bytes) {
      this.#signal?.throwIfAborted();
      if (this.#pieces.length === 0) this.#expectText(bytes);
      // A copy: the producer may reuse its buffer.
      this.#pieces.push(await this.#scratch.put(bytes.slice()));
    }
    return [{ start: 0 }];
  }

  #expectText(bytes: Uint8Array): void {
    const what = looksLikeArchive(bytes)
      ? "an archive: an archive has to be a file"
      : looksLikePages(bytes)
        ? "NDJSON: that has to be a file"
        : looksLikeTable(bytes)
          ? "a table: list with -f ndjson or --save to compare"
          : undefined;
    if (what !== undefined) throw new SitemapError("invalid-file", `${this.name} holds ${what}`);
  }

  async *open(): AsyncGenerator<Uint8Array, void> {
    for (const piece of this.#pieces) yield await this.#scratch.get(piece);
  }
}

const blockLength = 256 * 1024;
