// Documents that are read line by line: text sitemaps, robots.txt and llms.txt. CR, LF and CRLF end a line; U+2028, vertical tab and form
// feed do not. Lines that are too long are skipped without being buffered. If the document is cut off, its last line may be half a URL, so
// it is dropped.
import type { DocumentProblemCode } from "../model/problem-code.ts";
import { detached, type TextPiece } from "../model/text.ts";
import {
  type Entries,
  type EntryParser,
  EntrySink,
  type EntrySource,
  type ParseContext,
  type ParseOutcome,
} from "./entries.ts";

/** The common base of all parsers except that for XML. Problems have the number of the current line, if `report` is not overridden. */
export abstract class PlainParser implements EntryParser, EntrySource {
  protected readonly context: ParseContext;
  protected readonly sink: EntrySink;
  /** The current line, starting at 1. */
  protected line: number;
  stopped = false;

  /** `line` is how many lines of the document came before. */
  constructor(context: ParseContext, line = 0) {
    this.context = context;
    this.sink = new EntrySink(this, context);
    this.line = line;
  }

  abstract readonly outcome: ParseOutcome;
  abstract write(piece: TextPiece): Entries;
  abstract end(): Entries;

  report(code: DocumentProblemCode, value?: string, limit?: number): void {
    this.context.problems.addAt(this.line, code, value, limit);
  }

  stop(): void {
    this.stopped = true;
  }
}

export abstract class LineParser extends PlainParser {
  // The beginning of an incomplete line. Its length is limited, so appending to it stays cheap.
  #pending = "";
  #isTooLong = false;
  #afterReturn = false;

  /** Takes a line that is not empty, without its line ending. */
  protected abstract takeLine(line: string): void;

  write(piece: TextPiece): Entries {
    const chunk = this.stopped ? "" : String(piece);
    // The second half of a CRLF may be in the next chunk.
    const parts = (this.#afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk).split(/\r\n|\r|\n/);
    this.#afterReturn = chunk === "" ? this.#afterReturn : chunk.endsWith("\r");
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.#endLine();
      this.#isTooLong ||= this.#pending.length + part.length > this.context.limits.lineLength;
      this.#pending = this.#isTooLong ? "" : this.#pending + part;
    }
    return this.sink.take();
  }

  end(): Entries {
    if (this.#isTooLong || (this.#pending !== "" && !this.context.problems.isCutOff)) this.#endLine();
    return this.sink.finish();
  }

  #endLine(): void {
    this.line++;
    const line = this.#pending;
    if (this.stopped) return;
    if (this.#isTooLong) this.report("limit-line-length", undefined, this.context.limits.lineLength);
    else if (line !== "") this.takeLine(line);
    this.#pending = "";
    this.#isTooLong = false;
  }

  /** Resolves the URL of a page. Returns undefined if it is invalid or repeated. */
  protected takePageUrl(text: string): string | undefined {
    this.sink.countEntry();
    const url = this.sink.takeUrl("page", text);
    return url === undefined ? undefined : detached(url);
  }
}

/** Matches an item of a list in Markdown. */
export const listItem: RegExp = /^\s{0,12}(?:[-*+\u2022]|\d{1,4}[.)])\s+(.*)/;
