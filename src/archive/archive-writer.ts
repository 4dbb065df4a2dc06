// Appends records to a WARC file, whole exchanges one after another, each record compressed on its own if at all. A killed
// process leaves a file that is valid up to its last record; an acknowledged exchange has been passed to the operating system.
import { randomBytes } from "node:crypto";
import { link, lstat, open, rename, unlink } from "node:fs/promises";
import path from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip, gzipSync } from "node:zlib";
import { SitemapError } from "../model/errors.ts";
import { systemReason } from "../model/system-reason.ts";
import { blockSize, type Extent, KeptFile, lengthOf, readBlocks, storageFailed } from "./kept-body.ts";
import type { SavedRecord } from "./saved-record.ts";
import { memberHeader, withOurHeader } from "./skip-lengths.ts";
import { serialize, type WarcRecord } from "./warc-record.ts";

// Records up to this size are compressed synchronously, which is usually faster than using another thread.
const smallRecord = 64 * 1024;
// Measured on sitemaps: level 6 takes three times as long for a tenth less.
const level = 3;

/** A record as it is written. */
interface Part {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** What its first bytes are, once all pieces are there: a record that is being compressed does not know its length. */
  readonly header?: () => Uint8Array;
}

export class ArchiveWriter {
  readonly #file: KeptFile;
  readonly #compressed: boolean;
  #end = 0;
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  private constructor(file: KeptFile, compressed: boolean, end = 0) {
    this.#file = file;
    this.#compressed = compressed;
    this.#end = end;
  }

  /** Continues at the end of a file, which the writer owns from now on. */
  static at(end: number, file: KeptFile, compressed: boolean): ArchiveWriter {
    return new ArchiveWriter(file, compressed, end);
  }

  /** Creates the file, which must not exist. `name` is its name in messages. */
  static async create(file: string, compressed: boolean, name: string = file): Promise<ArchiveWriter> {
    try {
      return new ArchiveWriter(new KeptFile(await open(file, "wx+"), name), compressed);
    } catch (error) {
      throw isCode(error, "EEXIST") ? existsError(name, error) : unwritableError(name, error);
    }
  }

