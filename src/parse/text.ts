// Text sitemaps: one URL per line.
// https://www.sitemaps.org/protocol.html#otherformats
//   "The text file must have one URL per line."
//   Lenient: blank lines, white space around a URL and any line ending are accepted.
//   Lenient: quotes or angle brackets around a URL are taken off; reported.
//   Lenient: behind a tab, a second column with a date, number, change frequency or URL is cut off; reported. Any other tab
//   stands inside of a URL, which makes it invalid: a URL parser would drop it and name another page.
//   Lenient: several URLs with blanks, commas, semicolons, bars or Unicode line separators between them are several pages; a comma at
//   the end of a line is cut off, and so is a date, number or change frequency behind a blank; reported. Any other blank stands inside of
//   a URL.
//   Lenient: a line that is not an http(s) URL is reported and skipped.
// A line is never taken as a relative URL: otherwise every word would be one.
import { detached } from "../model/detached.ts";
import { defaultPriority, type SitemapPage } from "../model/page.ts";
import { type ProblemCode, type ProblemLog, problem } from "../model/problem.ts";
import { protocolEntries } from "../model/protocol-limits.ts";
import { lengthFacts, trimUrl } from "../model/url.ts";
import { unwrapUrl } from "../model/url-forms.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import { parseDate } from "./dates.ts";
import { type Entries, type EntryParser, type ParseContext, type ParseOutcome, UrlCollector } from "./entries.ts";
import { parseChangeFrequency, parseNumber } from "./values.ts";

export class TextParser implements EntryParser, LineReader {
  readonly #context: ParseContext;
  readonly #lines: LineSplitter;
  readonly #urls: UrlCollector;
  readonly #maxEntries: number;
  #pages: SitemapPage[] = [];
  // Where the next separator is in this text. Most have none: one search is cheaper than a search of every line.
  #searched = "";
  #separatorAt = -1;
  #hasText = false;
  #listed = 0;
  stopped = false;

  /** `linesBefore`: how many lines of the document were removed before the written text. */
  constructor(context: ParseContext, linesBefore = 0) {
    const { limits } = context;
    this.#context = context;
    this.#lines = new LineSplitter(this, limits.lineLength, linesBefore);
    this.#urls = new UrlCollector(context.url, limits.urlLength);
    this.#maxEntries = limits.documentEntries;
  }

  write(piece: TextPiece): Entries {
    if (!this.stopped) this.#lines.write(String(piece));
    return this.#entries();
  }

  end(): Entries {
    if (!this.stopped) this.#lines.end(this.#context.problems);
    return this.#entries();
  }

  get outcome(): ParseOutcome {
    if (this.#urls.size > 0) return { kind: "pages", format: "text" };
    const reason = this.#hasText ? problem("not-a-sitemap", { value: "text without a URL" }) : problem("empty");
    return { kind: "invalid", reason };
  }

  takeLine(text: string, from: number, to: number): void {
    if (from === to || this.stopped) return;
    const last = text.charCodeAt(to - 1);
    // Nearly every line: it starts with a scheme, and has nothing to trim or split.
    const isPlain = last > 0x20 && last < 0x7f && last !== comma;
    if (isPlain && startsWithScheme(text, from) && !this.#hasSeparator(text, from, to)) {
      const url = this.#urls.take(text, from, to);
      if (url !== undefined) {
        this.#count();
        this.#add(url);
        return;
      }
      // Nothing else can be made of it: a URL would be looked for in vain a second time.
      if (last !== greaterThan) {
        this.#count();
        this.#hasText = true;
        this.#report(this.#urls.problem!, text.slice(from, to));
        return;
      }
    }
    this.#takeOdd(text.slice(from, to));
  }

  #hasSeparator(text: string, from: number, to: number): boolean {
    if (text !== this.#searched || this.#separatorAt < from) {
      this.#searched = text;
      anySeparator.lastIndex = from;
      this.#separatorAt = anySeparator.exec(text)?.index ?? Number.POSITIVE_INFINITY;
    }
    return this.#separatorAt < to;
  }

  dropLine(): void {
    if (this.stopped) return;
    this.#hasText = true;
    this.#context.problems.add("limit-line-length", { line: this.#lines.line, limit: this.#context.limits.lineLength });
  }

