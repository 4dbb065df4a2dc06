// Reads text files as lines, and tables (CSV or TSV) as rows, with their line numbers: lists of websites and exports of crawlers, in the
// encodings that spreadsheets save. https://www.rfc-editor.org/rfc/rfc4180
import { size } from "../model/figures.ts";

/** A line: its number, counted from 0, and its text. */
export type Line = readonly [number, string];

const longestLine = 1024 * 1024;
/** Stands for a line that is too long. Decoded text has no half of a surrogate pair. */
export const tooLong = "\ud800";
export const tooLongInWords: string = `a line of more than ${size(longestLine)}`;

/** Yields lines. Replaces a line that is too long with `tooLong`, to save memory. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void> {
  let number = 0;
  let open = "";
  let decoder: TextDecoder | undefined;
  for await (const chunk of bytes) {
    decoder ??= textDecoder(chunk);
    // A carriage return at the end of a chunk may be half of a line end, so it does not end a line yet.
    const lines = (open + decoder.decode(chunk, { stream: true })).split(lineEnds);
    open = (lines.pop() ?? "").slice(0, longestLine + 1);
    for (const line of lines) yield [number++, line.length > longestLine ? tooLong : line];
  }
  open += decoder?.decode() ?? "";
  if (open !== "") yield [number, open.length > longestLine ? tooLong : open];
}

const lineEnds = /\r\n|\r(?!$)|[\n\u2028\u2029]/;

type TextDecoder = InstanceType<typeof globalThis.TextDecoder>;

// Spreadsheets also save UTF-16. No other text has a zero among its first two bytes. The decoder removes the byte order mark.
function textDecoder([first, second]: Uint8Array): TextDecoder {
  if ((first === 0xff && second === 0xfe) || second === 0) return new TextDecoder("utf-16le");
  return new TextDecoder((first === 0xfe && second === 0xff) || first === 0 ? "utf-16be" : "utf-8");
}

/** A row: the number of its first line, its text, and its cells. */
export type Row = readonly [number, string, readonly string[]];

/** Yields the rows of a table, without empty lines and comments. */
export async function* rowsOf(lines: AsyncIterable<Line>): AsyncGenerator<Row, void> {
  const rows = new RowCollector();
  for await (const line of lines) yield* rows.add(line);
  yield* rows.end();
}

/** Returns the rows at the beginning of a table. The last one may be cut off. */
export function firstRows(start: Uint8Array): readonly Row[] {
  const rows = new RowCollector();
  const lines = textDecoder(start).decode(start).split(lineEnds);
  return [...lines.flatMap((line, at) => rows.add([at, line])), ...rows.end()];
}

// A quoted cell may contain line ends. If a quote is still open after this many lines, it is a stray one: each line becomes a row, so that
// no line is lost.
const mostLines = 100;

class RowCollector {
  #separator: string | undefined;
  #cell: RegExp = /$/y;
  #open: Line[] = [];

  add(line: Line): readonly Row[] {
    if (this.#open.length === 0 && /^\s*$|^#/.test(line[1])) return [];
    if (this.#separator === undefined) {
      const named = excelSeparator.exec(line[1])?.[1];
      this.#separator = named ?? separatorOf(line[1]);
      this.#cell = new RegExp(`"([^"]*(?:""[^"]*)*)("?)[^${this.#separator}]*|[^${this.#separator}]*`, "y");
      if (named !== undefined) return [];
    }
    this.#open.push(line);
    const text = this.#open.map(([, each]) => each).join("\n");
    const { cells, isOpen } = this.#split(text);
    if (isOpen && this.#open.length < mostLines) return [];
    if (isOpen) return this.end();
    const [at] = this.#open[0]!;
    this.#open = [];
    return [[at, text, cells]];
  }

  end(): readonly Row[] {
    const rows = this.#open.map(([at, text]): Row => [at, text, this.#split(text).cells]);
    this.#open = [];
    return rows;
  }

  /** Splits a text into cells. `isOpen` means that the last cell has no closing quote. */
  #split(text: string): { readonly cells: readonly string[]; readonly isOpen: boolean } {
    const cells: string[] = [];
    let isOpen = false;
    for (let at = 0; at <= text.length; at = this.#cell.lastIndex + 1) {
      this.#cell.lastIndex = at;
      const [whole = "", quoted, end] = this.#cell.exec(text) ?? [];
      cells.push(quoted?.replaceAll('""', '"') ?? whole);
      isOpen = end === "";
    }
    return { cells, isOpen };
  }
}

/** Returns the separator that a line contains most often outside of quotes. */
function separatorOf(line: string): string {
  const unquoted = line.replaceAll(/"[^"]*"/g, "");
  const counts = separators.map((each) => unquoted.split(each).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
}

const separators = [",", ";", "\t"];
// Excel reads a first line such as `sep=;`, and other tools write it.
const excelSeparator = /^"?sep=([,;\t|])"?$/i;
