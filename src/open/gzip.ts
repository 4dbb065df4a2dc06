// gzip. https://www.rfc-editor.org/rfc/rfc1952
//   "A gzip file consists of a series of 'members'": as many as there are, one after the other.
//   Lenient: data that ends too early or is damaged keeps what came before.
//   Lenient: a wrong checksum or length loses nothing.
//   Lenient: reserved flags in a header are reported as damage, and the member is read anyway.
//   Lenient: whatever follows the last member, zeros included, is ignored.
// Names, comments and extra fields of a header are skipped, never kept. The header's own checksum is not looked at.
import { constants, crc32, inflateRawSync } from "node:zlib";
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { createRawInflater, decompress, type Ending, reportTruncated } from "./decompress.ts";

/** The content of the members of a gzip file. */
export async function* gunzip(input: ByteReader, problems: ProblemLog): AsyncGenerator<Uint8Array, void, void> {
  let small = false;
  do {
    if (!(await skipGzipHeader(input, problems))) return reportTruncated(input, problems);
    const checksum = new Checksum();
    let ending: Ending = "complete";
    // Many small members must not cost a thread each.
    const rest = await isSmall(input);
    const output: Uint8Array | undefined = rest || small ? inflateSmall(input) : undefined;
    small = output !== undefined;
    if (output !== undefined) {
      checksum.update(output);
      if (output.length > 0) yield output;
    } else {
      ending = yield* decompress(input, createRawInflater, (chunk) => checksum.update(chunk));
      small = checksum.size < smallMember;
    }
    if (ending === "damaged") return problems.add("coding-damaged");
    if (ending === "truncated" || !(await input.fill(8))) return reportTruncated(input, problems);
    if (!checksum.matches(input.take(8))) problems.add("coding-checksum");
    await input.fill(3);
  } while (isGzip(input.peek(3)));
  if (input.buffered > 0) problems.add("coding-trailing");
}

/** The magic bytes of gzip with its only method, deflate. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

// Output below which the next member is expected to be small, too.
const smallMember = 64 * 1024;

async function skipGzipHeader(input: ByteReader, problems: ProblemLog): Promise<boolean> {
  if (!(await input.fill(10))) return false;
  const flags = input.take(10)[3]!;
  // "must give an error indication if any reserved bit is non-zero, since such a bit could indicate the presence of a new
  // field that would cause subsequent data to be interpreted incorrectly"
  if (flags & 0xe0) problems.add("coding-damaged");
  if (flags & 0x04) {
    if (!(await input.fill(2))) return false;
    const [low, high] = input.take(2);
    if (!(await skip(input, low! + high! * 256))) return false;
  }
  if (flags & 0x08 && !(await skipText(input))) return false;
  if (flags & 0x10 && !(await skipText(input))) return false;
  return flags & 0x02 ? skip(input, 2) : true;
}

async function skip(input: ByteReader, count: number): Promise<boolean> {
  if (!(await input.fill(count))) return false;
  input.skip(count);
  return true;
}

// A name may be as long as the body: it is skipped chunk by chunk.
async function skipText(input: ByteReader): Promise<boolean> {
  while (await input.fill(1)) {
    const bytes = input.peek(4096);
    const end = bytes.indexOf(0);
    input.skip(end < 0 ? bytes.length : end + 1);
    if (end >= 0) return true;
  }
  return false;
}

class Checksum {
  size = 0;
  #crc = 0;

  update(chunk: Uint8Array): void {
    this.#crc = crc32(chunk, this.#crc);
    this.size += chunk.length;
  }

  matches(trailer: Uint8Array): boolean {
    const view = new DataView(trailer.buffer, trailer.byteOffset, 8);
    return view.getUint32(0, true) === this.#crc && view.getUint32(4, true) === this.size % 2 ** 32;
  }
}

// Small members are inflated synchronously: using zlib's thread costs more than they do.

// 16 KB make about 200 KB of XML, for which zlib needs half a millisecond.
const smallInput = 16 * 1024;
const smallOutput = 512 * 1024;

// Shorter outputs are copied.
const smallCopy = 4 * 1024;

/** Inflates a raw deflate stream if all of it is buffered and small; undefined if not, or if it is invalid. */
function inflateSmall(input: ByteReader): Uint8Array | undefined {
  // The first chunk is tried alone because that needs no copy.
  const chunk = input.peekChunk(smallInput);
  const output = inflateAtOnce(input, chunk);
  if (output !== undefined || chunk.length === Math.min(smallInput, input.buffered)) return output;
  return inflateAtOnce(input, input.peek(smallInput));
}

/** Whether all that is left to read is small. */
async function isSmall(input: ByteReader): Promise<boolean> {
  return !(await input.fill(smallInput));
}

function inflateAtOnce(input: ByteReader, bytes: Uint8Array): Uint8Array | undefined {
  // The empty stream, in its usual form: files with very many of them exist.
  if (bytes[0] === 3 && bytes[1] === 0) {
    input.skip(2);
    return bytes.subarray(0, 0);
  }
  try {
    const { buffer, engine } = inflateRawSync(bytes, smallInflate) as unknown as OneShot;
    // A stream that used every byte may need more: only one that left some has certainly ended.
    if (engine.bytesWritten >= bytes.length) return undefined;
    input.skip(engine.bytesWritten);
    // A few bytes must not keep the whole of zlib's buffer alive.
    return buffer.length < smallCopy ? new Uint8Array(buffer) : buffer;
  } catch {
    return undefined;
  }
}

const smallInflate = {
  info: true,
  finishFlush: constants.Z_SYNC_FLUSH,
  maxOutputLength: smallOutput,
  chunkSize: 32 * 1024,
};

// The type of a result with `info: true`, which Node's types lack.
interface OneShot {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}
