// Stores more blocks of bytes than fit in memory: the first ones stay in memory, the others go to a temporary file. Calls are synchronous,
// because a block reaches the page cache within microseconds, and callers need no second, asynchronous form of every loop.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { storageFailed } from "../storage/file.ts";

// How many bytes stay in memory by default. Most websites need no file.
const mostInMemory = 4 * 1024 * 1024;
const mostOpen = 64;

export class SpillFile {
  readonly blockLength: number;
  readonly #inMemory: Uint8Array[] = [];
  readonly #memoryLimit: number;
  // Blocks that were recently read from the file, by number.
  readonly #open = new Map<number, Uint8Array>();
  #descriptor: number | undefined;
  #name: string | undefined;
  #count = 0;

  /** Keeps up to `memory` bytes in memory. `blockLength` is in bytes, and must be a multiple of 4. */
  constructor({ memory = mostInMemory, blockLength = 32 * 1024 }: { memory?: number; blockLength?: number } = {}) {
    this.blockLength = blockLength;
    this.#memoryLimit = memory / blockLength;
  }

  /**
   * Stores a block of `blockLength` bytes, takes ownership of it, and returns its number. Throws a `SitemapError` (`storage-failed`) if it
   * cannot be written.
   */
  put(block: Uint8Array): number {
    const number = this.#count++;
    if (number < this.#memoryLimit) this.#inMemory.push(block);
    else this.#onDisk("written", (file) => write(file, block, this.#offsetOf(number)));
    return number;
  }

  /** Returns a block, which must not be changed. */
  get(number: number): Uint8Array {
    const known = this.#inMemory[number] ?? this.#open.get(number);
    if (known !== undefined) return known;
    const block = new Uint8Array(this.blockLength);
    this.#onDisk("read", (file) => readSync(file, block, 0, block.length, this.#offsetOf(number)));
    this.#open.set(number, block);
    if (this.#open.size > mostOpen) this.#open.delete(this.#open.keys().next().value as number);
    return block;
  }

  close(): void {
    this.#inMemory.length = 0;
    this.#open.clear();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    if (this.#name !== undefined) unlinkSync(this.#name);
    this.#descriptor = undefined;
    this.#name = undefined;
  }

  #offsetOf(number: number): number {
    return (number - this.#inMemory.length) * this.blockLength;
  }

  #onDisk(what: "read" | "written", action: (file: number) => void): void {
    try {
      this.#descriptor ??= this.#create();
      action(this.#descriptor);
    } catch (error) {
      throw storageFailed(`A temporary file in ${tmpdir()} could not be ${what}`, error);
    }
  }

  // Creates a private file. Deletes its name immediately, if the system allows it, so that a crash leaves no file behind.
  #create(): number {
    const name = path.join(tmpdir(), `sitegrove-${randomUUID()}`);
    const descriptor = openSync(name, "wx+", 0o600);
    try {
      unlinkSync(name);
    } catch {
      this.#name = name;
    }
    return descriptor;
  }
}

// Writes all bytes, in several steps if necessary: a nearly full disk accepts only a part, and fails at the next attempt.
function write(file: number, bytes: Uint8Array, offset: number): void {
  for (let at = 0; at < bytes.length; ) {
    const written = writeSync(file, bytes, at, bytes.length - at, offset + at);
    if (written === 0) throw new Error("the file accepts no more data");
    at += written;
  }
}
