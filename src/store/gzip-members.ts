// Where the records of a compressed archive begin in the file. Each is a gzip member, and gzip does not give the length
// of a member: so the file is searched for the magic bytes of a member with the head of a record in it. Bodies that a
// website compressed have the same magic bytes, but contain no record.
import { constants, inflateRawSync } from "node:zlib";
import type { Extent, KeptFile } from "./kept-body.ts";

const magic = Buffer.from([0x1f, 0x8b, 0x08, 0x00]);
const headerLength = 10;
const trailerLength = 8;
// Compressed bytes that are enough for the first letters of a record.
const probeLength = 512;
const windowSize = 1024 * 1024;
// A member up to this size is decompressed at once to find its end.
const largestMember = 256 * 1024 * 1024;

/** The offsets of all members with a record, in order. */
export async function recordMembers(file: KeptFile, size: number): Promise<number[]> {
  const offsets: number[] = [];
  for (let start = 0; start < size; start += windowSize) {
    // Windows overlap, so that a member at the end of one is seen whole.
    const length = Math.min(windowSize + headerLength + probeLength, size - start);
    const bytes = Buffer.from(await file.read(start, length));
    for (let at = bytes.indexOf(magic); at !== -1 && at < windowSize; at = bytes.indexOf(magic, at + 1)) {
      if (holdsRecord(bytes.subarray(at))) offsets.push(start + at);
    }
  }
  return offsets;
}

/** The end of the member that begins here; undefined if it has none, or is too large. */
export async function memberEnd(file: KeptFile, offset: number, size: number): Promise<number | undefined> {
  if (size - offset > largestMember) return undefined;
  const bytes = Buffer.from(await file.read(offset, size - offset));
  try {
    const { engine } = inflateRawSync(bytes.subarray(headerLength), { info: true }) as unknown as {
      engine: { bytesWritten: number };
    };
    const end = offset + headerLength + engine.bytesWritten + trailerLength;
    return end <= size ? end : undefined;
  } catch {
    return undefined;
  }
}

/** The members of the records, by number; undefined if one of them is not a record. */
export async function membersOf(
  file: KeptFile,
  size: number,
  recordCount: number,
): Promise<readonly Extent[] | undefined> {
  const offsets = await recordMembers(file, size);
  if (offsets.length !== recordCount || offsets[0] !== 0) return undefined;
  return offsets.map((offset, at) => ({ file, offset, length: (offsets[at + 1] ?? size) - offset }));
}

function holdsRecord(bytes: Buffer): boolean {
  try {
    const start = inflateRawSync(bytes.subarray(headerLength, headerLength + probeLength), {
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    return start.subarray(0, 5).toString("latin1") === "WARC/";
  } catch {
    return false;
  }
}
