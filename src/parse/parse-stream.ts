// One document from a stream of bytes, without anything of Node: gzip by the platform's `DecompressionStream`, text by its `TextDecoder`.
// Content-Encoding is the platform's work; `readSitemap` of the main entry point knows more compressions and repairs more character sets.
import { unexpected } from "../model/option-checks.ts";
import { type ParseOptions, resolveParseOptions } from "../model/options.ts";
import { type Problem, type ProblemCode, type ProblemFacts, ProblemLog, problem } from "../model/problem.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import { createDocumentParser } from "./document.ts";
import { type Entries, joined, parsedSitemap } from "./entries.ts";

/**
 * Reads a sitemap of any format from a stream of bytes, such as the body of a response, plain or compressed with gzip. Never throws
 * because of the bytes; errors of the stream are thrown. Runs anywhere.
 * @example
 * const { body } = await fetch("https://example.org/sitemap.xml.gz");
 * if (body) console.log(await parseStream(body));
 */
export async function parseStream(stream: ReadableStream<Uint8Array>, options?: ParseOptions): Promise<ParsedSitemap> {
  if (typeof stream?.getReader !== "function") throw unexpected("stream", "a ReadableStream", stream);
  const { url, strict, limits } = resolveParseOptions(options);
  const problems = new ProblemLog();
  const parser = createDocumentParser({ url, strict, limits, problems });
  const batches: Entries[] = [];
  // Why nothing can be read, if so.
  let refusal: Problem | undefined;
  const refuse = (code: ProblemCode, facts?: ProblemFacts) => {
    problems.add(code, facts);
    refusal ??= problem(code, facts);
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
  // `end()` would report a document that a limit ends as cut off.
  if (isWhole) batches.push(parser.end());
  const isRefused = parser.outcome.kind === "invalid" && refusal !== undefined;
  const outcome = isRefused ? ({ kind: "invalid", reason: refusal as Problem } as const) : parser.outcome;
  return parsedSitemap({ outcome, complete: problems.complete, problems: problems.toArray() }, joined(batches));
}

type Bytes = AsyncIterable<Uint8Array>;

/** The stream as it was given. Not every platform lets one iterate over it. */
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
    // A stream that has failed cannot be canceled; its error was thrown already.
    await this.#reader.cancel().catch(() => {});
  }
}

/** The first bytes, as many as the signs of compressions and character sets take, and all of them again. */
async function headOf(bytes: Bytes): Promise<{ readonly start: Uint8Array; readonly all: Bytes }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let start = new Uint8Array();
  while (start.length < headLength) {
    const { value, done } = await iterator.next();
    if (done === true) break;
    const longer = new Uint8Array(start.length + value.length);
    longer.set(start);
    longer.set(value, start.length);
    start = longer;
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

// What comes before an error is kept. Errors of the source are thrown.
async function* unzipped(bytes: Bytes, source: Source, onDamaged: () => void): AsyncGenerator<Uint8Array, void> {
  const { readable, writable } = new DecompressionStream("gzip");
  const writer = writable.getWriter();
  const feed = async () => {
    for await (const piece of bytes) await writer.write(piece as Uint8Array<ArrayBuffer>);
    await writer.close();
  };
  // The other end of the decompression fails with it.
  feed().catch((error: unknown) => writer.abort(error).catch(() => {}));
  try {
    yield* new Source(readable.getReader());
  } catch (error) {
    if (source.hasFailed) throw error;
    onDamaged();
  }
}

type Decoder = InstanceType<typeof TextDecoder>;

/** Text in the character set of its byte order mark or of its XML declaration; else UTF-8. */
class Text {
  readonly #decoder: Decoder;
  readonly #problems: ProblemLog;
  // Notices what the other one replaces.
  #strict: Decoder | undefined;

  constructor(start: Uint8Array, problems: ProblemLog) {
    this.#problems = problems;
    const label = charsetOf(start);
    try {
      this.#strict = new TextDecoder(label, { fatal: true });
    } catch {
      problems.add("charset-unsupported", { value: label });
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

function charsetOf(start: Uint8Array): string {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  // Without a byte order mark, `<?` has a NUL before or after each character.
  if (first === 0x3c && second === 0) return "utf-16le";
  if (first === 0 && second === 0x3c) return "utf-16be";
  const declaration = new TextDecoder("latin1").decode(start.subarray(0, headLength));
  return /^(?:\u00ef\u00bb\u00bf)?\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration)?.[1] ?? "utf-8";
}
