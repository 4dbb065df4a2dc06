// Reads gzip one member at a time: a document may have several, and each record of an archive is one.
//   https://www.rfc-editor.org/rfc/rfc1952: "A gzip file consists of a series of 'members'"
// Names, comments and extra fields in a header are skipped, never kept. The header's own checksum is not verified.
import * as zlib from "node:zlib";
import type { ByteReader } from "./byte-reader.ts";
import { createRawInflater, decompress, type Ending, type ZlibStream } from "./zlib-stage.ts";

/** How a member ended. */
export interface MemberEnd {
  readonly ending: Ending;
  /** Whether the length and the checksum match. */
  readonly isIntact: boolean;
  /** RFC 1952: "must give an error indication if any reserved bit is non-zero" */
  readonly hasReservedFlags: boolean;
}

export class GzipMembers {
  readonly #input: ByteReader;
  readonly #createInflater: () => ZlibStream;
  // If the previous member was small, this one probably is, too.
  #isSmall = false;

  constructor(input: ByteReader, createInflater: () => ZlibStream = createRawInflater) {
    this.#input = input;
    this.#createInflater = createInflater;
  }

  /** Yields the content of the next member, and leaves the reader at the byte after it. */
  async *next(): AsyncGenerator<Uint8Array, MemberEnd, void> {
    const input = this.#input;
    const flags = await skipHeader(input);
    const hasReservedFlags = (flags ?? 0) >= 0x20;
    if (flags === undefined) return { ending: "truncated", isIntact: false, hasReservedFlags };
    let [crc, size] = [0, 0];
    const update = (chunk: Uint8Array) => {
      crc = zlib.crc32(chunk, crc);
      size += chunk.length;
    };
    // Many small members must not wait for a thread each.
    this.#isSmall = !(await input.fill(smallInput)) || this.#isSmall;
    const output = this.#isSmall ? inflateSmall(input) : undefined;
    if (output !== undefined) {
      update(output);
      if (output.length > 0) yield output;
    } else {
      const ending = yield* decompress(input, this.#createInflater, update);
      if (ending !== "complete") return { ending, isIntact: false, hasReservedFlags };
    }
    this.#isSmall = size < smallMember;
    if (!(await input.fill(8))) return { ending: "truncated", isIntact: false, hasReservedFlags };
    const { buffer, byteOffset } = input.take(8);
    const trailer = new DataView(buffer, byteOffset, 8);
    const isIntact = trailer.getUint32(0, true) === crc && trailer.getUint32(4, true) === size % 2 ** 32;
    return { ending: "complete", isIntact, hasReservedFlags };
  }
}

// Skips the header of a member. Returns its flags, or undefined if the input ends first.
async function skipHeader(input: ByteReader): Promise<number | undefined> {
  if (!(await input.fill(10))) return undefined;
  const flags = input.take(10)[3]!;
  if (flags & 0x04) {
    if (!(await input.fill(2))) return undefined;
    const [low, high] = input.take(2);
    if (!(await skip(input, low! + high! * 256))) return undefined;
  }
  if (flags & 0x08 && !(await skipText(input))) return undefined;
  if (flags & 0x10 && !(await skipText(input))) return undefined;
  return flags & 0x02 && !(await skip(input, 2)) ? undefined : flags;
}

/** Skips bytes. Returns false if the input ends first. */
export async function skip(input: ByteReader, count: number): Promise<boolean> {
  if (!(await input.fill(count))) return false;
  input.skip(count);
  return true;
}

function skipText(input: ByteReader): Promise<boolean> {
  return skipTo(input, (bytes) => bytes.indexOf(0) + 1 || -1);
}

/** Skips to the position that `find` returns, chunk by chunk, because a name or zeros may fill the body. Returns false if there is none. */
export async function skipTo(input: ByteReader, find: (bytes: Uint8Array) => number): Promise<boolean> {
  while (await input.fill(1)) {
    const bytes = input.peek(4096);
    const end = find(bytes);
    input.skip(end < 0 ? bytes.length : end);
    if (end >= 0) return true;
  }
  return false;
}

// Small members are inflated synchronously, because zlib's thread would take longer. 16 KB become 200 KB of XML in half a millisecond.
const smallInput = 16 * 1024;
// If a member has less output than this, the next one is expected to be small, too.
const smallMember = 64 * 1024;
// Outputs shorter than this are copied.
const smallCopy = 4 * 1024;
const smallInflate = {
  info: true,
  finishFlush: zlib.constants.Z_SYNC_FLUSH,
  maxOutputLength: 512 * 1024,
  chunkSize: 32 * 1024,
};

// Inflates a raw deflate stream if all of it is buffered and small. Returns undefined if not, or if it is invalid.
function inflateSmall(input: ByteReader): Uint8Array | undefined {
  const bytes = input.peek(smallInput);
  // These two bytes are the usual form of an empty stream.
  if (bytes[0] === 3 && bytes[1] === 0) {
    input.skip(2);
    return bytes.subarray(0, 0);
  }
  try {
    // Node's types lack the result with `info`.
    const { buffer, engine } = zlib.inflateRawSync(bytes, smallInflate) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    // A stream that used every byte may need more. It has certainly ended only if bytes are left over.
    if (engine.bytesWritten >= bytes.length) return undefined;
    input.skip(engine.bytesWritten);
    // A few bytes must not keep the whole of zlib's buffer alive.
    return buffer.length < smallCopy ? new Uint8Array(buffer) : buffer;
  } catch {
    return undefined;
  }
}
