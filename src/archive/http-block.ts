// The HTTP response inside a `response` record: its head, and its body without transfer coding.
// https://www.rfc-editor.org/rfc/rfc9112
import type { HeaderList } from "../model/exchange.ts";
import { DamagedData, type Extent } from "./kept-body.ts";

export interface HttpHead {
  readonly status: number;
  readonly headers: HeaderList;
  /** The length of the head in bytes. */
  readonly length: number;
}

/** More than any server sends, and than any client accepts. */
const maxHttpHead = 256 * 1024;
/** Few heads are longer: the rest of a response is read on demand. */
const usualHttpHead = 8 * 1024;

interface FoundHead {
  readonly head: HttpHead;
  /** The bytes that were read to find it. */
  readonly start: Uint8Array;
}

/** The head of a response; undefined if there is none. */
export async function readHttpHead(response: Extent): Promise<FoundHead | "damaged" | undefined> {
  try {
    return await findHttpHead(response);
  } catch (error) {
    // One response cannot be decompressed: others can.
    if (error instanceof DamagedData) return "damaged";
    throw error;
  }
}

async function findHttpHead(response: Extent): Promise<FoundHead | undefined> {
  const { file, offset, length } = response;
  for (const most of [usualHttpHead, maxHttpHead]) {
    const start = await file.readSome(offset, 1, Math.min(length, most));
    const head = parseHttpHead(start);
    if (head !== undefined && (isEnough(start, head) || start.length === length)) return { head, start };
  }
  const start = await file.read(offset, Math.min(length, maxHttpHead));
  const head = parseHttpHead(start);
  return head && { head, start };
}

/** Whether the start of a response is enough for `readHttpHead`. */
export function holdsHttpHead(start: Uint8Array): boolean {
  const head = parseHttpHead(start.subarray(0, maxHttpHead));
  return head !== undefined && isEnough(start, head);
}

// With enough behind the head to see whether a chunk follows.
function isEnough(start: Uint8Array, head: HttpHead): boolean {
  return head.length + maxChunkLine < start.length;
}

/** Undefined if the bytes do not begin with the head of a response. */
function parseHttpHead(bytes: Uint8Array): HttpHead | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const length = httpHeadLength(text);
  const status = /^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)/.exec(text)?.[1];
  if (length === undefined || status === undefined) return undefined;
  const headers: [string, string][] = [];
  const lines = text
    .slice(0, length)
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/);
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.push([line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]);
  }
  return { status: Number(status), headers, length };
}

/** Some tools keep the header but remove the coding: only a body that begins with a chunk is chunked. */
export function beginsWithChunk(bytes: Uint8Array): boolean {
  return chunkStart.test(latin1(bytes));
}

// Decodes chunks; returns whether the last one was there.
export async function* dechunk(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, "whole" | "cut"> {
  let waiting: Uint8Array = Buffer.alloc(0);
  let left = 0;
  for await (const piece of pieces) {
    waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece]);
    while (waiting.length > 0) {
      if (left === 0) {
        const [start, size] = chunkStart.exec(latin1(waiting)) ?? [];
        // The line may continue in the next piece.
        if (start === undefined && waiting.length < maxChunkLine) break;
        if (start === undefined || size === undefined) return "cut";
        left = Number.parseInt(size, 16);
        if (left === 0) return "whole";
        waiting = waiting.subarray(start.length);
      } else {
        const bytes = waiting.subarray(0, left);
        left -= bytes.length;
        waiting = waiting.subarray(bytes.length);
        yield bytes;
      }
    }
  }
  return "cut";
}

// The end of the chunk before, the size of this one, and extensions, which are ignored.
const chunkStart = /^(?:\r?\n)?([0-9a-f]{1,12})[ \t]*(?:;[^\n]*)?\r?\n/i;
const maxChunkLine = 1024;

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxChunkLine)).toString("latin1");
}

// Including the empty line. Without a body, a head may end with the record.
function httpHeadLength(text: string): number | undefined {
  const end = /\r?\n\r?\n/.exec(text);
  if (end !== null) return end.index + end[0].length;
  return text.length < maxHttpHead ? text.length : undefined;
}
