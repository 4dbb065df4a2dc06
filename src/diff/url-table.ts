// Reads tables with a column of URLs, as crawlers, Search Console and log analyzers export them. The column becomes a list of URLs, one
// per line, which is read like any other list.
import { SitemapError } from "../model/errors.ts";
import { firstRows, linesOf, type Row, rowsOf, tooLong, tooLongInWords } from "./table.ts";

// Headers that other tools give to a column of URLs in their exports, in lower case, in order of preference.
const urlHeaders = "address,url,loc,page url,full url,top pages,landing page,page,pages,uri".split(",");
const isUrl = /^\s*https?:\/\/[^\s]+\s*$/i;
// A URL in a column of URLs may contain spaces.
const isUrlCell = /^\s*https?:\/\/\S/i;

/**
 * Whether a file begins like a table: with the names of its columns, not with a URL. Other text has separators, too, so there must be a known
 * header, or a URL in the first three rows, or these rows must have equally many cells.
 */
export function isTableStart(start: Uint8Array): boolean {
  const [[, line, first] = [0, "", []], ...next] = firstRows(start);
  if (isUrl.test(line.split(/[\t;,]/, 1)[0]!) || /^\s*[<{[]/.test(line)) return false;
  const others = next.slice(0, 2).map((row) => row[2]);
  const hasUrl = [first, ...others].some((row) => row.some((cell) => isUrl.test(cell)));
  const isKnown = hasUrl || first.some((cell) => urlHeaders.includes(cell.trim().toLowerCase()));
  const isEven = others.length > 0 && others.every((row) => row.length === first.length);
  return (
    (isKnown || isEven) &&
    first.length > 1 &&
    first.every((cell) => /^\s*"?[^"<>{}\u0000-\u001f]{0,100}"?\s*$/.test(cell))
  );
}

/**
 * Yields the column of URLs as text, with one URL per line. `column` is its name, or its number, starting at 1. Throws a `SitemapError` if
 * the table has no such column, its first value is not a URL, all its values are empty, or a line is too long.
 */
export async function* urlColumn(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  column?: string,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  const urls = new UrlColumn(name, column);
  let text = "";
  for await (const row of rowsOf(linesOf(bytes))) {
    text += urls.lineOf(row);
    if (text.length < batchLength) continue;
    yield encoder.encode(text);
    text = "";
  }
  urls.finish();
  yield encoder.encode(text);
}

const batchLength = 64 * 1024;

/** Throws the `SitemapError` of `urlColumn`, if the beginning of a table already shows that the column has no URLs. */
export function expectUrlColumn(name: string, start: Uint8Array, column?: string): void {
  const urls = new UrlColumn(name, column);
  for (const row of firstRows(start)) urls.lineOf(row);
}

class UrlColumn {
  readonly #name: string;
  readonly #column: string | undefined;
  #index: number | undefined;
  #hasUrl = false;
  #hasEmpty = false;

  constructor(name: string, column: string | undefined) {
    this.#name = name;
    this.#column = column;
  }

  lineOf([, text, cells]: Row): string {
    if (text.includes(tooLong)) throw invalidTable(`it has ${tooLongInWords}`, this.#name);
    if (this.#index === undefined) {
      this.#index = columnIn(this.#name, cells, this.#column);
      // If the first row has no URL in this column, it is a header.
      if (!isUrlCell.test(cells[this.#index] ?? "")) return "";
    }
    const value = (cells[this.#index] ?? "").replaceAll(/[\r\n]+/g, " ").trim();
    if (value === "") {
      this.#hasEmpty = true;
      return "";
    }
    if (!this.#hasUrl && !isUrlCell.test(value))
      throw invalidTable(
        `its column ${this.#index + 1} has ${JSON.stringify(value.slice(0, 60))}, not a URL`,
        this.#name,
      );
    this.#hasUrl = true;
    return `${value}\n`;
  }

  finish(): void {
    if (this.#hasEmpty && !this.#hasUrl) throw invalidTable(`its column ${this.#index! + 1} is empty`, this.#name);
  }
}

function columnIn(name: string, row: readonly string[], column: string | undefined): number {
  const headers = row.map((cell) => cell.trim().toLowerCase());
  if (column !== undefined) {
    // A row with a URL is no header, so its cells are not names.
    const named = row.some((cell) => isUrlCell.test(cell)) ? -1 : headers.indexOf(column.trim().toLowerCase());
    const numbered = /^\d+$/.test(column) ? Number(column) - 1 : -1;
    const index = named === -1 ? numbered : named;
    if (index < 0 || index >= row.length) throw invalidTable(`it has no column ${column}`, name, row);
    return index;
  }
  const known = urlHeaders.map((header) => headers.indexOf(header)).find((index) => index !== -1);
  const index = known ?? row.findIndex((cell) => isUrl.test(cell));
  if (index === -1) throw invalidTable("none of its columns is known to contain URLs", name, row);
  return index;
}

function invalidTable(reason: string, name: string, columns: readonly string[] = []): SitemapError {
  const known = columns.length === 0 ? "" : ` (${columns.slice(0, 20).join(", ").slice(0, 300)})`;
  return new SitemapError("invalid-file", `${name} is a table, and ${reason}${known}; name one with --column`);
}
