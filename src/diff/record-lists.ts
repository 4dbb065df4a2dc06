// Lists of records of a few 32-bit words each: appended to in any order, read back one list at a time. Each list has a
// buffer; full buffers go to the scratch file.
import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";

// In words. Small at first: most websites have a handful of records for each list.
const firstLength = 256;
const fullLength = 8 * 1024;

export class RecordLists {
  readonly #scratch: Scratch;
  readonly #width: number;
  readonly #fullLength: number;
  readonly #buffers: Int32Array[] = [];
  readonly #used: number[] = [];
  readonly #pieces: Block[][] = [];
  #full: { readonly list: number; readonly words: Int32Array }[] = [];

  constructor(scratch: Scratch, count: number, width: number) {
    this.#scratch = scratch;
    this.#width = width;
    this.#fullLength = fullLength - (fullLength % width);
    for (let list = 0; list < count; list++) {
      this.#buffers.push(none);
      this.#used.push(0);
      this.#pieces.push([]);
    }
  }

  get count(): number {
    return this.#buffers.length;
  }

  /** Where to write the next record of a list: in `buffer`, from the returned position. The caller writes all its words. */
  next(list: number): number {
    let at = this.#used[list]!;
    const { length } = this.#buffers[list]!;
    if (at + this.#width > length) {
      if (length === this.#fullLength) {
        this.#full.push({ list, words: this.#buffers[list]! });
        this.#buffers[list] = new Int32Array(this.#fullLength);
        at = 0;
      } else {
        const grown = new Int32Array(Math.min(this.#fullLength, Math.max(firstLength, length * 4)));
        grown.set(this.#buffers[list]!);
        this.#buffers[list] = grown;
      }
    }
    this.#used[list] = at + this.#width;
    return at;
  }

  /** Valid until the next call of `next`. */
  buffer(list: number): Int32Array {
    return this.#buffers[list]!;
  }

  /** Whether full buffers wait to be written: `flush` now and then keeps them few. */
  get isWaiting(): boolean {
    return this.#full.length > 0;
  }

  async flush(): Promise<void> {
    const full = this.#full;
    this.#full = [];
    for (const { list, words } of full) this.#pieces[list]!.push(await this.#scratch.put(bytesOf(words)));
  }

  /** Nothing more is appended: the remaining buffers are written, too. */
  async finish(): Promise<void> {
    await this.flush();
    for (let list = 0; list < this.count; list++) {
      const words = this.#buffers[list]!.subarray(0, this.#used[list]!);
      if (words.length > 0) this.#pieces[list]!.push(await this.#scratch.put(bytesOf(words.slice())));
      this.#buffers[list] = none;
      this.#used[list] = 0;
    }
  }

  /** How many records a list has, after `finish`. */
  lengthOf(list: number): number {
    return this.#pieces[list]!.reduce((sum, { length }) => sum + length, 0) / 4 / this.#width;
  }

  /** The records of a list in the order in which they were appended, many at a time; after `finish`. */
  async *read(list: number): AsyncGenerator<Int32Array, void> {
    for (const piece of this.#pieces[list]!) yield wordsOf(await this.#scratch.get(piece));
  }
}

const none = new Int32Array(0);

function bytesOf(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}
