// Whether bytes begin like a WARC file, compressed or not.
import { constants, gunzipSync } from "node:zlib";

const magic = "WARC/";
/** Enough to see it. */
export const magicLength = 4096;

export function looksLikeArchive(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, magicLength));
  return unzipped(start).subarray(0, magic.length).toString("latin1") === magic;
}

function unzipped(start: Buffer): Buffer {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return start;
  }
}
