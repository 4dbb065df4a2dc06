// Parses one document, from a text or from a stream of bytes, with web APIs only: `DecompressionStream` for gzip, `TextDecoder` for text.
// `fetch` has already undone the Content-Encoding. `readSitemap` of the main entry point reads more compressions and repairs more character
// sets.
import { unexpected } from "../model/option-checks.ts";
import { type ParseOptions, resolveParseOptions } from "../model/parse-options.ts";
import type { DocumentProblemCode } from "../model/problem-code.ts";
import type { Problem, ProblemFacts } from "../model/problem-facts.ts";
import { DocumentProblems, documentProblem } from "../model/problem-log.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import { createDocumentParser } from "./document.ts";
import { type Entries, joined, parsedSitemap } from "./entries.ts";
import type { CreateFastPath } from "./xml/scanner.ts";

/** Parses a whole text. Without a fast path, the scanner reads everything. */
export function parseText(text: string, options?: ParseOptions, fastPath?: CreateFastPath): ParsedSitemap {
  if (typeof text !== "string") throw unexpected("text", "a string (`readSitemap` takes bytes)", text);
  const { url, strict, limits } = resolveParseOptions(options);
  const problems = new DocumentProblems();
  const parser = createDocumentParser({ url, strict, limits, problems, fastPath });
  const batches: Entries[] = [];
  for (let at = 0; at < text.length && !parser.stopped; at += pieceLength) {
    batches.push(parser.write(text.slice(at, at + pieceLength)));
  }
  batches.push(parser.end());
  const { outcome } = parser;
  return parsedSitemap({ outcome, complete: problems.complete, problems: problems.toArray() }, joined(batches));
}

// Chunks of this size are the fastest.
const pieceLength = 64 * 1024;

/** Parses the bytes of a stream. Errors of the stream are thrown. */
export async function parseBytes(
  stream: ReadableStream<Uint8Array>,
  options?: ParseOptions,
  fastPath?: CreateFastPath,
): Promise<ParsedSitemap> {
  if (typeof stream?.getReader !== "function") throw unexpected("stream", "a ReadableStream", stream);
  const { url, strict, limits } = resolveParseOptions(options);
  const problems = new DocumentProblems();
  const parser = createDocumentParser({ url, strict, limits, problems, fastPath });
  const batches: Entries[] = [];
  // The first reason why bytes could not be read. It counts if the parser finds no sitemap in the others.
  let refusal: Problem | undefined;
  const refuse = (code: DocumentProblemCode, facts?: ProblemFacts) => {
    problems.add(code, facts);
    refusal ??= documentProblem(code, facts);
  };
  const source = new Source(stream.getReader());
  let bytes: Bytes = source;
  let layers = 0;
  let isWhole = true;
  let head = await headOf(bytes);
  try {
    while (isGzip(head.start) && layers < limits.encodingLayers) {
      layers += 1;
      bytes = unzipped(head.all, source, () => refuse("coding-damaged"));
      head = await headOf(bytes);
    }
    if (isGzip(head.start)) refuse("limit-encoding-layers", { limit: limits.encodingLayers });
    let text: Text | undefined;
    let left = limits.documentBytes;
    for await (const piece of head.all) {
      if (parser.stopped) break;
      text ??= new Text(piece, problems);
      const isCut = piece.length > left;
      batches.push(parser.write(text.decode(isCut ? piece.subarray(0, left) : piece)));
      left -= piece.length;
      if (!isCut) continue;
      problems.add("limit-document-bytes", { limit: limits.documentBytes });
      isWhole = false;
      break;
    }
    if (text !== undefined && isWhole && !parser.stopped) batches.push(parser.write(text.end()));
  } finally {
    await source.cancel();
  }
  // `end()` would also report the document as cut off, although a limit ended it, so we collect the problems first.
  const noted = isWhole ? undefined : problems.toArray();
  batches.push(parser.end());
  const isRefused = parser.outcome.kind === "invalid" && refusal !== undefined;
  const outcome = isRefused ? ({ kind: "invalid", reason: refusal as Problem } as const) : parser.outcome;
  const { complete } = problems;
  return parsedSitemap({ outcome, complete, problems: noted ?? problems.toArray() }, joined(batches));
}

type Bytes = AsyncIterable<Uint8Array>;

/** The chunks of a stream. Not every platform supports `for await` on streams. */
class Source implements Bytes {
  hasFailed = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (let next = await this.#reader.read(); !next.done; next = await this.#reader.read()) yield next.value;
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }

  async cancel(): Promise<void> {
    // A failed stream cannot be canceled; its error was already thrown.
    await this.#reader.cancel().catch(() => {});
  }
}

/** Returns the first bytes, enough to detect gzip and the character set, and all bytes, including the first. */
async function headOf(bytes: Bytes): Promise<{ readonly start: Uint8Array; readonly all: Bytes }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let start = new Uint8Array();
  while (start.length < headLength) {
    const { value, done } = await iterator.next();
    if (done === true) break;
    start = concatenated(start, value);
  }
  async function* all(): AsyncGenerator<Uint8Array, void> {
    if (start.length > 0) yield start;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  }
  return { start, all: all() };
}

const headLength = 1024;

function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

