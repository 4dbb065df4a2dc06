// Groups the records of a partition whose first words are equal.
import type { Records } from "./record-store.ts";

export class RecordGroups {
  readonly #words: Int32Array;
  readonly #width: number;
  readonly #keyLength: number;
  readonly #count: number;
  // By hash, the first record of each group, plus 1.
  readonly #table: Int32Array;
  // By record: the next one of its group, plus 1; and the last one of the group, for the first.
  readonly #next: Int32Array;
  readonly #last: Int32Array;

  /** `keyLength`: how many words make a group. */
  constructor({ words, count }: Records, width: number, keyLength: number) {
    this.#words = words;
    this.#width = width;
    this.#keyLength = keyLength;
    this.#count = count;
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(count * 2 + 2)));
    this.#next = new Int32Array(count);
    this.#last = new Int32Array(count).fill(-1);
    for (let record = 0; record < count; record++) this.#add(record);
  }

  /** The first record of each group, in the order in which they came. */
  *firsts(): Generator<number, void> {
    for (let record = 0; record < this.#count; record++) if (this.#last[record] !== -1) yield record;
  }

  /** Where the records of a group begin, in words. */
  members(first: number): number[] {
    const starts: number[] = [];
    for (let record = first; record !== -1; record = this.#next[record]! - 1) starts.push(record * this.#width);
    return starts;
  }

  isAlone(first: number): boolean {
    return this.#last[first] === first;
  }

  /** The first record with the key in these words; -1 if there is none. */
  find(words: Int32Array, at: number): number {
    const mask = this.#table.length - 1;
    for (let slot = words[at + 1]! & mask; ; slot = (slot + 1) & mask) {
      const first = this.#table[slot]! - 1;
      if (first === -1 || this.#equals(first, words, at)) return first;
    }
  }

  #add(record: number): void {
    const at = record * this.#width;
    const mask = this.#table.length - 1;
    // The partition was chosen by the first word, so its upper bits are all the same here.
    for (let slot = this.#words[at + 1]! & mask; ; slot = (slot + 1) & mask) {
      const first = this.#table[slot]! - 1;
      if (first === -1) {
        this.#table[slot] = record + 1;
        this.#last[record] = record;
        return;
      }
      if (!this.#equals(first, this.#words, at)) continue;
      this.#next[this.#last[first]!] = record + 1;
      this.#last[first] = record;
      return;
    }
  }

  #equals(record: number, words: Int32Array, at: number): boolean {
    const own = record * this.#width;
    for (let word = 0; word < this.#keyLength; word++) {
      if (this.#words[own + word] !== words[at + word]) return false;
    }
    return true;
  }
}
