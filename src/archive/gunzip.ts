// Decompresses parts of a file: gzip members, one after another.
import { pipeline, Readable } from "node:stream";
import { constants, createGunzip, gunzipSync } from "node:zlib";
import { blockSize, type Extent } from "./kept-body.ts";

const readSize = 64 * 1024;
// The least that zlib takes.
const leastChunk = 64;

/**
 * Returns how many compressed bytes were used. Throws an error that `isDamagedGzip` where they are damaged, and where they end too
 * early, unless they `mayBeCut`.
 */
export async function* gunzip(compressed: Extent, mayBeCut = false): AsyncGenerator<Uint8Array, number> {
  const finishFlush = mayBeCut ? constants.Z_SYNC_FLUSH : constants.Z_FINISH;
  const unzip = createGunzip({ finishFlush, chunkSize: blockSize });
  pipeline(Readable.from(piecesOf(compressed)), unzip, () => undefined);
  yield* unzip;
  return unzip.bytesWritten;
}

/** What the bytes unpack to, if that has this length and all of them are used for it. */
export function gunzipExactly(compressed: Uint8Array, length: number): Uint8Array | undefined {
  try {
    const { buffer, engine } = gunzipSync(compressed, {
      info: true,
      maxOutputLength: length,
      chunkSize: Math.max(leastChunk, length),
    }) as unknown as { buffer: Uint8Array; engine: { bytesWritten: number } };
    return buffer.length === length && engine.bytesWritten === compressed.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

/** What the start of a member unpacks to; nothing if it is damaged, or too much. */
export function gunzipStart(compressed: Uint8Array): Uint8Array {
  try {
    return gunzipSync(compressed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * blockSize });
  } catch {
    return new Uint8Array();
  }
}

const damageCodes: ReadonlySet<string> = new Set(["Z_DATA_ERROR", "Z_BUF_ERROR", "Z_NEED_DICT"]);

/** Whether the compressed data is the cause of an error, and not the disk, or too little memory. */
export function isDamagedGzip(error: unknown): boolean {
  return damageCodes.has((error as NodeJS.ErrnoException).code ?? "");
}

/** Whether the compressed data itself is wrong, and does not just end too early. */
export function isDataError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "Z_DATA_ERROR";
}

async function* piecesOf({ file, offset, length }: Extent): AsyncGenerator<Uint8Array, undefined> {
  for (let from = 0; from < length; from += readSize) {
    const piece = await file.read(offset + from, Math.min(readSize, length - from));
    // The file may have become shorter.
    if (piece.length === 0) return;
    yield piece;
  }
}
