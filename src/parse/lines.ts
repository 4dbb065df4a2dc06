// Splits text that comes in chunks into lines. CR, LF and CRLF end a line; U+2028, vertical tab and form feed do not (text.ts knows
// those that separate URLs). A
// line that is too long is skipped without being kept. The last line of a document that was cut off may be half a URL,
// so it is dropped.
import type { ProblemLog } from "../model/problem.ts";

export interface LineReader {
  /** A line is `text` from `from` to `to`, without its line end. */
  takeLine(text: string, from: number, to: number): void;
  /** A line was longer than allowed. */
  dropLine(): void;
}

export class LineSplitter {
  readonly #reader: LineReader;
  readonly #maxLength: number;
  // The beginning of an incomplete line. Limited by the longest line, so appending to it stays cheap.
  #pending = "";
  #tooLong = false;
  #afterReturn = false;
  /** The number of the current line, from 1. */
  line: number;

  /** `linesBefore`: how many lines of the document were removed before the written text. */
  constructor(reader: LineReader, maxLength: number, linesBefore: number) {
    this.#reader = reader;
    this.#maxLength = maxLength;
    this.line = linesBefore;
  }

  write(chunk: string): void {
    let from = 0;
    if (this.#afterReturn && chunk !== "") {
      // The second half of a CRLF that was cut in two.
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
      // Each search starts where the last one ended: a text without CR, or without LF, is searched for it once.
      if (feed >= 0 && feed < from) feed = chunk.indexOf("\n", from);
    }
    this.#keep(chunk, from);
  }

  /** Ends the last line. `problems` tell whether the document was cut off. */
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
