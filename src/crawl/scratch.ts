// Storage for what a feature has to remember about many pages: in memory while it is small, then in one temporary file.
import { createTemporaryFile, type TemporaryFile } from "../archive/temporary-file.ts";

/** Stored bytes: themselves, or their position in the file. */
export type Piece = Uint8Array | { readonly offset: number; readonly length: number };

// Most websites need no file at all.
const mostInMemory = 8 * 1024 * 1024;

export class Scratch {
  readonly #memoryLimit: number;
  #inMemory = 0;
  #temporary: TemporaryFile | undefined;
  #end = 0;

  constructor(memoryLimit: number = mostInMemory) {
    this.#memoryLimit = memoryLimit;
  }

  /**
   * Takes ownership of the bytes: the caller must not change them, and must await this before the next call. Throws a
   * `SitemapError` (`storage-failed`).
   */
  async put(bytes: Uint8Array): Promise<Piece> {
    if (this.#inMemory + bytes.length <= this.#memoryLimit) {
      this.#inMemory += bytes.length;
      return bytes;
    }
    this.#temporary ??= await createTemporaryFile();
    const offset = this.#end;
    await this.#temporary.file.write(offset, bytes);
    this.#end += bytes.length;
    return { offset, length: bytes.length };
  }

  /** The bytes of a piece, or a part of them. Read-only. */
  async get(piece: Piece, from: number = 0, length: number = piece.length - from): Promise<Uint8Array> {
    if (piece instanceof Uint8Array) return piece.subarray(from, from + length);
    const bytes = await this.#temporary?.file.read(piece.offset + from, length);
    if (bytes?.length !== length) throw new Error("A temporary file became shorter");
    return bytes;
  }

  async close(): Promise<void> {
    await this.#temporary?.remove();
    this.#temporary = undefined;
  }
}
