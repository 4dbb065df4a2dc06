// Records of a few 32-bit words, more than fit in memory: sorted into partitions by their first word, written to disk,
// and read back one partition at a time.
import type { Block } from "../archive/file.ts";
import type { Scratch } from "../archive/scratch.ts";

// With this many, a partition of a hundred million records has some 40 MB.
export const partitionCount = 64;
// A website can construct records that all fall into one partition: beyond this size they are not read back.
const mostRecords = 4_000_000;
// Records that are written at a time.
const blockRecords = 1024;

/** Records, one after the other. */
export interface Records {
  readonly words: Int32Array;
  readonly count: number;
}

export class Partitions {
  readonly #scratch: Scratch;
  readonly #width: number;
  readonly #blocks: Int32Array[];
  readonly #fill: Int32Array;
  // Full blocks that are being written, and the positions of those of each partition.
  #full: { readonly partition: number; readonly block: Int32Array }[] = [];
  readonly #pieces: Block[][];
  #loaded: Int32Array = emptyBlock;
  /** Whether a partition was too large to be read back whole. */
  isCut = false;

  /** `width`: words of a record. */
  constructor(scratch: Scratch, width: number) {
    this.#scratch = scratch;
    this.#width = width;
    this.#blocks = Array.from({ length: partitionCount }, () => emptyBlock);
    this.#fill = new Int32Array(partitionCount);
    this.#pieces = Array.from({ length: partitionCount }, () => []);
  }

  /** Where to write the words of the next record; `first` decides the partition. They must be written synchronously. */
  next(first: number): { words: Int32Array; at: number } {
    const partition = first >>> 26;
    let block = this.#blocks[partition]!;
    let count = this.#fill[partition]!;
    if (block.length === 0 || count === blockRecords) {
      if (count > 0) this.#full.push({ partition, block });
      block = new Int32Array(this.#width * blockRecords);
      this.#blocks[partition] = block;
      count = 0;
    }
    this.#fill[partition] = count + 1;
    place.words = block;
    place.at = count * this.#width;
    return place;
  }

  /** Writes full blocks. To be called now and then: until then they are in memory. */
  async flush(): Promise<void> {
    if (this.#full.length === 0) return;
    const full = this.#full;
    this.#full = [];
    for (const { partition, block } of full) {
      this.#pieces[partition]!.push(await this.#scratch.put(new Uint8Array(block.buffer)));
    }
  }

  /** The records of every partition in turn. */
  async *read(): AsyncGenerator<Records, void> {
    for (let partition = 0; partition < partitionCount; partition++) yield await this.load(partition);
  }

  /** The records of one partition, in the order in which they were added. Valid until the next one is loaded. */
  async load(partition: number): Promise<Records> {
    await this.flush();
    const all = this.#pieces[partition]!;
    this.isCut ||= all.length * blockRecords > mostRecords;
    const pieces = all.slice(0, mostRecords / blockRecords);
    const rest = this.#blocks[partition]!.subarray(0, this.#fill[partition]! * this.#width);
    const blockLength = this.#width * blockRecords;
    const length = pieces.length * blockLength + rest.length;
    if (this.#loaded.length < length) this.#loaded = new Int32Array(length);
    const words = this.#loaded;
    const bytes = new Uint8Array(words.buffer);
    for (const [index, piece] of pieces.entries()) bytes.set(await this.#scratch.get(piece), index * blockLength * 4);
    words.set(rest, pieces.length * blockLength);
    return { words, count: length / this.#width };
  }

  /** Releases the memory; the disk belongs to the owner. */
  clear(): void {
    this.#full = [];
    this.#loaded = emptyBlock;
    this.#blocks.fill(emptyBlock);
    this.#fill.fill(0);
    for (const pieces of this.#pieces) pieces.length = 0;
  }
}

const emptyBlock: Int32Array = new Int32Array(0);
// One buffer for all: it is used before the next one is requested.
const place: { words: Int32Array; at: number } = { words: emptyBlock, at: 0 };
