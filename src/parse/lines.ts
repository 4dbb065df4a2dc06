// Documents that are read line by line: text sitemaps, robots.txt and llms.txt. CR, LF and CRLF end a line; U+2028, vertical tab and form feed do
// not. A line that is too long is skipped without being kept. The last line of a document that was cut off may be half a URL, so it is
// dropped.

import type { ProblemCode, ProblemFacts } from "../model/problem.ts";
import { protocolEntries } from "../model/sitemap.ts";
import { detached, type TextPiece } from "../model/text.ts";
import { lengthFacts } from "../model/url.ts";
import { type Entries, type EntryParser, type ParseContext, type ParseOutcome, UrlCollector } from "./entries.ts";

export abstract class LineParser implements EntryParser {
  protected readonly context: ParseContext;
  protected readonly urls: UrlCollector;
  /** Since the last call of `write`. */
  protected entries: Entries = { pages: [], sitemaps: [] };
  /** The number of the current line, from 1. */
  protected line: number;
  stopped = false;
  // The beginning of an incomplete line. Limited by the longest line, so appending to it stays cheap.
  #pending = "";
  #isTooLong = false;
  #afterReturn = false;
  #listed = 0;

  /** `linesBefore`: how many lines of the document were removed before the written text. */
  constructor(context: ParseContext, linesBefore = 0) {
    this.context = context;
    this.urls = new UrlCollector(context.url, context.limits.urlLength);
    this.line = linesBefore;
  }

  abstract readonly outcome: ParseOutcome;
  /** Takes a line that is not empty, without its end. */
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
    return this.#take();
  }

  end(): Entries {
    if (this.#isTooLong || (this.#pending !== "" && !this.context.problems.isCutOff)) this.#endLine();
    return this.#take();
  }

  #endLine(): void {
    this.line++;
    const line = this.#pending;
    if (this.stopped) return;
    if (this.#isTooLong) this.report("limit-line-length", { limit: this.context.limits.lineLength });
    else if (line !== "") this.takeLine(line);
    this.#pending = "";
    this.#isTooLong = false;
  }

  #take(): Entries {
    const { entries } = this;
    this.entries = { pages: [], sitemaps: [] };
    return entries;
  }

  protected report(code: ProblemCode, details: ProblemFacts): void {
    const { problems, limits } = this.context;
    problems.add(code, { ...details, line: this.line, ...lengthFacts(code, limits.urlLength) });
  }

  /** The URL of a page, if it is new and there is room for it. `shown`: the value in a problem with it. */
  protected takePageUrl(text: string, shown: (url: string | undefined) => string): string | undefined {
    // Repeated ones count, too: the protocol limits what is written.
    if (++this.#listed === protocolEntries + 1) this.report("protocol-entries", { limit: protocolEntries });
    const url = this.urls.take(text);
    if (this.urls.problem !== undefined) this.report(this.urls.problem, { value: shown(url) });
    return url === undefined || !this.hasRoom() ? undefined : detached(url);
  }

  /** Whether one more entry is allowed, after its URL was taken; if not, reading stops. */
  protected hasRoom(): boolean {
    const { documentEntries } = this.context.limits;
    if (this.urls.size <= documentEntries) return true;
    this.report("limit-document-entries", { limit: documentEntries });
    this.stopped = true;
    return false;
  }
}
