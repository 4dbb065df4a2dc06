// Writes an archive: a `warcinfo` record, then exchanges one after another, then the index. Each record is compressed separately, if at
// all. A killed process leaves a file that is valid up to its last complete record.
//   An exchange is a `response` record, if there was a response, then a `metadata` record that describes it, and shows that the exchange
//   is complete. https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
// Unlike in the specification, bodies are stored without their transfer coding and the headers about it, so that tools need not decode
// them. The original headers are in the description.
import { open } from "node:fs/promises";
import { STATUS_CODES } from "node:http";
import * as zlib from "node:zlib";
import { SitemapError, systemReason } from "../model/errors.ts";
import { type Fetched, type HeaderList, requestKey } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";
import { version } from "../model/version.ts";
import { AtomicFile } from "../storage/atomic-file.ts";
import { type Block, KeptFile, largePiece, lengthOf, readBlocks, storageFailed } from "../storage/file.ts";
import { descriptionType, exchangeToJson } from "./exchange-json.ts";
import { endOf, flagsOf, type Group, indexContent, indexType, notesType, trailerOf } from "./index-record.ts";
import { type ArchiveInfo, infoData } from "./info.ts";
import { RecordFile } from "./records.ts";
import { Digester, type Field, newId, ownFields, recordEnd, serializeHead } from "./warc.ts";

/** A body that was received, and its digest. */
export interface ReceivedBody {
  readonly blocks: readonly Block[];
  readonly digest: string;
  readonly problem: Problem | undefined;
}

/** The bytes of a record. */
type RecordBytes = AsyncIterable<Uint8Array>;

export class ArchiveWriter {
  /** The records of the file, to read them back. */
  readonly records: RecordFile;
  /** All records, except for the index. */
  readonly groups: Group[];
  /** Where the next record begins. */
  end: number;
  info: ArchiveInfo | undefined;
  infoId = "";
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(records: RecordFile, groups: Group[] = []) {
    this.records = records;
    this.groups = groups;
    this.end = groups.length === 0 ? 0 : endOf(groups.at(-1) as Group);
  }

  /**
   * Continues after the last exchange of an archive, or after the last start of a run. `start` removes what follows. From now on, the
   * writer owns the file.
   */
  static after({ records, groups }: WrittenArchive): ArchiveWriter {
    while (groups.at(-1)?.key === "" && groups.at(-1)?.flags !== "info") groups.pop();
    return new ArchiveWriter(records, groups);
  }

  /** Creates the file, which must not exist; compressed if its name ends in `.gz`. `name` is its name in messages. */
  static async create(file: string, name: string = file): Promise<ArchiveWriter> {
    try {
      const kept = new KeptFile(await open(file, "wx+"), name);
      return new ArchiveWriter(new RecordFile(name, kept, /\.gz$/i.test(name)));
    } catch (error) {
      throw isCode(error, "EEXIST") ? existsError(name, error) : unwritableError(name, error);
    }
  }

