// Removes one layer of compression.
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type Coding, isSkippableFrame, isZstdFrame } from "./content-coding.ts";
import {
  createBrotliDecoder,
  createRawInflater,
  createZstdDecoder,
  decompress,
  reportTruncated,
} from "./decompress.ts";
import { gunzip } from "./gzip.ts";

/** The content of a compressed body. */
export function unpack(
  input: ByteReader,
  coding: Coding,
  problems: ProblemLog,
): AsyncGenerator<Uint8Array, void, void> {
  switch (coding) {
    case "gzip":
      return gunzip(input, problems);
    case "zlib":
      input.skip(2);
      return single(input, createRawInflater, problems, new Adler32());
    case "deflate":
      return single(input, createRawInflater, problems);
    case "br":
      return single(input, createBrotliDecoder, problems);
    case "zstd":
      return unzstd(input, problems);
  }
}

async function* single(
  input: ByteReader,
  create: typeof createRawInflater,
  problems: ProblemLog,
  checksum?: Adler32,
): AsyncGenerator<Uint8Array, void, void> {
  const trailer = checksum === undefined ? 0 : 4;
  let isEmpty = true;
  const ending = yield* decompress(input, create, (chunk) => {
    isEmpty = false;
    checksum?.update(chunk);
  });
  if (ending === "damaged") problems.add("coding-damaged");
  else if (ending === "truncated" || !(await input.fill(trailer))) reportTruncated(input, problems);
  else {
    if (checksum?.matches(input.take(trailer)) === false) problems.add("coding-checksum");
    // Bytes of another kind may pass for an empty stream with something behind it.
    if (await input.fill(1)) problems.add(isEmpty ? "coding-damaged" : "coding-trailing");
  }
}

// The checksum of a zlib container (https://www.rfc-editor.org/rfc/rfc1950), which node:zlib has no function for.
class Adler32 {
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
    return new DataView(trailer.buffer, trailer.byteOffset, 4).getUint32(0) === this.#high * 65536 + this.#low;
  }
}

// Zstandard: frames, one after the other. https://www.rfc-editor.org/rfc/rfc8878#section-3.1
//   "Zstandard compressed data is made up of one or more frames. Each frame is independent"; skippable frames may stand before,
//   between and after them.
async function* unzstd(input: ByteReader, problems: ProblemLog): AsyncGenerator<Uint8Array, void, void> {
  for (let frames = 1; ; frames += 1) {
    await input.fill(4);
    const magic = input.peek(4);
    const isFrame = isZstdFrame(magic);
    if (!isFrame && !isSkippableFrame(magic)) break;
    // Each costs a decoder.
    if (frames > mostFrames) return problems.add("coding-damaged");
    if (isFrame) {
      const ending = yield* decompress(input, createZstdDecoder!);
      if (ending === "truncated") return reportTruncated(input, problems);
      if (ending !== "complete") return problems.add("coding-damaged");
    } else if (!(await skipFrame(input))) return reportTruncated(input, problems);
  }
  if (input.buffered > 0) problems.add("coding-trailing");
}

const mostFrames = 10_000;

async function skipFrame(input: ByteReader): Promise<boolean> {
  if (!(await input.fill(8))) return false;
  const head = input.take(8);
  let left = new DataView(head.buffer, head.byteOffset, 8).getUint32(4, true);
  while (left > 0 && (await input.fill(1))) {
    const part = Math.min(left, input.buffered);
    input.skip(part);
    left -= part;
  }
  return left === 0;
}
