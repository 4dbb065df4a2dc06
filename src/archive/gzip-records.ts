// Compressed archives: each record is a gzip member of its own, decompressed whenever it is read. What is compressed in another
// way, many records in one piece, is decompressed as a whole into a temporary file.
//   https://www.rfc-editor.org/rfc/rfc1952
import { pipeline, Readable } from "node:stream";
import {
  constants,
  createGunzip,
  createGzip,
  createInflateRaw,
  type Gzip,
  gunzipSync,
  gzipSync,
  inflateRawSync,
} from "node:zlib";
import { SitemapError } from "../model/errors.ts";
import { blockSize, type KeptFile, readBlocks } from "./file.ts";
import { createTemporaryFile, type TemporaryFile } from "./scratch.ts";
import { latin1, magic as recordStart } from "./warc.ts";

/** What is compressed and decompressed at once: for so little, another thread costs more than it saves. */
const smallPacked = 64 * 1024;
const smallUnpacked = 1024 * 1024;
// Measured on sitemaps: level 6 takes three times as long for a tenth less.
const level = 3;
// The checksum and the length at the end of a member.
const trailerLength = 8;
const magic = Buffer.from([0x1f, 0x8b, 8]);
/** A file of a few bytes must not keep us busy: sitemaps shrink to a tenth, never to a hundredth. */
const maxRatio = 100;
const alwaysAllowed = 128 * 1024 * 1024;

/** Compressed data that is not what it should be. */
export class DamagedGzip extends Error {}

/** How much may come out of compressed bytes. */
export function mostUnpacked(packed: number): number {
  return Math.max(alwaysAllowed, packed * maxRatio);
}

/** One member. `length`: of what is in it, as far as it is known. A compressor takes half a megabyte: there is none before it is read. */
export async function* compressed(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array, undefined> {
  if (length <= smallPacked) return yield* compressedWhole(pieces);
  const gzip = createGzip({ level, chunkSize: smallPacked });
  feed(gzip, pieces);
  yield* gzip;
}

// One piece at a time: it is lent. Errors of the source reach whoever reads what comes out.
async function feed(gzip: Gzip, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const piece of pieces) {
      await new Promise<void>((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
    }
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
  }
}

async function* compressedWhole(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const whole: Uint8Array[] = [];
  for await (const piece of pieces) whole.push(piece);
  yield gzipSync(Buffer.concat(whole), { level });
}

/** Not compressed, but a member all the same: its bytes can be read where they are. */
export function stored(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 0 });
}

/** What is in these bytes of a file, if they are a member and nothing else. Throws `DamagedGzip`. */
export async function* decompressed(
  file: KeptFile,
  offset: number,
  length: number,
): AsyncGenerator<Uint8Array, undefined> {
  const packed = readBlocks([{ file, offset, length }]);
  const small = length <= smallPacked ? gunzipSmall((await packed.next()).value ?? new Uint8Array()) : undefined;
  if (small !== undefined) {
    yield small;
    return;
  }
  const gunzip = createGunzip({ chunkSize: smallPacked });
  pipeline(Readable.from(readBlocks([{ file, offset, length }]), { highWaterMark: 1 }), gunzip, () => undefined);
  let left = mostUnpacked(length);
  try {
    for await (const piece of gunzip) {
      left -= piece.length;
      if (left < 0) throw new DamagedGzip();
      yield piece;
    }
  } catch (error) {
    throw isDamage(error) ? new DamagedGzip() : error;
  }
  // Something else follows in these bytes.
  if (gunzip.bytesWritten !== length) throw new DamagedGzip();
}

// Undefined if it is large.
function gunzipSmall(bytes: Uint8Array): Uint8Array | undefined {
  try {
    // The last four bytes say how much comes out: with room for all of it, nothing is copied.
    const size = bytes.length < 4 ? 0 : Buffer.from(bytes.subarray(-4)).readUInt32LE();
    if (size > smallUnpacked) return undefined;
    const { buffer, used } = inflated(gunzipSync, bytes, size + 64);
    if (used !== bytes.length) throw new DamagedGzip();
    return buffer;
  } catch (error) {
    if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw isDamage(error) ? new DamagedGzip() : error;
  }
}

