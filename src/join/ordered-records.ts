// Sorts records by a number, such as the number of a page. Records are added in any order and read back by number; records with the same
// number keep their order. Each range of numbers has its own partition.
import { Partitions } from "./partitions.ts";
import type { SpillFile } from "./spill-file.ts";

const smallestRange = 4096;
const mostRanges = 255;

export class OrderedRecords {
  readonly #partitions: Partitions;
  readonly #width: number;
  readonly #range: number;

  /** Creates a store for records of `width` words, with numbers from 0 to `numbers`. */
  constructor(spill: SpillFile, numbers: number, width: number) {
    let range = smallestRange;
    while (numbers / range >= mostRanges) range *= 2;
    this.#range = range;
    this.#width = width + 1;
    this.#partitions = new Partitions(spill, Math.floor(numbers / range) + 1, width + 1);
  }

  /** Adds a record for a number. */
  put(number: number, ...record: readonly number[]): void {
    this.#partitions.add(Math.floor(number / this.#range), [number % this.#range, ...record]);
  }

  /** Yields the records in the order of their numbers. A record is valid until the next one. */
  *[Symbol.iterator](): Generator<readonly [number: number, record: Int32Array], undefined> {
    const starts = new Int32Array(this.#range);
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      const { words, count } = this.#partitions.load(partition);
      const next = new Int32Array(count);
      starts.fill(-1);
      for (let record = count - 1; record >= 0; record--) {
        const index = words[record * this.#width]!;
        next[record] = starts[index]!;
        starts[index] = record;
      }
      for (const [index, first] of starts.entries())
        for (let record = first; record !== -1; record = next[record]!) {
          const at = record * this.#width;
          yield [partition * this.#range + index, words.subarray(at + 1, at + this.#width)];
        }
    }
  }
}
