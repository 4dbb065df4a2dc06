// The earlier fields of changed pages, and the sitemap that declared them: added in the order of the old side, read in
// the order of the new side. In between they are in buckets, by the place of the page on the new side; one bucket at a
// time is loaded.

import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";
import { RecordStore } from "../join/record-store.ts";
import type { SitemapPage } from "../model/page.ts";

export interface EarlierPage {
  /** The number of the list that it was in. */
  readonly list: number;
  /** Its earlier fields; absent if they are the same. */
  readonly page: SitemapPage | undefined;
}

// A frame: the place of the page, the number of its list, how many bytes follow, and these.
const frameHead = 12;
const fullBuffer = 32 * 1024;
// A bucket up to this size is held in memory while it is used; from a larger one, each page is read on demand.
const mostHeld = 16 * 1024 * 1024;

export class EarlierPages {
  readonly #scratch: Scratch;
  readonly #buckets: Buckets;
  readonly #buffers: (Buffer | undefined)[];
  readonly #used: number[];
  readonly #pieces: Block[][];
  #full: { readonly bucket: number; readonly bytes: Uint8Array }[] = [];
  #open: OpenBucket | undefined;

  /** `places`: the number of pages of the new side. */
  constructor(scratch: Scratch, places: number) {
    this.#scratch = scratch;
    this.#buckets = new Buckets(places);
    const { count } = this.#buckets;
    this.#buffers = new Array(count).fill(undefined);
    this.#used = new Array(count).fill(0);
    this.#pieces = Array.from({ length: count }, () => []);
  }

  /** `place`: the place of the page on the new side. */
  put(place: number, list: number, page: SitemapPage | undefined): void {
    const text = page === undefined ? "" : encode(page);
    const bucket = this.#buckets.of(place);
    const buffer = this.#room(bucket, frameHead + text.length * 3);
    const at = this.#used[bucket]!;
    const length = text === "" ? 0 : buffer.write(text, at + frameHead);
    buffer.writeUInt32LE(place, at);
    buffer.writeUInt32LE(list, at + 4);
    buffer.writeUInt32LE(length, at + 8);
    this.#used[bucket] = at + frameHead + length;
  }

  /** Writes full buffers. */
  async flush(): Promise<void> {
    const full = this.#full;
    this.#full = [];
    for (const { bucket, bytes } of full) this.#pieces[bucket]!.push(await this.#scratch.put(bytes));
  }