  /** Writes the start and options of the run. `resumes` is the record id of the run that this one resumes. */
  async start(info: ArchiveInfo, resumes?: string): Promise<void> {
    this.info = info;
    this.infoId = newId();
    const { file } = this.records;
    file.remembersReads = false;
    await file.truncate(this.end);
    const fields = [
      `software: sitegrove/${version}`,
      "format: WARC File Format 1.1",
      "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
      `sitegrove: ${JSON.stringify(infoData(info, resumes))}`,
    ];
    const content = Buffer.from(fields.map((line) => `${line}\r\n`).join(""));
    await this.#append("", "info", [
      this.#digestedRecord(ownFields("warcinfo", this.infoId, "application/warc-fields"), [content]),
    ]);
  }

  /** Appends an exchange. Resolves once it is in the file. */
  async append(exchange: Fetched, body?: ReceivedBody): Promise<Group> {
    const fetched = exchangeToJson(exchange, body?.problem);
    const { url, receivedAt, status, headers = [] } = fetched;
    const about = [
      ["WARC-Warcinfo-ID", this.infoId],
      ["WARC-Target-URI", targetUri(url)],
    ] as const;
    const id = newId();
    const parts: RecordBytes[] = [];
    if (status !== undefined) {
      const blocks = body?.blocks ?? [];
      const head = httpHead(status, headers, lengthOf(blocks));
      const fields = [...ownFields("response", id, "application/http; msgtype=response", receivedAt), ...about];
      // A document needs no digest of the whole record, because its payload, which is most of it, has one.
      if (body === undefined) parts.push(this.#digestedRecord([...fields, ...unreadField(headers)], [head]));
      else {
        const all = [...fields, ["WARC-Payload-Digest", body.digest] as const, ...truncatedField(body.problem)];
        parts.push(this.#record(all, [head, ...blocks]));
      }
    }
    const metadata = [...ownFields("metadata", newId(), descriptionType, receivedAt), ...about];
    const concurrent = status === undefined ? [] : [["WARC-Concurrent-To", id] as const];
    parts.push(this.#digestedRecord([...metadata, ...concurrent], [Buffer.from(JSON.stringify(fetched))]));
    return this.#append(requestKey(fetched), flagsOf(exchange), parts);
  }

  /** Copies a group of another archive. If both archives are compressed, the records are copied without compressing them again. */
  async copy(from: RecordFile, { key, flags, lengths, offset }: Group): Promise<void> {
    const isSame = from.isCompressed && this.records.isCompressed;
    let at = offset;
    const parts = lengths.map((length) => {
      const span = { offset: at, length };
      at += length;
      return isSame ? readBlocks([{ file: from.file, ...span }], true) : this.#packed(from.copy(span), length);
    });
    await this.#append(key, flags, parts);
  }

  /** Appends notes about the run, which are not about a document. */
  async note(lines: readonly Block[]): Promise<void> {
    const digester = new Digester();
    for await (const piece of readBlocks(lines)) digester.update(piece);
    const fields = [...this.#aboutRun(notesType), ["WARC-Block-Digest", String(digester)] as const];
    await this.#append("", "notes", [this.#record(fields, lines)]);
  }

  /** Writes the index, after the crawl has finished. */
  async finish(): Promise<void> {
    await this.#inTurn(async () => {
      const index = indexContent(this.info as ArchiveInfo, this.groups);
      const [length = 0] = await this.#write([this.#digestedRecord(this.#aboutRun(indexType), index)]);
      const span = { offset: this.end - length, length };
      const trailer = [Buffer.from(trailerOf(span))];
      const record: Uint8Array[] = [];
      for await (const piece of serialize(withDigest(this.#aboutRun("application/warc-fields"), trailer), trailer))
        record.push(piece);
      const whole = Buffer.concat(record);
      // The text stays uncompressed, because opening an archive searches the last bytes of the file for it.
      await this.#write([onePiece(this.records.isCompressed ? zlib.gzipSync(whole, { level: 0 }) : whole)]);
    });
  }

  /** Appends a truncated record, which tells readers that something is missing. */
  async appendCut(): Promise<void> {
    await this.#append("", "", [this.#packed(onePiece(Buffer.from("WARC/1.1\r\n")), 0)]);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.records.file.close();
  }

  // Returns the fields of a metadata record without a URL, which is about the run, not an exchange.
  #aboutRun(contentType: string): Field[] {
    const ids = ["WARC-Warcinfo-ID", "WARC-Refers-To"].map((name) => [name, this.infoId] as const);
    return [...ownFields("metadata", newId(), contentType), ...ids];
  }

  #digestedRecord(fields: readonly Field[], content: readonly Uint8Array[]): RecordBytes {
    return this.#record(withDigest(fields, content), content);
  }

  #record(fields: readonly Field[], content: readonly Block[]): RecordBytes {
    return this.#packed(serialize(fields, content), lengthOf(content));
  }

  #packed(pieces: RecordBytes, length: number): RecordBytes {
    return this.records.isCompressed ? compressed(pieces, length) : pieces;
  }

  #append(key: string, flags: string, parts: readonly RecordBytes[]): Promise<Group> {
    return this.#inTurn(async () => {
      const offset = this.end;
      const group = { key, offset, lengths: await this.#write(parts), flags };
      this.groups.push(group);
      return group;
    });
  }

  // Exchanges are written one after another, never interleaved.
  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(write);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  // Writes records. Returns their lengths.
  async #write(parts: readonly RecordBytes[]): Promise<number[]> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { file } = this.records;
    const lengths: number[] = [];
    let position = this.end;
    let waiting: Uint8Array[] = [];
    const flush = async () => {
      const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
      waiting = [];
      await file.write(position - bytes.length, bytes);
    };
    try {
      for (const pieces of parts) {
        const start = position;
        for await (const piece of pieces) {
          // Small pieces are joined, so a small exchange is hardly ever cut in two. A large piece is written before it is overwritten.
          if (piece.length >= largePiece) await flush();
          waiting.push(piece);
          position += piece.length;
          if (lengthOf(waiting) >= largePiece) await flush();
        }
        lengths.push(position - start);
      }
      await flush();
    } catch (error) {
      // After half an exchange, nothing more may be written.
      this.#failure = { error };
      await file.truncate(this.end).catch(() => undefined);
      throw error;
    }
    this.end = position;
    return lengths;
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes;
}

function withDigest(fields: readonly Field[], content: readonly Uint8Array[]): Field[] {
  const digester = new Digester();
  for (const piece of content) digester.update(piece);
  return [...fields, ["WARC-Block-Digest", String(digester)]];
}

