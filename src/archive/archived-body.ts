// The body of a response in an archive: found behind the HTTP head in its record, read from the file on demand, and verified against the
// archive's digest each time.
//   https://www.rfc-editor.org/rfc/rfc9112
import type { Body, BodyEnd, HeaderList } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { isDamage, type OpenedRecord, type RecordSource, unlessDamaged } from "./records.ts";
import { type Digest, DigestCheck, fieldsOf, headEnd, latin1, parseDigest } from "./warc.ts";

export interface ArchivedBodyOptions extends Pick<RecordSource, "records"> {
  /** Undefined if the record is lost. */
  readonly span: RecordSource["span"] | undefined;
  /** The id that the record must have. */
  readonly id?: string | undefined;
  /** The length that the body must have. */
  readonly bytes?: number | undefined;
  /** There is no HTTP head before the body. */
  readonly isResource?: boolean;
  /** The body still has its chunked transfer coding, which is decoded. */
  readonly isChunked?: boolean;
  readonly problem: Problem | undefined;
}

export class ArchivedBody implements Body {
  readonly #options: ArchivedBodyOptions;
  readonly end: BodyEnd;
  /** In bytes; known once it has been fully read. */
  length: number | undefined;

  constructor(options: ArchivedBodyOptions) {
    this.#options = options;
    this.end = { problem: options.problem };
  }

  /** The position of its record, if that can be copied. */
  get source(): RecordSource | undefined {
    const { records, span, isChunked } = this.#options;
    return span === undefined || isChunked ? undefined : { records, span };
  }

  /** The digest of its payload; undefined if the archive has none. */
  async digest(): Promise<Digest | undefined> {
    const { records, span } = this.#options;
    const head = span && (await unlessDamaged(() => records.head(span)));
    return parseDigest(head?.fields.get("warc-payload-digest"));
  }

  /** Whether it is intact: reads all of it. */
  readonly isGood = async (): Promise<boolean> => {
    // A body of its own: the record of this one may say that a reader ran out of time.
    const body = new ArchivedBody(this.#options);
    for await (const _ of body);
    this.length = body.length;
    return body.end.problem === undefined;
  };

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    const { span, records, id } = this.#options;
    try {
      const opened = span && (await records.open(span));
      const isRight = id === undefined || opened?.head.fields.get("warc-record-id") === id;
      if (opened !== undefined && isRight && (yield* this.#checked(opened))) return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    // The part before the damage is used.
    this.end.problem ??= problem("archive-digest");
  }

  // Whether everything matches the archive's records.
  async *#checked({ head: { fields }, content }: OpenedRecord): AsyncGenerator<Uint8Array, boolean> {
    const { isResource, isChunked, bytes } = this.#options;
    const block = new DigestCheck(fields.get("warc-block-digest"));
    const payload = new DigestCheck(fields.get("warc-payload-digest"));
    // Tools disagree about whether a payload includes chunked framing.
    const decoded = new DigestCheck(isChunked ? fields.get("warc-payload-digest") : "");
    let length = 0;
    const whole = seen(content, (piece) => block.see(piece));
    const raw = seen(isResource ? whole : withoutHead(whole), (piece) => {
      payload.see(piece);
      length += piece.length;
    });
    const cut = () => {
      this.end.problem ??= problem("body-short");
    };
    yield* isChunked ? seen(dechunk(raw, cut), (piece) => decoded.see(piece)) : raw;
    this.length = length;
    const isRightPayload = payload.isRight() || (isChunked === true && decoded.isRight());
    return isRightPayload && block.isRight() && (bytes === undefined || bytes === length);
  }
}

async function* seen(
  pieces: AsyncIterable<Uint8Array>,
  see: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array, undefined> {
  for await (const piece of pieces) {
    see(piece);
    yield piece;
  }
}

// Yields nothing if there is no head.
async function* withoutHead(content: AsyncGenerator<Uint8Array, undefined>): AsyncGenerator<Uint8Array, undefined> {
  try {
    const { head, start } = await readHttpHead(content);
    if (head !== undefined && start.length > 0) yield start;
    for await (const piece of content) if (head !== undefined) yield piece;
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

/** More than any server sends or any client accepts. */
const maxHttpHead = 256 * 1024;
const maxChunkLine = 1024;

/** The head of a response (undefined if there is none), and the beginning of its body: at least the first chunk's size line. */
export async function readHttpHead(
  content: AsyncGenerator<Uint8Array, undefined>,
): Promise<{ readonly head: HttpHead | undefined; readonly start: Uint8Array }> {
  let bytes: Uint8Array = new Uint8Array();
  let end: number | undefined;
  for (let isEnd = false; !isEnd && bytes.length < (end ?? maxHttpHead) + maxChunkLine; ) {
    const step = await content.next();
    isEnd = step.done === true;
    if (!step.done) bytes = bytes.length === 0 ? step.value : Buffer.concat([bytes, step.value]);
    end ??= headEnd(bytes.subarray(0, maxHttpHead));
    // If there is no body, the head may end with the record.
    if (isEnd && bytes.length < maxHttpHead) end ??= bytes.length;
  }
  if (end === undefined || end > maxHttpHead) return { head: undefined, start: bytes };
  const head = parseHttpHead(latin1(bytes.subarray(0, end)));
  return { head, start: bytes.subarray(end) };
}

function parseHttpHead(text: string): HttpHead | undefined {
  const status = /^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)/.exec(text)?.[1];
  if (status === undefined) return undefined;
  const headers = text.includes("\n") ? [...fieldsOf(text.slice(text.indexOf("\n") + 1))] : [];
  return { status: Number(status), headers, length: text.length };
}

/** Some tools keep the header but remove the coding: only a body that begins with a chunk is chunked. */
export function beginsWithChunk(bytes: Uint8Array): boolean {
  return chunkStart.test(latin1(bytes.subarray(0, maxChunkLine)));
}

// Decodes chunks; calls `onCut` if the last one is missing. The bytes after it are read, too: they belong to the content.
async function* dechunk(pieces: AsyncIterable<Uint8Array>, onCut: () => void): AsyncGenerator<Uint8Array, undefined> {
  let waiting: Uint8Array = Buffer.alloc(0);
  let left = 0;
  let end: "whole" | "cut" | undefined;
  for await (const piece of pieces) {
    if (end !== undefined) continue;
    waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece]);
    while (waiting.length > 0 && end === undefined) {
      if (left === 0) {
        const [start, size] = chunkStart.exec(latin1(waiting.subarray(0, maxChunkLine))) ?? [];
        // The line may continue in the next piece.
        if (start === undefined && waiting.length < maxChunkLine) break;
        left = Number.parseInt(size ?? "", 16);
        if (start === undefined || left === 0) end = start === undefined ? "cut" : "whole";
        else waiting = waiting.subarray(start.length);
      } else {
        const bytes = waiting.subarray(0, left);
        left -= bytes.length;
        waiting = waiting.subarray(bytes.length);
        yield bytes;
      }
    }
  }
  if (end !== "whole") onCut();
}

// The end of the chunk before, the size of this one, and extensions, which are ignored.
const chunkStart = /^(?:\r?\n)?([0-9a-f]{1,12})[ \t]*(?:;[^\n]*)?\r?\n/i;
