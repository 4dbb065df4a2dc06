// Turns bytes into text: removes layers of compression and decides the character set. Unreadable data is a problem, and the part before it
// is kept. Only errors of the source are thrown.
import { type HeaderList, header } from "../model/exchange.ts";
import { type Problem, type ProblemLog, problem } from "../model/problem.ts";
import { protocolBytes } from "../model/sitemap.ts";
import type { TextPiece } from "../model/text.ts";
import { ByteReader, type ByteSource } from "./byte-reader.ts";
import { CharsetDecoder, decideCharset, decodeText } from "./charset.ts";
import { announcedCodings, type Coding, findCoding, sampleSize, sniffCoding } from "./content-coding.ts";
import { createZstdDecoder, unpack } from "./decompress.ts";

export interface OpenOptions {
  /** Content-Encoding may name codings, and Content-Type a character set. */
  readonly headers?: HeaderList | undefined;
  /** The maximum decoded size, for each layer of compression. */
  readonly maxBytes: number;
  /** The problem to report if the document is larger. @default "limit-document-bytes" */
  readonly limitCode?: "limit-document-bytes" | "limit-robots-bytes" | undefined;
  /** The maximum number of layers of compression. */
  readonly encodingLayers: number;
  readonly problems: ProblemLog;
}

/** The text of a document, which can be iterated once. Leaving the loop early releases everything. */
export class OpenedDocument implements AsyncIterable<TextPiece> {
  /** How many decompressed bytes were turned into text so far. */
  decodedBytes = 0;
  /** Why nothing can be read. Known at the end of the iteration; not in `problems`. */
  refusal: Problem | undefined;
  /** Whether compression shows where the body ends. gzip and Zstandard do not: another member or frame may follow. */
  showsEnd = false;
  readonly #options: OpenOptions;
  // The readers of all layers, from the received body to the innermost.
  readonly #readers: ByteReader[];
  #decoder: CharsetDecoder | undefined;

  constructor(bytes: ByteSource, options: OpenOptions) {
    this.#options = options;
    this.#readers = [new ByteReader(bytes)];
  }

  /** The character set of the text; known once there is some text. */
  get charset(): string | undefined {
    return this.#decoder?.charset;
  }

  /** How many bytes were received so far. */
  get wireBytes(): number {
    return this.#readers[0]!.received;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TextPiece, void, void> {
    try {
      const content = await this.#removeCodings();
      if (content !== undefined) yield* this.#decode(content);
    } finally {
      for (const reader of [...this.#readers].reverse()) await reader.close();
    }
  }

  async #removeCodings(): Promise<ByteReader | undefined> {
    const { headers = [], encodingLayers, maxBytes, limitCode = "limit-document-bytes", problems } = this.#options;
    const announced = announcedCodings(header(headers, "content-encoding"));
    const onMore = () => problems.add(limitCode, { limit: maxBytes });
    const chain = problem("limit-encoding-layers", { limit: encodingLayers });
    for (let layers = 0; ; ) {
      const reader = this.#readers.at(-1)!;
      // Starts the source before anything can be refused, because a source that was never started could not be closed.
      await reader.fill(sampleSize);
      if (layers + announced.length > encodingLayers) return this.#refuse(chain);
      const name = announced.shift();
      const coding = this.#coding(name, reader.peek(sampleSize));
      if (this.refusal !== undefined) return undefined;
      if (coding !== undefined) {
        if (layers === 0) this.showsEnd = coding !== "gzip" && coding !== "zstd";
        layers += 1;
        if (layers > encodingLayers) return this.#refuse(chain);
        const content = new ByteReader(unpack(reader, coding, problems));
        content.limit(maxBytes, onMore);
        this.#readers.push(content);
      } else if (name === undefined) {
        if (layers === 0) reader.limit(maxBytes, onMore);
        return reader;
      }
    }
  }

  #coding(name: string | undefined, sample: Uint8Array): Coding | undefined {
    if (sample.length === 0) return undefined;
    const { coding, problem: found } = name === undefined ? { coding: sniffCoding(sample) } : findCoding(name, sample);
    if (found === "coding-damaged") return this.#refuse(problem(found));
    if (found === "coding-unknown") return this.#refuse(problem(found, { value: name! }));
    if (found !== undefined) this.#options.problems.add(found, { value: name! });
    const isUnknown = coding === "zstd" && createZstdDecoder === undefined;
    return isUnknown ? this.#refuse(problem("coding-unknown", { value: coding })) : coding;
  }

  async *#decode(content: ByteReader): AsyncGenerator<TextPiece, void, void> {
    const { headers = [], problems } = this.#options;
    await content.fill(sampleSize);
    const decision = decideCharset(content.peek(sampleSize), header(headers, "content-type"));
    if ("unsupported" in decision) return this.#refuse(problem("charset-unsupported", { value: decision.unsupported }));
    const decoder = new CharsetDecoder(decision.charset, decision.isOpen);
    this.#decoder = decoder;
    this.#count(content.take(decision.markLength));
    try {
      yield* decodeText(content, decoder, problems, (bytes) => this.#count(bytes));
    } finally {
      const conflict = decision.conflict(decoder.charset);
      if (conflict !== undefined) problems.add("charset-conflict", { value: conflict });
    }
  }

  #count(bytes: Uint8Array): void {
    const before = this.decodedBytes;
    this.decodedBytes += bytes.length;
    if (before <= protocolBytes && this.decodedBytes > protocolBytes) {
      this.#options.problems.add("protocol-size", { limit: protocolBytes });
    }
  }

  #refuse(reason: Problem): undefined {
    this.refusal = reason;
    return undefined;
  }
}