  #takeOdd(line: string): void {
    const text = trimUrl(line);
    if (text === "") return;
    this.#hasText = true;
    if (!mayBeUrl.test(text)) {
      this.#report(otherScheme.test(text) ? "url-scheme" : "text-junk", text);
      return;
    }
    const [bare = "", ...others] = urlsOf(text);
    if (!httpScheme.test(bare)) {
      this.#report(otherScheme.test(bare) ? "url-scheme" : "text-junk", text);
      return;
    }
    if (this.#take(bare, text) && bare !== text) this.#report("text-extra", text);
    for (const other of others) this.#take(other, text);
  }

  // Returns whether it was a new URL.
  #take(bare: string, line: string): boolean {
    this.#count();
    const url = this.#urls.take(bare);
    if (url !== undefined) this.#add(url);
    else if (this.#urls.problem !== undefined) this.#report(this.#urls.problem, line);
    return url !== undefined;
  }

  #add(url: string): void {
    const { problems } = this.#context;
    if (this.#urls.problem !== undefined) this.#report(this.#urls.problem, url);
    if (this.#urls.size > this.#maxEntries) {
      problems.add("limit-document-entries", { limit: this.#maxEntries, line: this.#lines.line });
      this.stopped = true;
      return;
    }
    this.#pages.push({ url: detached(url), priority: defaultPriority });
  }

  // Repeated ones count, too: the protocol limits what is written.
  #count(): void {
    if (++this.#listed !== protocolEntries + 1) return;
    this.#context.problems.add("protocol-entries", { limit: protocolEntries, line: this.#lines.line });
  }

  #report(code: ProblemCode, value: string): void {
    const { problems, limits } = this.#context;
    problems.add(code, { value, line: this.#lines.line, ...lengthFacts(code, limits.urlLength) });
  }

  #entries(): Entries {
    const pages = this.#pages;
    this.#pages = [];
    return { pages, sitemaps: [] };
  }
}

// The URLs of a line: nearly always one.
function urlsOf(text: string): string[] {
  const line = firstColumn(text);
  const starts: number[] = [];
  for (const { index } of line.matchAll(urlStart)) {
    if (index === 0 || separator.test(line[index - 1]!)) starts.push(index);
  }
  if (starts.length > 1) {
    return starts.map((start, place) =>
      unwrapUrl(withoutSeparators(line.slice(start, starts[place + 1])).split(" ", 1)[0]!),
    );
  }
  const bare = unwrapUrl(line.endsWith(",") ? withoutSeparators(line) : line);
  const blank = bare.indexOf(" ");
  return blank >= 0 && isColumn(bare.slice(blank + 1)) ? [bare.slice(0, blank)] : [bare];
}

function withoutSeparators(text: string): string {
  let end = text.length;
  while (end > 0 && separator.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

function firstColumn(text: string): string {
  const tab = text.indexOf("\t");
  if (tab < 0) return text;
  const [next = ""] = text.slice(tab + 1).split("\t", 1);
  return httpScheme.test(next) || isColumn(next) ? trimUrl(text.slice(0, tab)) : text;
}

function isColumn(text: string): boolean {
  if (!digit.test(text)) return parseChangeFrequency(text) !== undefined;
  return parseNumber(text) !== undefined || parseDate(text) !== undefined;
}

// As `http:` or `https:`, in their usual spelling.
function startsWithScheme(text: string, from: number): boolean {
  if (text.charCodeAt(from) !== letterH || !text.startsWith("http", from)) return false;
  const next = text.charCodeAt(from + 4);
  return next === colon || (next === letterS && text.charCodeAt(from + 5) === colon);
}

const httpScheme = /^https?:/i;
// A URL, or what may stand before one.
const mayBeUrl = /^(?:https?:|["'<\u201c\u2018])/i;
const otherScheme = /^[a-z][a-z0-9+.-]{0,20}:\/\//i;
// A URL, with what may stand around it, and what stands between two of them.
const urlStart = /["'<\u201c\u2018]{0,2}https?:/gi;
const separator = /[ ,;|\u0085\u2028\u2029]/;
const anySeparator = /[ \t\u0085\u2028\u2029]|[,;|]http/g;
const digit = /[0-9]/;
const comma = 0x2c;
const letterH = 0x68;
const letterS = 0x73;
const colon = 0x3a;
const greaterThan = 0x3e;

// Splits text that comes in chunks into lines. CR, LF and CRLF end a line; U+2028, vertical tab and form feed do not (text.ts knows
// those that separate URLs). A
// line that is too long is skipped without being kept. The last line of a document that was cut off may be half a URL,
// so it is dropped.

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
