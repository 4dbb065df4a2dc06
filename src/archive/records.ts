// Reads the records of a WARC file, compressed (each is a gzip member) or not: one at a known position, or all in one pass, which continues
// after damage.
import * as zlib from "node:zlib";
import { SitemapError } from "../model/errors.ts";
import { amount } from "../model/figures.ts";
import { ByteReader } from "../open/byte-reader.ts";
import { isGzip } from "../open/content-coding.ts";
import { GzipMembers } from "../open/gzip-member.ts";
import { createRawInflater, type ZlibStream } from "../open/zlib-stage.ts";
import { type KeptFile, readBlocks } from "../storage/file.ts";
import { headAt, latin1, lineEndsAt, magic, maxHead, type RecordHead, recordEnd } from "./warc.ts";

/** The position of a record in its file, and its length there, including the line ends after it. */
export interface RecordSpan {
  readonly offset: number;
  readonly length: number;
}

export interface OpenedRecord {
  readonly head: RecordHead;
  /** The bytes of the head, as stored in the file. */
  readonly start: Uint8Array;
  readonly content: AsyncGenerator<Uint8Array, undefined>;
}

export class RecordFile {
  readonly path: string;
  readonly file: KeptFile;
  readonly isCompressed: boolean;

  constructor(path: string, file: KeptFile, isCompressed: boolean) {
    this.path = path;
    this.file = file;
    this.isCompressed = isCompressed;
  }

  /** Opens a record. If it is not exactly one whole record, throws an error for which `isDamage` is true, here or in `content`. */
  async open(span: RecordSpan): Promise<OpenedRecord> {
    const pieces = this.#bytes(span);
    let start: Uint8Array = new Uint8Array();
    try {
      for (;;) {
        const { value, done } = await pieces.next();
        if (done) throw this.damaged();
        start = start.length === 0 ? value : Buffer.concat([start, value]);
        const head = headAt(start);
        if (head === undefined) throw this.damaged();
        if (head === "cut") continue;
        const content = this.#content(head, start.subarray(head.headLength), pieces);
        return { head, start: start.subarray(0, head.headLength), content };
      }
    } catch (error) {
      await pieces.return(undefined);
      throw error;
    }
  }

  /** Reads a record with at most this many bytes of content. */
  async read(span: RecordSpan, most: number): Promise<{ readonly head: RecordHead; readonly content: Uint8Array }> {
    const { head, content } = await this.open(span);
    const pieces: Uint8Array[] = [];
    for await (const piece of content) {
      if (head.contentLength > most) throw this.damaged();
      pieces.push(piece);
    }
    return { head, content: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces) };
  }

  /** Yields the bytes of a record, decompressed, with the required line ends. */
  async *copy(span: RecordSpan): AsyncGenerator<Uint8Array, undefined> {
    const { start, content } = await this.open(span);
    yield start;
    yield* content;
    yield recordEnd;
  }

  damaged(): SitemapError {
    return new SitemapError("invalid-archive", `${this.path} is damaged: a record in it cannot be read`);
  }

  // Yields the bytes of a record, decompressed.
  async *#bytes({ offset, length }: RecordSpan): AsyncGenerator<Uint8Array, undefined> {
    const stored = readBlocks([{ file: this.file, offset, length }]);
    if (!this.isCompressed) return yield* stored;
    const input = new ByteReader(stored);
    if (!(await input.fill(3)) || !isGzip(input.peek(3))) throw this.damaged();
    const content = new GzipMembers(input, length > largeRecord ? createRawInflater : createInflater).next();
    try {
      let room = mostUnpacked(length);
      let step = await content.next();
      for (; !step.done; step = await content.next()) {
        room -= step.value.length;
        if (room < 0) throw this.damaged();
        yield step.value;
      }
      if (step.value.ending !== "complete" || !step.value.isIntact || input.position !== length) throw this.damaged();
    } finally {
      await content.return(undefined as never);
    }
  }

  // Yields the content of a record. Only line ends may follow it.
  async *#content(
    { contentLength }: RecordHead,
    start: Uint8Array,
    rest: AsyncGenerator<Uint8Array, undefined>,
  ): AsyncGenerator<Uint8Array, undefined> {
    let left = contentLength;
    try {
      for (let piece: Uint8Array | undefined = start; piece !== undefined; piece = (await rest.next()).value) {
        const content = piece.subarray(0, left);
        const behind = piece.subarray(left);
        if (content.length > 0) yield content;
        if (lineEndsAt(behind) < behind.length) throw this.damaged();
        left -= content.length;
      }
      if (left > 0) throw this.damaged();
    } finally {
      await rest.return(undefined);
    }
  }
}

