// Tables with a column of URLs, as crawlers, Search Console and log analyzers export them: CSV or TSV, in UTF-8 or UTF-16. The column
// becomes a list of URLs, one per line, which is read like any other.
// https://www.rfc-editor.org/rfc/rfc4180
import { SitemapError } from "../model/errors.ts";

// Headers of a column with URLs, the most specific first, as they are written in exports, without case.
const urlHeaders = [
  "address",
  "url",
  "loc",
  "page url",
  "full url",
  "top pages",
  "landing page",
  "page",
  "pages",
  "uri",
];
const isUrl = /^\s*https?:\/\/[^\s]+\s*$/i;
const separators = ["\t", ";", ","];

type Decoder = InstanceType<typeof TextDecoder>;

// Removes the byte order mark.
function decoderFor(start: Uint8Array): Decoder {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le");
  return new TextDecoder(first === 0xfe && second === 0xff ? "utf-16be" : "utf-8");
}

/** Whether a file begins like a table: with the names of its columns, not with a URL. */
export function isTableStart(start: Uint8Array): boolean {
  const [line = ""] = decoderFor(start).decode(start).split(/\r?\n/, 1);
  if (isUrl.test(line.split(/[\t;,]/, 1)[0]!) || /^\s*[<{[]/.test(line)) return false;
  const cells = line.split(separatorOf(line));
  return cells.length > 1 && cells.every((cell: string) => /^\s*"?[^"<>{}\u0000-\u001f]{0,100}"?\s*$/.test(cell));
}

/** The column of URLs, as text with one per line. `column`: its name or its number, starting at 1. Throws a `SitemapError`. */
export async function* urlColumn(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  column?: string,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  const urls = new UrlColumn(name, column);
  for await (const chunk of bytes) {
    const lines = urls.add(chunk);
    if (lines !== "") yield encoder.encode(lines);
  }
  yield encoder.encode(urls.end());
}

/** Throws a `SitemapError` unless the beginning of a table has a column of URLs. */
export function expectUrlColumn(name: string, start: Uint8Array, column?: string): void {
  new UrlColumn(name, column).add(start);
}

class UrlColumn {
  readonly #name: string;
  readonly #column: string | undefined;
  #decoder: Decoder | undefined;
  #rows: Rows | undefined;
  #index: number | undefined;
  #hasUrl = false;
  #rest = "";

  constructor(name: string, column: string | undefined) {
    this.#name = name;
    this.#column = column;
  }

  add(bytes: Uint8Array): string {
    this.#decoder ??= decoderFor(bytes);
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    return this.#lines(false);
  }

  end(): string {
    this.#rest += this.#decoder?.decode() ?? "";
    return this.#lines(true);
  }

  #lines(isEnd: boolean): string {
    if (this.#rows === undefined) {
      const [line = ""] = /^[^\r\n]*(?=[\r\n])/.exec(this.#rest) ?? (isEnd ? [this.#rest] : []);
      if (line === "") return "";
      this.#rows = new Rows(separatorOf(line));
    }
    const rows = this.#rows.in(this.#rest, isEnd);
    this.#rest = this.#rest.slice(this.#rows.end);
    if (this.#rest.length > longestRow) throw invalidTable("it has a row that is too long", this.#name);
    return rows.map((row) => this.#lineOf(row)).join("");
  }

  #lineOf(row: readonly string[]): string {
    if (this.#index === undefined) {
      this.#index = columnIn(this.#name, row, this.#column);
      // A table without a header begins with its first row.
      if (!isUrl.test(row[this.#index] ?? "")) return "";
    }
    const value = (row[this.#index] ?? "").replaceAll(/[\r\n]+/g, " ").trim();
    if (value === "") return "";
    if (!this.#hasUrl && !isUrl.test(value))
      throw invalidTable(
        `its column ${this.#index + 1} has no URLs but ${JSON.stringify(value.slice(0, 60))}`,
        this.#name,
      );
    this.#hasUrl = true;
    return `${value}\n`;
  }
}

function columnIn(name: string, row: readonly string[], column: string | undefined): number {
  const headers = row.map((cell) => cell.trim().toLowerCase());
  if (column !== undefined) {
    const named = headers.indexOf(column.trim().toLowerCase());
    const numbered = /^\d+$/.test(column) ? Number(column) - 1 : -1;
    const index = named === -1 ? numbered : named;
    if (index < 0 || index >= row.length) throw invalidTable(`it has no column ${column}`, name, row);
    return index;
  }
  const known = urlHeaders.map((header) => headers.indexOf(header)).find((index) => index !== -1);
  const index = known ?? row.findIndex((cell) => isUrl.test(cell));
  if (index === -1) throw invalidTable("none of its columns is known to have URLs", name, row);
  return index;
}

function invalidTable(reason: string, name: string, columns: readonly string[] = []): SitemapError {
  const known = columns.length === 0 ? "" : ` (${columns.slice(0, 20).join(", ").slice(0, 300)})`;
  return new SitemapError("invalid-file", `${name} is a table, and ${reason}${known}; name one with --column`);
}

function separatorOf(line: string): string {
  const counts = separators.map((each) => line.replaceAll(/"[^"]*"/g, "").split(each).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
}

// A cell may be quoted, and then contain separators and line ends.
class Rows {
  readonly #separator: string;
  /** Where the last complete row ends. */
  end = 0;

  constructor(separator: string) {
    this.#separator = separator;
  }

  in(text: string, isEnd: boolean): string[][] {
    const rows: string[][] = [];
    let row: string[] = [];
    this.end = 0;
    for (let at = 0; at < text.length || row.length > 0; ) {
      const [cell, end] = cellAt(text, at, this.#separator);
      // What follows is not known yet.
      if (!isEnd && end >= text.length - 1) break;
      row.push(cell);
      const next = text[end];
      at = end + (next === "\r" && text[end + 1] === "\n" ? 2 : 1);
      if (next === this.#separator) continue;
      rows.push(row);
      row = [];
      this.end = at;
    }
    return rows;
  }
}

// The value that begins here, and where it ends: at a separator, a line end, or the end of the text.
function cellAt(text: string, at: number, separator: string): [value: string, end: number] {
  const isEnd = (index: number) => text[index] === separator || text[index] === "\n" || text[index] === "\r";
  let end = at;
  if (text[at] !== '"') {
    while (end < text.length && !isEnd(end)) end += 1;
    return [text.slice(at, end), end];
  }
  let value = "";
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return [value + text.slice(from), text.length];
    value += text.slice(from, quote);
    end = quote + 1;
    if (text[end] !== '"') break;
    value += '"';
    from = end + 1;
  }
  while (end < text.length && !isEnd(end)) end += 1;
  return [value, end];
}

const longestRow = 16 * 1024 * 1024;
