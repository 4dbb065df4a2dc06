// The body of an archived response: the content of its record, without the HTTP head if there is one. It is read from the file on demand,
// and compared with the record's digests each time.
//   https://www.rfc-editor.org/rfc/rfc9112
import type { Body, BodyEnd, HeaderList } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { isDamage, type OpenedRecord, type RecordFile, type RecordSpan } from "./records.ts";
import { DigestCheck, fieldsOf, headEnd, latin1 } from "./warc.ts";

type Pieces = AsyncGenerator<Uint8Array, undefined>;

export interface RecordBodyOptions {
  readonly records: RecordFile;
  /** Where the record is; undefined if it is lost. */
  readonly span: RecordSpan | undefined;
  /** The expected id of the record. */
  readonly id?: string | undefined;
  readonly problem: Problem | undefined;
  /** Whether there is no HTTP head before the body. */
  readonly isResource?: boolean;
  /** Removes a transfer coding that the stored body still has. Calls `onCut` if the end is missing. */
  readonly decode?: ((payload: Pieces, onCut: () => void) => Pieces) | undefined;
}

export class RecordBody implements Body {
  readonly #options: RecordBodyOptions;
  readonly end: BodyEnd;

  constructor(options: RecordBodyOptions) {
    this.#options = options;
    this.end = { problem: options.problem };
  }

  /** Reads the whole body. Returns whether it is complete and intact. */
  readonly isGood = async (): Promise<boolean> => {
    // Reads a separate body, because readers of this one write into its `end`.
    const body = new RecordBody(this.#options);
    for await (const _ of body);
    return body.end.problem === undefined;
  };

  async *[Symbol.asyncIterator](): Pieces {
    const { span, records, id } = this.#options;
    try {
      const opened = span && (await records.open(span));
      const isExpected = id === undefined || opened?.head.fields.get("warc-record-id") === id;
      if (opened !== undefined && isExpected && (yield* this.#checked(opened))) return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    // The part before the damage is still used.
    this.end.problem ??= problem("archive-digest");
  }

  // Yields the body. Returns whether it matches the digests in its record; a missing digest matches.
  async *#checked({ head: { fields }, content }: OpenedRecord): AsyncGenerator<Uint8Array, boolean> {
    const { isResource, decode } = this.#options;
    const block = new DigestCheck(fields.get("warc-block-digest"));
    const payload = new DigestCheck(fields.get("warc-payload-digest"));
    // Tools disagree about whether a payload includes its transfer coding.
    const decoded = new DigestCheck(decode && fields.get("warc-payload-digest"));
    const whole = digested(content, block);
    const raw = digested(isResource ? whole : withoutHead(whole), payload);
    const cut = () => {
      this.end.problem ??= problem("body-short");
    };
    yield* decode === undefined ? raw : digested(decode(raw, cut), decoded);
    return (payload.matches() || (decode !== undefined && decoded.matches())) && block.matches();
  }
}

async function* digested(pieces: Pieces, check: DigestCheck): Pieces {
  if (!check.hasDigest) return yield* pieces;
  for await (const piece of pieces) {
    check.update(piece);
    yield piece;
  }
}

// Yields the content after the HTTP head, or nothing if there is no head.
async function* withoutHead(content: Pieces): Pieces {
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
  /** The length of the head in bytes, with the empty line after it. */
  readonly length: number;
}

/** The maximum length of an HTTP head: twice what our own client accepts. */
const maxHttpHead = 256 * 1024;
export const maxChunkLine = 1024;

/** Reads the head of a response, if it has one, and the beginning of its body: enough for the size line of a first chunk. */
export async function readHttpHead(
  content: Pieces,
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
