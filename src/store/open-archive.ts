// Opens an archive to be replayed. One pass over its records finds out where everything is; nothing else is kept in memory.
// Where an archive holds two exchanges for one URL, the first counts, as it does in a store.
import { open, stat } from "node:fs/promises";
import { SitemapError } from "../errors.ts";
import type { DocumentRequest, Fetched } from "../exchange.ts";
import { systemReason } from "../system-reason.ts";
import { ArchiveIndex } from "./archive-index.ts";
import { writeArchive } from "./archive-writer.ts";
import type { Archive, ArchiveInfo } from "./contract.ts";
import { closedError, KeptFile, storageFailed } from "./kept-body.ts";
import { archiveKey, replay } from "./replay.ts";
import { unpack } from "./unpack.ts";
import { WarcReader } from "./warc-reader.ts";

/** Opens a WARC file, ours or another tool's, compressed or not. Throws a `SitemapError` (`invalid-archive`) where it is none. */
export async function openArchive(path: string): Promise<Archive> {
  const source = await openSource(path);
  try {
    const { file, size } = source;
    const index = new ArchiveIndex(() => new WarcReader(file, size));
    const reader = new WarcReader(file, size);
    try {
      for await (const record of reader) await index.add(record, () => reader.contentOf(record));
    } catch (error) {
      throw error instanceof SitemapError ? invalidArchive(path, error.message, error) : error;
    }
    if (index.recordCount === 0) {
      const cut =
        reader.cut === "ends inside a record" ? "it is cut off inside its first record" : "it holds no record";
      throw invalidArchive(path, cut);
    }
    return new OpenArchive(source, index, source.damaged || reader.cut !== undefined);
  } catch (error) {
    await source.remove();
    throw error;
  }
}

interface Source {
  readonly file: KeptFile;
  readonly size: number;
  readonly damaged: boolean;
  remove(): Promise<void>;
}

class OpenArchive implements Archive {
  readonly info: ArchiveInfo | undefined;
  readonly finished: boolean;
  readonly truncated: boolean;
  readonly altered: boolean;
  readonly urls: readonly string[];
  readonly #source: Source;
  readonly #index: ArchiveIndex;
  #closed = false;

  constructor(source: Source, index: ArchiveIndex, truncated: boolean) {
    this.info = index.info;
    this.finished = index.finished;
    this.truncated = truncated;
    this.altered = index.isAltered;
    this.urls = index.urls;
    this.#source = source;
    this.#index = index;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    return replay(
      request,
      (key) => this.#index.find(key),
      (entry) => this.#index.read(entry),
    );
  }

  tellsApart(url: string): boolean {
    return this.#index.find(archiveKey({ url, role: "sitemap", anonymous: true })) !== undefined;
  }

  async save(path: string): Promise<void> {
    if (this.#closed) throw closedError();
    const { file, size } = this.#source;
    await writeArchive(path, async (writer) => {
      for await (const { start, end } of new WarcReader(file, size)) {
        await writer.copy({ file, offset: start, length: end - start });
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#source.remove();
  }
}

async function openSource(path: string): Promise<Source> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw invalidArchive(path, error.code === "ENOENT" ? "there is no such file" : systemReason(error), error);
  });
  // Opening a pipe would wait for somebody to write.
  if (!stats.isFile()) throw invalidArchive(path, "it is not a file");
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    // One file too many: the archive is not to blame.
    if (error.code === "EMFILE" || error.code === "ENFILE") throw storageFailed(`${path} could not be opened`, error);
    throw invalidArchive(path, systemReason(error), error);
  });
  const file = new KeptFile(handle, path);
  try {
    const start = Buffer.from(await file.read(0, Math.min(4, stats.size)));
    if (start.length === 0) throw invalidArchive(path, "it is empty");
    const other = otherFormats.find(({ magic }) => start.toString("latin1").startsWith(magic));
    if (other !== undefined) throw invalidArchive(path, other.message);
    if (start[0] !== 0x1f || start[1] !== 0x8b) {
      return { file, size: stats.size, damaged: false, remove: () => file.close() };
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return unpack(path, stats.size);
}

const otherFormats = [
  { magic: "PK", message: "it is a zip file; if it is a WACZ, unpack it and open the WARC in it" },
  { magic: "\x28\xb5\x2f\xfd", message: "it is compressed with zstd; decompress it first" },
];

export function invalidArchive(path: string, reason: string, cause?: unknown): SitemapError {
  return new SitemapError("invalid-archive", `${path} is not an archive that can be read: ${reason}`, { cause });
}
