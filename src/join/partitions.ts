// Divides records of a few 32-bit words into partitions. Full buffers go to the spill file, and one partition at a time is read back.
import type { SpillFile } from "./spill-file.ts";

// The initial length of a buffer, in words. It is small, because most websites have only a handful of records for each partition.
const firstLength = 256;
const none: Int32Array = new Int32Array(0);

/** Records that are stored one after the other. */
export interface Records {
  readonly words: Int32Array;
  readonly count: number;
}

export class Partitions {
  readonly #spill: SpillFile;
  readonly #width: number;
  /** How many blocks of a partition to read back at most. */
  readonly #most: number;
  /** The length of a block, in words. */
  readonly #blockLength: number;
  /** How many words of a block hold whole records. */
  readonly #fullLength: number;
  readonly #buffers: Int32Array[];
  readonly #used: number[];
  readonly #blocks: number[][];
  #loaded: Int32Array = none;
  /** Whether a loaded partition had too many records, so that some are missing. */
  isCut = false;

  /** Creates `count` partitions for records of `width` words. `load` returns roughly `most` records at most. */
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

  /** Adds a record, which must have exactly `width` words. */
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

  /** Returns the records of a partition (not all if there are too many), in the order of adding. They are valid until the next call. */
  load(partition: number): Records {
    const rest = this.#buffers[partition]!.subarray(0, this.#used[partition]!);
    const blocks = this.#blocks[partition]!;
    this.isCut ||= blocks.length > this.#most;
    const kept = blocks.slice(0, this.#most);
    if (kept.length === 0) return { words: rest, count: rest.length / this.#width };
    const length = kept.length * this.#fullLength + rest.length;
    // Reuses one array for all partitions, because the garbage collector would free new ones late.
    if (this.#loaded.length < length) this.#loaded = new Int32Array(length);
    const words = this.#loaded;
    for (const [index, block] of kept.entries())
      words.set(new Int32Array(this.#spill.get(block).buffer, 0, this.#fullLength), index * this.#fullLength);
    words.set(rest, kept.length * this.#fullLength);
    return { words, count: length / this.#width };
  }
}
