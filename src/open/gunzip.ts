// gzip and zlib containers around deflate.
// https://www.rfc-editor.org/rfc/rfc1952 (gzip), https://www.rfc-editor.org/rfc/rfc1950 (zlib)
//   "A gzip file consists of a series of 'members'": as many as there are, one after the other.
//   Lenient: data that ends too early or is damaged keeps what came before.
//   Lenient: a wrong checksum or length loses nothing.
//   Lenient: reserved flags in a header are reported as damage, and the member is read anyway.
//   Lenient: whatever follows the last member, zeros included, is ignored.
// Names, comments and extra fields of a header are skipped, never kept. The header's own checksum is not looked at.
import { crc32 } from "node:zlib";
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type Checksum, decompress, type Ending } from "./decompress.ts";
import { inflateSmall, isSmall } from "./inflate-small.ts";
import { createRawInflater } from "./zlib-streams.ts";

/** The content of the members of a gzip file. */
export async function* gunzip(input: ByteReader, problems: ProblemLog): AsyncGenerator<Uint8Array, void, void> {
  let small = false;
  do {
    if (!(await skipGzipHeader(input, problems))) return reportTruncated(input, problems);
    const checksum = new GzipChecksum();
    let ending: Ending = "complete";
    // Many small members must not cost a thread each.
    const rest = await isSmall(input);
    const output: Uint8Array | undefined = rest || small ? inflateSmall(input) : undefined;
    small = output !== undefined;
    if (output !== undefined) {
      checksum.update(output);
      if (output.length > 0) yield output;
    } else {
      ending = yield* decompress(input, createRawInflater, checksum);
      small = checksum.size < smallMember;
    }
    if (ending === "damaged") return problems.add("coding-damaged");
    if (ending === "truncated" || !(await input.fill(8))) return reportTruncated(input, problems);
    if (!checksum.matches(input.take(8))) problems.add("coding-checksum");
    await input.fill(3);
  } while (isGzip(input.peek(3)));
  if (input.buffered > 0) problems.add("coding-trailing");
}

/** The content of a zlib container (the `deflate` of HTTP). */
export async function* unzlib(input: ByteReader, problems: ProblemLog): AsyncGenerator<Uint8Array, void, void> {
  input.skip(2);
  const checksum = new Adler32();
  const ending = yield* decompress(input, createRawInflater, checksum);
  if (ending === "damaged") return problems.add("coding-damaged");
  if (ending === "truncated" || !(await input.fill(4))) return reportTruncated(input, problems);
  if (!checksum.matches(input.take(4))) problems.add("coding-checksum");
  if (await input.fill(1)) problems.add("coding-trailing");
}

/** The magic bytes of gzip with its only method, deflate. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

/** Reports truncated data, unless the size limit or a failing source cut it off. */
export function reportTruncated(input: ByteReader, problems: ProblemLog): void {
  input.throwFailure();
  if (!problems.has("limit-document-bytes")) problems.add("coding-truncated");
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

class GzipChecksum implements Checksum {
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

// node:zlib has no Adler-32.
class Adler32 implements Checksum {
  #low = 1;
  #high = 0;

  update(chunk: Uint8Array): void {
    // As many as can be added before the sum exceeds 32 bits.
    const most = 5552;
    for (let from = 0; from < chunk.length; from += most) {
      const to = Math.min(from + most, chunk.length);
      for (let index = from; index < to; index += 1) {
        this.#low += chunk[index]!;
        this.#high += this.#low;
      }
      this.#low %= 65521;
      this.#high %= 65521;
    }
  }

  matches(trailer: Uint8Array): boolean {
    const view = new DataView(trailer.buffer, trailer.byteOffset, 4);
    return view.getUint32(0) === this.#high * 65536 + this.#low;
  }
}
