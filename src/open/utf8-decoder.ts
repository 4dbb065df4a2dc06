// Checks UTF-8, fast: nearly every sitemap is valid UTF-8, which is passed on undecoded. Only invalid text is decoded
// here, to count what was replaced. https://encoding.spec.whatwg.org/#utf-8-decoder.
import { isUtf8 } from "node:buffer";
import { type TextPiece, Utf8Text } from "../model/utf8-text.ts";

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