// Decompresses gzip. Keeps the data before an error, and throws errors of the source. Not every `DecompressionStream` reads more than one
// gzip member, so each member gets its own. Nothing tells where a member ends, so each signature is tried as the start of the next one, and
// the platform's checksum decides.
async function* unzipped(bytes: Bytes, source: Source, onDamaged: () => void): AsyncGenerator<Uint8Array, void> {
  const pieces = cutAtMembers(bytes);
  let next = await pieces.next();
  // The member so far, in case it continues after the next signature, and how many of its decompressed bytes were yielded.
  let member: Uint8Array[] = [];
  let yielded = 0;
  let misses = 0;
  const isAtEnd = () => next.done === true;
  while (!isAtEnd()) {
    const { readable, writable } = new DecompressionStream("gzip");
    const writer = writable.getWriter();
    let isWritten = false;
    const feed = async () => {
      for (const piece of member) await writer.write(piece as Uint8Array<ArrayBuffer>);
      do {
        const { piece } = next.value as Piece;
        member.push(piece);
        await writer.write(piece as Uint8Array<ArrayBuffer>);
        next = await pieces.next();
      } while (next.done !== true && !(next.value.mayStart && misses < mostMisses));
      isWritten = true;
      await writer.close();
    };
    // Aborting also makes the reading below fail.
    feed().catch((error: unknown) => writer.abort(error).catch(() => {}));
    let known = yielded;
    try {
      for await (const piece of new Source(readable.getReader())) {
        const fresh = piece.subarray(Math.min(known, piece.length));
        known -= piece.length - fresh.length;
        yielded += fresh.length;
        if (fresh.length > 0) yield fresh;
      }
      member = [];
      yielded = 0;
    } catch (error) {
      if (source.hasFailed) throw error;
      misses += 1;
      if (isWritten && !isAtEnd()) continue;
      onDamaged();
      return;
    }
  }
}

// About once in 100 MB, the bytes of a signature occur inside a member. A hostile document has many, and each costs decompressing the
// member again.
const mostMisses = 8;

interface Piece {
  readonly piece: Uint8Array;
  /** Whether these bytes begin with the signature of a gzip member. */
  readonly mayStart: boolean;
}

async function* cutAtMembers(bytes: Bytes): AsyncGenerator<Piece, void> {
  let rest = new Uint8Array();
  let mayStart = true;
  for await (const piece of bytes) {
    rest = concatenated(rest, piece);
    for (;;) {
      const at = findSignature(rest, mayStart ? 1 : 0);
      if (at === -1) break;
      if (at > 0) yield { piece: rest.subarray(0, at), mayStart };
      rest = rest.subarray(at);
      mayStart = true;
    }
    // A signature may be split between two pieces.
    const end = rest.length - signatureLength + 1;
    if (end <= 0) continue;
    yield { piece: rest.subarray(0, end), mayStart };
    rest = rest.subarray(end);
    mayStart = false;
  }
  if (rest.length > 0) yield { piece: rest, mayStart };
}

// Finds the start of a gzip member: two magic bytes, deflate as the method, and flags without reserved bits
// (https://www.rfc-editor.org/rfc/rfc1952#page-5).
function findSignature(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0x1f, from); at !== -1; at = bytes.indexOf(0x1f, at + 1)) {
    if (at + signatureLength > bytes.length) return -1;
    if (bytes[at + 1] === 0x8b && bytes[at + 2] === 8 && bytes[at + 3]! < 0x20) return at;
  }
  return -1;
}

const signatureLength = 4;

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

type Decoder = InstanceType<typeof TextDecoder>;

/** Decodes text in the character set of its byte order mark or XML declaration, otherwise as UTF-8. */
class Text {
  readonly #decoder: Decoder;
  readonly #problems: DocumentProblems;
  // Throws for bytes that the other decoder replaces.
  #strict: Decoder | undefined;

  constructor(start: Uint8Array, problems: DocumentProblems) {
    this.#problems = problems;
    const declared = declaredCharset(start);
    const label = sniffedCharset(start) ?? declared ?? "utf-8";
    try {
      this.#strict = new TextDecoder(label, { fatal: true });
    } catch {
      problems.add("charset-unsupported", { value: label });
    }
    // Lenient: a declaration of UTF-16 is wrong if it can be read as ASCII. Programs for .NET write it into documents in UTF-8.
    if (label === declared && this.#strict?.encoding.startsWith("utf-16")) {
      problems.add("charset-conflict", { value: `XML declaration: ${label}; read as utf-8` });
      this.#strict = new TextDecoder("utf-8", { fatal: true });
    }
    this.#decoder = new TextDecoder(this.#strict?.encoding ?? "utf-8");
  }

  decode(piece: Uint8Array): string {
    this.#check(piece, { stream: true });
    return this.#decoder.decode(piece, { stream: true });
  }

  end(): string {
    this.#check(new Uint8Array());
    return this.#decoder.decode();
  }

  #check(piece: Uint8Array, options: { readonly stream?: boolean } = {}): void {
    try {
      this.#strict?.decode(piece, options);
    } catch {
      this.#problems.add("charset-invalid", { value: this.#decoder.encoding });
      this.#strict = undefined;
    }
  }
}

// Recognizes UTF-16 by its byte order mark or its first characters.
function sniffedCharset([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  // UTF-16 without a byte order mark: `<` has a NUL before or after it.
  if (first === 0x3c && second === 0) return "utf-16le";
  return first === 0 && second === 0x3c ? "utf-16be" : undefined;
}

function declaredCharset(start: Uint8Array): string | undefined {
  const declaration = new TextDecoder("latin1").decode(start.subarray(0, headLength));
  return /^(?:\u00ef\u00bb\u00bf)?\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration)?.[1];
}