// How far a record, or a file in one pass, may expand: a tiny file must not become huge. Sitemaps usually shrink to about a tenth.
const maxRatio = 100;
const alwaysAllowed = 128 * 1024 * 1024;

function mostUnpacked(packed: number): number {
  return Math.max(alwaysAllowed, packed * maxRatio);
}

// When opened, records that take more bytes in the file are decompressed in the same large chunks as documents.
const largeRecord = 64 * 1024;

// Creates an inflater with smaller chunks, because a pass over an archive may need thousands of inflaters.
function createInflater(): ZlibStream {
  return zlib.createInflateRaw({ chunkSize: 64 * 1024 });
}

/** Whether an error is caused by damage in the file, so that other records may be readable. */
export function isDamage(error: unknown): boolean {
  return error instanceof SitemapError && error.code === "invalid-archive";
}

/** Returns the result of `read`, or undefined if the file is damaged there. */
export async function unlessDamaged<T>(read: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

export interface WalkedRecord {
  readonly head: RecordHead;
  readonly span: RecordSpan;
  /** The content, if the record is small. */
  readonly content: Uint8Array | undefined;
}

const windowSize = 512 * 1024;
/** How many apparent records are tried after damage, so that a hostile file cannot keep us busy. */
const mostTries = 10_000;
// How many bytes of line ends may follow a large record.
const maxLineEnds = 64;
const gzipMagic = Buffer.from([0x1f, 0x8b, 8]);

/** Walks through all records in one pass. */
export class RecordWalk {
  /** The first damage: the file ends inside a record, or something is not a valid record. */
  damage: "cut" | "damaged" | undefined;
  /** Whether there are records after the damage. */
  hasRecordsAfterDamage = false;
  readonly #records: RecordFile;
  readonly #size: number;
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;
  #tries = mostTries;
  #unpacked = 0;

  constructor(records: RecordFile, size: number) {
    this.#records = records;
    this.#size = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WalkedRecord, undefined> {
    const { isCompressed } = this.#records;
    for (let at: number | undefined = 0; at !== undefined && at < this.#size; at = await this.#find(at + 1)) {
      for await (const record of isCompressed ? this.#members(at) : this.#plain(at)) {
        at = record.span.offset + record.span.length;
        this.hasRecordsAfterDamage = this.damage !== undefined;
        yield record;
      }
      if (at === this.#size) return;
    }
  }

  // Yields the records up to the next damage.
  async *#plain(from: number): AsyncGenerator<WalkedRecord, undefined> {
    for (let offset = await this.#lineEnds(from); offset < this.#size; ) {
      const bytes = await this.#bytes(offset, maxHead);
      const head = headAt(bytes);
      const length = typeof head === "object" ? head.headLength + head.contentLength : 0;
      if (head === "cut" || offset + length > this.#size) return this.#stop("cut");
      if (head === undefined) return this.#stop("damaged");
      const content = length <= bytes.length ? bytes.subarray(head.headLength, length) : undefined;
      const end = await this.#lineEnds(offset + length);
      // If neither line ends nor another record follow, the record's length is wrong.
      const isEnd = end === this.#size || startsLikeRecord(await this.#bytes(end, magic.length));
      if (!isEnd && end - offset - length < recordEnd.length) return this.#stop("damaged");
      yield { head, span: { offset, length: end - offset }, content };
      offset = end;
    }
  }

  async *#members(from: number): AsyncGenerator<WalkedRecord, undefined> {
    const { file } = this.#records;
    const input = new ByteReader(readBlocks([{ file, offset: from, length: this.#size - from }]));
    const members = new GzipMembers(input, createInflater);
    try {
      for (let at = 0; await input.fill(1); at = input.position) {
        await input.fill(3);
        if (!isGzip(input.peek(3))) return this.#stop("damaged");
        const member = await this.#member(members);
        if (typeof member === "string") return this.#stop(member);
        yield { ...member, span: { offset: from + at, length: input.position - at } };
      }
    } finally {
      await input.close();
    }
  }

  // Returns the record in the next member, or why there is none.
  async #member(members: GzipMembers): Promise<Pick<WalkedRecord, "head" | "content"> | "cut" | "damaged"> {
    const pieces = members.next();
    const most = mostUnpacked(this.#size);
    let start: Uint8Array = new Uint8Array();
    let unpacked = 0;
    try {
      let step = await pieces.next();
      for (; !step.done; step = await pieces.next()) {
        unpacked += step.value.length;
        this.#unpacked += step.value.length;
        if (this.#unpacked > most)
          throw new SitemapError("invalid-archive", `it decompresses to more than ${amount(most)}`);
        if (start.length < maxHead) start = start.length === 0 ? step.value : Buffer.concat([start, step.value]);
        if (!magic.startsWith(latin1(start.subarray(0, magic.length)))) return "damaged";
      }
      const head = headAt(start);
      if (step.value.ending === "truncated") return "cut";
      if (step.value.ending === "damaged" || !step.value.isIntact || typeof head !== "object") return "damaged";
      const end = head.headLength + head.contentLength;
      if (end > unpacked) return "damaged";
      const behind = start.subarray(end);
      if (unpacked > start.length ? unpacked > end + maxLineEnds : lineEndsAt(behind) < behind.length)
        throw new SitemapError("invalid-archive", "its records are compressed together; run `gunzip` on it first");
      return { head, content: end <= start.length ? start.subarray(head.headLength, end) : undefined };
    } finally {
      await pieces.return(undefined as never);
    }
  }

  #stop(damage: "cut" | "damaged"): undefined {
    this.damage ??= damage;
  }

  // Returns the position after the line ends at `from`. Their number is limited, because a file may be full of them.
  async #lineEnds(from: number): Promise<number> {
    return from + lineEndsAt((await this.#bytes(from, maxHead)).subarray(0, maxHead));
  }

  /** Finds where the next record may begin. */
  async #find(from: number): Promise<number | undefined> {
    // This many bytes are enough to recognize a record.
    const overlap = 1024;
    const { isCompressed } = this.#records;
    for (let at = from; at < this.#size; at += windowSize - overlap) {
      const { buffer, byteOffset, length } = (await this.#bytes(at, windowSize)).subarray(0, windowSize);
      const bytes = Buffer.from(buffer, byteOffset, length);
      const next = (after: number) => bytes.indexOf(isCompressed ? gzipMagic : `${magic}1.`, after);
      for (let found = next(0); found !== -1 && this.#tries > 0; found = next(found + 1)) {
        this.#tries -= 1;
        if (!isCompressed || startsLikeRecord(inflatedStart(bytes.subarray(found, found + overlap)))) return at + found;
      }
    }
    return undefined;
  }

  /** Returns bytes from a position: at least as many as requested, unless the file ends, and more if they are in memory. */
  async #bytes(offset: number, least: number): Promise<Uint8Array> {
    const known = offset - this.#windowStart;
    const rest = known >= 0 && known < this.#window.length ? this.#window.subarray(known) : undefined;
    const wanted = Math.min(least, this.#size - offset);
    if (rest !== undefined && rest.length >= wanted) return rest;
    this.#window = await this.#records.file.read(offset, Math.min(Math.max(windowSize, least), this.#size - offset));
    this.#windowStart = offset;
    if (this.#window.length >= wanted) return this.#window;
    throw new SitemapError("invalid-archive", "The file was truncated while it was being read");
  }
}

// Decompresses the beginning, to distinguish a record from a compressed body that a website sent.
function inflatedStart(bytes: Uint8Array): Uint8Array {
  try {
    return zlib.gunzipSync(bytes, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array();
  }
}

function startsLikeRecord(bytes: Uint8Array): boolean {
  return latin1(bytes.subarray(0, magic.length)) === magic;
}
