// A stored body: a list of blocks, each in memory or in a file, read in order any number of times.
import type { FileHandle } from "node:fs/promises";
import { SitemapError } from "../model/errors.ts";
import type { Body } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import { systemReason } from "../model/system-reason.ts";

/** A range of a file that does not change. */
export interface Extent {
  readonly file: KeptFile;
  readonly offset: number;
  readonly length: number;
}

export type Block = Uint8Array | Extent;

/** Large enough that a read costs little per byte, small enough that sixteen readers need little memory. */
export const blockSize: number = 256 * 1024;

const smallRead = 16 * 1024;
const windowSize = 64 * 1024;

/** Content of a file that is written when it is first read. */
export interface LazyContent {
  readonly isEmpty: boolean;
  /** Writes what is missing in a range; undefined if nothing is. */
  load(offset: number, length: number): Promise<void> | undefined;
  /** How many bytes at the start of a range are there. */
  loaded(offset: number, length: number): number;
}

/** One file handle for all readers: each read has its own position. */
export class KeptFile {
  readonly #handle: FileHandle;
  readonly #name: string;
  #watched: string | undefined;
  #closed = false;
  lazy: LazyContent | undefined;
  /** Nobody else can write to it. */
  isPrivate = false;
  /** Bytes that were read do not change: they may be remembered. */
  remembersReads = false;
  // What was read last, for the small reads that follow it.
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;

  /** `name`: the name of the file in error messages. */
  constructor(handle: FileHandle, name: string) {
    this.#handle = handle;
    this.#name = name;
  }

  /** The bytes at this position: fewer than requested only at the end of the file. They are read into `buffer`, if there is one. */
  async read(offset: number, length: number, buffer?: Buffer): Promise<Uint8Array> {
    if (this.#closed) throw closedError();
    if (this.remembersReads && buffer === undefined && length <= smallRead) return this.#readSmall(offset, length);
    return this.#read(offset, length, buffer);
  }

  // The records of small documents follow each other, and a read takes longer than reading such a document.
  async #readSmall(offset: number, length: number): Promise<Uint8Array> {
    const start = offset - this.#windowStart;
    if (start < 0 || start + length > this.#window.length) {
      const most = Math.max(this.lazy?.loaded(offset, windowSize) ?? windowSize, length);
      const window = await this.#read(offset, most);
      this.#window = window;
      this.#windowStart = offset;
      return Buffer.from(window.subarray(0, length));
    }
    // Copied, because it may be kept for long.
    return Buffer.from(this.#window.subarray(start, start + length));
  }

  async #read(offset: number, length: number, buffer: Buffer = Buffer.allocUnsafeSlow(length)): Promise<Uint8Array> {
    if (this.lazy !== undefined) await this.lazy.load(offset, length);
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

  /** Fewer bytes, but at least `least`, where more would have to be loaded first. */
  readSome(offset: number, least: number, most: number): Promise<Uint8Array> {
    return this.read(offset, Math.max(this.lazy?.loaded(offset, most) ?? most, Math.min(least, most)));
  }

  /** Writes all of it. A nearly full disk accepts a part, and fails only at the next attempt. */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    if (this.#closed) throw closedError();
    let used = 0;
    try {
      while (used < bytes.length) {
        const { bytesWritten } = await this.#handle.write(bytes, used, bytes.length - used, offset + used);
        if (bytesWritten === 0) throw new Error("the file takes nothing more");
        used += bytesWritten;
      }
    } catch (error) {
      throw this.#failed("written", error);
    }
  }

  /** Remembers the state of the file, where that tells whether somebody writes to it. */
  async watch(): Promise<void> {
    const { state, changedAt } = await this.#look();
    // The times of some file systems have steps of two seconds: a change right after the last one might not show. Windows sets
    // them when a writer closes the file.
    const isSettled = Date.now() - changedAt > 3000 && process.platform !== "win32";
    this.#watched = isSettled ? state : undefined;
  }

  /** Whether nobody wrote to the file since `watch`; false where that is not certain. */
  async isUnchanged(): Promise<boolean> {
    return this.#watched !== undefined && (await this.#look()).state === this.#watched;
  }

  /** Flushes the file to the disk. */
  async sync(): Promise<void> {
    try {
      await this.#handle.sync();
    } catch (error) {
      throw this.#failed("written", error);
    }
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  async truncate(size: number): Promise<void> {
    await this.#handle.truncate(size);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }

  // Of the times, one can be set to anything, but the other shows that.
  async #look(): Promise<{ readonly state: string; readonly changedAt: number }> {
    if (this.#closed) throw closedError();
    const { size, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = await this.#handle.stat({ bigint: true });
    return { state: `${size} ${mtimeNs} ${ctimeNs}`, changedAt: Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs) };
  }

  // Closed while it was in use: not a failure of the disk.
  #failed(what: "read" | "written", error: unknown): SitemapError {
    return this.#closed ? closedError() : storageFailed(`${this.#name} could not be ${what}`, error);
  }
}

export class KeptBody implements Body {
  readonly problem: Problem | undefined;
  readonly #blocks: readonly Block[];

  constructor(blocks: readonly Block[], problem: Problem | undefined) {
    this.#blocks = blocks;
    this.problem = problem;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return readBlocks(this.#blocks);
  }
}

/** The bytes of the blocks, in pieces of at most `blockSize`. */
export function readBlocks(blocks: readonly Block[]): AsyncGenerator<Uint8Array, undefined> {
  return readPieces(blocks, blockSize, () => undefined);
}

/** In pieces of at most `size`. A piece is read into the buffer that `nextBuffer` returns, while the caller works on the one before. */
export async function* readPieces(
  blocks: readonly Block[],
  size: number,
  nextBuffer: () => Buffer | undefined,
): AsyncGenerator<Uint8Array, undefined> {
  let ahead: Promise<Uint8Array> | undefined;
  for (const piece of pieces(blocks, size)) {
    const next = piece instanceof Uint8Array ? Promise.resolve(piece) : readWhole(piece, nextBuffer());
    // If the caller leaves first, nobody else would handle the rejection.
    next.catch(() => undefined);
    if (ahead !== undefined) yield await ahead;
    ahead = next;
  }
  if (ahead !== undefined) yield await ahead;
}

export function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0);
}

/** The extent without its first bytes. */
export function skip({ file, offset, length }: Extent, count: number): Extent {
  return { file, offset: offset + count, length: length - count };
}

/** Compressed bytes of an archive that cannot be decompressed to what they should be. */
export class DamagedData extends SitemapError {
  constructor(path: string, cause?: unknown) {
    super("invalid-archive", `${path} is damaged: a record in it cannot be decompressed`, { cause });
  }
}

export function storageFailed(what: string, cause: unknown): SitemapError {
  return new SitemapError("storage-failed", `${what}: ${systemReason(cause)}`, { cause });
}

export function closedError(): SitemapError {
  return new SitemapError("tree-closed", "The documents are no longer there: the tree was closed");
}

function* pieces(blocks: readonly Block[], size: number): Generator<Block> {
  for (const block of blocks) {
    if (block instanceof Uint8Array) {
      yield block;
      continue;
    }
    for (let from = 0; from < block.length; from += size) {
      yield { file: block.file, offset: block.offset + from, length: Math.min(size, block.length - from) };
    }
  }
}

async function readWhole({ file, offset, length }: Extent, buffer: Buffer | undefined): Promise<Uint8Array> {
  const bytes = await file.read(offset, length, buffer);
  if (bytes.length < length) throw new SitemapError("invalid-archive", "The file became shorter while it was read");
  return bytes;
}
