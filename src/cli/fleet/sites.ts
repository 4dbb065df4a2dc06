// Lists of websites: one homepage a line with comments and blank lines, or a column of a CSV file.
import { createReadStream, statSync } from "node:fs";
import { isInShard, readShard, type Shard } from "../../fleet/shard.ts";
import { type SiteJob, type SiteSettings, siteJob } from "../../fleet/site-job.ts";
import { counted, grouped } from "../../model/figures.ts";
import { namesIn } from "../commands/diff.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import type { Messages } from "../output/messages.ts";
import { type FleetFlags, givenCrawl, retryNames } from "./flags.ts";

/** A line that names no website. */
export interface MalformedLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export interface SiteListOptions {
  /** From the command line. */
  readonly sites: readonly string[];
  /** Files; `-` for standard input. */
  readonly files: readonly string[];
  /** The name of a column, or its number from 1. Without one, a line is a homepage. */
  readonly column?: string | undefined;
  /** Only those of this part of the list. */
  readonly shard?: Shard | undefined;
  /** The path of a homepage counts. */
  readonly keepPath?: boolean | undefined;
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
}

/** The list that the flags name, and the outcomes that are read again. */
export function siteList(
  names: readonly string[],
  flags: FleetFlags,
  { stdin }: Context,
): { readonly list: SiteList; readonly retry: readonly (typeof retryNames)[number][] } {
  const { from: files = [], column } = flags;
  for (const file of files.filter((name) => name !== "-")) {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) throw new UsageError(`no such file: ${file}`);
    if (stat.isDirectory()) throw new UsageError(`${file} is a folder`);
  }
  if (column !== undefined && flags.from === undefined) throw new UsageError("--column needs --from");
  if (/^0+$/.test(column ?? "")) throw new UsageError("--column counts from 1");
  const shard = flags.shard === undefined ? undefined : readShard(flags.shard);
  if (flags.shard !== undefined && shard === undefined)
    throw new UsageError(`--shard takes a part and a number of parts, such as 2/8, not ${flags.shard}`);
  const { keepPath, onlyPath } = givenCrawl(flags);
  const list = new SiteList({ sites: names, files, column, shard, keepPath: keepPath || onlyPath, stdin });
  return { list, retry: namesIn("--retry", flags.retry, retryNames) };
}

export const noList = "name homepages, or a list of them with --from FILE; --help shows examples";

/** Counts what it reads. Each website is yielded once. */
export class SiteList {
  readonly #options: SiteListOptions;
  readonly #seen = new Set<string>();
  /** Lists of which the first website was read already. */
  readonly #begun = new Map<string, AsyncIterable<ListEntry>>();
  /** The first ones. */
  readonly malformed: MalformedLine[] = [];
  /** Told each of them, for a log. */
  onMalformed: ((line: MalformedLine) => void) | undefined;
  malformedCount = 0;
  duplicates = 0;
  /** In other shards of the list. */
  elsewhere = 0;
  /** Websites that were listed, each once. */
  count = 0;

  constructor(options: SiteListOptions) {
    this.#options = options;
  }

  /** Whether websites or files were named. */
  get isGiven(): boolean {
    const { sites, files } = this.#options;
    return sites.length + files.length > 0;
  }

