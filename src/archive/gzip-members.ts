// The members of a compressed archive, of which each is a record. Where they say their lengths, these lead from one to the next;
// where they do not, the file is searched for the magic bytes of a member with the head of a record in it. Bodies that a website
// compressed have the same magic bytes, but contain no record.
import { constants, inflateRawSync } from "node:zlib";
import type { KeptFile } from "./kept-body.ts";
import { dataStart, fieldsLength, isMember, skipLengths } from "./skip-lengths.ts";

/** A member, or several small ones in a row: where it is in the file, by its own account. */
export interface Member {
  readonly offset: number;
  readonly length: number;
  /** The length of what is in it. */
  readonly unpacked: number;
  readonly isLarge: boolean;
}

const magic = Buffer.from([0x1f, 0x8b, 0x08]);
/** The checksum and the length at the end of a member. */
export const trailerLength = 8;
// Compressed bytes that are enough for the first letters of a record, after a header with a few fields.
const probeLength = 768;
const windowSize = 1024 * 1024;
// A member up to this size is decompressed at once to find its end.
const largestMember = 256 * 1024 * 1024;
// What is read at a time to get from header to header.
const headerWindow = 64 * 1024;
/** A larger one, in the file or unpacked, may stay packed until it is read. */
const smallMember = 128 * 1024;
const mostJoined = 512 * 1024;

/**
 * The members from the start of the file that say their lengths, up to the first one that does not, or that cannot be right:
 * where it ends, another one begins, or the file ends. With `joined`, small ones come many at once.
 */
export async function* membersByLength(file: KeptFile, size: number, joined = false): AsyncGenerator<Member> {
  let window: Uint8Array = new Uint8Array();
  let windowStart = 0;
  const bytesAt = async (at: number, least: number) => {
    const known = window.subarray(at - windowStart);
    if (known.length >= Math.min(least, size - at)) return known;
    window = await file.read(at, Math.min(headerWindow + least, size - at));
    windowStart = at;
    return window;
  };
  // The member before, and those before it that will be passed on.
  let last: Member | undefined;
  let waiting: Member | undefined;
  for (let at = 0; ; at = last.offset + last.length) {
    const start = at < size ? await bytesAt(at, 12) : undefined;
    if (last !== undefined && (start === undefined || isMember(start))) {
      const both: Member | undefined = joined && waiting !== undefined ? join(waiting, last) : undefined;
      if (both === undefined && waiting !== undefined) yield waiting;
      waiting = both ?? last;
    }
    const needed = start && fieldsLength(start);
    const lengths = needed === undefined ? undefined : skipLengths(await bytesAt(at, needed));
    if (lengths === undefined || at + lengths.packed > size) break;
    const { packed: length, unpacked } = lengths;
    last = { offset: at, length, unpacked, isLarge: Math.max(length, unpacked) > smallMember };
  }
  if (waiting !== undefined) yield waiting;
}

function join(one: Member, other: Member): Member | undefined {
  const length = one.length + other.length;
  const unpacked = one.unpacked + other.unpacked;
  if (one.isLarge || other.isLarge || Math.max(length, unpacked) > mostJoined) return undefined;
  return { offset: one.offset, length, unpacked, isLarge: false };
}

/** The offsets of all members with a record, in order. */
export async function recordMembers(file: KeptFile, size: number): Promise<number[]> {
  const offsets: number[] = [];
  for (let start = 0; start < size; start += windowSize) {
    // Windows overlap, so that a member at the end of one is seen whole.
    const length = Math.min(windowSize + probeLength, size - start);
    const bytes = Buffer.from(await file.read(start, length));
    for (let at = bytes.indexOf(magic); at !== -1 && at < windowSize; at = bytes.indexOf(magic, at + 1)) {
      if (holdsRecord(bytes.subarray(at, at + probeLength))) offsets.push(start + at);
    }
  }
  return offsets;
}

/** The end of the member that begins here; undefined if it has none, or is too large. */
export async function memberEnd(file: KeptFile, offset: number, size: number): Promise<number | undefined> {
  if (size - offset > largestMember) return undefined;
  const bytes = Buffer.from(await file.read(offset, size - offset));
  const start = dataStart(bytes);
  if (start === undefined) return undefined;
  try {
    const { engine } = inflateRawSync(bytes.subarray(start), { info: true }) as unknown as {
      engine: { bytesWritten: number };
    };
    const end = offset + start + engine.bytesWritten + trailerLength;
    return end <= size ? end : undefined;
  } catch {
    return undefined;
  }
}

function holdsRecord(bytes: Buffer): boolean {
  const data = dataStart(bytes);
  if (data === undefined) return false;
  try {
    const start = inflateRawSync(bytes.subarray(data), { finishFlush: constants.Z_SYNC_FLUSH });
    return start.subarray(0, 5).toString("latin1") === "WARC/";
  } catch {
    return false;
  }
}
