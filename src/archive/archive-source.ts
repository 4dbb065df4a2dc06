// The file of an archive: where its records can be read.
import { open, stat } from "node:fs/promises";
import { SitemapError } from "../model/errors.ts";
import { systemReason } from "../model/system-reason.ts";
import { KeptFile, storageFailed } from "./kept-body.ts";
import { unpack } from "./unpack.ts";

export interface ArchiveSource {
  readonly path: string;
  /** Where records are read: the file itself, or an unpacked copy. */
  readonly file: KeptFile;
  readonly size: number;
  /** Whether the compressed data is damaged; what came before the damage is available. */
  readonly damaged: boolean;
  /** Whether records before that are damaged, and not there. */
  readonly lacksRecords: boolean;
  readonly compressed: CompressedFile | undefined;
  close(): Promise<void>;
}

/** The file itself, if it is compressed. */
export interface CompressedFile {
  readonly file: KeptFile;
  readonly size: number;
  /** Up to here each record is a gzip member whose length is known. */
  readonly membersEnd: number;
  /** The offsets of members before that whose records are not in the unpacked copy. */
  readonly skipped: ReadonlySet<number>;
}

interface ArchiveFile {
  readonly file: KeptFile;
  readonly size: number;
  readonly isCompressed: boolean;
}

/** Throws a `SitemapError` (`invalid-archive`) if the file cannot be an archive. */
export async function openFile(path: string, options: { writable?: boolean } = {}): Promise<ArchiveFile> {
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

/** Unpacks a compressed archive, its large documents when they are first read: a tree may read them many times. */
export async function openSource(
  path: string,
  options?: { writable?: boolean; signal?: AbortSignal | undefined; until?: number | undefined },
): Promise<ArchiveSource> {
  const { file, size, isCompressed } = await openFile(path, options);
  if (!isCompressed) {
    const isWhole = { damaged: false, lacksRecords: false };
    return { path, file, size, ...isWhole, compressed: undefined, close: () => file.close() };
  }
  try {
    const unpacked = await unpack(path, { file, offset: 0, length: size }, options);
    const close = async () => {
      await unpacked.remove();
      await file.close();
    };
    return {
      path,
      file: unpacked.file,
      size: unpacked.size,
      damaged: unpacked.damaged,
      lacksRecords: unpacked.skipped.size > 0,
      compressed: { file, size, membersEnd: unpacked.membersEnd, skipped: unpacked.skipped },
      close,
    };
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