  /** Throws a `UsageError` where a file has not the column, before anything is read from any of them. */
  async expectColumn(): Promise<void> {
    const { files, column } = this.#options;
    if (column === undefined) return;
    for (const file of new Set(files)) {
      const entries = this.#entries(file);
      this.#begun.set(file, resumed(await entries.next(), entries));
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SiteJob, void> {
    const { sites, files } = this.#options;
    yield* this.#jobs("command line", sites.entries());
    for (const file of files) {
      const begun = this.#begun.get(file);
      this.#begun.delete(file);
      yield* this.#jobs(file, begun ?? this.#entries(file));
    }
  }

  #entries(file: string): AsyncGenerator<ListEntry, void> {
    const { column, stdin = process.stdin } = this.#options;
    const lines = linesOf(file === "-" ? stdin : createReadStream(file));
    return column === undefined ? plain(lines) : cells(lines, column, file);
  }

  async *#jobs(file: string, texts: AsyncIterable<ListEntry> | Iterable<ListEntry>): AsyncGenerator<SiteJob, void> {
    const { shard, keepPath } = this.#options;
    for await (const [at, text, around = text, settings] of texts) {
      const job = siteJob(text, { keepPath });
      if (job === undefined) {
        const line = { file, line: at + 1, text: inMessage(text || around) };
        this.malformedCount += 1;
        if (this.malformed.length < mostMalformed) this.malformed.push(line);
        this.onMalformed?.(line);
      } else if (this.#seen.has(job.key)) this.duplicates += 1;
      else {
        this.#seen.add(job.key);
        if (shard !== undefined && !isInShard(job.homepage, shard)) {
          this.elsewhere += 1;
          continue;
        }
        this.count += 1;
        yield settings === undefined ? job : { ...job, settings };
      }
    }
  }
}

/** The number of a line from 0, what stands for a homepage, the line where that is not all of it, and settings in other columns. */
type ListEntry = readonly [number, string, string?, SiteSettings?];

async function* resumed<T>(first: IteratorResult<T, void>, rest: AsyncIterable<T>): AsyncGenerator<T, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

const mostMalformed = 5;

/** Reports which lines of a list were not used. */
export function reportList({ malformed, malformedCount, duplicates, elsewhere }: SiteList, messages: Messages): void {
  for (const line of malformed) messages.say(inWords(line), "warning");
  const more = malformedCount - malformed.length;
  if (more > 0) {
    const lines = `${counted(more, "more line")} that ${more === 1 ? "names" : "name"} no website`;
    messages.say(`and ${lines}; --log-file lists them all`, "warning");
  }
  if (duplicates > 0) messages.say(counted(duplicates, "duplicate"), "quiet");
  if (elsewhere > 0) messages.say(`${counted(elsewhere, "website")} of the list in other parts`, "quiet");
}

/** Whether all lines name a website: otherwise that is the last word, and such a run is not complete. */
export function wasRead({ malformedCount }: SiteList, messages: Messages): boolean {
  const lines = `${counted(malformedCount, "line")} of the list ${malformedCount === 1 ? "names" : "name"} no website`;
  if (malformedCount > 0) messages.say(`not complete: ${lines}`, "warning");
  return malformedCount === 0;
}

export function inWords({ file, line, text }: MalformedLine): string {
  return `${file}:${line}: not a website: ${text}`;
}

function inMessage(text: string): string {
  return text === tooLong ? `a line of more than ${grouped(longestLine)} characters` : text.slice(0, 200);
}

/** The number of a line from 0, and its text. */
type Line = readonly [number, string];

// A line of any length takes little memory: one that is too long for a homepage and its row is replaced.
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void> {
  let number = 0;
  let line = "";
  let isLong = false;
  let endsInReturn = false;
  for await (const piece of decoded(bytes)) {
    const text = endsInReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    if (piece !== "") endsInReturn = piece.endsWith("\r");
    for (const [at, part] of text.split(/\r\n|[\n\r\u2028\u2029]/).entries()) {
      if (at > 0) {
        yield [number++, isLong ? tooLong : line];
        [line, isLong] = ["", false];
      }
      isLong ||= line.length + part.length > longestLine;
      line = isLong ? "" : line + part;
    }
  }
  if (line !== "" || isLong) yield [number, isLong ? tooLong : line];
}

const longestLine = 64 * 1024;
// No website: a NUL.
const tooLong = "\0";

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

// A comment begins with # at the start of a line or after a space: inside a URL it is a fragment.
async function* plain(lines: AsyncIterable<Line>): AsyncGenerator<Line, void> {
  for await (const [at, line] of lines) {
    const text = line.replace(/(^|\s)#.*$/, "").trim();
    if (text !== "") yield [at, text];
  }
}

/** The number of its first line, its text, and its cells. */
type Row = readonly [number, string, readonly string[]];

// https://www.rfc-editor.org/rfc/rfc4180, with commas, semicolons or tabs. If a quote is never closed, each line is a row.
async function* rows(lines: AsyncIterable<Line>): AsyncGenerator<Row, void> {
  let open: Line[] = [];
  let separator: string | undefined;
  for await (const line of lines) {
    if (open.length === 0 && /^\s*$|^#/.test(line[1])) continue;
    separator ??= [",", ";", "\t"].find((candidate) => line[1].includes(candidate)) ?? ",";
    open.push(line);
    const text = open.map(([, each]) => each).join("\n");
    const { row, isOpen } = splitRow(text, separator);
    if (!isOpen) yield [open[0]?.[0] ?? 0, text, row];
    else if (open.length < mostLines) continue;
    else for (const [at, each] of open) yield [at, each, splitRow(each, separator).row];
    open = [];
  }
  for (const [at, each] of open) yield [at, each, splitRow(each, separator ?? ",").row];
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

async function* cells(lines: AsyncIterable<Line>, column: string, file: string): AsyncGenerator<ListEntry, void> {
  const isNumbered = /^\d+$/.test(column);
  let place = isNumbered ? Number(column) - 1 : -1;
  let names: readonly string[] | undefined;
  for await (const [at, line, row] of rows(lines)) {
    if (names === undefined) {
      if (!isNumbered) place = row.findIndex((name) => name.trim().toLowerCase() === column.toLowerCase());
      if (place === -1) throw new UsageError(`${file} has no column ${column}; there are ${row.join(", ")}`);
      if (place >= row.length)
        throw new UsageError(`${file} has no column ${column}; there are ${row.length}: ${row.join(", ")}`);
      // With a number there may be a header, too.
      const isHeader = !isNumbered || siteJob(row[place] ?? "") === undefined;
      names = isHeader ? row : [];
      if (isHeader) continue;
    }
    const settings = settingsIn(row, names);
    // A row whose settings cannot be read is reported like one without a website.
    yield [at, settings === "unreadable" ? "" : (row[place] ?? "").trim(), line, settings as SiteSettings];
  }
}

// The columns that say how a website is read.
const settingColumns = { delay: "delay", "max-pages": "maxPages", retries: "retries" } as const;

function settingsIn(row: readonly string[], names: readonly string[]): SiteSettings | "unreadable" | undefined {
  const given = names.flatMap((name, at) => {
    const setting = settingColumns[name.trim().toLowerCase() as keyof typeof settingColumns];
    const text = row[at]?.trim() ?? "";
    return setting === undefined || text === "" ? [] : [[setting, text] as const];
  });
  if (given.some(([name, text]) => !(name === "delay" ? /^\d+(\.\d+)?$/ : /^\d+$/).test(text))) return "unreadable";
  return given.length === 0 ? undefined : Object.fromEntries(given.map(([name, text]) => [name, Number(text)]));
}
