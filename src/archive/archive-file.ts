// The file of an archive, and what it is about by its first record alone: opening all of it may take far longer.
import { open, stat } from "node:fs/promises";
import { SitemapError } from "../model/errors.ts";
import { systemReason } from "../model/system-reason.ts";
import type { ArchiveInfo } from "./contract.ts";
import { KeptFile, storageFailed } from "./file.ts";
import { startOfGzip } from "./gzip.ts";
import { infoFromJson } from "./info.ts";

interface ArchiveFile {
  readonly file: KeptFile;
  readonly size: number;
  readonly isCompressed: boolean;
}

/** Throws a `SitemapError` (`invalid-archive`) if the file cannot be an archive. */
export async function openFile(path: string, options: { writable?: boolean | undefined } = {}): Promise<ArchiveFile> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw invalidArchive(path, error.code === "ENOENT" ? "there is no such file" : systemReason(error), error);
  });
  // Opening a pipe would wait for a writer.
  if (!stats.isFile()) throw invalidArchive(path, "it is not a file");
  const handle = await open(path, options.writable ? "r+" : "r").catch((error: NodeJS.ErrnoException) => {
    // Too many open files: not a fault of the archive.
    if (error.code === "EMFILE" || error.code === "ENFILE") throw storageFailed(`${path} could not be opened`, error);
    throw invalidArchive(path, systemReason(error), error);
  });
  const file = new KeptFile(handle, path);
  const { size } = stats;
  try {
    const start = Buffer.from(await file.read(0, Math.min(4, size)));
    if (start.length === 0) throw invalidArchive(path, "it is empty");
    const other = otherFormats.find(({ magic }) => start.toString("latin1").startsWith(magic));
    if (other !== undefined) throw invalidArchive(path, other.message);
    return { file, size, isCompressed: start[0] === 0x1f && start[1] === 0x8b };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const otherFormats = [
  { magic: "PK", message: "it is a zip file; if it is a WACZ, unpack it and open the WARC in it" },
  { magic: "\x28\xb5\x2f\xfd", message: "it is compressed with zstd; decompress it first" },
];

export function invalidArchive(path: string, reason: string, cause?: unknown): SitemapError {
  return new SitemapError("invalid-archive", `${path} is not an archive that can be read: ${reason}`, { cause });
}

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
    return startOfGzip(bytes);
  } catch (error) {
    throw invalidArchive(path, "its compressed data is damaged", error);
  }
}
