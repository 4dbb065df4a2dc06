// Everything that TextDecoder knows, to strings. It has two faults on Node.js 20 that are gone around:
//   - without `stream`, windows-1252 is read as ISO-8859-1;
//   - with `stream`, it throws where a chunk ends inside a character that turns out to be invalid: it has no room for
//     what it puts in its place. So it is only given text that ends where no character is open.
// A U+FFFD that the website sent is counted as replaced: in these sets it cannot be told from one that was put in.
import { TextDecoder } from "node:util";

// More than this is not held back. No sitemap has that many letters in a row.
const longestRest = 64 * 1024;

export class CharsetDecoder {
  /** How many characters had to be replaced. */
  replaced = 0;
  readonly #decoder: TextDecoder;
  // What came after the last byte that ends a character for certain.
  #rest: Uint8Array = new Uint8Array(0);

  constructor(charset: string) {
    this.#decoder = new TextDecoder(charset, { ignoreBOM: true });
  }

  write(chunk: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const length = this.#closedLength(bytes);
    this.#rest = bytes.subarray(length);
    const text = this.#counted(this.#decoder.decode(bytes.subarray(0, length), { stream: true }));
    return this.#rest.length > longestRest ? text + this.end() : text;
  }

  /** What is left; a character that is still open is replaced. */
  end(): string {
    const text = this.#decoder.decode(this.#rest, { stream: true }) + this.#decoder.decode();
    this.#rest = this.#rest.subarray(0, 0);
    return this.#counted(text);
  }

  // UTF-16 may be cut anywhere. Elsewhere no character ends with a control character, a space, or one of
  // !"#$%&'()*+,-./:;<=>? but in ISO-2022-JP these can be half a character, too.
  #closedLength(bytes: Uint8Array): number {
    const { encoding } = this.#decoder;
    if (encoding === "utf-16le" || encoding === "utf-16be") return bytes.length;
    const isClosed = encoding === "iso-2022-jp" ? isSpace : isSpaceOrMark;
    let length = bytes.length;
    while (length > 0 && !isClosed(bytes[length - 1]!)) length -= 1;
    return length;
  }

  #counted(text: string): string {
    for (let at = text.indexOf("\uFFFD"); at >= 0; at = text.indexOf("\uFFFD", at + 1)) this.replaced += 1;
    return text;
  }
}

function isSpace(byte: number): boolean {
  return byte <= 0x20;
}

function isSpaceOrMark(byte: number): boolean {
  return byte < 0x30 || (byte > 0x39 && byte < 0x40);
}
