// The records of a WARC file, compressed or not: one at a known place, or all in one pass, which continues after damage.
import { SitemapError } from "../model/errors.ts";
import { type KeptFile, readBlocks } from "../storage/file.ts";
import * as gzip from "./gzip-records.ts";
import { headAt, latin1, lineEndsAt, magic, maxHead, type RecordHead, recordEnd } from "./warc.ts";

/** The position of a record in its file, and its length there, including the line ends after it. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

/** Where a record of another archive is. */
export interface RecordSource {
  readonly records: RecordFile;
  readonly place: Place;
}

export interface OpenedRecord {
  readonly head: RecordHead;
  /** As stored in the file. */
  readonly start: Uint8Array;
  readonly content: AsyncGenerator<Uint8Array, undefined>;
}

export class RecordFile {
  readonly path: string;
  readonly file: KeptFile;
  readonly isCompressed: boolean;
  /** The `warcinfo` records we wrote, as far as they are known. */
  readonly infoPlaces: Place[] = [];

  constructor(path: string, file: KeptFile, isCompressed: boolean) {
    this.path = path;
    this.file = file;
    this.isCompressed = isCompressed;
  }

  /** Throws an error for which `isDamage` is true unless this is exactly one whole record; the content throws where the damage is. `lent`: see `readBlocks`. */
  async open(place: Place, lent = false): Promise<OpenedRecord> {
    const pieces = this.bytes(place, lent);
    let start: Uint8Array = new Uint8Array();
    try {
      for (;;) {
        const { value, done } = await pieces.next();
        if (done) throw this.#damaged();
        start = start.length === 0 ? value : Buffer.concat([start, value]);
        const head = headAt(start);
        if (head === undefined) throw this.#damaged();
        if (head === "cut") continue;
        const { headLength } = head;
        const content = this.#content(head, start.subarray(headLength), pieces);
        return { head, start: start.subarray(0, headLength), content };
      }
    } catch (error) {
      await pieces.return(undefined);
      throw error;
    }
  }

  /** A record with at most this many bytes of content. */
  async read(place: Place, most: number): Promise<{ readonly head: RecordHead; readonly content: Uint8Array }> {
    const { head, content } = await this.open(place);
    const pieces: Uint8Array[] = [];
    for await (const piece of content) {
      if (head.contentLength > most) throw this.#damaged();
      pieces.push(piece);
    }
    return { head, content: Buffer.concat(pieces) };
  }

  async head(place: Place): Promise<RecordHead> {
    const { head, content } = await this.open(place);
    // Closes its source; damage to the rest does not matter here.
    await content.next().catch(() => undefined);
    await content.return(undefined);
    return head;
  }

  async infoPlace(id: string): Promise<Place | undefined> {
    for (const place of this.infoPlaces) {
      if ((await this.head(place)).fields.get("warc-record-id") === id) return place;
    }
    return undefined;
  }

  /** The bytes of a record, decompressed, with the required line ends. */
  async *copy(place: Place): AsyncGenerator<Uint8Array, undefined> {
    const { start, content } = await this.open(place);
    yield start;
    yield* content;
    yield recordEnd;
  }

  /** The bytes of a record, decompressed. */
  async *bytes({ offset, length }: Place, lent = false): AsyncGenerator<Uint8Array, undefined> {
    const { file } = this;
    try {
      yield* this.isCompressed ? gzip.decompressed(file, offset, length) : readBlocks([{ file, offset, length }], lent);
    } catch (error) {
      throw error instanceof gzip.DamagedGzip ? this.#damaged() : error;
    }
  }

  // Only line ends may follow the content.
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
        if (lineEndsAt(behind) < behind.length) throw this.#damaged();
        left -= content.length;
      }
      if (left > 0) throw this.#damaged();
    } finally {
      await rest.return(undefined);
    }
  }

  #damaged(): SitemapError {
    return new SitemapError("invalid-archive", `${this.path} is damaged: a record in it cannot be read`);
  }
}

/** Whether an error is caused by damage in the file: its other records may be readable. */
export function isDamage(error: unknown): boolean {
  return error instanceof SitemapError && error.code === "invalid-archive";
}

/** The result of `read`; undefined if the file is damaged there. */
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
  readonly place: Place;
  /** Only for small records. */
  readonly content: Uint8Array | undefined;
}

const windowSize = 512 * 1024;
/** How many apparent records are tried after damage: a hostile file must not keep us busy. */
const mostGuesses = 10_000;

/** One pass over all records. */
export class RecordWalk {
  /** What is wrong with the first incomplete record. */
  damage: "cut" | "damaged" | undefined;
  /** Whether there are records after it. */
  goesOn = false;
  /** Several records are compressed as one, so they cannot be read one by one. */
  isJoined = false;
  readonly #records: RecordFile;
  readonly #size: number;
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;
  #guesses = mostGuesses;
  #unpacked = 0;

