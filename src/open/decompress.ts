// Removes one layer of compression.
//   Lenient: if data ends too early or is damaged, the part before is kept.
//   Lenient: a wrong checksum or length loses nothing.
//   Lenient: reserved flags in a gzip header are reported as damage, and the member is read anyway.
//   Lenient: zeros after a gzip member, as in padded blocks, are skipped, and the members after them are read.
//   Lenient: text after the compressed data is ignored, and so is anything after brotli or deflate.
import * as zlib from "node:zlib";
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type Coding, isGzip, isSkippableFrame, isZstdFrame, looksLikeText, sampleSize } from "./content-coding.ts";
import { GzipMembers, skip, skipTo } from "./gzip-member.ts";
import { chunkSize, createRawInflater, decompress, type ZlibStream } from "./zlib-stage.ts";

type Content = AsyncGenerator<Uint8Array, void, void>;

/** Yields the content of a compressed body. */
export function unpack(input: ByteReader, coding: Coding, problems: ProblemLog): Content {
  switch (coding) {
    case "gzip":
      return gunzip(input, problems);
    case "zlib":
      input.skip(2);
      return single(input, createRawInflater, problems, 4);
    case "deflate":
      return single(input, createRawInflater, problems);
    case "br":
      return single(input, () => zlib.createBrotliDecompress({ chunkSize }), problems);
    case "zstd":
      return unzstd(input, problems);
  }
}

// Reads a format with one stream. `trailer` is the length of the container's data after the content. A zlib checksum is not verified.
async function* single(input: ByteReader, create: () => ZlibStream, problems: ProblemLog, trailer = 0): Content {
  let isEmpty = true;
  const ending = yield* decompress(input, create, () => {
    isEmpty = false;
  });
  if (ending === "damaged") return problems.add("coding-damaged");
  if (ending === "truncated" || !(await skip(input, trailer))) return reportTruncated(input, problems);
  // Data that is not in this format may look like an empty stream with something after it.
  if (!isEmpty) await reportRest(input, problems);
  else if (await input.fill(1)) problems.add("coding-damaged");
}

function numbers({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

async function* gunzip(input: ByteReader, problems: ProblemLog): Content {
  const members = new GzipMembers(input);
  let isPadded = false;
  do {
    const { ending, isIntact, hasReservedFlags } = yield* members.next();
    if (hasReservedFlags) problems.add("coding-damaged");
    if (ending === "damaged") return problems.add("coding-damaged");
    if (ending === "truncated") return reportTruncated(input, problems);
    if (!isIntact) problems.add("coding-checksum");
    await input.fill(3);
    if (input.peek(1)[0] === 0) {
      isPadded = true;
      await skipTo(input, (bytes) => bytes.findIndex((byte) => byte !== 0));
      await input.fill(3);
    }
  } while (isGzip(input.peek(3)));
  if (isPadded && !(await input.fill(1))) problems.add("coding-trailing");
  await reportRest(input, problems);
}

// Reports what follows the last stream, member or frame. If it is not text, it may be another one, perhaps damaged; if it has a URL outside of
// comments, it may be more of the document.
async function reportRest(input: ByteReader, problems: ProblemLog): Promise<void> {
  await input.fill(1);
  const isPadded = input.peek(1)[0] === 0;
  if (isPadded) await skipTo(input, (bytes) => bytes.findIndex((byte) => byte !== 0));
  await input.fill(sampleSize);
  const rest = input.peek(sampleSize);
  if (rest.length === 0) return isPadded ? problems.add("coding-trailing") : undefined;
  const text = looksLikeText(rest) ? Buffer.from(rest).toString("latin1") : undefined;
  const isHarmless = text !== undefined && !anyUrl.test(text.replaceAll(comment, ""));
  problems.add(isHarmless ? "coding-trailing" : "coding-damaged");
}

const anyUrl = /https?:\/\//i;
const comment = /<!--.*?(?:-->|$)/gs;

// Zstandard has frames, one after the other, and skippable frames between them: https://www.rfc-editor.org/rfc/rfc8878#section-3.1
async function* unzstd(input: ByteReader, problems: ProblemLog): Content {
  for (let frames = 1; ; frames += 1) {
    await input.fill(4);
    const magic = input.peek(4);
    const isFrame = isZstdFrame(magic);
    if (!isFrame && !isSkippableFrame(magic)) break;
    // The number of frames is limited, because each needs a decoder.
    if (frames > mostFrames) return problems.add("coding-damaged");
    if (isFrame) {
      const ending = yield* decompress(input, createZstdDecoder!);
      if (ending === "truncated") return reportTruncated(input, problems);
      if (ending !== "complete") return problems.add("coding-damaged");
    } else if (!(await skipFrame(input))) return reportTruncated(input, problems);
  }
  await reportRest(input, problems);
}

const mostFrames = 10_000;

async function skipFrame(input: ByteReader): Promise<boolean> {
  if (!(await input.fill(8))) return false;
  let left = numbers(input.take(8)).getUint32(4, true);
  for (; left > 0 && (await input.fill(1)); ) left -= input.take(left).length;
  return left === 0;
}

// Reports truncated data, unless the size limit or a failing source cut it off.
function reportTruncated(input: ByteReader, problems: ProblemLog): void {
  input.throwFailure();
  const isCut = problems.has("limit-document-bytes") || problems.has("limit-robots-bytes");
  if (!isCut) problems.add("coding-truncated");
}

const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: { chunkSize: number }) => ZlibStream };
/** Creates a Zstandard decoder; undefined if this version of Node.js has none. */
export const createZstdDecoder: (() => ZlibStream) | undefined =
  createZstdDecompress && (() => createZstdDecompress({ chunkSize }));
