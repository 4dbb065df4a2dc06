// Compressed archives: each record is a separate gzip member, decompressed on demand. Files compressed as a whole are decompressed into a
// temporary file.
//   https://www.rfc-editor.org/rfc/rfc1952
import { pipeline, Readable } from "node:stream";
import * as zlib from "node:zlib";
import { SitemapError } from "../model/errors.ts";
import { blockSize, type KeptFile } from "../storage/file.ts";
import { createTemporaryFile, type TemporaryFile } from "../storage/scratch.ts";
import { latin1, magic as recordStart } from "./warc.ts";

// The most that is compressed or decompressed in one call.
const smallPacked = 64 * 1024;
const smallUnpacked = 1024 * 1024;
// Measured on sitemaps: level 6 takes three times as long for a tenth less.
const level = 3;
// The checksum and the length at the end of a member.
const trailerLength = 8;
const mostHeader = 4096;
const magic = Buffer.from([0x1f, 0x8b, 8]);
/** Limits what a tiny file may decompress to: sitemaps shrink to a tenth, never to a hundredth. */
const maxRatio = 100;
const alwaysAllowed = 128 * 1024 * 1024;

/** Damaged compressed data. */
export class DamagedGzip extends Error {}

/** The maximum decompressed size. */
export function mostUnpacked(packed: number): number {
  return Math.max(alwaysAllowed, packed * maxRatio);
}

/** One member. `length`: of its content, if known. */
export async function* compressed(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array, undefined> {
  if (length <= smallPacked) {
    const whole: Uint8Array[] = [];
    for await (const piece of pieces) whole.push(piece);
    return yield zlib.gzipSync(Buffer.concat(whole), { level });
  }
  const gzip = zlib.createGzip({ level, chunkSize: smallPacked });
  feed(gzip, pieces);
  yield* gzip;
}

// One lent piece at a time. Errors of the source reach the reader of the output.
async function feed(gzip: zlib.Gzip, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const piece of pieces) {
      await new Promise<void>((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
    }
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
  }
}

/** A member that is not compressed: its bytes can be read in place. */
export function stored(bytes: Uint8Array): Uint8Array {
  return zlib.gzipSync(bytes, { level: 0 });
}

/** The content of these bytes of a file, if they are exactly one member. Throws `DamagedGzip`. */
export async function* decompressed(
  file: KeptFile,
  offset: number,
  length: number,
): AsyncGenerator<Uint8Array, undefined> {
  const start = await file.read(offset, length > smallPacked ? mostHeader : length);
  const used = yield* member(file, offset, start, mostUnpacked(length));
  if (used !== length) throw new DamagedGzip();
}

/**
 * The content of the member that begins here; returns its length in the file. `start`: its first bytes, and what follows. With `most`, the
 * decompressed size is limited, and the checksum is verified. Throws `DamagedGzip`.
 */
export async function* member(
  file: KeptFile,
  offset: number,
  start: Uint8Array,
  most?: number,
): AsyncGenerator<Uint8Array, number> {
  const header = headerLength(start);
  if (header === undefined) throw new DamagedGzip();
  let unpacked = 0;
  let sum = 0;
  const see = (piece: Uint8Array) => {
    unpacked += piece.length;
    if (most !== undefined) sum = zlib.crc32(piece, sum);
    if (unpacked > (most ?? Number.POSITIVE_INFINITY)) throw new DamagedGzip();
  };
  const lengthAfter = async (used: number) => {
    const end = header + used;
    const known = start.subarray(end, end + trailerLength);
    const isKnown = known.length === trailerLength;
    const trailer = Buffer.from(isKnown ? known : await file.read(offset + end, trailerLength));
    const isWhole = trailer.length === trailerLength && trailer.readUInt32LE(4) === unpacked % 2 ** 32;
    if (!isWhole || (most !== undefined && trailer.readUInt32LE() !== sum)) throw new DamagedGzip();
    return end + trailerLength;
  };
  const small = inflateSmall(start.subarray(header));
  if (small !== undefined) {
    see(small.buffer);
    const length = await lengthAfter(small.used);
    yield small.buffer;
    return length;
  }
  // Gunzip would continue with the following members.
  const inflate = zlib.createInflateRaw({ chunkSize: smallPacked });
  const source = Readable.from(piecesFrom(file, offset + header), { highWaterMark: 1 });
  pipeline(source, inflate, () => undefined);
  try {
    for await (const piece of inflate) {
      see(piece);
      yield piece;
    }
  } catch (error) {
    throw isDamage(error) ? new DamagedGzip() : error;
  } finally {
    source.destroy();
  }
  return lengthAfter(inflate.bytesWritten);
}

// Synchronously: for so few bytes, another thread takes longer. Undefined if the member is large, or continues after these bytes.
function inflateSmall(bytes: Uint8Array): { readonly buffer: Uint8Array; readonly used: number } | undefined {
  try {
    const options = { info: true, maxOutputLength: smallUnpacked };
    const result = zlib.inflateRawSync(bytes, options) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    return { buffer: result.buffer, used: result.engine.bytesWritten };
  } catch (error) {
    if (["ERR_BUFFER_TOO_LARGE", "Z_BUF_ERROR"].includes(codeOf(error))) return undefined;
    throw isDamage(error) ? new DamagedGzip() : error;
  }
}

async function* piecesFrom(file: KeptFile, offset: number): AsyncGenerator<Uint8Array, undefined> {
  for (let at = offset; ; at += blockSize) {
    const piece = await file.read(at, blockSize);
    if (piece.length === 0) return;
    yield piece;
  }
}

/** The position of a member with a record in these bytes; -1 if there is none. (Compressed bodies of a website contain no record.) */
export function findMember(bytes: Uint8Array, mayTry: () => boolean): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = buffer.indexOf(magic); at !== -1 && mayTry(); at = buffer.indexOf(magic, at + 1)) {
    const header = headerLength(bytes.subarray(at));
    if (header !== undefined && startsLikeRecord(startIn(bytes.subarray(at + header, at + header + 512)))) return at;
  }
  return -1;
}

