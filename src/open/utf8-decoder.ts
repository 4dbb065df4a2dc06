// UTF-8 to strings, fast: nearly every sitemap is ASCII or valid UTF-8, and only what is neither is looked at closely.
// https://encoding.spec.whatwg.org/#utf-8-decoder.
import { isAscii, isUtf8 } from "node:buffer";

export class Utf8Decoder {
  /** How many characters had to be replaced. */
  replaced = 0;
  // The first bytes of a character that the last chunk cut.
  #rest: Uint8Array = new Uint8Array(0);

  write(chunk: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const length = completeLength(bytes);
    this.#rest = bytes.subarray(length);
    return this.#decode(bytes.subarray(0, length));
  }

  end(): string {
    const rest = this.#rest;
    this.#rest = rest.subarray(0, 0);
    return this.#decode(rest);
  }

  #decode(bytes: Uint8Array): string {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    // Ten times as fast, and a string of one byte for each character is what a parser searches fastest.
    if (isAscii(buffer)) return buffer.toString("latin1");
    // Twice as fast as `buffer.toString("utf8")` on Node.js 20.
    const text = decoder.decode(buffer);
    // Characters U+FFFD that were sent as such are the website's own.
    if (!isUtf8(buffer)) this.replaced += occurrences(text, "\uFFFD") - occurrences(buffer, replacement);
    return text;
  }
}

// Whole characters only are decoded with it, so it has no state and serves all documents.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const replacement = Buffer.from("\uFFFD");

/** How many bytes are left when a character that the end cuts is taken off. */
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