function inflated(
  inflate: typeof gunzipSync,
  bytes: Uint8Array,
  chunkSize?: number,
): { readonly buffer: Uint8Array; readonly used: number } {
  const options = { info: true, maxOutputLength: smallUnpacked, chunkSize };
  const result = inflate(bytes, options) as unknown as { buffer: Uint8Array; engine: { bytesWritten: number } };
  return { buffer: result.buffer, used: result.engine.bytesWritten };
}

/** A member as the pass over a file finds it. */
export interface Member {
  /** In the file. */
  readonly length: number;
  /** What it begins with: all of it if it is small. */
  readonly start: Uint8Array;
  readonly unpacked: number;
}

/** The member that begins here: `bytes` are there already. Undefined if it is damaged, cut off, or begins with something else than a record. */
export async function memberAt(file: KeptFile, offset: number, bytes: Uint8Array): Promise<Member | undefined> {
  const header = headerLength(bytes);
  if (header === undefined) return undefined;
  try {
    const { buffer, used } = inflated(inflateRawSync, bytes.subarray(header));
    const length = header + used + trailerLength;
    const sizeAt = await file.read(offset + length - 4, 4);
    return isSize(sizeAt, buffer.length) ? { length, start: buffer, unpacked: buffer.length } : undefined;
  } catch (error) {
    if (["ERR_BUFFER_TOO_LARGE", "Z_BUF_ERROR"].includes(codeOf(error))) return largeMemberAt(file, offset, header);
    if (isDamage(error)) return undefined;
    throw error;
  }
}

// Gunzip would go on with the members behind it.
async function largeMemberAt(file: KeptFile, offset: number, header: number): Promise<Member | undefined> {
  const inflate = createInflateRaw({ chunkSize: blockSize });
  const source = Readable.from(piecesFrom(file, offset + header), { highWaterMark: 1 });
  pipeline(source, inflate, () => undefined);
  let start: Uint8Array = new Uint8Array();
  let unpacked = 0;
  try {
    for await (const piece of inflate) {
      if (start.length < blockSize) start = Buffer.concat([start, piece]);
      if (!startsLikeRecord(start)) return undefined;
      unpacked += piece.length;
    }
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  } finally {
    source.destroy();
  }
  const length = header + inflate.bytesWritten + trailerLength;
  return isSize(await file.read(offset + length - 4, 4), unpacked) ? { length, start, unpacked } : undefined;
}

async function* piecesFrom(file: KeptFile, offset: number): AsyncGenerator<Uint8Array, undefined> {
  for (let at = offset; ; at += blockSize) {
    const piece = await file.read(at, blockSize);
    if (piece.length === 0) return;
    yield piece;
  }
}

/** Where a member with a record begins in these bytes; -1 if nowhere. A body that a website compressed contains no record. */
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
    return inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array();
  }
}

function startsLikeRecord(bytes: Uint8Array): boolean {
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

function isSize(bytes: Uint8Array, length: number): boolean {
  return bytes.length === 4 && Buffer.from(bytes).readUInt32LE() === length % 2 ** 32;
}

/** Decompresses a whole file. `isDamaged`: what came before the damage is there. Where `isLate`, the rest is missing. */
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
    // Where it is cut off, the records show it.
    const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: blockSize });
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
  return new SitemapError("invalid-archive", `${path} unpacks to more than ${most} bytes`);
}

// Not the disk, or too little memory.
function isDamage(error: unknown): boolean {
  return error instanceof DamagedGzip || ["Z_DATA_ERROR", "Z_BUF_ERROR", "Z_NEED_DICT"].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