  /** Resolves when all records are written: where the content of each is, unless it is compressed. */
  async append(records: readonly WarcRecord[]): Promise<readonly Extent[] | undefined> {
    const ready = records.map((record) => this.#partOf(record));
    const ends = await this.#writeInTurn(ready);
    return this.#compressed
      ? undefined
      : records.map((record, index) => contentOf(record, this.#file, ends[index] ?? 0));
  }

  /** Appends a record as it is in another archive, without the line ends after it. */
  async copy(record: Extent): Promise<void> {
    await this.#writeInTurn([this.#partWith(wholeRecord(record), record.length)]);
  }

  /** Appends the beginning of a record that is cut off: whoever reads the archive knows that something is missing. */
  async appendCut(): Promise<void> {
    await this.#writeInTurn([this.#partWith(startOfRecord(), 0)]);
  }

  /** The same as `copy`, without compressing again. Our records that belong to it follow immediately. */
  async copyRecord(record: SavedRecord, behind: readonly WarcRecord[] = []): Promise<void> {
    const member = this.#compressed ? await record.compressed() : undefined;
    const copied =
      member === undefined
        ? this.#partWith(wholeRecord(record.extent), record.extent.length)
        : { pieces: readBlocks([member]) };
    const ready = behind.map((each) => this.#partOf(each));
    await this.#writeInTurn([copied, ...ready]);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  #partOf(record: WarcRecord): Part {
    return this.#partWith(serialize(record), lengthOf(record.content));
  }

  #partWith(pieces: AsyncIterable<Uint8Array>, length: number): Part {
    if (!this.#compressed) return { pieces };
    return length > smallRecord ? compressPieces(pieces) : { pieces: compressWhole(pieces) };
  }

  // Whole exchanges, one after another.
  #writeInTurn(parts: readonly Part[]): Promise<number[]> {
    const turn = this.#last.then(() => this.#write(parts));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #write(parts: readonly Part[]): Promise<number[]> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const ends: number[] = [];
    let position = this.#end;
    let waiting: Uint8Array[] = [];
    const flush = async () => {
      const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
      waiting = [];
      await this.#file.write(position - bytes.length, bytes);
    };
    try {
      for (const { pieces, header } of parts) {
        const start = position;
        let first: Uint8Array | undefined;
        for await (const piece of pieces) {
          first ??= piece;
          waiting.push(piece);
          position += piece.length;
          // A small exchange is written at once, so that it is hardly ever cut in two.
          if (lengthOf(waiting) >= blockSize) await flush();
        }
        if (header !== undefined && first !== undefined && waiting.includes(first)) first.set(header());
        else if (header !== undefined) await this.#file.write(start, header());
        ends.push(position);
      }
      await flush();
    } catch (error) {
      // Nothing may follow half an exchange.
      this.#failure = { error };
      await this.#file.truncate(this.#end).catch(() => undefined);
      throw error;
    }
    this.#end = position;
    return ends;
  }
}

/** Writes a whole archive under a temporary name first: a file with the name `file` is complete. Never replaces a file. */
export async function writeArchive(file: string, write: (writer: ArchiveWriter) => Promise<void>): Promise<void> {
  if (await lstat(file).catch(() => undefined)) throw existsError(file);
  const unfinished = unfinishedName(file);
  const writer = await ArchiveWriter.create(unfinished, isCompressedName(file), file);
  try {
    try {
      await write(writer);
    } finally {
      await writer.close();
    }
    await publish(unfinished, file);
  } finally {
    await unlink(unfinished).catch(() => undefined);
  }
}

export function isCompressedName(file: string): boolean {
  return file.toLowerCase().endsWith(".gz");
}

/** A temporary name next to another one. Also fits if the other has the maximum length. */
function unfinishedName(file: string): string {
  const mark = `.${randomBytes(4).toString("hex")}.unfinished`;
  return path.join(path.dirname(file), path.basename(file).slice(0, 50) + mark);
}

// A link, unlike a rename, never replaces a file.
async function publish(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (isCode(error, "EEXIST")) throw existsError(to, error);
    // Not every file system supports links.
    if (await lstat(to).catch(() => undefined)) throw existsError(to);
    await rename(from, to).catch((reason) => {
      throw unwritableError(to, reason);
    });
  }
}

async function* compressWhole(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const whole = [];
  for await (const piece of pieces) whole.push(piece);
  const record = Buffer.concat(whole);
  yield withOurHeader(gzipSync(record, { level }), record.length);
}

function compressPieces(record: AsyncIterable<Uint8Array>): Part {
  let packed = 0;
  let unpacked = 0;
  async function* counted() {
    for await (const piece of record) {
      unpacked += piece.length;
      yield piece;
    }
  }
  async function* compressed() {
    const compressor = createGzip({ level, chunkSize: blockSize });
    // Errors of the source reach the loop through the compressor.
    pipeline(Readable.from(counted()), compressor, () => undefined);
    for await (const piece of compressor) {
      const ours: Uint8Array = packed === 0 ? withOurHeader(piece) : piece;
      packed += ours.length;
      yield ours;
    }
  }
  return { pieces: compressed(), header: () => memberHeader({ packed, unpacked }) };
}

async function* startOfRecord(): AsyncGenerator<Uint8Array, undefined> {
  yield Buffer.from("WARC/1.1\r\n");
}

async function* wholeRecord(record: Extent): AsyncGenerator<Uint8Array, undefined> {
  yield* readBlocks([record]);
  yield Buffer.from("\r\n\r\n");
}

function contentOf(record: WarcRecord, file: KeptFile, end: number): Extent {
  const length = lengthOf(record.content);
  // Four bytes end a record.
  return { file, offset: end - 4 - length, length };
}

function existsError(file: string, cause?: unknown): SitemapError {
  return new SitemapError("archive-exists", `${file} exists already; an archive never replaces a file`, { cause });
}

function unwritableError(file: string, cause: unknown): SitemapError {
  // Too many open files, or no space: not a fault of the path.
  if (["EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EIO", "ENOMEM"].some((code) => isCode(cause, code))) {
    return storageFailed(`${file} could not be written`, cause);
  }
  return new SitemapError("archive-unwritable", `${file} cannot be written: ${systemReason(cause)}`, { cause });
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
