// Writes an archive: a `warcinfo` record, then exchanges one after another, then the index. Each record is compressed separately, if at
// all.
// A killed process leaves a file that is valid up to its last record.
import { open } from "node:fs/promises";
import * as zlib from "node:zlib";
import { SitemapError, systemReason } from "../model/errors.ts";
import type { Fetched } from "../model/exchange.ts";
import { version } from "../model/version.ts";
import { AtomicFile } from "../storage/atomic-file.ts";
import { type Block, KeptFile, largePiece, lengthOf, readBlocks, storageFailed } from "../storage/file.ts";
import { countsFrom, type Group, indexContent, indexType, trailerOf } from "./index-record.ts";
import { type ArchiveInfo, type Counts, infoData, type RunCounts } from "./info.ts";
import { exchangeRecords, type Repetition, repetitionRecords, revive } from "./kept-response.ts";
import { type Answer, type Archive, kindOf, readArchive } from "./open.ts";
import { RecordFile, type RecordSource, type RecordSpan } from "./records.ts";
import { newId, ownFields, sealed, serialize, type WarcRecord } from "./warc.ts";

/** The bytes of a record. */
type Part = AsyncIterable<Uint8Array>;

export class ArchiveWriter {
  /** Reads back from the file. */
  readonly records: RecordFile;
  readonly #groups: Group[];
  /** The size of the file. */
  end: number;
  #info: ArchiveInfo | undefined;
  #infoId = "";
  // The `warcinfo` records of other archives that are in this one, or being written.
  readonly #copiedInfos = new Map<string, Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  private constructor(records: RecordFile, end = 0, groups: Group[] = []) {
    this.records = records;
    this.end = end;
    this.#groups = groups;
  }

  /** Continues after the last exchange of an archive; the rest is removed at the start. The writer owns the file from now on. */
  static after({ records, groups }: Archive): ArchiveWriter {
    // Records at the end that belong to no complete exchange.
    while (groups.at(-1)?.kind === "-") groups.pop();
    const last = groups.at(-1);
    const end = last === undefined ? 0 : last.lengths.reduce((sum, length) => sum + length, last.offset);
    return new ArchiveWriter(records, end, groups);
  }

  /** Creates the file, which must not exist. `name` is its name in messages. */
  static async create(file: string, name: string = file): Promise<ArchiveWriter> {
    try {
      const kept = new KeptFile(await open(file, "wx+"), name);
      return new ArchiveWriter(new RecordFile(name, kept, /\.gz$/i.test(name)));
    } catch (error) {
      throw isCode(error, "EEXIST") ? existsError(name, error) : unwritableError(name, error);
    }
  }

  /** The start and options of the run. `resumes`: the record id of the run that this one resumes. */
  async start(info: ArchiveInfo, resumes?: string): Promise<void> {
    this.#info = info;
    this.#infoId = newId();
    const { file } = this.records;
    file.remembersReads = false;
    await file.truncate(this.end);
    const fields = [
      `software: sitegrove/${version}`,
      "format: WARC File Format 1.1",
      "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
      `sitegrove: ${JSON.stringify(infoData(info, resumes))}`,
    ];
    const content = [Buffer.from(fields.map((line) => `${line}\r\n`).join(""))];
    const record = await sealed({ fields: ownFields("warcinfo", this.#infoId, "application/warc-fields"), content });
    await this.#append({ url: "", kind: "i" }, [this.#part(record)]);
  }

  async append(description: Uint8Array, body: readonly Block[]): Promise<Answer> {
    const fetched = revive(description);
    const records = await exchangeRecords(this.#infoId, fetched, description, body);
    const parts = records.map((record) => this.#part(record));
    return this.#appendExchange(fetched, parts, lengthOf(body));
  }

  /** A document of an earlier run: its original record, the website's response now, and the description. */
  async appendRepeated(description: Uint8Array, repetition: Repetition): Promise<Answer> {
    const { records, span } = repetition.source;
    const fetched = revive(description);
    const original = await records.head(span);
    const infoId = original.fields.get("warc-warcinfo-id") ?? "";
    if (!this.#copiedInfos.has(infoId)) {
      const info = await records.infoSpan(infoId);
      if (info !== undefined && !this.#copiedInfos.has(infoId)) {
        const copied = this.#append({ url: "", kind: "i" }, [this.#copied({ records, span: info })]);
        this.#copiedInfos.set(infoId, copied);
      }
    }
    await this.#copiedInfos.get(infoId);
    const behind = await repetitionRecords(this.#infoId, fetched, description, original, repetition);
    const parts = [this.#copied({ records, span }), ...behind.map((record) => this.#part(record))];
    return this.#appendExchange(fetched, parts, repetition.bytes);
  }

  /** The crawl finished. `from`: the archive that this one is a copy of. */
  async finish({ by, documents }: Partial<RunCounts> = {}, from?: Archive): Promise<void> {
    if (from !== undefined) [this.#info, this.#infoId] = [from.info, from.infoId ?? ""];
    await this.#inTurn(() => this.#writeIndex(by, documents));
  }

  /** Copies the records of a group from another archive, unchanged. */
  async copyGroup(
    records: RecordFile,
    { url, kind, bytes, lengths, offset }: Group & { readonly offset: number },
  ): Promise<void> {
    let at = offset;
    const parts = lengths.map((length) => {
      at += length;
      return this.#copied({ records, span: { offset: at - length, length } });
    });
    await this.#append({ url, kind, bytes }, parts);
  }

  /** Appends the beginning of a record that is cut off, so that readers know that something is missing. */
  async appendCut(): Promise<void> {
    await this.#append({ url: "", kind: "-" }, [this.#packed(oneOf(Buffer.from("WARC/1.1\r\n")), 0)]);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.records.file.close();
  }

  async #appendExchange(fetched: Fetched, parts: readonly Part[], bytes: number | undefined): Promise<Answer> {
    const isDocument = fetched.outcome === "found";
    const about = { url: fetched.url, kind: kindOf(fetched), bytes: isDocument ? bytes : undefined };
    const spans = await this.#append(about, parts);
    const response = isDocument ? spans[0] : undefined;
    return { response, description: spans.at(-1), bytes: about.bytes, isCut: false };
  }

  async #writeIndex(by: string | undefined, documents: RunCounts["documents"] | undefined): Promise<void> {
    const groups = this.#groups;
    const exchanges = groups.filter(({ kind }) => kind !== "i" && kind !== "-").length;
    const about = { info: this.#info as ArchiveInfo, exchanges, by };
    const countsIn = ({ url, kind }: Group) => (/^s[gu]?x?$/.test(kind) ? documents?.get(url) : undefined);
    const index = indexContent(about, groups, countsIn);
    const [span] = await this.#write([this.#part(await this.#endRecord(indexType, index))]);
    const trailer = [Buffer.from(trailerOf(span as RecordSpan))];
    const pieces: Uint8Array[] = [];
    for await (const piece of serialize(await this.#endRecord("application/warc-fields", trailer))) pieces.push(piece);
    const record = Buffer.concat(pieces);
    await this.#write([
      oneOf(
        // Not compressed: opening an archive searches its last bytes for this.
        this.records.isCompressed ? zlib.gzipSync(record, { level: 0 }) : record,
      ),
    ]);
  }

  // A metadata record without a URL: it is about the run, not an exchange.
  #endRecord(contentType: string, content: readonly Block[]): Promise<WarcRecord> {
    const fields = [
      ...ownFields("metadata", newId(), contentType),
      ["WARC-Warcinfo-ID", this.#infoId],
      ["WARC-Refers-To", this.#infoId],
    ] as const;
    return sealed({ fields, content });
  }

  #part(record: WarcRecord): Part {
    return this.#packed(serialize(record), lengthOf(record.content));
  }

  // Not compressed again if it is compressed already.
  #copied({ records, span }: RecordSource): Part {
    const isSame = records.isCompressed && this.records.isCompressed;
    return isSame ? readBlocks([{ file: records.file, ...span }]) : this.#packed(records.copy(span), span.length);
  }

  #packed(pieces: Part, length: number): Part {
    return this.records.isCompressed ? compressed(pieces, length) : pieces;
  }

  #append(about: Omit<Group, "lengths">, parts: readonly Part[]): Promise<RecordSpan[]> {
    return this.#inTurn(async () => {
      const spans = await this.#write(parts);
      this.#groups.push({ ...about, lengths: spans.map(({ length }) => length) });
      return spans;
    });
  }

  // Exchanges are written one after another, never interleaved.
  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(write);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #write(parts: readonly Part[]): Promise<RecordSpan[]> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { file } = this.records;
    const spans: RecordSpan[] = [];
    let position = this.end;
    let waiting: Uint8Array[] = [];
    const flush = async () => {
      const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
      waiting = [];
      await file.write(position - bytes.length, bytes);
    };
    try {
      for (const pieces of parts) {
        const offset = position;
        for await (const piece of pieces) {
          // A small exchange is written in one call, so that it is hardly ever cut in two; a large piece is lent, not copied.
          if (piece.length >= largePiece) await flush();
          waiting.push(piece);
          position += piece.length;
          if (lengthOf(waiting) >= largePiece) await flush();
        }
        spans.push({ offset, length: position - offset });
      }
      await flush();
    } catch (error) {
      // Nothing may follow half an exchange.
      this.#failure = { error };
      await file.truncate(this.end).catch(() => undefined);
      throw error;
    }
    this.end = position;
    return spans;
  }
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes;
}

