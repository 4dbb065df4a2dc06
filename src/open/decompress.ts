// One compressed stream, from its first byte to its last, in flat memory and with as little lost as possible.
// The input goes to zlib in pieces of one size, counted from the start of the stream: where damaged data breaks off then
// does not depend on the chunks in which it came. Small streams are inflated at once, without a thread.

import * as zlib from "node:zlib";
import { constants, createBrotliDecompress, createInflateRaw, inflateRawSync } from "node:zlib";
import type { ByteReader } from "./byte-reader.ts";
import { salvage } from "./salvage.ts";
import { ZlibStage, type ZlibStream } from "./zlib-stage.ts";

/** `truncated`: the input ended first; `damaged`: what follows makes no sense. */
export type Ending = "complete" | "truncated" | "damaged";

/** What is told of every chunk before it is handed out. */
export interface Checksum {
  update(chunk: Uint8Array): void;
}

// 16 KB of input make about 200 KB of XML. Smaller pieces cost more trips to zlib's thread, larger ones lose more where
// data is damaged. A bomb makes 16 MB of a piece, most of which has to wait inside zlib.
const pieceSize = 16 * 1024;

// Measured on 20 MB of XML: chunks of 16 KB (the default of node:zlib) take three times as long as chunks of 128 KB.
const chunkSize = 128 * 1024;

// A damaged stream is read again to save what the broken piece still held, as long as no more than this was read before.
const historyLimit = 1024 * 1024;

// A thread costs as much as inflating this much.
const smallInput = pieceSize;
const smallOutput = 512 * 1024;

export function createRawInflater(): ZlibStream {
  return createInflateRaw({ chunkSize });
}

export function createBrotliDecoder(): ZlibStream {
  return createBrotliDecompress({ chunkSize });
}

/** Makes a Zstandard decoder; undefined where this Node.js has none (before 22.15). */
export const createZstdDecoder: (() => ZlibStream) | undefined = zstdDecoder();

/** Hands out what one compressed stream holds and leaves the reader at the byte after it. */
export async function* decompress(
  input: ByteReader,
  create: () => ZlibStream,
  checksum?: Checksum,
): AsyncGenerator<Uint8Array, Ending, void> {
  const stage = new ZlibStage(create());
  const history: Uint8Array[] = [];
  let historySize = 0;
  let given = 0;
  let finishing = false;

  const write = (): void => {
    const piece = input.take(pieceSize);
    historySize += piece.length;
    if (historySize > historyLimit) history.length = 0;
    history.push(piece);
    stage.write(piece);
  };

  try {
    for (;;) {
      const output = await stage.take();
      // zlib works on the next piece while the caller is busy with this output.
      if (stage.state === "idle" && input.buffered >= pieceSize) write();
      if (output !== undefined) {
        given += output.length;
        checksum?.update(output);
        yield output;
      } else if (stage.state === "ended") {
        const piece = history.at(-1);
        if (piece !== undefined) input.unread(piece.subarray(piece.length - stage.unused));
        return "complete";
      } else if (stage.state === "failed") {
        break;
      } else if (stage.state === "idle") {
        await input.fill(pieceSize);
        if (input.buffered > 0) write();
        else {
          finishing = true;
          stage.finish();
        }
      }
    }
  } finally {
    stage.close();
  }
  if (finishing) return "truncated";
  if (historySize <= historyLimit) yield* salvage(history, given, create);
  return "damaged";
}

/** Inflates a raw deflate stream at once if all of it is at hand and small; undefined if it is not, or is not valid. */
export function inflateSmall(input: ByteReader): Uint8Array | undefined {
  // The first chunk is tried alone because it can be looked at without a copy.
  return inflateAtOnce(input, input.peekChunk(smallInput)) ?? inflateAtOnce(input, input.peek(smallInput));
}

/** Whether all that is left to read is small. */
export async function isSmall(input: ByteReader): Promise<boolean> {
  return !(await input.fill(smallInput));
}

function inflateAtOnce(input: ByteReader, bytes: Uint8Array): Uint8Array | undefined {
  // The stream that holds nothing, as everybody writes it: files with very many of them are known.
  if (bytes[0] === 3 && bytes[1] === 0) {
    input.skip(2);
    return bytes.subarray(0, 0);
  }
  try {
    const { buffer, engine } = inflateRawSync(bytes, smallInflate) as unknown as OneShot;
    // A stream that took every byte may want more: only one that left some has certainly ended.
    if (engine.bytesWritten >= bytes.length) return undefined;
    input.skip(engine.bytesWritten);
    // A few bytes must not keep the whole of zlib's buffer while they wait.
    return new Uint8Array(buffer);
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

// What `info: true` makes of the result; its type does not say so.
interface OneShot {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

function zstdDecoder(): (() => ZlibStream) | undefined {
  const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: { chunkSize: number }) => ZlibStream };
  return createZstdDecompress === undefined ? undefined : () => createZstdDecompress({ chunkSize });
}
