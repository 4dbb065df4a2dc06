// Stores bodies: in memory up to a limit, beyond it in one private temporary file. Many bodies are received at a time,
// so each is a list of blocks, and the blocks of different bodies are interleaved in the file: nothing is copied twice.
import { type Block, blockSize, closedError, type KeptFile } from "./kept-body.ts";
import { createTemporaryFile, type TemporaryFile } from "./temporary-file.ts";

// The initial memory of a body while it is received; it grows with the body, up to a block.
const firstBuffer = 16 * 1024;

export class BodySpace {
  readonly #memoryLimit: number;
  readonly #reuses: boolean;
  #inMemory = 0;
  #temporary: Promise<TemporaryFile> | undefined;
  #end = 0;
  // Free blocks of the file that can be reused.
  readonly #free: number[] = [];
  #closed = false;

  /**
   * `memoryLimit`: how many bytes may stay in memory, `0` for none, `Infinity` for all. `reuses`: whether blocks will
   * be released; then all have the same size in the file, so that each fits the next.
   */
  constructor(memoryLimit: number, reuses: boolean) {
    this.#memoryLimit = memoryLimit;
    this.#reuses = reuses;
  }

  /** Stores all bytes; resolves when they are kept. The chunks are copied. */
  async take(chunks: AsyncIterable<Uint8Array>): Promise<Block[]> {
    const blocks: Block[] = [];
    try {
      await this.#take(chunks, blocks);
    } catch (error) {
      this.release(blocks);
      throw error;
    }
    return blocks;
  }

  /** Releases blocks that will not be read again. */
  release(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block instanceof Uint8Array) this.#inMemory -= block.length;
      else if (this.#reuses) this.#free.push(block.offset);
    }
  }

  /** Creates the temporary file now, so that a full or read-only disk is reported at once. */
  async prepare(): Promise<void> {
    await this.#file();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#temporary?.catch(() => undefined))?.remove();
  }

  /** Stores one piece of at most a block, and takes ownership of it. */
  async put(bytes: Uint8Array): Promise<Block> {
    if (this.#closed) throw closedError();
    if (this.#inMemory + bytes.length <= this.#memoryLimit) {
      this.#inMemory += bytes.length;
      return bytes;
    }
    const file = await this.#file();
    const offset = this.#free.pop() ?? this.#grow(this.#reuses ? blockSize : bytes.length);
    await file.write(offset, bytes);
    return { file, offset, length: bytes.length };
  }

  async #take(chunks: AsyncIterable<Uint8Array>, blocks: Block[]): Promise<void> {
    let buffer = Buffer.alloc(0);
    let used = 0;
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.length; ) {
        if (used === buffer.length) {
          const grown = Buffer.allocUnsafeSlow(Math.min(blockSize, Math.max(firstBuffer, buffer.length * 2)));
          grown.set(buffer);
          buffer = grown;
        }
        const piece = chunk.subarray(from, from + buffer.length - used);
        buffer.set(piece, used);
        used += piece.length;
        from += piece.length;
        if (used === blockSize) {
          blocks.push(await this.put(buffer));
          // A block in memory keeps the buffer; one that was written leaves it to the next.
          if (blocks.at(-1) instanceof Uint8Array) buffer = Buffer.alloc(0);
          used = 0;
        }
      }
    }
    if (used > 0) blocks.push(await this.put(used === buffer.length ? buffer : copyOf(buffer.subarray(0, used))));
  }

  // Reserved synchronously: two bodies never get the same position.
  #grow(length: number): number {
    const offset = this.#end;
    this.#end += length;
    return offset;
  }

  async #file(): Promise<KeptFile> {
    this.#temporary ??= createTemporaryFile();
    return (await this.#temporary).file;
  }
}

// A copy of the exact length: most documents are far smaller than a block.
function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
