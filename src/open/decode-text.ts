// Decodes bytes of one character set to text, in chunks of the best size for parsers. Valid UTF-8 is not decoded here:
// see utf8-text.ts. https://encoding.spec.whatwg.org/
//   Lenient: bytes that are not valid become U+FFFD, and are counted.
import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import type { ProblemLog } from "../model/problem.ts";
import { type TextPiece, Utf8Text } from "../model/utf8-text.ts";
import type { ByteReader } from "./byte-reader.ts";

// What a parser likes: each piece costs a trip through everything between here and the reader of the pages. The memory of its tokenizer
// (parse/fast/layout.ts) holds the longest, and what is left of the one before.
const shortest = 16 * 1024;
const longest = 224 * 1024;

/** The text of everything that is left to read. `count` is called for all bytes before their text is yielded. */
export async function* decodeText(
  input: ByteReader,
  charset: string,
  problems: ProblemLog,
  count: (bytes: Uint8Array) => void,
): AsyncGenerator<TextPiece, void, void> {
  const decoder = charset === "utf-8" ? new Utf8Decoder() : new CharsetDecoder(charset);
  let reported = 0;
  const report = (): void => {
    const count = decoder.replaced - reported;
    if (count > 0) problems.add("charset-invalid", count > 1 ? { value: charset, count } : { value: charset });
    reported = decoder.replaced;
  };
  for (;;) {
    if (input.buffered < shortest) await input.fill(shortest);
    // Chunks that are long enough are not joined, which would copy them.
    const chunk = input.peekChunk(longest);
    const bytes = chunk.length >= shortest ? chunk : input.peek(longest);
    input.skip(bytes.length);
    if (bytes.length === 0) break;
    count(bytes);
    const text = decoder.write(bytes);
    report();
    if (text !== "") yield text;
  }
  const text = decoder.end();
  report();
  if (text !== "") yield text;
}

// Nearly every sitemap is valid UTF-8, which is passed on undecoded. Only invalid text is decoded, to count what was replaced.
export class Utf8Decoder {
  /** How many characters had to be replaced. */
  replaced = 0;
  // The first bytes of a character that was cut at the end of the last chunk.
  #rest: Uint8Array = new Uint8Array(0);

  write(chunk: Uint8Array): TextPiece {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const length = completeLength(bytes);
    this.#rest = bytes.subarray(length);
    return this.#decode(bytes.subarray(0, length));
  }

  end(): TextPiece {
    const rest = this.#rest;
    this.#rest = rest.subarray(0, 0);
    return this.#decode(rest);
  }

  #decode(bytes: Uint8Array): TextPiece {
    if (bytes.length === 0) return "";
    if (isUtf8(bytes)) return new Utf8Text(bytes);
    const text = decoder.decode(bytes);
    // U+FFFD characters that the website sent do not count.
    this.replaced += occurrences(text, "\uFFFD") - occurrences(Buffer.from(bytes), replacement);
    return text;
  }
}

// Stateless, because it only decodes whole characters: it serves all documents.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const replacement = Buffer.from("\uFFFD");

/** The length without an incomplete character at the end. */
export function completeLength(bytes: Uint8Array): number {
  const last = bytes.length - 1;
  for (let back = 0; back < 3 && back <= last; back += 1) {
    const byte = bytes[last - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return sequenceLength(byte) > back + 1 ? last - back : bytes.length;
  }
  return bytes.length;
}

function sequenceLength(lead: number): number {
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

function occurrences<T>(of: { indexOf(what: T, from: number): number }, what: T & { readonly length: number }): number {
  let count = 0;
  for (let at = of.indexOf(what, 0); at >= 0; at = of.indexOf(what, at + what.length)) count += 1;
  return count;
}

// Held back, so that the last chunk is never shorter; no character of any set is longer.
const heldBack = 4;

// Decodes every character set that TextDecoder supports, to strings. Two bugs of TextDecoder in Node.js 20 are worked
// around: without `stream`, windows-1252 is decoded as ISO-8859-1; with `stream`, it throws if one or two bytes follow
// a cut character that turns out to be invalid, so it never gets so few bytes. A U+FFFD that the website sent counts as
// replaced: in these sets it cannot be told apart.
export class CharsetDecoder {
  /** How many characters had to be replaced. */
  replaced = 0;
  readonly #decoder: TextDecoder;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(charset: string) {
    this.#decoder = new TextDecoder(charset, { ignoreBOM: true });
  }

  write(chunk: Uint8Array): string {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const length = bytes.length < 2 * heldBack ? 0 : bytes.length - heldBack;
    this.#rest = bytes.subarray(length);
    return length === 0 ? "" : this.#counted(this.#decoder.decode(bytes.subarray(0, length), { stream: true }));
  }

  end(): string {
    return this.#counted(this.#decoder.decode(this.#rest, { stream: true }) + this.#decoder.decode());
  }

  #counted(text: string): string {
    for (let at = text.indexOf("\uFFFD"); at >= 0; at = text.indexOf("\uFFFD", at + 1)) this.replaced += 1;
    return text;
  }
}
