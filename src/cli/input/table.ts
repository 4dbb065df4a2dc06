// Text files as lines, and tables as rows, with their line numbers: lists of websites, in the encodings that spreadsheets save.
import { grouped } from "../../model/figures.ts";

/** The number of a line from 0, and its text. */
export type Line = readonly [number, string];

// A line of any length takes little memory: one that is too long for a homepage and its row is replaced.
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void> {
  let number = 0;
  let open = "";
  for await (const piece of decoded(bytes)) {
    // A return at the end of a piece may be half of a line end.
    const lines = (open + piece).split(/\r\n|\r(?!$)|[\n\u2028\u2029]/);
    open = (lines.pop() ?? "").slice(0, longestLine + 1);
    for (const line of lines) yield [number++, line.length > longestLine ? tooLong : line];
  }
  if (open !== "") yield [number, open.length > longestLine ? tooLong : open];
}

const longestLine = 64 * 1024;
// No website: a NUL.
export const tooLong = "\0";
export const tooLongInWords: string = `a line of more than ${grouped(longestLine)} characters`;

// Spreadsheets save lists as UTF-16, too. Nothing else has a zero byte in its first two.
async function* decoded(input: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const bytes of input) {
    decoder ??= new TextDecoder(encodingOf(bytes));
    yield decoder.decode(bytes, { stream: true });
  }
  yield decoder?.decode() ?? "";
}

function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if ((first === 0xff && second === 0xfe) || second === 0) return "utf-16le";
  return (first === 0xfe && second === 0xff) || first === 0 ? "utf-16be" : "utf-8";
}

/** The number of its first line, its text, and its cells. */
export type Row = readonly [number, string, readonly string[]];

// https://www.rfc-editor.org/rfc/rfc4180, with commas, semicolons or tabs. If a quote is never closed, each line is a row.
export async function* rowsOf(lines: AsyncIterable<Line>): AsyncGenerator<Row, void> {
  let open: Line[] = [];
  let separator = "";
  const rowOf = ([at, line]: Line): Row => [at, line, splitRow(line, separator).row];
  for await (const line of lines) {
    if (open.length === 0 && /^\s*$|^#/.test(line[1])) continue;
    separator ||= [",", ";", "\t"].find((candidate) => line[1].includes(candidate)) ?? ",";
    open.push(line);
    const text = open.map(([, each]) => each).join("\n");
    const { row, isOpen } = splitRow(text, separator);
    if (isOpen && open.length < mostLines) continue;
    if (isOpen) yield* open.map(rowOf);
    else yield [open[0]?.[0] ?? 0, text, row];
    open = [];
  }
  yield* open.map(rowOf);
}

const mostLines = 100;

/** `isOpen`: the last cell has a quote that is not closed. */
function splitRow(text: string, separator: string): { row: string[]; isOpen: boolean } {
  const cell = new RegExp(`"([^"]*(?:""[^"]*)*)("?)[^${separator}]*|[^${separator}]*`, "y");
  const row: string[] = [];
  let isOpen = false;
  for (let at = 0; at <= text.length; at = cell.lastIndex + 1) {
    cell.lastIndex = at;
    const [whole = "", quoted, end] = cell.exec(text) ?? [];
    row.push(quoted?.replaceAll('""', '"') ?? whole);
    isOpen = end === "";
  }
  return { row, isOpen };
}
