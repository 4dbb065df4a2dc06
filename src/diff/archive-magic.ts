// Recognizes a format by its first bytes: a WARC file, compressed or not, pages in the format `ndjson`, or a table.
import { constants, gunzipSync } from "node:zlib";

const magic = "WARC/";
/** Enough to see it. */
export const magicLength = 4096;

export function looksLikeArchive(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength));
  return unzipped(start).subarray(0, magic.length).toString("latin1") === magic;
}

export function looksLikePages(bytes: Uint8Array): boolean {
  return /^\{"(?:url":"|kind":"finished")/.test(textOf(bytes));
}

/** By the names of its columns. As a list of URLs, each whole line would become one. */
export function looksLikeTable(bytes: Uint8Array): boolean {
  const [line = ""] = textOf(bytes).split(/\r?\n/, 1);
  return /^(?:\ufeff)?["\w.]+(?:[,;\t]["\w.]+)+$/.test(line) && /\b(?:url|loc)\b/i.test(line);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength)).toString();
}

function unzipped(start: Buffer): Buffer {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return start;
  }
}
