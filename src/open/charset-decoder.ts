// Decodes every character set that TextDecoder supports, to strings. Two bugs of TextDecoder in Node.js 20 are worked
// around: without `stream`, windows-1252 is decoded as ISO-8859-1; with `stream`, it throws if one or two bytes follow
// a cut character that turns out to be invalid, so it never gets so few bytes. A U+FFFD that the website sent counts as
// replaced: in these sets it cannot be told apart.
import { TextDecoder } from "node:util";

// Held back, so that the last chunk is never shorter; no character of any set is longer.
const shortest = 4;

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
    const length = bytes.length < 2 * shortest ? 0 : bytes.length - shortest;
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