  constructor(records: RecordFile, size: number) {
    this.#records = records;
    this.#size = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WalkedRecord, undefined> {
    const { isCompressed } = this.#records;
    let at: number | undefined = isCompressed ? 0 : await this.#lineEnds(0);
    while (at !== undefined && at < this.#size) {
      const record: WalkedRecord | "cut" | "damaged" = isCompressed ? await this.#member(at) : await this.#plain(at);
      if (this.isJoined) return;
      if (typeof record === "string") {
        this.damage ??= record;
        at = await this.#find(at + 1);
        continue;
      }
      this.goesOn = this.damage !== undefined;
      yield record;
      at += record.place.length;
    }
  }

  async #plain(offset: number): Promise<WalkedRecord | "cut" | "damaged"> {
    const bytes = await this.#bytes(offset, maxHead);
    const head = headAt(bytes);
    if (head === "cut") return "cut";
    if (head === undefined) return "damaged";
    const { headLength, contentLength } = head;
    const length = headLength + contentLength;
    if (offset + length > this.#size) return "cut";
    const content = length <= bytes.length ? bytes.subarray(headLength, length) : undefined;
    const end = await this.#lineEnds(offset + length);
    // If neither line ends nor another record follow, its length is wrong.
    const behind = await this.#bytes(end, magic.length);
    const isEnd = end === this.#size || latin1(behind.subarray(0, magic.length)) === magic;
    if (!isEnd && end - offset - length < recordEnd.length) return "damaged";
    return { head, place: { offset, length: end - offset }, content };
  }

  async #member(offset: number): Promise<WalkedRecord | "cut" | "damaged"> {
    const { file, path } = this.#records;
    const pieces = gzip.member(file, offset, await this.#bytes(offset, maxHead));
    const most = gzip.mostUnpacked(this.#size);
    let start: Uint8Array = new Uint8Array();
    let unpacked = 0;
    try {
      for (;;) {
        const { value, done } = await pieces.next();
        if (done) return this.#recordIn(start, unpacked, { offset, length: value });
        unpacked += value.length;
        this.#unpacked += value.length;
        if (this.#unpacked > most) throw gzip.tooLarge(path, most);
        if (start.length < maxHead) start = start.length === 0 ? value : Buffer.concat([start, value]);
        if (!gzip.startsLikeRecord(start)) return "damaged";
      }
    } catch (error) {
      if (error instanceof gzip.DamagedGzip) return "damaged";
      throw error;
    } finally {
      await pieces.return(0);
    }
  }

  // `start`: the whole of a small member.
  #recordIn(start: Uint8Array, unpacked: number, place: Place): WalkedRecord | "damaged" {
    const head = headAt(start);
    if (head === undefined || head === "cut") return "damaged";
    const end = head.headLength + head.contentLength;
    if (end > unpacked) return "damaged";
    const behind = start.subarray(end);
    this.isJoined = unpacked > start.length ? unpacked > end + maxLineEnds : lineEndsAt(behind) < behind.length;
    const content = end <= start.length ? start.subarray(head.headLength, end) : undefined;
    return { head, place, content };
  }

  // Two are required. A file full of line ends must not keep us busy.
  async #lineEnds(from: number): Promise<number> {
    return from + lineEndsAt((await this.#bytes(from, maxHead)).subarray(0, maxHead));
  }

  /** Where the next record may begin. */
  async #find(from: number): Promise<number | undefined> {
    // Enough to recognize a record.
    const overlap = 1024;
    for (let at = from; at < this.#size && this.#guesses > 0; at += windowSize - overlap) {
      const bytes = (await this.#bytes(at, windowSize)).subarray(0, windowSize);
      const found = this.#records.isCompressed
        ? gzip.findMember(bytes, () => (this.#guesses -= 1) > 0)
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(`${magic}1.`);
      if (found === -1) continue;
      this.#guesses -= 1;
      return at + found;
    }
    return undefined;
  }

  /** Bytes from a position: at least as many as requested, unless the file ends; more if they are in memory. */
  async #bytes(offset: number, least: number): Promise<Uint8Array> {
    const known = offset - this.#windowStart;
    const rest = known >= 0 && known < this.#window.length ? this.#window.subarray(known) : undefined;
    const wanted = Math.min(least, this.#size - offset);
    if (rest !== undefined && rest.length >= wanted) return rest;
    this.#window = await this.#records.file.read(offset, Math.min(Math.max(windowSize, least), this.#size - offset));
    this.#windowStart = offset;
    if (this.#window.length >= wanted) return this.#window;
    throw new SitemapError("invalid-archive", "The file became shorter while it was read");
  }
}

// After a large record, where they are not needed.
const maxLineEnds = 64;