  /** Nothing more is added. */
  async finish(): Promise<void> {
    for (let bucket = 0; bucket < this.#buffers.length; bucket++) this.#putAside(bucket);
    await this.flush();
  }

  /** `page`: the page on the new side, because its URL is not kept. Only for pages that were added. */
  async take(place: number, page: SitemapPage): Promise<EarlierPage> {
    const bucket = this.#buckets.of(place);
    if (this.#open?.bucket !== bucket) this.#open = await this.#openBucket(bucket);
    const { pieces, held, numbers, offsets } = this.#open;
    const slot = place % this.#buckets.size;
    const number = numbers[slot]! - 1;
    const piece = pieces[number];
    if (piece === undefined) throw new Error("A page that changed is not known as it was");
    const offset = offsets[slot]!;
    const whole = held[number];
    if (whole !== undefined) return frameAt(whole, offset, page);
    const head = asBuffer(await this.#scratch.get(piece, offset, frameHead));
    return frameAt(asBuffer(await this.#scratch.get(piece, offset, frameHead + head.readUInt32LE(8))), 0, page);
  }

  #room(bucket: number, length: number): Buffer {
    const buffer = this.#buffers[bucket];
    if (buffer !== undefined && this.#used[bucket]! + length <= buffer.length) return buffer;
    this.#putAside(bucket);
    // Not from the pool of small buffers, because it is kept.
    const fresh = Buffer.allocUnsafeSlow(Math.max(fullBuffer, length));
    this.#buffers[bucket] = fresh;
    return fresh;
  }

  #putAside(bucket: number): void {
    const bytes = this.#buffers[bucket]?.subarray(0, this.#used[bucket]);
    if (bytes !== undefined && bytes.length > 0) this.#full.push({ bucket, bytes });
    this.#buffers[bucket] = undefined;
    this.#used[bucket] = 0;
  }

  // Finds the position of each page.
  async #openBucket(bucket: number): Promise<OpenBucket> {
    const pieces = this.#pieces[bucket]!;
    const isHeld = pieces.reduce((sum, { length }) => sum + length, 0) <= mostHeld;
    const held: Buffer[] = [];
    const { size } = this.#buckets;
    const numbers = new Uint32Array(size);
    const offsets = new Uint32Array(size);
    for (const [number, piece] of pieces.entries()) {
      const bytes = asBuffer(await this.#scratch.get(piece));
      if (isHeld) held.push(bytes);
      for (let at = 0; at < bytes.length; at += frameHead + bytes.readUInt32LE(at + 8)) {
        const slot = bytes.readUInt32LE(at) % size;
        numbers[slot] = number + 1;
        offsets[slot] = at;
      }
    }
    return { bucket, pieces, held, numbers, offsets };
  }
}

interface OpenBucket {
  readonly bucket: number;
  readonly pieces: readonly Block[];
  /** The bytes of the pieces, where they are held. */
  readonly held: readonly Buffer[];
  /** By place: the number of the piece, counted from 1, and where in it the page is. */
  readonly numbers: Uint32Array;
  readonly offsets: Uint32Array;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function frameAt(bytes: Buffer, at: number, { url }: SitemapPage): EarlierPage {
  const list = bytes.readUInt32LE(at + 4);
  const length = bytes.readUInt32LE(at + 8);
  if (length === 0) return { list, page: undefined };
  const text = bytes.toString("utf8", at + frameHead, at + frameHead + length);
  return { list, page: { url, ...(JSON.parse(text) as Omit<SitemapPage, "url">) } };
}

// Without the URL, which is that of the new page.
function encode(page: SitemapPage): string {
  const { priority, priorityGiven, lastModified, changeFrequency, newsStory, images, videos, alternates } = page;
  const given = priorityGiven ? { priorityGiven } : {};
  return JSON.stringify({ priority, ...given, lastModified, changeFrequency, newsStory, images, videos, alternates });
}

/** The new places of pages by their old ones: added in any order, read in the order of the old side. */
export class PlacePairs {
  readonly #buckets: Buckets;
  readonly #pairs: RecordStore;
  #openBucket = -1;
  #open: Uint32Array = new Uint32Array(0);

  /** `places`: the number of pages of the old side. */
  constructor(scratch: Scratch, places: number) {
    this.#buckets = new Buckets(places);
    this.#pairs = new RecordStore(scratch, this.#buckets.count, 2);
  }

  put(before: number, after: number): void {
    this.#pairs.add(this.#buckets.of(before), before % this.#buckets.size, after);
  }

  async flush(): Promise<void> {
    await this.#pairs.flush();
  }

  /** Nothing more is added. */
  async finish(): Promise<void> {
    await this.#pairs.finish();
  }

  /** Only for places that were added. */
  async at(before: number): Promise<number> {
    const bucket = this.#buckets.of(before);
    if (bucket !== this.#openBucket) {
      if (this.#open.length === 0) this.#open = new Uint32Array(this.#buckets.size);
      const { words, count } = await this.#pairs.load(bucket);
      for (let at = 0; at < count * 2; at += 2) this.#open[words[at]!] = words[at + 1]!;
      this.#openBucket = bucket;
    }
    return this.#open[before % this.#buckets.size]!;
  }
}

// Divides the places of a side into ranges of equal size, which are processed one at a time.
class Buckets {
  /** In places; a power of two. */
  readonly size: number;
  readonly count: number;

  constructor(places: number) {
    let size = smallestBucket;
    while (places / size >= mostBuckets) size *= 2;
    this.size = size;
    this.count = Math.floor(places / size) + 1;
  }

  of(place: number): number {
    return Math.floor(place / this.size);
  }
}

const smallestBucket = 4096;
const mostBuckets = 255;
