// Opens an archive for a replay. One pass over its records builds an index; nothing else is kept in memory. If an
// archive has two exchanges for one URL, the first counts, as in a store.
import { SitemapError } from "../model/errors.ts";
import type { DocumentRequest, Fetched } from "../model/exchange.ts";
import { ArchiveIndex } from "./archive-index.ts";
import { type ArchiveSource, invalidArchive, openSource } from "./archive-source.ts";
import { writeArchive } from "./archive-writer.ts";
import { CompressedRecords } from "./compressed-records.ts";
import type { Archive, ArchiveInfo, OpenArchiveOptions } from "./contract.ts";
import { closedError, DamagedData } from "./kept-body.ts";
import { endFromJson, type SavedReadings } from "./readings.ts";
import { archiveKey, replay } from "./replay.ts";
import { type RecordHead, WarcReader } from "./warc-reader.ts";
import { endRecord, type WarcRecord } from "./warc-record.ts";

/**
 * Opens a WARC file, of ours or another tool, compressed or not. Throws a `SitemapError` (`invalid-archive`) if it is
 * not one.
 */
export async function openArchive(path: string, options: OpenArchiveOptions = {}): Promise<Archive> {
  const { signal, until } = options;
  const source = await openSource(path, { signal, until });
  try {
    const { index, cut } = await indexArchive(source, options);
    source.file.remembersReads = true;
    return new OpenArchive(source, index, source.damaged || source.lacksRecords || cut !== undefined);
  } catch (error) {
    await source.close();
    throw error;
  }
}

interface Indexed {
  readonly index: ArchiveIndex;
  /** Why reading ended before the end of the file, if it did. */
  readonly cut: WarcReader["cut"];
  /** The end of the last whole record, without the line ends after it. */
  readonly end: number;
}

/** `newest`: if there are several answers to one request, the last counts. Throws a `SitemapError` (`invalid-archive`). */
export async function indexArchive(
  source: ArchiveSource,
  options: OpenArchiveOptions & { newest?: boolean } = {},
): Promise<Indexed> {
  const { path, file, size } = source;
  const { until = Number.POSITIVE_INFINITY } = options;
  const compressed = new CompressedRecords(source);
  const index = new ArchiveIndex({
    newest: options.newest,
    mostAnswers: Math.max(leastAnswers, (options.documents ?? 0) * answersOfDocument),
    walk: () => new WarcReader(file, size),
    compressed: (record) => compressed.find(record),
    mayLackRecords: source.lacksRecords || file.lazy?.isEmpty === false,
  });
  const reader = new WarcReader(file, size);
  let end = 0;
  try {
    for await (const record of reader) {
      options.signal?.throwIfAborted();
      await index.add(record, () => reader.contentOf(record));
      end = record.end;
      if (performance.now() > until) break;
    }
  } catch (error) {
    throw error instanceof SitemapError && error.code === "invalid-archive"
      ? invalidArchive(path, error.message, error)
      : error;
  }
  if (index.recordCount === 0) {
    const isCut = reader.cut === "ends inside a record";
    throw invalidArchive(path, isCut ? "it is cut off inside its first record" : "it holds no record");
  }
  return { index, cut: reader.cut, end };
}

// The index takes memory, and a small file must not take all of it. More than any run with the default limits writes.
const leastAnswers = 600_000;
const answersOfDocument = 12;

class OpenArchive implements Archive {
  readonly info: ArchiveInfo | undefined;
  readonly finished: boolean;
  readonly truncated: boolean;
  readonly altered: boolean;
  readonly readings: SavedReadings | undefined;
  readonly urls: readonly string[];
  readonly #source: ArchiveSource;
  readonly #index: ArchiveIndex;
  readonly #forgotten = new Set<string>();
  #closed = false;

  constructor(source: ArchiveSource, index: ArchiveIndex, truncated: boolean) {
    this.info = index.info;
    this.finished = index.finished;
    this.truncated = truncated;
    this.altered = index.isAltered;
    this.readings = index.finished ? index.readings : undefined;
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

  wasNotAsked(url: string): boolean {
    return this.#index.find(archiveKey({ url, role: "sitemap", notAsked: "guess" })) !== undefined;
  }

  async save(path: string): Promise<void> {
    if (this.#closed) throw closedError();
    const { path: from, file, size, lacksRecords } = this.#source;
    // The copy would not show that something is missing.
    if (lacksRecords) throw new DamagedData(from);
    await writeArchive(path, async (writer) => {
      const reader = new WarcReader(file, size);
      for await (const record of reader) {
        const { start, end } = record;
        const corrected = await this.#correctedEnd(record, reader);
        if (corrected === undefined) await writer.copy({ file, offset: start, length: end - start });
        else await writer.append([corrected]);
      }
      // What was cut off is missing in the copy, too. A run of ours without its end says so by itself.
      const looksWhole = this.info === undefined || this.finished;
      if (this.truncated && looksWhole) await writer.appendCut();
    });
  }

  forgetReading(url: string): void {
    this.#forgotten.add(url);
  }

  // The record that ends a run, if it has notes that are to be forgotten: without them.
  async #correctedEnd(record: RecordHead, reader: WarcReader): Promise<WarcRecord | undefined> {
    const { type, fields } = record;
    const infoId = fields.get("warc-warcinfo-id") ?? "";
    const isEnd = type === "metadata" && !fields.has("warc-target-uri") && this.#index.infoRecord(infoId) !== undefined;
    if (!isEnd || this.#forgotten.size === 0) return undefined;
    const { readings, exchanges } = endFromJson(Buffer.from(await reader.contentOf(record)).toString());
    const documents = readings?.documents.filter(({ url }) => !this.#forgotten.has(url));
    if (readings === undefined || documents?.length === readings.documents.length) return undefined;
    return endRecord(infoId, { readings: { by: readings.by, documents: documents ?? [] }, exchanges });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#source.close();
  }
}
