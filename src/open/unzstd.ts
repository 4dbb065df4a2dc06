// Zstandard: frames, one after the other. https://www.rfc-editor.org/rfc/rfc8878#section-3.1
//   "Zstandard compressed data is made up of one or more frames. Each frame is independent"; skippable frames may stand before,
//   between and after them.
// Data that ends too early, is damaged, or is followed by something else is treated as in gunzip.ts.
// A decoder of node:zlib stops at the end of a frame, and costs more than a small frame holds. So the ends of small frames are found
// here, by the lengths of their blocks, and one decoder gets them one by one.
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { isSkippableFrame, isZstdFrame } from "./content-coding.ts";
import { decompress } from "./decompress.ts";
import { reportTruncated } from "./gunzip.ts";
import { ZlibStage } from "./zlib-stage.ts";
import { createZstdDecoder } from "./zlib-streams.ts";

// Longer frames get a decoder of their own, which reads them in pieces of this size.
const smallFrame = 16 * 1024;

// A pause after this many empty frames.
const breath = 4096;

/** The content of the frames. */
export async function* unzstd(input: ByteReader, problems: ProblemLog): AsyncGenerator<Uint8Array, void, void> {
  let shared: ZlibStage | undefined;
  let empty = 0;
  try {
    for (;;) {
      await input.fill(smallFrame);
      const magic = input.peek(4);
      if (isSkippableFrame(magic)) {
        if (!(await skipFrame(input))) return reportTruncated(input, problems);
      } else if (!isZstdFrame(magic)) {
        break;
      } else {
        // The first chunk is tried alone because that needs no copy.
        const frame = measureFrame(input.peekChunk(smallFrame)) ?? measureFrame(input.peek(smallFrame));
        if (frame === undefined) {
          const ending = yield* decompress(input, createZstdDecoder!);
          if (ending === "damaged") return problems.add("coding-damaged");
          if (ending === "truncated") return reportTruncated(input, problems);
        } else if (frame.isEmpty) {
          input.skip(frame.length);
          // A document can hold millions of empty frames, and timers must not wait for all of them.
          empty += 1;
          if (empty % breath === 0) await new Promise((resolve) => setImmediate(resolve));
        } else {
          shared ??= new ZlibStage(createZstdDecoder!());
          shared.write(input.take(frame.length));
          for (let output = await shared.take(); output !== undefined; output = await shared.take()) yield output;
          if (shared.state === "failed") return problems.add("coding-damaged");
        }
      }
    }
    if (input.buffered > 0) problems.add("coding-trailing");
  } finally {
    shared?.close();
  }
}

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

interface Frame {
  readonly length: number;
  /** Its blocks have no content. */
  readonly isEmpty: boolean;
}

/** The end of the frame at the start of `bytes`; undefined if it is not in them, or invalid. */
function measureFrame(bytes: Uint8Array): Frame | undefined {
  const descriptor = bytes[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const windowSize = isSingleSegment ? 0 : 1;
  const dictionarySize = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const checksumSize = (descriptor & 0x04) !== 0 ? 4 : 0;
  let at = 5 + windowSize + dictionarySize + contentSize;
  let isEmpty = true;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) return undefined;
    const header = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    // Raw, a byte that is repeated, compressed; the fourth is reserved.
    if (type === 3) return undefined;
    isLast = (header & 1) !== 0;
    isEmpty &&= type !== 2 && size === 0;
    at += 3 + (type === 1 ? 1 : size);
  }
  at += checksumSize;
  return at <= bytes.length ? { length: at, isEmpty } : undefined;
}
