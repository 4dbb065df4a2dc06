// Temporary storage: in memory up to a limit, then in blocks of one private temporary file.
import { randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Block, blockSize, closedError, KeptFile, returnBlock, spareBlock, storageFailed } from "./file.ts";

// How many bytes stay in memory by default. Most websites need no file at all.
const mostInMemory = 8 * 1024 * 1024;

export class Scratch {
  readonly #memoryLimit: number;
  #inMemory = 0;
  #temporary: Promise<TemporaryFile> | undefined;
  #end = 0;
  // The offsets of free slots in the file, by length.
  readonly #free = new Map<number, number[]>();
  #closed = false;

  /** `memoryLimit` is how many bytes may stay in memory: `0` for none, `Infinity` for all. */
  constructor(memoryLimit: number = mostInMemory) {
    this.#memoryLimit = memoryLimit;
  }

  /** Copies and stores all bytes. */
  async putAll(chunks: AsyncIterable<Uint8Array>): Promise<Block[]> {
    const blocks: Block[] = [];
    let buffer: Uint8Array | undefined;
    let used = 0;
    try {
      for await (const chunk of chunks) {
        for (let from = 0; from < chunk.length; ) {
          buffer ??= spareBlock() ?? Buffer.allocUnsafeSlow(blockSize);
          const piece = chunk.subarray(from, from + blockSize - used);
          buffer.set(piece, used);
          used += piece.length;
          from += piece.length;
          if (used < blockSize) continue;
          blocks.push(await this.put(buffer));
          // A block in memory keeps the buffer; if it was written to the file, the next one reuses the buffer.
          if (blocks.at(-1) instanceof Uint8Array) buffer = undefined;
          used = 0;
        }
      }
      // The last block has its exact length, because most documents are far smaller than a block.
      if (used > 0) blocks.push(await this.put(new Uint8Array(buffer!.subarray(0, used))));
    } catch (error) {
      this.release(blocks);
      throw error;
    }
    if (buffer !== undefined) returnBlock(buffer);
    return blocks;
  }

  /** Stores one piece, and takes ownership of it. Throws a `SitemapError` (`storage-failed`) if that fails. */
  async put(bytes: Uint8Array): Promise<Block> {
    if (this.#closed) throw closedError();
    if (this.#inMemory + bytes.length <= this.#memoryLimit) {
      this.#inMemory += bytes.length;
      return bytes;
    }
    const file = await this.file();
    const { length } = bytes;
    const offset = this.#free.get(slotFor(length))?.pop() ?? this.#grow(slotFor(length));
    await file.write(offset, bytes);
    return { file, offset, length };
  }

  /** Returns the bytes of a block. The caller must not change them. */
  async get(block: Block): Promise<Uint8Array> {
    if (block instanceof Uint8Array) return block;
    const bytes = await block.file.read(block.offset, block.length);
    if (bytes.length !== block.length) throw new Error("A temporary file was truncated");
    return bytes;
  }

  /** Releases blocks that will not be read again. */
  release(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block instanceof Uint8Array) {
        this.#inMemory -= block.length;
        returnBlock(block);
        continue;
      }
      const slot = slotFor(block.length);
      const free = this.#free.get(slot) ?? [];
      free.push(block.offset);
      this.#free.set(slot, free);
    }
  }

  /** The file, created on first use. */
  async file(): Promise<KeptFile> {
    this.#temporary ??= createTemporaryFile();
    return (await this.#temporary).file;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#temporary?.catch(() => undefined))?.remove();
  }

  // Reserves space synchronously, so that no two blocks get the same position.
  #grow(length: number): number {
    const offset = this.#end;
    this.#end += length;
    return offset;
  }
}

// Rounds lengths up to powers of two, so that a free slot usually fits the next piece.
function slotFor(length: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(length, 1)));
}

/** A file that no other user can read, and how to remove it. */
interface TemporaryFile {
  readonly file: KeptFile;
  remove(): Promise<void>;
}

/**
 * Creates the file, and removes its name immediately, if the system allows it, so that nothing is left behind. Throws a `SitemapError`
 * (`storage-failed`) if the file cannot be created.
 */
async function createTemporaryFile(): Promise<TemporaryFile> {
  const folder = tmpdir();
  try {
    const name = path.join(folder, `sitegrove-${randomUUID()}`);
    // `x` (O_EXCL) never opens a file or link that someone else created.
    const file = new KeptFile(await open(name, "wx+", 0o600), `A temporary file in ${folder}`);
    const isGone = await unlink(name).then(
      () => true,
      () => false,
    );
    const remove = async () => {
      await file.close();
      if (!isGone) await unlink(name).catch(() => undefined);
    };
    return { file, remove };
  } catch (error) {
    throw storageFailed(`No temporary file can be created in ${folder}`, error);
  }
}
