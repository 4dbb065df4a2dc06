// Joins records on disk, one partition at a time. Records with the same key (their first words) form a group.
import { Partitions, type Records } from "./partitions.ts";
import type { SpillFile } from "./spill-file.ts";

/** Records with the same key, in the order in which they were added. A group is valid until the next one is requested. */
export interface Group {
  readonly words: Int32Array;
  /** The index of the first word of each record. */
  readonly starts: readonly number[];
}

export interface JoinOptions {
  /** How many words a record has, including its key. */
  readonly width: number;
  /** How many words the key has, at least two. The first two must be good hashes: they choose the partition, and the slot in its table. */
  readonly keyLength: number;
  /** How many bits of the first word choose the partition. */
  readonly partitionBits: number;
  /** Roughly how many records of a partition to read back at most, because a website can make URLs that all fall into one partition. */
  readonly most?: number;
}

export class Join {
  readonly #options: JoinOptions;
  readonly #partitions: Partitions;

  constructor(spill: SpillFile, options: JoinOptions) {
    const { partitionBits, width, most } = options;
    this.#options = options;
    this.#partitions = new Partitions(spill, 2 ** partitionBits, width, most);
  }

  /** Whether a partition that was read had too many records, so that some are missing. */
  get isCut(): boolean {
    return this.#partitions.isCut;
  }

  add(...record: readonly number[]): void {
    this.#partitions.add(record[0]! >>> (32 - this.#options.partitionBits), record);
  }

  /** Yields the groups with at least this many records, in no particular order. */
  *groups(least: 1 | 2 = 1): Generator<Group, void> {
    const { width, keyLength } = this.#options;
    for (let partition = 0; partition < this.#partitions.count; partition++)
      yield* new RecordGroups(this.#partitions.load(partition), width, keyLength).groups(least);
  }

  /** Yields each group with the records of `other` that have the same key, if any. Both joins must have equally many partitions. */
  *groupsWith(other: Join): Generator<readonly [own: Group, found: Group], void> {
    const { width, keyLength } = this.#options;
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      const own = this.#partitions.load(partition);
      if (own.count === 0) continue;
      const found = new RecordGroups(other.#partitions.load(partition), other.#options.width, keyLength);
      for (const group of new RecordGroups(own, width, keyLength).groups(1))
        yield [group, found.find(group.words, group.starts[0]!)];
    }
  }
}

// The groups of one partition, in a hash table.
class RecordGroups {
  readonly #words: Int32Array;
  readonly #width: number;
  readonly #keyLength: number;
  readonly #count: number;
  // Maps a slot to the first record of its group, plus 1. An empty slot has 0.
  readonly #table: Int32Array;
  // Maps a record to the next one of its group, plus 1. The last one has 0.
  readonly #next: Int32Array;
  // Maps the first record of each group to the last one. All other records have -1.
  readonly #last: Int32Array;

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

  *groups(least: 1 | 2): Generator<Group, void> {
    for (let record = 0; record < this.#count; record++) {
      const last = this.#last[record]!;
      if (last !== -1 && (least === 1 || last !== record)) yield this.#groupOf(record);
    }
  }

  /** Returns the group with the key that begins at `words[at]`, or an empty group if there is none. */
  find(words: Int32Array, at: number): Group {
    return this.#groupOf(this.#table[this.#slotOf(words, at)]! - 1);
  }

  #groupOf(first: number): Group {
    const starts: number[] = [];
    for (let record = first; record !== -1; record = this.#next[record]! - 1) starts.push(record * this.#width);
    return { words: this.#words, starts };
  }

  #add(record: number): void {
    const slot = this.#slotOf(this.#words, record * this.#width);
    const first = this.#table[slot]! - 1;
    if (first === -1) this.#table[slot] = record + 1;
    else this.#next[this.#last[first]!] = record + 1;
    this.#last[first === -1 ? record : first] = record;
  }

  // Returns the slot of the first record with this key, or the empty slot where it belongs. Hashes by the second word of the key, because
  // the first words in a partition share their upper bits.
  #slotOf(words: Int32Array, at: number): number {
    const mask = this.#table.length - 1;
    let slot = words[at + 1]! & mask;
    for (let first = this.#table[slot]!; first !== 0 && !this.#equals(first - 1, words, at); first = this.#table[slot]!)
      slot = (slot + 1) & mask;
    return slot;
  }

  #equals(record: number, words: Int32Array, at: number): boolean {
    const own = record * this.#width;
    for (let word = 0; word < this.#keyLength; word++) {
      if (this.#words[own + word] !== words[at + word]) return false;
    }
    return true;
  }
}
