// The index of an archive, in its last two records. With it, opening an archive reads no others, and damage in one affects no other.
//   The second to last record has one line of JSON about the run, then one for each group of records: an exchange, or a record that belongs
//   to none. Each group begins where the previous one ends, so none is omitted, and none overlap. The last record says where the index is.
// The index is not trusted: readers compare each exchange with the key in its line.
import { SitemapError } from "../model/errors.ts";
import type { Fetched } from "../model/exchange.ts";
import { grouped } from "../model/figures.ts";
import { cutOf } from "./exchange-json.ts";
import { type ArchiveInfo, infoData, infoFrom, parseJson } from "./info.ts";
import { isDamage, type RecordFile, type RecordSpan } from "./records.ts";
import { DigestCheck } from "./warc.ts";

export const indexType = "application/x-ndjson";
export const notesType = "application/vnd.sitegrove.notes+x-ndjson";
const indexVersion = 2;
// An archive whose last record or index exceeds these limits is read record by record instead.
const tailLength = 1024;
const maxLine = 1024 * 1024;
const maxIndex = 512 * 1024 * 1024;

/** A group of consecutive records: an exchange, or one record of another kind. */
export interface Group {
  /** The `requestKey` of the exchange. Empty for any other record, and if the exchange cannot be read. */
  readonly key: string;
  readonly offset: number;
  /** The lengths of the records. In an exchange, the last one is the description; if there are two, the first is the response. */
  readonly lengths: readonly number[];
  /**
   * For an exchange: `x` if it was requested again and replaces earlier ones, `c` if it is cut off and later ones replace it. For another
   * record: `info`, `notes` or `index` if it is about a run.
   */
  readonly flags: string;
}

export interface IndexHead {
  readonly info: ArchiveInfo;
  /** How many of the groups are exchanges. */
  readonly exchanges: number;
}

/** Returns the flags of an exchange, for its `Group`. */
export function flagsOf(fetched: Fetched): string {
  return `${fetched.again === undefined ? "" : "x"}${cutOf(fetched) ? "c" : ""}`;
}

/** Returns the lines of an index, in pieces. */
export function indexContent(info: ArchiveInfo, groups: readonly Group[]): Uint8Array[] {
  const exchanges = groups.filter(({ key }) => key !== "").length;
  const about = { version: indexVersion, finished: true, exchanges, info: infoData(info) };
  const pieces = [Buffer.from(`${JSON.stringify(about)}\n`)];
  for (let from = 0; from < groups.length; from += 1000) {
    const lines = groups.slice(from, from + 1000).map(({ key, lengths, flags }) => {
      return `${JSON.stringify(flags === "" ? [key, lengths] : [key, lengths, flags])}\n`;
    });
    pieces.push(Buffer.from(lines.join("")));
  }
  return pieces;
}

/** Returns the content of the last record. */
export function trailerOf({ offset, length }: RecordSpan): string {
  return `sitegrove-index: ${padded(offset)} ${padded(length)}\r\n`;
}

function padded(value: number): string {
  return String(value).padStart(15, "0");
}

/** Calls `add` for each group, as long as the index is valid. Returns undefined if it is not. `infoId` identifies the record of the run. */
export async function readIndex(
  records: RecordFile,
  size: number,
  add: (group: Group) => void,
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
        offset = endOf(group);
        add(group);
      }
    }
    if (about === undefined || offset !== span.offset || !check.matches()) return undefined;
    return { ...about, infoId: head.fields.get("warc-warcinfo-id") ?? "" };
  } catch (error) {
    if (isDamage(error) && !(error instanceof AnswerLimit)) return undefined;
    throw error;
  }
}

/** Thrown if a file has too many responses, because a hostile file must not use up all memory. */
export class AnswerLimit extends SitemapError {
  constructor(most: number) {
    super("invalid-archive", `it contains more than ${grouped(most)} documents`);
  }
}

/**
 * Reads the description of a run in its index, which may have been moved, and calls `add` for the key of each group, as far as they can be
 * read. Returns undefined if the index does not begin with a description of this version.
 */
export async function readMovedIndex(
  records: RecordFile,
  span: RecordSpan,
  add: (key: string) => void,
): Promise<IndexHead | undefined> {
  let about: IndexHead | undefined;
  try {
    const { content } = await records.open(span);
    for await (const lines of linesOf(content)) {
      for (const line of lines) {
        about ??= indexHead(line);
        if (about === undefined) return undefined;
        add(groupFrom(parseJson(line), 0)?.key ?? "");
      }
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return about;
}

export function endOf({ offset, lengths }: Pick<Group, "offset" | "lengths">): number {
  return lengths.reduce((sum, length) => sum + length, offset);
}

function indexHead(line: string): IndexHead | undefined {
  const { version, info, exchanges } = (parseJson(line) ?? {}) as Partial<Record<keyof IndexHead | "version", unknown>>;
  return version === indexVersion && isCount(exchanges) ? { info: infoFrom(info).info, exchanges } : undefined;
}

// Finds the index through the last record, which follows it directly. In joined files, it usually has a wrong position: no index is found.
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

function groupFrom(value: unknown, offset: number): Group | undefined {
  if (!Array.isArray(value)) return undefined;
  const [key, lengths, flags = ""] = value as unknown[];
  if (typeof key !== "string" || typeof flags !== "string" || !Array.isArray(lengths)) return undefined;
  const areLengths = [1, 2].includes(lengths.length) && lengths.every((each) => isCount(each) && each > 0);
  return areLengths ? { key, offset, lengths, flags } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>, check?: DigestCheck): AsyncGenerator<string[]> {
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of pieces) {
    check?.update(piece);
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
