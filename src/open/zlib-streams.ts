// The node:zlib streams that are used here, with their settings.
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

export type ZlibStream = Transform & zlib.Zlib;

// Measured on 20 MB of XML: chunks of 16 KB (the default of node:zlib) take twice as long as chunks of 128 KB. Pieces of input fill a chunk one
// after another, and one that finds too little room comes in two parts: while the parser works on the smaller one, zlib does not get
// far. So there is room for two pieces.
const chunkSize = 448 * 1024;

/** Deflate without a container. */
export function createRawInflater(): ZlibStream {
  return zlib.createInflateRaw({ chunkSize });
}

export function createBrotliDecoder(): ZlibStream {
  return zlib.createBrotliDecompress({ chunkSize });
}

/** Zstandard; undefined if this Node.js has none. */
export const createZstdDecoder: (() => ZlibStream) | undefined = zstdDecoder();

function zstdDecoder(): (() => ZlibStream) | undefined {
  const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: { chunkSize: number }) => ZlibStream };
  return createZstdDecompress === undefined ? undefined : () => createZstdDecompress({ chunkSize });
}
