// The index of an archive, in its last two records: opening it takes one read, and a damaged record does not affect others.
//   The second to last has one line of JSON about the run, then one for each group of records: an exchange, or a record that belongs to
//   none. Each group begins where the previous one ends, so nothing can be omitted or overlap. The last record says where the index is.
// The index is not trusted: readers compare each record with its line.
import { SitemapError } from "../model/errors.ts";
import { grouped } from "../model/figures.ts";
import { isLossy, type Problem, problemFrom } from "../model/problem.ts";
import type { PagesFormat } from "../model/sitemap.ts";
import { type ArchiveInfo, type Counts, infoData, infoFrom, parseJson } from "./info.ts";
import { isDamage, type RecordFile, type RecordSpan } from "./records.ts";
import { DigestCheck } from "./warc.ts";

export const indexType = "application/x-ndjson";
const indexVersion = 1;
// Limits: an archive with a larger index is read record by record instead.
const tailLength = 1024;
const maxLine = 1024 * 1024;
const maxIndex = 512 * 1024 * 1024;

/** A group of consecutive records. */
export interface Group {
  /** Empty for a record that belongs to no exchange. */
  readonly url: string;
  /** `-` for a record that belongs to no exchange; otherwise a role (`s`, or `r` for robots.txt) and flags: see `kindOf`. */
  readonly kind: string;
  /** The last record is the description; if there are several, the first is the response. */
  readonly lengths: readonly number[];
  /** The length of the document. */
  readonly bytes?: number | undefined;
}

export interface IndexHead {
  readonly info: ArchiveInfo;
  /** How many of the groups are exchanges. */
  readonly exchanges: number;
  /** The settings that the counts depend on. */
  readonly by: string | undefined;
}

/** The lines of an index, in pieces. */
export function indexContent(
  { info, exchanges, by }: IndexHead,
  groups: readonly Group[],
  countsOf: (group: Group) => Counts | undefined,
): Uint8Array[] {
  const about = { version: indexVersion, finished: true, exchanges, by, info: infoData(info) };
  const pieces = [Buffer.from(`${JSON.stringify(about)}\n`)];
  for (let from = 0; from < groups.length; from += 1000) {
    const lines = groups.slice(from, from + 1000).map((group) => lineOf(group, countsOf(group)));
    pieces.push(Buffer.from(lines.join("")));
  }
  return pieces;
}

function lineOf({ url, kind, lengths, bytes }: Group, counts: Counts | undefined): string {
  if (counts === undefined || counts.wireBytes !== bytes) {
    return `${JSON.stringify(bytes === undefined ? [url, kind, lengths] : [url, kind, lengths, bytes])}\n`;
  }
  const { format, pages, decodedBytes, charset, checksum, problems } = counts;
  return `${JSON.stringify([url, kind, lengths, bytes, [format, pages, decodedBytes, charset ?? null, checksum ?? null, ...problems]])}\n`;
}

/** The content of the last record. */
export function trailerOf({ offset, length }: RecordSpan): string {
  return `sitegrove-index: ${padded(offset)} ${padded(length)}\r\n`;
}

function padded(value: number): string {
  return String(value).padStart(15, "0");
}

/** A group as listed in an index. */
export interface IndexedGroup extends Group {
  readonly offset: number;
  /** See `countsFrom`. */
  readonly counts: unknown;
}

/** Calls `add` for each group. `infoId`: the record that describes the last run. Undefined if the file has no valid index. */
export async function readIndex(
  records: RecordFile,
  size: number,
  add: (group: IndexedGroup) => void,
): Promise<(IndexHead & { readonly infoId: string }) | undefined> {
  try {
    const span = await findIndex(records, size);
    if (span === undefined) return undefined;
    const { head, content } = await records.open(span);
    if (head.fields.get("content-type") !== indexType || head.contentLength > maxIndex) return undefined;
    const check = new DigestCheck(head.fields.get("warc-block-digest"));
    let about: IndexHead | undefined;
    let offset = 0;
    for await (const lines of linesOf(content, check)) {
      for (const line of lines) {
        if (about === undefined) {
          about = indexHead(line);
          if (about === undefined) return undefined;
          continue;
        }
        const group = groupFrom(parseJson(line), offset);
        if (group === undefined) return undefined;
        offset = group.lengths.reduce((sum, length) => sum + length, offset);
        add(group);
      }
    }
    if (about === undefined || offset !== span.offset || !check.isRight()) return undefined;
    return { ...about, infoId: head.fields.get("warc-warcinfo-id") ?? "" };
  } catch (error) {
    if (isDamage(error) && !(error instanceof AnswerLimit)) return undefined;
    throw error;
  }
}

