// Everything that TextDecoder knows, to strings. It has two faults on Node.js 20 that are worked around:
//   - without `stream`, windows-1252 is read as ISO-8859-1;
//   - with `stream`, it throws where one or two bytes follow a character that was cut and turns out to be invalid: it has
//     no room for what it puts in its place. So it is never given so few.
// A U+FFFD that the website sent is counted as replaced: in these sets it cannot be told from one that was put in.
import { TextDecoder } from "node:util";

// Held back, so that the end is never shorter; no character of any set is longer.
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