// Yields the bytes of a record. A large piece may be overwritten when the next one is requested.
async function* serialize(fields: readonly Field[], content: readonly Block[]): AsyncGenerator<Uint8Array, undefined> {
  yield serializeHead(fields, lengthOf(content));
  yield* readBlocks(content, true);
  yield recordEnd;
}

// With sitemaps, level 6 takes three times as long to save a tenth.
const level = 3;
// Up to this length, compressing on another thread would take longer.
const smallPacked = 64 * 1024;

async function* compressed(pieces: RecordBytes, length: number): AsyncGenerator<Uint8Array, undefined> {
  if (length <= smallPacked) {
    const whole: Uint8Array[] = [];
    for await (const piece of pieces) whole.push(piece);
    return yield zlib.gzipSync(Buffer.concat(whole), { level });
  }
  const gzip = zlib.createGzip({ level, chunkSize: smallPacked });
  feed(gzip, pieces);
  yield* gzip;
}

// Writes one piece at a time, because the next one may overwrite it. Errors of the source reach the reader of the output.
async function feed(gzip: zlib.Gzip, pieces: RecordBytes): Promise<void> {
  try {
    for await (const piece of pieces) {
      await new Promise<void>((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
    }
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
  }
}

// Readers limit the length of a head. The description keeps the whole URL and all headers.
const maxUri = 16 * 1024;
const maxHeaders = 64 * 1024;

/** Returns the URL without spaces and line ends, whatever the website sent, cut off after `maxUri` characters. */
function targetUri(url: string): string {
  const uri = parseUrl(url)?.href ?? encodeURI(Buffer.from(url).toString());
  return uri.slice(0, maxUri);
}

function httpHead(status: number, headers: HeaderList, bodyLength: number): Uint8Array {
  let room = maxHeaders;
  const lines = headers
    .filter(([name, value]) => isStorable(name, value, bodyLength))
    .map(([name, value]) => `${name}: ${value.replace(/[\r\n\0]/g, " ").replace(/[^\0-\xff]/g, "?")}\r\n`)
    .filter((line) => (room -= line.length) >= 0);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`, "latin1");
}

function isStorable(name: string, value: string, bodyLength: number): boolean {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || name === "transfer-encoding") return false;
  return name !== "content-length" || value === String(bodyLength);
}

/** Returns the field that marks the body of a redirect or error as truncated, because it was not read; none if the body is empty. */
function unreadField(headers: HeaderList): readonly Field[] {
  const empty = headers.some(([name, value]) => name === "content-length" && value === "0");
  return empty ? [] : [["WARC-Truncated", "unspecified"]];
}

function truncatedField(problem: Problem | undefined): readonly Field[] {
  if (problem === undefined) return [];
  const { code } = problem;
  if (code === "limit-document-bytes" || code === "limit-robots-bytes") return [["WARC-Truncated", "length"]];
  return [["WARC-Truncated", code.startsWith("timeout-") ? "time" : "disconnect"]];
}

/** An archive to copy or to continue: an open one, or the output of a writer. */
export interface WrittenArchive {
  readonly records: RecordFile;
  readonly groups: Group[];
  readonly info: ArchiveInfo | undefined;
  readonly infoId: string | undefined;
  readonly finished: boolean;
  readonly truncated: boolean;
  readonly altered: boolean;
}

/** Copies an archive, record by record. */
export async function copyArchive(from: WrittenArchive, to: string, overwrite?: boolean): Promise<void> {
  const write = async (writer: ArchiveWriter) => {
    for (const group of from.groups) if (group.flags !== "index") await writer.copy(from.records, group);
    const isWhole = !from.truncated && !from.altered;
    [writer.info, writer.infoId] = [from.info, from.infoId ?? ""];
    if (from.finished && isWhole) await writer.finish();
    // A copy of an incomplete archive must be recognizable as incomplete. Our own unfinished runs already are.
    else if (!isWhole && (from.info === undefined || from.finished)) await writer.appendCut();
  };
  await writeArchive(to, write, overwrite);
}

/** Writes a whole archive, which appears under its name only when it is complete. Replaces a file only with `overwrite`. */
export async function writeArchive(
  file: string,
  write: (writer: ArchiveWriter) => Promise<void>,
  overwrite?: boolean,
): Promise<void> {
  const output = orArchiveError(file, () => new AtomicFile(file, { overwrite, open: false }));
  // A pipe has no positions, which the index needs.
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
  return new SitemapError("archive-exists", `${file} already exists, and was not replaced`, { cause });
}

function unwritableError(file: string, cause: unknown): SitemapError {
  // Too many open files, or a full disk, are not the fault of the path.
  if (["EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EIO", "ENOMEM"].some((code) => isCode(cause, code))) {
    return storageFailed(`${file} could not be written`, cause);
  }
  return new SitemapError("archive-unwritable", `${file} cannot be written: ${systemReason(cause)}`, { cause });
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
