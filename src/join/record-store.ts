// Records of a few 32-bit words, more than fit in memory: divided into partitions, added in any order, and read back one
// partition at a time. Each partition has a buffer; full buffers go to the scratch file.
import type { Block } from "../storage/file.ts";
import type { Scratch } from "../storage/scratch.ts";

// In words. Small at first: most websites have a handful of records for each partition.
const firstLength = 256;
const fullLength = 8 * 1024;

/** Records, one after the other. */
export interface Records {
  readonly words: Int32Array;
  readonly count: number;
}

export class RecordStore {
  readonly count: number;
  readonly #scratch: Scratch;
  readonly #width: number;
  readonly #most: number;
  readonly #fullLength: number;
  readonly #buffers: Int32Array[];
  readonly #used: number[];
  readonly #pieces: Block[][];
  #full: { readonly partition: number; readonly words: Int32Array }[] = [];
  #loaded: Int32Array = none;
  /** Whether a partition was too large to be read back whole. */
  isCut = false;

  /** `width`: words of a record. `most`: records of a partition that are read back. */
  constructor(scratch: Scratch, count: number, width: number, most: number = Number.POSITIVE_INFINITY) {
    this.count = count;
    this.#scratch = scratch;
    this.#width = width;
    this.#most = most;
    this.#fullLength = fullLength - (fullLength % width);
    this.#buffers = new Array<Int32Array>(count).fill(none);
    this.#used = new Array<number>(count).fill(0);
    this.#pieces = Array.from({ length: count }, () => []);
  }

  /** `record` has as many words as all records. */
  add(partition: number, ...record: readonly number[]): void {
    let at = this.#used[partition]!;
    let buffer = this.#buffers[partition]!;
    if (at === buffer.length) {
      if (at === this.#fullLength) {
        this.#full.push({ partition, words: buffer });
        buffer = new Int32Array(at);
        at = 0;
      } else {
        const length = Math.max(firstLength - (firstLength % this.#width), at * 4);
        const grown = new Int32Array(Math.min(this.#fullLength, length));
        grown.set(buffer);
        buffer = grown;
      }
      this.#buffers[partition] = buffer;
    }
    for (let index = 0; index < this.#width; index++) buffer[at + index] = record[index]!;
    this.#used[partition] = at + this.#width;
  }

  /** Writes full buffers. To be called now and then: until then they are in memory. Undefined if there is nothing to wait for. */
  flush(): Promise<void> | undefined {
    return this.#full.length === 0 ? undefined : this.#flush();
  }

  /** Nothing more is added: buffers that are not full are written, too. */
  async finish(): Promise<void> {
    for (const [partition, buffer] of this.#buffers.entries()) {
      const words = buffer.slice(0, this.#used[partition]);
      if (words.length > 0) this.#full.push({ partition, words });
    }
    this.#buffers.fill(none);
    this.#used.fill(0);
    await this.flush();
  }

  /** The records of one partition, in the order in which they were added. Valid until the next one is loaded. */
  async load(partition: number): Promise<Records> {
    await this.flush();
    const pieces = this.#pieces[partition]!;
    const mostPieces = (this.#most * this.#width) / this.#fullLength;
    this.isCut ||= pieces.length > mostPieces;
    const kept = pieces.slice(0, mostPieces);
    const rest = this.#buffers[partition]!.subarray(0, this.#used[partition]!);
    const length = kept.reduce((sum, piece) => sum + piece.length / 4, rest.length);
    if (this.#loaded.length < length) this.#loaded = new Int32Array(length);
    const words = this.#loaded;
    const bytes = new Uint8Array(words.buffer);
    let at = 0;
    for (const piece of kept) {
      bytes.set(await this.#scratch.get(piece), at);
      at += piece.length;
    }
    words.set(rest, at / 4);
    return { words, count: length / this.#width };
  }

  /** Releases the memory; the disk belongs to the owner. */
  clear(): void {
    this.#full = [];
    this.#loaded = none;
    this.#buffers.fill(none);
    this.#used.fill(0);
    for (const pieces of this.#pieces) pieces.length = 0;
  }

  async #flush(): Promise<void> {
    const full = this.#full;
    this.#full = [];
    for (const { partition, words } of full) {
      this.#pieces[partition]!.push(await this.#scratch.put(new Uint8Array(words.buffer)));
    }
  }
}

const none: Int32Array = new Int32Array(0);
