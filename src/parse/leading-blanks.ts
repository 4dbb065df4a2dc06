// What stands before a document: white space, byte order marks, NULs. Taken off as it comes, and never looked at again: a hundred
// megabytes of blanks are a few bytes where they are compressed.
//   Lenient: white space and byte order marks before the document are skipped.

export class LeadingBlanks {
  /** How many lines it has: CR, LF and CRLF end one. */
  lines = 0;
  /** How many line feeds. */
  lineFeeds = 0;
  // Something that XML takes for white space.
  #hasSpace = false;
  // Something that it does not: a no-break space, or a byte order mark behind white space.
  #hasOther = false;
  #afterReturn = false;

  /** Returns what is left of the chunk. Once that is something, all blanks were seen. */
  takeOff(chunk: string): string {
    let at = 0;
    while (at < chunk.length && this.#take(chunk.charCodeAt(at))) at++;
    return chunk.slice(at);
  }

  /** A stand-in for all of it, for who wants to know whether something was there. */
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
    else if (code === byteOrderMark || code === 0) this.#hasOther ||= this.#hasSpace;
    else if (otherBlank.test(String.fromCharCode(code))) this.#hasOther = true;
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
