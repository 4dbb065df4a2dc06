// An archive that is open for a replay. If it has two exchanges for one URL, the first counts, as in a store.
import type { DocumentRequest, Fetched } from "../model/exchange.ts";
import { type Contents, openContents } from "./contents.ts";
import type { Archive, ArchiveInfo, Counts, OpenArchiveOptions } from "./contract.ts";
import { closedError } from "./file.ts";
import { countsFrom } from "./index-record.ts";
import { archiveKey, archiveKeys, replay } from "./replay.ts";
import { copyArchive } from "./write.ts";

/**
 * Opens a WARC file, of ours or another tool, compressed or not. Throws a `SitemapError` (`invalid-archive`) if it is
 * not one.
 */
export async function openArchive(path: string, options: OpenArchiveOptions = {}): Promise<Archive> {
  return new OpenArchive(await openContents(path, options));
}

/** What an archive is about; undefined if another tool wrote it. */
export async function archiveAbout(path: string): Promise<ArchiveInfo | undefined> {
  const contents = await openContents(path);
  await contents.close();
  return contents.info;
}

class OpenArchive implements Archive {
  readonly info: ArchiveInfo | undefined;
  readonly finished: boolean;
  readonly truncated: boolean;
  readonly altered: boolean;
  readonly countedBy: string | undefined;
  readonly urls: readonly string[];
  readonly #contents: Contents;
  readonly #forgotten = new Set<string>();
  #closed = false;

  constructor(contents: Contents) {
    this.info = contents.info;
    this.finished = contents.finished;
    this.truncated = contents.truncated;
    this.altered = contents.altered;
    this.countedBy = contents.countedBy;
    this.urls = contents.urls;
    this.#contents = contents;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    return replay(request, this.#contents);
  }

  tellsApart(url: string): boolean {
    return this.#contents.has(archiveKey({ url, role: "sitemap", anonymous: true }));
  }

  wasNotAsked(url: string): boolean {
    return this.#contents.has(archiveKey({ url, role: "sitemap", notAsked: "guess" }));
  }

  counts(url: string): Counts | undefined {
    const key = archiveKeys({ url, role: "sitemap" }).find((each) => this.#contents.has(each));
    const answer = key === undefined ? undefined : this.#contents.find(key);
    return answer && countsFrom({ bytes: answer.bytes, counts: answer.counts });
  }

  forgetCounts(url: string): void {
    this.#forgotten.add(url);
  }

  async save(path: string): Promise<void> {
    if (this.#closed) throw closedError();
    const { records, size } = this.#contents;
    await copyArchive(records, size, path, this.#forgotten);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#contents.close();
  }
}
