// Files that are read and written at positions, and stored content: blocks in memory or in a file, which can be read repeatedly.
import type { FileHandle } from "node:fs/promises";
import { SitemapError, systemReason } from "../model/errors.ts";

/** A range of a file. */
export interface Extent {
  readonly file: KeptFile;
  readonly offset: number;
  readonly length: number;
}

export type Block = Uint8Array | Extent;

/** Blocks are large enough to make a read cheap per byte, and small enough that sixteen readers need little memory. */
export const blockSize: number = 256 * 1024;

/** Pieces up to this size are safe to keep. Larger ones may be overwritten when you ask for the next. */
export const largePiece: number = 64 * 1024;

// Blocks to reuse, because the garbage collector frees long-lived ones late. There are at most as many as a store keeps in memory.
const spare: Uint8Array[] = [];
const mostSpare = 32;

/** Returns a block to reuse, if there is one. */
export function spareBlock(): Uint8Array | undefined {
  return spare.pop();
}

/** Takes a block back for reuse, even if only a part of it is passed. Do not read it again. */
export function returnBlock({ buffer }: Uint8Array): void {
  if (buffer.byteLength === blockSize && spare.length < mostSpare) spare.push(new Uint8Array(buffer));
}

const smallRead = 16 * 1024;
const windowSize = 64 * 1024;

/** One file handle for all readers: each read has its own position. */
export class KeptFile {
  readonly #handle: FileHandle;
  readonly #name: string;
  #closed = false;
  /** Whether consecutive small reads may share one read of the file. Set it once nobody writes to the file any more. */
  remembersReads = false;
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;

  /** `name` is the name of the file in error messages. */
  constructor(handle: FileHandle, name: string) {
    this.#handle = handle;
    this.#name = name;
  }

  /** Reads the bytes at a position. Returns fewer than requested only at the end of the file. */
  async read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    if (this.#closed) throw closedError();
    if (into !== undefined) return this.#read(offset, length, into);
    if (!this.remembersReads || length > smallRead) return this.#read(offset, length);
    const start = offset - this.#windowStart;
    if (start >= 0 && start + length <= this.#window.length)
      return new Uint8Array(this.#window.subarray(start, start + length));
    const window = await this.#read(offset, windowSize);
    this.#window = window;
    this.#windowStart = offset;
    return new Uint8Array(window.subarray(0, length));
  }

  async #read(
    offset: number,
    length: number,
    buffer: Uint8Array = Buffer.allocUnsafeSlow(length),
  ): Promise<Uint8Array> {
    let used = 0;
    try {
      while (used < length) {
        const { bytesRead } = await this.#handle.read(buffer, used, length - used, offset + used);
        if (bytesRead === 0) break;
        used += bytesRead;
      }
    } catch (error) {
      throw this.#failed("read", error);
    }
    return used === buffer.length ? buffer : buffer.subarray(0, used);
  }

  /** Writes all bytes, in several attempts if necessary: a nearly full disk accepts a part, and fails only at the next attempt. */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    if (this.#closed) throw closedError();
    let used = 0;
    try {
      while (used < bytes.length) {
        const { bytesWritten } = await this.#handle.write(bytes, used, bytes.length - used, offset + used);
        if (bytesWritten === 0) throw new Error("the file accepts no more data");
        used += bytesWritten;
      }
    } catch (error) {
      throw this.#failed("written", error);
    }
  }

  async truncate(size: number): Promise<void> {
    await this.#handle.truncate(size);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }

  // An error after the file was closed is not a failure of the disk.
  #failed(what: "read" | "written", error: unknown): SitemapError {
    return this.#closed ? closedError() : storageFailed(`${this.#name} could not be ${what}`, error);
  }
}

/** Yields the content of blocks, reading ahead. With `reuse`, a large piece of a file is overwritten when the next one is requested. */
export async function* readBlocks(blocks: readonly Block[], reuse = false): AsyncGenerator<Uint8Array, undefined> {
  let ahead: { readonly bytes: Promise<Uint8Array>; readonly isReused: boolean } | undefined;
  for (const piece of [...pieces(blocks), undefined]) {
    const isReused = reuse && !(piece instanceof Uint8Array) && piece !== undefined && piece.length > largePiece;
    const next = piece && { bytes: readWhole(piece, isReused), isReused };
    // If the caller stops first, the rejection would be unhandled.
    next?.bytes.catch(() => undefined);
    const bytes = await ahead?.bytes;
    if (bytes !== undefined) yield bytes;
    if (bytes !== undefined && ahead?.isReused) returnBlock(bytes);
    ahead = next;
  }
}

export function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0);
}

export function storageFailed(what: string, cause: unknown): SitemapError {
  return new SitemapError("storage-failed", `${what}: ${systemReason(cause)}`, { cause });
}

export function closedError(): SitemapError {
  return new SitemapError("tree-closed", "The documents are no longer available: the tree was closed");
}

function* pieces(blocks: readonly Block[]): Generator<Block> {
  for (const block of blocks) {
    if (block instanceof Uint8Array) {
      yield block;
      continue;
    }
    const { file, offset, length } = block;
    for (let from = 0; from < length; from += blockSize) {
      yield { file, offset: offset + from, length: Math.min(blockSize, length - from) };
    }
  }
}

async function readWhole(block: Block, intoBlock: boolean): Promise<Uint8Array> {
  if (block instanceof Uint8Array) return block;
  const { file, offset, length } = block;
  const into = intoBlock ? (spareBlock() ?? Buffer.allocUnsafeSlow(blockSize)) : undefined;
  const bytes = await file.read(offset, length, into);
  if (bytes.length < length)
    throw new SitemapError("invalid-archive", "The file was truncated while it was being read");
  return bytes;
}

export function invalidArchive(path: string, reason: string, cause?: unknown): SitemapError {
  return new SitemapError("invalid-archive", `${path} is not a readable archive: ${reason}`, { cause });
}