/** Thrown if a file has too many responses: a hostile one must not use up all memory. */
export class AnswerLimit extends SitemapError {
  constructor(most: number) {
    super("invalid-archive", `it contains more than ${grouped(most)} documents`);
  }
}

/** The run, as described by its index; undefined if the index is not ours. */
export async function readIndexHead(records: RecordFile, span: RecordSpan): Promise<IndexHead | undefined> {
  const { content } = await records.open(span);
  for await (const [line = ""] of linesOf(content)) return indexHead(line);
  return undefined;
}

function indexHead(line: string): IndexHead | undefined {
  const value = (parseJson(line) ?? {}) as Partial<Record<keyof IndexHead | "version", unknown>>;
  const { version, info, exchanges, by } = value;
  if (version !== indexVersion || !isCount(exchanges) || (by !== undefined && typeof by !== "string")) return undefined;
  return { info: infoFrom(info).info, exchanges, by };
}

// In joined files, the index is not at the position it gives. Only the last record follows it.
async function findIndex(records: RecordFile, size: number): Promise<RecordSpan | undefined> {
  const from = Math.max(0, size - tailLength);
  const text = Buffer.from(await records.file.read(from, size - from)).toString("latin1");
  const [, offset, length] = /sitegrove-index: (\d{15}) (\d{15})\r\n/.exec(text) ?? [];
  if (offset === undefined || length === undefined) return undefined;
  const span = { offset: Number(offset), length: Number(length) };
  const end = span.offset + span.length;
  if (end >= size || end < from) return undefined;
  const { content } = await records.read({ offset: end, length: size - end }, tailLength);
  return Buffer.from(content).toString("latin1") === trailerOf(span) ? span : undefined;
}

function groupFrom(value: unknown, offset: number): IndexedGroup | undefined {
  if (!Array.isArray(value)) return undefined;
  const [url, kind, lengths, bytes, counts] = value as unknown[];
  if (typeof url !== "string" || typeof kind !== "string" || !isLengths(lengths)) return undefined;
  if (bytes !== undefined && !isCount(bytes)) return undefined;
  return { url, kind, lengths, bytes, counts, offset };
}

function isLengths(value: unknown): value is number[] {
  return (
    Array.isArray(value) && value.length > 0 && value.length < 5 && value.every((each) => isCount(each) && each > 0)
  );
}

/** Undefined if they are not as we write them. */
export function countsFrom({ bytes, counts }: Partial<IndexedGroup>): Counts | undefined {
  if (!Array.isArray(counts) || bytes === undefined) return undefined;
  const [format, pages, decodedBytes, charset, checksum, ...problems] = counts as unknown[];
  if (!formats.has(format as PagesFormat) || !isCount(pages) || !isCount(decodedBytes)) return undefined;
  if (charset !== null && !(typeof charset === "string" && /^[\w.:-]{1,40}$/.test(charset))) return undefined;
  if (checksum !== null && !isCount(checksum)) return undefined;
  const known = problems.map((each) => problemFrom(each));
  // Documents with a loss have no counts.
  if (known.some((each) => each === undefined || isLossy(each.code))) return undefined;
  return {
    format: format as PagesFormat,
    pages,
    wireBytes: bytes,
    decodedBytes,
    ...(charset === null ? {} : { charset }),
    ...(checksum === null ? {} : { checksum }),
    problems: known as Problem[],
  };
}

const formats: ReadonlySet<PagesFormat> = new Set(["xml", "text", "rss", "atom", "json", "llms"]);

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>, check?: DigestCheck): AsyncGenerator<string[]> {
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of pieces) {
    check?.see(piece);
    const end = piece.lastIndexOf(10) + 1;
    if (rest.length + (end === 0 ? piece.length : piece.indexOf(10)) > maxLine)
      throw new SitemapError("invalid-archive", "a line of its index is too long");
    if (end > 0)
      yield Buffer.concat([rest, piece.subarray(0, end - 1)])
        .toString()
        .split("\n");
    rest = end > 0 ? piece.subarray(end) : Buffer.concat([rest, piece]);
  }
  if (rest.length > 0) throw new SitemapError("invalid-archive", "the last line of its index has no end");
}
