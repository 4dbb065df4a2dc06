// Recognizes a format by its first bytes: a WARC file, compressed or not, pages in the format `ndjson`, or a table.
import { constants, gunzipSync } from "node:zlib";

const magic = "WARC/";
/** Enough to see it. */
export const magicLength = 4096;

export function looksLikeArchive(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength));
  return unzipped(start).subarray(0, magic.length).toString("latin1") === magic;
}

/** `table`: by the names of its columns. As a list of URLs, each whole line would become one. */
export function kindOfBytes(bytes: Uint8Array): "archive" | "ndjson" | "table" | "other" {
  if (looksLikeArchive(bytes)) return "archive";
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength)).toString();
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
