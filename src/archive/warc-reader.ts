// Walks over the records of a WARC file without reading their content: WARC 1.0 and 1.1, ours and those of other tools.
//   https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#file-and-record-model
// More than the specification allows is accepted, because tools have written it: lines that end in LF alone, more or fewer
// line ends after a record, any version number.
// A file that ends inside a record, or goes on with something else, is read up to the record before.
import { SitemapError } from "../model/errors.ts";
import type { Extent, KeptFile } from "./kept-body.ts";

export interface RecordHead {
  readonly type: string;
  /** By name in lower case; the first of each. */
  readonly fields: ReadonlyMap<string, string>;
  readonly concurrentTo: readonly string[];
  /** Where the record begins, and where the next one may. */
  readonly start: number;
  readonly end: number;
  readonly content: Extent;
}

/** No tool writes a tenth of it, and what is longer is not worth the memory. */
const maxHead = 64 * 1024;
/** What is read at a time: small records come many at once. */
const windowSize = 2 * maxHead;
const lineFeed = 10;
const carriageReturn = 13;

export class WarcReader {
  readonly #file: KeptFile;
  readonly #size: number;
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;
  /** Why reading ended before the end of the file, once it has. */
  cut: "ends inside a record" | "goes on with something that is not a record" | undefined;

  constructor(file: KeptFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordHead, undefined> {
    for (let start = await this.#skipLineEnds(0); start < this.#size; ) {
      const record = await this.#readHead(start);
      if (typeof record === "string") {
        this.cut = record;
        return;
      }
      yield record;
      start = await this.#skipLineEnds(record.end);
    }
  }

  /** The content of the record that was walked to last: most contents are in memory already. */
  async contentOf({ content }: RecordHead): Promise<Uint8Array> {
    if (content.length > windowSize) return content.file.read(content.offset, content.length);
    return (await this.#read(content.offset, content.length)).subarray(0, content.length);
  }

  async #readHead(start: number): Promise<RecordHead | NonNullable<WarcReader["cut"]>> {
    let bytes = await this.#read(start, 1);
    let length = headLength(bytes);
    if (length === undefined) {
      // The window may end inside the head.
      bytes = (await this.#read(start, maxHead)).subarray(0, maxHead);
      length = headLength(bytes);
    }
    if (!magic.startsWith(latin1(bytes.subarray(0, magic.length))))
      return "goes on with something that is not a record";
    if (length === undefined) {
      return bytes.length < maxHead ? "ends inside a record" : "goes on with something that is not a record";
    }
    const { type, fields, concurrentTo, contentLength } = parseHead(bytes.subarray(0, length));
    if (contentLength === undefined) return "goes on with something that is not a record";
    const content = { file: this.#file, offset: start + length, length: contentLength };
    const end = content.offset + content.length;
    if (end > this.#size) return "ends inside a record";
    return { type, fields, concurrentTo, start, end, content };
  }

  async #skipLineEnds(position: number): Promise<number> {
    // Two are due. Whoever fills a file with line ends does not get to keep us busy.
    for (let place = position; place < Math.min(position + maxHead, this.#size); ) {
      for (const byte of await this.#read(place, 1)) {
        if (byte !== lineFeed && byte !== carriageReturn) return place;
        place += 1;
      }
      if (place === this.#size) return place;
    }
    return Math.min(position + maxHead, this.#size);
  }

  /** The bytes from a position: at least as many as asked for, unless the file ends; more if they are in memory. */
  async #read(position: number, atLeast: number): Promise<Uint8Array> {
    const known = position - this.#windowStart;
    const rest = known >= 0 && known < this.#window.length ? this.#window.subarray(known) : undefined;
    if (rest !== undefined && (rest.length >= atLeast || position + rest.length === this.#size)) return rest;
    this.#window = await this.#file.readSome(position, atLeast, Math.min(windowSize, this.#size - position));
    this.#windowStart = position;
    if (this.#window.length < Math.min(atLeast, this.#size - position)) {
      throw new SitemapError("invalid-archive", "The file became shorter while it was read");
    }
    return this.#window;
  }
}

interface StartedRecord {
  readonly type: string;
  readonly headLength: number;
  /** Without the line ends after it. */
  readonly length: number;
}

/** The record at the start of these bytes, by its head alone. */
export function recordAt(bytes: Uint8Array): StartedRecord | undefined {
  const length = headLength(bytes);
  if (length === undefined || length > maxHead || latin1(bytes.subarray(0, magic.length)) !== magic) return undefined;
  const { type, contentLength } = parseHead(bytes.subarray(0, length));
  return contentLength === undefined ? undefined : { type, headLength: length, length: length + contentLength };
}

const magic = "WARC/";

/** Up to and including the empty line; undefined if there is none. */
function headLength(bytes: Uint8Array): number | undefined {
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end + 1] === lineFeed) return end + 2;
    if (bytes[end + 1] === carriageReturn && bytes[end + 2] === lineFeed) return end + 3;
  }
  return undefined;
}

function parseHead(
  head: Uint8Array,
): Pick<RecordHead, "type" | "fields" | "concurrentTo"> & { contentLength?: number } {
  const { fields, concurrentTo } = parseFields(Buffer.from(head).toString());
  const type = (fields.get("warc-type") ?? "").toLowerCase();
  const contentLength = fields.get("content-length") ?? "";
  const isLength = /^\d{1,15}$/.test(contentLength);
  return { type, fields, concurrentTo, ...(isLength && { contentLength: Number(contentLength) }) };
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
