// Recognizes the format of a file by its extension or its first bytes: a WARC file, compressed or not; pages in the format `ndjson`; or a table.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { constants, gunzipSync } from "node:zlib";
import { isTableStart } from "./url-table.ts";

type Kind = "archive" | "ndjson" | "table" | "other";
const magicLength = 4096;

/** Reads the beginning of a file. Throws the system's error if the file cannot be read. */
export function startOf(file: string, length: number = magicLength): Uint8Array {
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(length);
    return start.subarray(0, readSync(descriptor, start));
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the kind of a file. A file with the extension of an archive always counts as one. Throws if it is not a regular file or cannot be read. */
export function kindOfFile(file: string): Kind {
  // Opening a pipe would wait for a writer.
  if (!statSync(file).isFile()) throw new Error("it is not a file");
  if (/\.(warc|wacz)(\.gz)?$/i.test(file)) return "archive";
  const kind = kindOfBytes(startOf(file));
  return kind === "other" && /\.[ct]sv$/i.test(file) ? "table" : kind;
}

/** Returns the beginning of a stream, however small its chunks are, and a stream of all its bytes. */
export async function withStart(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly start: Buffer; readonly bytes: AsyncIterable<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < magicLength) {
    const { done, value } = await rest.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  async function* bytes() {
    if (start.length > 0) yield start;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { start, bytes: bytes() };
}

export function kindOfBytes(bytes: Uint8Array): Kind {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength));
  if (unzipped(start).toString("latin1", 0, 5) === "WARC/") return "archive";
  const text = start.toString();
  if (/^\{"(?:url":"|kind":"finished")/.test(text)) return "ndjson";
  return isTableStart(start) ? "table" : "other";
}

function unzipped(start: Buffer): Buffer {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return start;
  }
}
