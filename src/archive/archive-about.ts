// What an archive is about, from its first record alone: opening all of it takes far longer.
import { constants, gunzipSync } from "node:zlib";
import { invalidArchive, openFile } from "./archive-source.ts";
import type { ArchiveInfo } from "./contract.ts";
import { infoFromJson } from "./info.ts";

// Our first record is rarely longer: it contains options and the given sitemaps.
const startLength = 1024 * 1024;

/** Undefined if another tool wrote it. Throws a `SitemapError` (`invalid-archive`) if it is not an archive. */
export async function archiveAbout(path: string): Promise<ArchiveInfo | undefined> {
  const { file, size, isCompressed } = await openFile(path);
  try {
    const start = await file.read(0, Math.min(startLength, size));
    const text = Buffer.from(isCompressed ? unpacked(path, start) : start).toString();
    if (!text.startsWith("WARC/")) throw invalidArchive(path, "it holds no record");
    const [head = ""] = text.split(/\r?\n\r?\n/, 1);
    if (!/^warc-type:[ \t]*warcinfo/im.test(head)) return undefined;
    const json = /^sitegrove:[ \t]*(\{.*\})\r?$/m.exec(text)?.[1];
    return json === undefined ? undefined : infoFromJson(json).info;
  } finally {
    await file.close();
  }
}

function unpacked(path: string, bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 100 * startLength });
  } catch (error) {
    throw invalidArchive(path, "its compressed data is damaged", error);
  }
}
