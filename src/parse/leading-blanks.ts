// Removes what comes before a document: white space, byte order marks, NULs. Each chunk is examined once: a hundred
// megabytes of blanks are a few bytes when compressed.
//   Lenient: white space and byte order marks before the document are skipped.

export class LeadingBlanks {
  /** How many lines were removed; CR, LF and CRLF end a line. */
  lines = 0;
  /** How many line feeds were removed. */
  lineFeeds = 0;
  /** There were NULs among them. */
  hasNuls = false;
  // XML white space.
  #hasSpace = false;
  // Not XML white space: a no-break space, or a byte order mark after white space.
  #hasOther = false;
  #afterReturn = false;

  /** Returns the rest of the chunk. Once that is not empty, all blanks were removed. */
  takeOff(chunk: string): string {
    let at = 0;
    while (at < chunk.length && this.#take(chunk.charCodeAt(at))) at++;
    return chunk.slice(at);
  }

  /** A stand-in for the removed text, for `strict`. */
  get shortened(): string {
    if (this.#hasOther) return "\u00a0";
    return this.#hasSpace ? " " : "";
  }

  #take(code: number): boolean {
    if (code === lineFeed) {
      this.lineFeeds++;
      if (!this.#afterReturn) this.lines++;
    } else if (code === carriageReturn) this.lines++;
    this.#afterReturn = code === carriageReturn;
    if (code === lineFeed || code === carriageReturn || code === space || code === tab) this.#hasSpace = true;
    else if (code === byteOrderMark || code === 0) {
      this.hasNuls ||= code === 0;
      this.#hasOther ||= this.#hasSpace;
    } else if (otherBlank.test(String.fromCharCode(code))) this.#hasOther = true;
    else return false;
    return true;
  }
}

const otherBlank = /\s/;
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const byteOrderMark = 0xfeff;
