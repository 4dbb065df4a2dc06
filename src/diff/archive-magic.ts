// Recognizes a format by its first bytes: a WARC file, compressed or not, pages in the format `ndjson`, or a table.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { constants, gunzipSync } from "node:zlib";

type Kind = "archive" | "ndjson" | "table" | "other";
const magicLength = 4096;

/** A file with the name of an archive must be one. Throws the error of the system. */
export function kindOfFile(file: string): Kind {
  // Opening a pipe would wait for a writer.
  if (!statSync(file).isFile()) throw new Error("it is not a file");
  if (/\.(warc|wacz)(\.gz)?$/i.test(file)) return "archive";
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(magicLength);
    return kindOfBytes(start.subarray(0, readSync(descriptor, start)));
  } finally {
    closeSync(descriptor);
  }
}

/** `table`: by the names of its columns. As a list of URLs, each whole line would become one. */
export function kindOfBytes(bytes: Uint8Array): Kind {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength));
  if (unzipped(start).toString("latin1", 0, 5) === "WARC/") return "archive";
  const text = start.toString();
  if (/^\{"(?:url":"|kind":"finished")/.test(text)) return "ndjson";
  const [line = ""] = text.split(/\r?\n/, 1);
  const isTable = /^(?:\ufeff)?["\w.]+(?:[,;\t]["\w.]+)+$/.test(line) && /\b(?:url|loc)\b/i.test(line);
  return isTable ? "table" : "other";
}

function unzipped(start: Buffer): Buffer {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return start;
  }
}
