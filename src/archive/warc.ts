// The form of a WARC record, read and written: WARC 1.0 and 1.1, ours and those of other tools.
//   https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#file-and-record-model
// More than the specification allows is accepted, because tools have written it: lines that end in LF alone, more or fewer line ends
// after a record, any version number.
import { randomUUID } from "node:crypto";
import { digestOf } from "./digest.ts";
import { type Block, lengthOf, readBlocks } from "./file.ts";

/** The head of a record that is read. */
export interface RecordHead {
  readonly type: string;
  /** By name in lower case; the first of each. */
  readonly fields: ReadonlyMap<string, string>;
  readonly concurrentTo: readonly string[];
  /** In bytes, with the empty line after it. */
  readonly headLength: number;
  readonly contentLength: number;
}

/** A record that is written. */
export interface WarcRecord {
  readonly fields: readonly Field[];
  readonly content: readonly Block[];
}

export type Field = readonly [name: string, value: string];

/** No tool writes a tenth of it, and what is longer is not worth the memory. */
export const maxHead: number = 64 * 1024;
/** The line ends after a record. */
export const recordEnd: Buffer = Buffer.from("\r\n\r\n");
export const magic = "WARC/";
const lineFeed = 10;
const carriageReturn = 13;

/** The head at the start of these bytes: `cut` if it may go on behind them, undefined if there is none. */
export function headAt(bytes: Uint8Array): RecordHead | "cut" | undefined {
  const start = bytes.subarray(0, maxHead);
  if (!magic.startsWith(latin1(start.subarray(0, magic.length)))) return undefined;
  const headLength = lengthOfHead(start);
  if (headLength === undefined) return start.length < maxHead ? "cut" : undefined;
  const { fields, concurrentTo } = parseFields(Buffer.from(start.subarray(0, headLength)).toString());
  const contentLength = fields.get("content-length") ?? "";
  if (!/^\d{1,15}$/.test(contentLength)) return undefined;
  const type = (fields.get("warc-type") ?? "").toLowerCase();
  return { type, fields, concurrentTo, headLength, contentLength: Number(contentLength) };
}

/** How many line ends these bytes begin with, in bytes. */
export function lineEndsAt(bytes: Uint8Array): number {
  const end = bytes.findIndex((byte) => byte !== lineFeed && byte !== carriageReturn);
  return end === -1 ? bytes.length : end;
}

// Up to and including the empty line.
function lengthOfHead(bytes: Uint8Array): number | undefined {
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end + 1] === lineFeed) return end + 2;
    if (bytes[end + 1] === carriageReturn && bytes[end + 2] === lineFeed) return end + 3;
  }
  return undefined;
}

function parseFields(head: string): { fields: Map<string, string>; concurrentTo: string[] } {
  const fields = new Map<string, string>();
  const concurrentTo: string[] = [];
  // A line that begins with a space goes on from the one before.
  for (const line of head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === -1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "warc-concurrent-to") concurrentTo.push(value);
    else if (!fields.has(name)) fields.set(name, value);
  }
  return { fields, concurrentTo };
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

export function newId(): string {
  return `<urn:uuid:${randomUUID()}>`;
}

/**
 * The fields that every record of ours has.
 * https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-date-mandatory: "the instant that data capture
 * for record creation began"
 */
export function ownFields(
  type: string,
  id: string,
  contentType: string,
  date: string = new Date().toISOString(),
): readonly Field[] {
  return [
    ["WARC-Type", type],
    ["WARC-Record-ID", id],
    ["WARC-Date", date],
    ["Content-Type", contentType],
  ];
}

/** With a digest of its content. */
export async function sealed({ fields, content }: WarcRecord): Promise<WarcRecord> {
  return { fields: [...fields, ["WARC-Block-Digest", await digestOf(content)]], content };
}

/** The bytes of a record, in pieces. */
export async function* serialize({ fields, content }: WarcRecord): AsyncGenerator<Uint8Array, undefined> {
  const lines = [...fields, ["Content-Length", String(lengthOf(content))] as const];
  yield Buffer.from(`WARC/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  yield* readBlocks(content);
  yield recordEnd;
}
