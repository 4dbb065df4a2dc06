// Records of a few 32-bit words, divided into partitions. Only one partition at a time is in memory. Full buffers go to the spill file.
import type { SpillFile } from "./spill-file.ts";

// The first length of a buffer, in words: small, because most websites have a handful of records for each partition.
const firstLength = 256;
const none: Int32Array = new Int32Array(0);

/** Records, one after the other. */
export interface Records {
  readonly words: Int32Array;
  readonly count: number;
}

export class Partitions {
  readonly #spill: SpillFile;
  readonly #width: number;
  readonly #most: number;
  /** The length of a block, and of a full buffer, which leaves out the rest that is too short for a record; in words. */
  readonly #blockLength: number;
  readonly #fullLength: number;
  readonly #buffers: Int32Array[];
  readonly #used: number[];
  readonly #blocks: number[][];
  #loaded: Int32Array = none;
  /** Whether a partition had too many records. */
  isCut = false;

  /** `width` is how many words a record has; at most `most` records of a partition are read back. */
  constructor(spill: SpillFile, count: number, width: number, most: number = Number.POSITIVE_INFINITY) {
    this.#spill = spill;
    this.#width = width;
    this.#blockLength = spill.blockLength / 4;
    this.#fullLength = this.#blockLength - (this.#blockLength % width);
    this.#most = (most * width) / this.#fullLength;
    this.#buffers = new Array<Int32Array>(count).fill(none);
    this.#used = new Array<number>(count).fill(0);
    this.#blocks = Array.from({ length: count }, () => []);
  }

  get count(): number {
    return this.#buffers.length;
  }

  /** `record` has exactly `width` words. */
  add(partition: number, record: readonly number[]): void {
    let at = this.#used[partition]!;
    let buffer = this.#buffers[partition]!;
    if (at === this.#fullLength) {
      this.#blocks[partition]!.push(this.#spill.put(new Uint8Array(buffer.buffer)));
      buffer = new Int32Array(this.#blockLength);
      at = 0;
    } else if (at + this.#width > buffer.length) {
      const grown = new Int32Array(Math.min(this.#blockLength, Math.max(firstLength, at * 4)));
      grown.set(buffer);
      buffer = grown;
    }
    this.#buffers[partition] = buffer;
    for (let index = 0; index < this.#width; index++) buffer[at + index] = record[index]!;
    this.#used[partition] = at + this.#width;
  }

  /** The records of a partition, in the order in which they were added. Valid until the next one is loaded. */
  load(partition: number): Records {
    const rest = this.#buffers[partition]!.subarray(0, this.#used[partition]!);
    const blocks = this.#blocks[partition]!;
    this.isCut ||= blocks.length > this.#most;
    const kept = blocks.slice(0, this.#most);
    if (kept.length === 0) return { words: rest, count: rest.length / this.#width };
    const length = kept.length * this.#fullLength + rest.length;
    // The array is reused, because new ones would be freed late.
    if (this.#loaded.length < length) this.#loaded = new Int32Array(length);
    const words = this.#loaded;
    for (const [index, block] of kept.entries())
      words.set(new Int32Array(this.#spill.get(block).buffer, 0, this.#fullLength), index * this.#fullLength);
    words.set(rest, kept.length * this.#fullLength);
    return { words, count: length / this.#width };
  }
}
