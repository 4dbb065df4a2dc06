// Lines of a text that comes in pieces. CR, LF and CRLF end a line; other characters that some programs take for line ends
// (U+2028, vertical tab, form feed) do not. A line that is too long is skipped without being kept. The last line of a
// document that was cut off on its way may be half a URL, so it is not taken.
import type { ProblemLog } from "../problem.ts";

export interface LineReader {
  /** A line is `text` from `from` to `to`, without its end. */
  takeLine(text: string, from: number, to: number): void;
  /** A line was longer than allowed. */
  dropLine(): void;
}

export class LineSplitter {
  readonly #reader: LineReader;
  readonly #maxLength: number;
  // The beginning of a line whose end has not come yet. Bounded by the longest line, so adding to it stays cheap.
  #pending = "";
  #tooLong = false;
  #afterReturn = false;
  /** The number of the line that is taken or dropped, from 1. */
  line: number;

  /** `linesBefore`: how many lines of the document were left out before the text that is written. */
  constructor(reader: LineReader, maxLength: number, linesBefore: number) {
    this.#reader = reader;
    this.#maxLength = maxLength;
    this.line = linesBefore;
  }

  write(chunk: string): void {
    let from = 0;
    if (this.#afterReturn && chunk !== "") {
      // The second half of a CRLF that was cut apart.
      if (chunk.charCodeAt(0) === lineFeed) from = 1;
      this.#afterReturn = false;
    }
    let feed = chunk.indexOf("\n", from);
    let carriageReturn = chunk.indexOf("\r", from);
    while (feed >= 0 || carriageReturn >= 0) {
      const isFeed = carriageReturn < 0 || (feed >= 0 && feed < carriageReturn);
      const end = isFeed ? feed : carriageReturn;
      this.#endLine(chunk, from, end);
      from = end + 1;
      if (!isFeed) {
        if (feed === from) from++;
        else if (from === chunk.length) this.#afterReturn = true;
        carriageReturn = chunk.indexOf("\r", from);
      }
      // Searched for only once it is passed: so a text without one of the two is not searched for it again and again.
      if (feed >= 0 && feed < from) feed = chunk.indexOf("\n", from);
    }
    this.#keep(chunk, from);
  }

  /** Ends the last line. `problems` tell whether there was more of it. */
  end(problems: ProblemLog): void {
    if (this.#tooLong || (this.#pending !== "" && !problems.isCutOff)) this.#endLine("", 0, 0);
    this.#pending = "";
  }

  #endLine(chunk: string, from: number, to: number): void {
    this.line++;
    const pending = this.#pending;
    if (this.#tooLong || pending.length + to - from > this.#maxLength) this.#reader.dropLine();
    else if (pending === "") this.#reader.takeLine(chunk, from, to);
    else this.#reader.takeLine(pending + chunk.slice(from, to), 0, pending.length + to - from);
    this.#pending = "";
    this.#tooLong = false;
  }

  #keep(chunk: string, from: number): void {
    if (this.#tooLong || from === chunk.length) return;
    if (this.#pending.length + chunk.length - from > this.#maxLength) {
      this.#pending = "";
      this.#tooLong = true;
    } else {
      this.#pending += chunk.slice(from);
    }
  }
}

const lineFeed = 0x0a;
