// Records by number, such as that of a page: added in any order, read back in order. Each range of numbers has its own partition.
import { Partitions } from "./partitions.ts";
import type { SpillFile } from "./spill-file.ts";

const smallestRange = 4096;
const mostRanges = 255;

export class OrderedRecords {
  readonly #partitions: Partitions;
  readonly #width: number;
  readonly #range: number;

  /** `numbers`: how many numbers there can be. `width`: how many words a record has. */
  constructor(spill: SpillFile, numbers: number, width: number) {
    let range = smallestRange;
    while (numbers / range >= mostRanges) range *= 2;
    this.#range = range;
    this.#width = width + 1;
    this.#partitions = new Partitions(spill, Math.floor(numbers / range) + 1, width + 1);
  }

  /** Adds the record of a number; each number has at most one. */
  put(number: number, ...record: readonly number[]): void {
    this.#partitions.add(Math.floor(number / this.#range), [number % this.#range, ...record]);
  }

  /** Yields the records in the order of their numbers. A record is valid until the next one. */
  *[Symbol.iterator](): Generator<readonly [number: number, record: Int32Array], undefined> {
    const starts = new Int32Array(this.#range);
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      const { words, count } = this.#partitions.load(partition);
      starts.fill(-1);
      for (let at = 0; at < count * this.#width; at += this.#width) starts[words[at]!] = at;
      for (const [index, at] of starts.entries())
        if (at !== -1) yield [partition * this.#range + index, words.subarray(at + 1, at + this.#width)];
    }
  }
}