// Measured on sitemaps: level 6 takes three times as long for a tenth less.
const level = 3;
// Up to this length, using zlib's thread would take longer.
const smallPacked = 64 * 1024;

// One gzip member. `length`: of its content, if known.
async function* compressed(pieces: Part, length: number): AsyncGenerator<Uint8Array, undefined> {
  if (length <= smallPacked) {
    const whole: Uint8Array[] = [];
    for await (const piece of pieces) whole.push(piece);
    return yield zlib.gzipSync(Buffer.concat(whole), { level });
  }
  const gzip = zlib.createGzip({ level, chunkSize: smallPacked });
  feed(gzip, pieces);
  yield* gzip;
}

// One lent piece at a time. Errors of the source reach the reader of the output.
async function feed(gzip: zlib.Gzip, pieces: Part): Promise<void> {
  try {
    for await (const piece of pieces) {
      await new Promise<void>((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
    }
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
  }
}

/** Copies an archive, record by record. `forgotten`: the URLs of documents whose index entries are wrong. */
export async function copyArchive(
  records: RecordFile,
  size: number,
  to: string,
  forgotten: ReadonlySet<string>,
  overwrite?: boolean,
): Promise<void> {
  await writeArchive(
    to,
    async (writer) => {
      const from = await readArchive(records, size, { withGroups: true });
      const counts = new Map<string, Counts>();
      for (const group of from.groups) {
        await writer.copyGroup(from.records, group);
        const known = forgotten.has(group.url) ? undefined : countsFrom(group);
        if (known !== undefined) counts.set(group.url, known);
      }
      const isWhole = !from.truncated && !from.altered;
      if (from.finished && isWhole) await writer.finish({ by: from.countedBy, documents: counts }, from);
      // A copy of an incomplete archive must be recognizable as incomplete. Our own unfinished runs already are.
      else if (!isWhole && (from.info === undefined || from.finished)) await writer.appendCut();
    },
    overwrite,
  );
}

/** Writes a whole archive: a file with the name `file` is complete. Replaces a file only with `overwrite`. */
export async function writeArchive(
  file: string,
  write: (writer: ArchiveWriter) => Promise<void>,
  overwrite?: boolean,
): Promise<void> {
  const output = orArchiveError(file, () => new AtomicFile(file, { overwrite, open: false }));
  // The positions of records mean nothing in a pipe.
  if (output.isDirect) throw existsError(file);
  try {
    const writer = await ArchiveWriter.create(output.path, file);
    await write(writer).finally(() => writer.close());
    orArchiveError(file, () => output.commit());
  } finally {
    output.discard();
  }
}

function orArchiveError<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw isCode(error, "EEXIST") || isCode(error, "EISDIR") ? existsError(file, error) : unwritableError(file, error);
  }
}

function existsError(file: string, cause?: unknown): SitemapError {
  return new SitemapError("archive-exists", `${file} already exists; an archive never replaces a file`, { cause });
}

function unwritableError(file: string, cause: unknown): SitemapError {
  // Too many open files, or no space: not a fault of the path.
  if (["EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EIO", "ENOMEM"].some((code) => isCode(cause, code))) {
    return storageFailed(`${file} could not be written`, cause);
  }
  return new SitemapError("archive-unwritable", `${file} cannot be written: ${systemReason(cause)}`, { cause });
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
