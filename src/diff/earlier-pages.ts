// The earlier fields of changed pages, and the sitemap that declared them: added in the order of the old side, read in
// the order of the new side. In between they are in buckets, by the place of the page on the new side; one bucket at a
// time is loaded.

import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";
import { defaultPriority, type SitemapPage } from "../model/page.ts";
import { Buckets } from "./buckets.ts";

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

  /** Writes full buffers. Undefined if there is nothing to wait for. */
  flush(): Promise<void> | undefined {
    return this.#full.length === 0 ? undefined : this.#flush();
  }

  /** Nothing more is added. */
  async finish(): Promise<void> {
    for (let bucket = 0; bucket < this.#buffers.length; bucket++) this.#putAside(bucket);
    await this.#flush();
  }

  /** `page`: the page on the new side, because its URL is not kept. Only for pages that were added. */
  take(place: number, page: SitemapPage): EarlierPage | Promise<EarlierPage> {
    if (this.#open === undefined || this.#open.bucket !== this.#buckets.of(place)) return this.#takeLater(place, page);
    const { held, numbers, offsets } = this.#open;
    const slot = place % this.#buckets.size;
    const whole = held[numbers[slot]! - 1];
    return whole === undefined ? this.#takeLater(place, page) : frameAt(whole, offsets[slot]!, page);
  }

  async #takeLater(place: number, page: SitemapPage): Promise<EarlierPage> {
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

  async #flush(): Promise<void> {
    const full = this.#full;
    this.#full = [];
    for (const { bucket, bytes } of full) this.#pieces[bucket]!.push(await this.#scratch.put(bytes));
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
  return { list, page: decode(bytes.toString("utf8", at + frameHead, at + frameHead + length), url) };
}

// Most pages have a date, a frequency and a priority, none of which contains a tab: writing these by hand takes a
// quarter of the time of JSON.
function encode({
  lastModified,
  changeFrequency,
  priority,
  priorityGiven,
  newsStory,
  images,
  videos,
  alternates,
}: SitemapPage): string {
  const plain = `${lastModified ?? ""}\t${changeFrequency ?? ""}\t${priorityGiven ? priority : ""}`;
  if (newsStory === undefined && images === undefined && videos === undefined && alternates === undefined) return plain;
  return `${plain}\t${JSON.stringify({ newsStory, images, videos, alternates })}`;
}

function decode(text: string, url: string): SitemapPage {
  const first = text.indexOf("\t");
  const second = text.indexOf("\t", first + 1);
  const third = text.indexOf("\t", second + 1);
  const end = third === -1 ? text.length : third;
  return {
    url,
    ...(end === second + 1
      ? { priority: defaultPriority }
      : { priority: Number(text.slice(second + 1, end)), priorityGiven: true }),
    ...(first === 0 ? {} : { lastModified: text.slice(0, first) }),
    ...(second === first + 1
      ? {}
      : { changeFrequency: text.slice(first + 1, second) as NonNullable<SitemapPage["changeFrequency"]> }),
    ...(third === -1 ? {} : (JSON.parse(text.slice(third + 1)) as Partial<SitemapPage>)),
  };
}
