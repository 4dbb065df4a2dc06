// Unpacks a compressed archive into a private temporary file: its documents are then read as often as a tree needs them
// without being decompressed again, and it does not matter whether it was compressed record by record or in one piece.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { constants, createGunzip } from "node:zlib";
import { SitemapError } from "../errors.ts";
import { createTemporaryFile, type TemporaryFile } from "./temporary-file.ts";

/** A file of a few bytes must not fill a disk: sitemaps shrink to a tenth, never to a hundredth. */
const maxRatio = 100;
const alwaysAllowed = 128 * 1024 * 1024;

export interface Unpacked extends TemporaryFile {
  readonly size: number;
  /** Whether the compressed data is damaged; what came before it is there. */
  readonly damaged: boolean;
}

/** Where `until` is reached, on the clock of performance.now(), the rest is missing. */
export async function unpack(
  path: string,
  compressedSize: number,
  { signal, until = Number.POSITIVE_INFINITY }: { signal?: AbortSignal | undefined; until?: number | undefined } = {},
): Promise<Unpacked> {
  const limit = Math.max(alwaysAllowed, compressedSize * maxRatio);
  const temporary = await createTemporaryFile();
  let size = 0;
  let damaged = false;
  try {
    for await (const piece of gunzip(path)) {
      signal?.throwIfAborted();
      if (performance.now() > until) break;
      if (size + piece.length > limit) {
        throw new SitemapError("invalid-archive", `${path} unpacks to more than ${limit} bytes`);
      }
      await temporary.file.write(size, piece);
      size += piece.length;
    }
  } catch (error) {
    damaged = /^Z_/.test((error as NodeJS.ErrnoException).code ?? "");
    if (!damaged) {
      await temporary.remove();
      throw error;
    }
  }
  return { ...temporary, size, damaged };
}

async function* gunzip(path: string): AsyncGenerator<Uint8Array, undefined> {
  // Z_SYNC_FLUSH: data that ends too early is not an error; the records say where it ended.
  const unzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 256 * 1024 });
  pipeline(createReadStream(path, { highWaterMark: 64 * 1024 }), unzip, () => undefined);
  yield* unzip;
}
