// The body of a response in an archive: found behind the HTTP head in its record, read from the file whenever somebody asks for it, and
// compared with what the archive says about it each time.
//   https://www.rfc-editor.org/rfc/rfc9112
import type { Body, HeaderList } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { isDamage, type Place, type RecordFile } from "./records.ts";
import { type Digest, DigestCheck, parseDigest, type RecordHead } from "./warc.ts";

export interface ArchivedBodyOptions {
  readonly records: RecordFile;
  /** Undefined if the record is lost. */
  readonly place: Place | undefined;
  /** The id that the record must have. */
  readonly id?: string | undefined;
  /** The length that the body must have. */
  readonly bytes?: number | undefined;
  /** There is no HTTP head before it. */
  readonly isResource?: boolean;
  /** It has its transfer coding, which is decoded. */
  readonly isChunked?: boolean;
  readonly problem: Problem | undefined;
}

export class ArchivedBody implements Body {
  readonly #options: ArchivedBodyOptions;
  #problem: Problem | undefined;
  #length: number | undefined;

  constructor(options: ArchivedBodyOptions) {
    this.#options = options;
    this.#problem = options.problem;
  }

  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** In bytes; known after it was read to its end. */
  get length(): number | undefined {
    return this.#length;
  }

  /** Where its record is, if that can be copied. */
  get source(): { readonly records: RecordFile; readonly place: Place } | undefined {
    const { records, place, isChunked } = this.#options;
    return place === undefined || isChunked ? undefined : { records, place };
  }

  /** Of its payload; undefined if the archive has none. */
  async digest(): Promise<Digest | undefined> {
    const { records, place } = this.#options;
    if (place === undefined) return undefined;
    try {
      return parseDigest((await records.head(place)).fields.get("warc-payload-digest"));
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  /** Whether it is intact: reads all of it. */
  async isGood(): Promise<boolean> {
    for await (const _ of this);
    return this.#problem === undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    const { place, records, id } = this.#options;
    try {
      const { head, content } =
        place === undefined ? { head: undefined, content: undefined } : await records.open(place);
      const isRight = id === undefined || head?.fields.get("warc-record-id") === id;
      if (head !== undefined && isRight && (yield* this.#checked(head, content))) return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    // What came before the damage is used.
    this.#problem ??= problem("archive-digest");
  }

  // Whether everything is as the archive says.
  async *#checked(
    { fields }: RecordHead,
    content: AsyncGenerator<Uint8Array, undefined>,
  ): AsyncGenerator<Uint8Array, boolean> {
    const { isResource, isChunked, bytes } = this.#options;
    const block = new DigestCheck(fields.get("warc-block-digest"));
    const payload = new DigestCheck(fields.get("warc-payload-digest"));
    // Tools disagree whether a payload includes chunked framing.
    const decoded = new DigestCheck(isChunked ? fields.get("warc-payload-digest") : "");
    let length = 0;
    const whole = seen(content, (piece) => block.see(piece));
    const raw = seen(isResource ? whole : withoutHead(whole), (piece) => {
      payload.see(piece);
      length += piece.length;
    });
    if (isChunked) {
      // Continues after the last chunk: what follows it belongs to the content, too.
      const chunks = dechunk({ [Symbol.asyncIterator]: () => ({ next: () => raw.next() }) });
      const end = yield* seen(chunks, (piece) => decoded.see(piece));
      if (end === "cut") this.#problem ??= problem("body-short");
      for await (const _ of raw);
    } else yield* raw;
    this.#length = length;
    const isRightPayload = payload.isRight() || (isChunked === true && decoded.isRight());
    return isRightPayload && block.isRight() && (bytes === undefined || bytes === length);
  }
}

async function* seen<End>(
  pieces: AsyncGenerator<Uint8Array, End>,
  see: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array, End> {
  try {
    for (;;) {
      const step = await pieces.next();
      if (step.done) return step.value;
      see(step.value);
      yield step.value;
    }
  } finally {
    await pieces.return(undefined as never);
  }
}

// Nothing of it if there is no head.
async function* withoutHead(content: AsyncGenerator<Uint8Array, undefined>): AsyncGenerator<Uint8Array, undefined> {
  try {
    const { head, start } = await readHttpHead(content);
    if (head !== undefined && start.length > 0) yield start;
    for (;;) {
      const { value, done } = await content.next();
      if (done) return;
      if (head !== undefined) yield value;
    }
  } finally {
    await content.return(undefined);
  }
}

export interface HttpHead {
  readonly status: number;
  readonly headers: HeaderList;
  /** In bytes, with the empty line after it. */
  readonly length: number;
}

/** More than any server sends, and than any client accepts. */
const maxHttpHead = 256 * 1024;
const maxChunkLine = 1024;

/** The head of a response, undefined if there is none, and the beginning of its body: at least the line of a chunk. */
export async function readHttpHead(
  content: AsyncGenerator<Uint8Array, undefined>,
): Promise<{ readonly head: HttpHead | undefined; readonly start: Uint8Array }> {
  let bytes: Uint8Array = new Uint8Array();
  let end: number | undefined;
  for (let isEnd = false; !isEnd && bytes.length < (end ?? maxHttpHead) + maxChunkLine; ) {
    const step = await content.next();
    isEnd = step.done === true;
    if (!step.done) bytes = bytes.length === 0 ? step.value : Buffer.concat([bytes, step.value]);
    end ??= endOfHead(bytes);
    // Without a body, a head may end with the record.
    if (isEnd && bytes.length < maxHttpHead) end ??= bytes.length;
  }
  if (end === undefined || end > maxHttpHead) return { head: undefined, start: bytes };
  const head = parseHttpHead(Buffer.from(bytes.subarray(0, end)).toString("latin1"));
  return { head, start: bytes.subarray(end) };
}

// Including the empty line.
function endOfHead(bytes: Uint8Array): number | undefined {
  const end = /\r?\n\r?\n/.exec(Buffer.from(bytes.subarray(0, maxHttpHead)).toString("latin1"));
  return end === null ? undefined : end.index + end[0].length;
}

function parseHttpHead(text: string): HttpHead | undefined {
  const status = /^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)/.exec(text)?.[1];
  if (status === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const line of text
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/)
    .slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.push([line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]);
  }
  return { status: Number(status), headers, length: text.length };
}

/** Some tools keep the header but remove the coding: only a body that begins with a chunk is chunked. */
export function beginsWithChunk(bytes: Uint8Array): boolean {
  return chunkStart.test(latin1(bytes));
}

// Decodes chunks; returns whether the last one was there.
async function* dechunk(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, "whole" | "cut"> {
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

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxChunkLine)).toString("latin1");
}
