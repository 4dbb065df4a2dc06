// Inflates small deflate streams synchronously: using zlib's thread costs more than they do.
import { constants, inflateRawSync } from "node:zlib";
import type { ByteReader } from "./byte-reader.ts";

// 16 KB make about 200 KB of XML, for which zlib needs half a millisecond.
const smallInput = 16 * 1024;
const smallOutput = 512 * 1024;

// Shorter outputs are copied.
const smallCopy = 4 * 1024;

/** Inflates a raw deflate stream if all of it is buffered and small; undefined if not, or if it is invalid. */
export function inflateSmall(input: ByteReader): Uint8Array | undefined {
  // The first chunk is tried alone because that needs no copy.
  const chunk = input.peekChunk(smallInput);
  const output = inflateAtOnce(input, chunk);
  if (output !== undefined || chunk.length === Math.min(smallInput, input.buffered)) return output;
  return inflateAtOnce(input, input.peek(smallInput));
}

/** Whether all that is left to read is small. */
export async function isSmall(input: ByteReader): Promise<boolean> {
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
