// Records of a few 32-bit words, more than memory should hold: sorted into partitions by their first word, in one temporary
// file, and read back one partition at a time. The file has no name any more once it is open, so it cannot be left behind.
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Enough that a partition of a hundred million records is some 30 MB. */
export const partitionCount = 64;
/** A website can make up records that all fall into one partition: what is beyond this is not read back. */
const mostRecords = 4_000_000;
/** Records that are written at a time. */
const blockRecords = 1024;

/** Records, one after the other. */
export interface Records {
  readonly words: Int32Array;
  readonly count: number;
}

export class Partitions {
  readonly #width: number;
  readonly #blocks: Int32Array[];
  readonly #fill: Int32Array;
  // Where the full blocks of each partition are in the file, by number.
  readonly #places: number[][];
  #file: number | undefined;
  #written = 0;
  #loaded = emptyBlock;
  /** All records. */
  size = 0;
  /** Whether a partition was too large to be read back whole. */
  isCut = false;

  /** `width`: words of a record. */
  constructor(width: number) {
    this.#width = width;
    this.#blocks = Array.from({ length: partitionCount }, () => emptyBlock);
    this.#fill = new Int32Array(partitionCount);
    this.#places = Array.from({ length: partitionCount }, () => []);
  }

  /** Where to write the words of the next record; `first` decides the partition. They must be written at once. */
  next(first: number): { words: Int32Array; at: number } {
    const partition = first >>> 26;
    let block = this.#blocks[partition]!;
    if (block === emptyBlock) {
      block = new Int32Array(this.#width * blockRecords);
      this.#blocks[partition] = block;
    }
    let count = this.#fill[partition]!;
    if (count === blockRecords) {
      this.#flush(partition);
      count = 0;
    }
    this.#fill[partition] = count + 1;
    this.size += 1;
    place.words = block;
    place.at = count * this.#width;
    return place;
  }

  /** The records of every partition in turn. */
  *read(): Generator<Records, void> {
    for (let partition = 0; partition < partitionCount; partition++) yield this.load(partition);
  }

  /** The records of one partition, in the order in which they came. The next one that is loaded is put in their place. */
  load(partition: number): Records {
    const blockLength = this.#width * blockRecords;
    const all = this.#places[partition]!;
    this.isCut ||= all.length * blockRecords > mostRecords;
    const places = all.slice(0, mostRecords / blockRecords);
    const rest = this.#blocks[partition]!.subarray(0, this.#fill[partition]! * this.#width);
    const count = places.length * blockRecords + rest.length / this.#width;
    if (this.#loaded.length < count * this.#width) this.#loaded = new Int32Array(count * this.#width);
    const words = this.#loaded;
    places.forEach((number, index) => {
      const bytes = new Uint8Array(words.buffer, index * blockLength * 4, blockLength * 4);
      readFully(this.#file as number, bytes, number * blockLength * 4);
    });
    words.set(rest, places.length * blockLength);
    return { words, count };
  }

  /** Releases the memory and the disk. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#blocks.fill(emptyBlock);
    this.#loaded = emptyBlock;
    this.#fill.fill(0);
    for (const places of this.#places) places.length = 0;
  }

  #flush(partition: number): void {
    this.#file ??= openNameless();
    const block = this.#blocks[partition]!;
    writeFully(this.#file, new Uint8Array(block.buffer), this.#written * block.byteLength);
    this.#places[partition]!.push(this.#written);
    this.#written += 1;
    this.#fill[partition] = 0;
  }
}

const emptyBlock: Int32Array = new Int32Array(0);
// One for all: it is read before the next one is asked for.
const place: { words: Int32Array; at: number } = { words: emptyBlock, at: 0 };

function openNameless(): number {
  const name = path.join(tmpdir(), `sitegrove-${randomBytes(12).toString("hex")}`);
  const file = openSync(name, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  unlinkSync(name);
  return file;
}

function writeFully(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}

function readFully(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    const count = readSync(file, bytes, done, bytes.length - done, position + done);
    if (count === 0) throw new Error("A temporary file was cut off");
    done += count;
  }
}