function startIn(bytes: Uint8Array): Uint8Array {
  try {
    return zlib.inflateRawSync(bytes, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array();
  }
}

export function startsLikeRecord(bytes: Uint8Array): boolean {
  return latin1(bytes.subarray(0, recordStart.length)) === recordStart;
}

// https://www.rfc-editor.org/rfc/rfc1952#page-5: undefined if no member begins here.
function headerLength(bytes: Uint8Array): number | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8) return undefined;
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  // A name and a comment, which end with a zero.
  for (const flag of [8, 16]) if (flags & flag) at = bytes.indexOf(0, at) + 1 || bytes.length;
  if (flags & 2) at += 2;
  return at < bytes.length ? at : undefined;
}

/** Decompresses a whole file. `isDamaged`: only the part before the damage is there. `isLate`: the rest is missing, because the time limit was reached. */
export async function unpack(
  path: string,
  packed: KeptFile,
  size: number,
  isLate: () => boolean,
): Promise<TemporaryFile & { readonly size: number; readonly isDamaged: boolean }> {
  const temporary = await createTemporaryFile();
  const most = mostUnpacked(size);
  let unpacked = 0;
  let isDamaged = false;
  try {
    // If the file is cut off, its records will show that.
    const gunzip = zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH, chunkSize: blockSize });
    pipeline(Readable.from(piecesFrom(packed, 0)), gunzip, () => undefined);
    for await (const piece of gunzip) {
      if (isLate()) break;
      await temporary.file.write(unpacked, piece);
      unpacked += piece.length;
      if (unpacked > most) throw tooLarge(path, most);
    }
  } catch (error) {
    isDamaged = isDamage(error);
    if (!isDamaged) {
      await temporary.remove();
      throw error;
    }
  }
  return { ...temporary, size: unpacked, isDamaged };
}

export function tooLarge(path: string, most: number): SitemapError {
  return new SitemapError("invalid-archive", `${path} decompresses to more than ${most} bytes`);
}

// Whether the data is at fault, and not the disk or a lack of memory.
function isDamage(error: unknown): boolean {
  return error instanceof DamagedGzip || ["Z_DATA_ERROR", "Z_BUF_ERROR", "Z_NEED_DICT"].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
