// Lists of websites: one homepage per line, with comments and blank lines, or a column of a CSV file.
import { createReadStream, statSync } from "node:fs";
import { type Line, linesOf, type Row, rowsOf, tooLong, tooLongInWords } from "../../diff/table.ts";
import { isInShard, readShard, type Shard } from "../../fleet/shard.ts";
import { type SiteJob, siteJob } from "../../fleet/site-job.ts";
import { counted } from "../../model/figures.ts";
import { UsageError } from "../exit-codes.ts";
import { crawlOptions, namesIn } from "../flags.ts";
import type { Messages } from "../output/messages.ts";
import { type FleetFlags, retryNames } from "./flags.ts";

export const noList = "no homepages given; use --from FILE for a list, or see the examples in --help";

/** A list of websites. Yields each website of its shard once, and counts what it reads. */
export class SiteList {
  readonly #names: readonly string[];
  readonly #flags: Partial<FleetFlags>;
  readonly #shard: Shard | undefined;
  readonly #stdin: AsyncIterable<Uint8Array>;
  readonly #seen = new Set<string>();
  /** The files, if their first rows have already been read. */
  #begun: readonly AsyncIterable<ListEntry>[] = [];
  /** Websites with these outcomes are crawled again. */
  readonly retry: readonly (typeof retryNames)[number][];
  /** Called with a sentence about each line that is not a website. */
  onMalformed: ((sentence: string) => void) | undefined;
  malformedCount = 0;
  /** Whether a line that is not a website has one in one of its columns. */
  hasColumns = false;
  duplicates = 0;
  /** How many websites belong to other shards of the list. */
  inOtherShards = 0;
  /** How many different websites of this shard were read from the list. */
  count = 0;

  /** Throws a `UsageError` if a file is missing or a flag is wrong. The file - is standard input. */
  constructor(names: readonly string[], flags: Partial<FleetFlags>, stdin: AsyncIterable<Uint8Array> = process.stdin) {
    const { from, column, shard } = flags;
    this.#names = names;
    this.#flags = flags;
    this.#stdin = stdin;
    this.retry = namesIn("--retry", flags.retry, retryNames);
    for (const file of this.#files.filter((name) => name !== "-")) {
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat === undefined) throw new UsageError(`no such file: ${file}`);
      if (stat.isDirectory()) throw new UsageError(`${file} is a folder`);
    }
    const list = names.find((name) => looksLikeList.test(name) && statSync(name, { throwIfNoEntry: false })?.isFile());
    if (list !== undefined) throw new UsageError(`${list} is a file; to crawl the websites in it: --from ${list}`);
    if (column !== undefined && from === undefined) throw new UsageError("--column needs --from");
    if (/^0+$/.test(column ?? "")) throw new UsageError("--column counts from 1");
    this.#shard = shard === undefined ? undefined : readShard(shard);
    if (shard !== undefined && this.#shard === undefined)
      throw new UsageError(`--shard takes a part and a number of parts, such as 2/8, not ${shard}`);
  }

  get #files(): readonly string[] {
    return this.#flags.from ?? [];
  }

  /** Whether websites or files were given. */
  get isGiven(): boolean {
    return this.#names.length + this.#files.length > 0;
  }

  /** Checks the column in all files before any list is read. Throws a `UsageError` if a file lacks it. */
  async expectColumn(): Promise<void> {
    if (this.#flags.column !== undefined)
      this.#begun = await Promise.all(this.#files.map((file) => this.#entries(file)));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SiteJob, void> {
    yield* this.#jobs("command line", this.#names.entries());
    for (const [at, file] of this.#files.entries())
      yield* this.#jobs(file, this.#begun[at] ?? (await this.#entries(file)));
  }

  async #entries(file: string): Promise<AsyncIterable<ListEntry>> {
    const lines = linesOf(file === "-" ? this.#stdin : createReadStream(file));
    const { column } = this.#flags;
    return column === undefined ? plain(lines) : cells(lines, column, file);
  }

  async *#jobs(file: string, texts: AsyncIterable<ListEntry> | Iterable<ListEntry>): AsyncGenerator<SiteJob, void> {
    const { path } = crawlOptions(this.#flags);
    for await (const [at, text, around = text] of texts) {
      const job = siteJob(text, { path });
      if (job === undefined) {
        const shown = text === tooLong ? tooLongInWords : (text || around).slice(0, 200);
        const sentence = `${file}:${at + 1}: not a website: ${shown}`;
        this.malformedCount += 1;
        this.hasColumns ||= this.#flags.column === undefined && isRowWithWebsite(text);
        this.onMalformed?.(sentence);
      } else if (this.#seen.has(job.key)) this.duplicates += 1;
      else {
        this.#seen.add(job.key);
        const isHere = this.#shard === undefined || isInShard(job.homepage, this.#shard);
        if (isHere) this.count += 1;
        else this.inOtherShards += 1;
        if (isHere) yield job;
      }
    }
  }
}

// A file could also have the name of a website.
const looksLikeList = /[/\\]|\.(?:txt|csv|tsv)$/i;

function isRowWithWebsite(line: string): boolean {
  const cells = line.slice(0, 1000).split(/[,;\t]/);
  return cells.length > 1 && cells.some((cell) => siteJob(cell.replaceAll('"', "")) !== undefined);
}

/** An entry: its line number, starting at 0; its homepage; and the whole line, if that contains more. */
type ListEntry = readonly [number, string, string?];

const mostMalformed = 5;

/** Reports the first lines that are not websites as soon as they are read, because the crawl may take hours, and logs all of them. */
export function reportMalformed(list: SiteList, messages: Messages, log?: (sentence: string) => void): void {
  list.onMalformed = (sentence) => {
    log?.(sentence);
    if (list.malformedCount <= mostMalformed) messages.say(sentence, "warning");
  };
}

/** Reports how many other lines of a list were not used. */
export function reportList(list: SiteList, messages: Messages): void {
  const { malformedCount, duplicates, inOtherShards, hasColumns } = list;
  const more = malformedCount - mostMalformed;
  if (more > 0) {
    const lines = `${counted(more, "more line")} that ${more === 1 ? "is not a website" : "are not websites"}`;
    messages.say(`and ${lines}; --log-file lists all`, "warning");
  }
  if (hasColumns) messages.say("the list is a table: name the column with the homepages with --column", "warning");
  if (duplicates > 0) messages.say(counted(duplicates, "duplicate"), "quiet");
  if (inOtherShards > 0)
    messages.say(
      `${counted(inOtherShards, "website")} of the list ${inOtherShards === 1 ? "belongs" : "belong"} to other parts`,
      "quiet",
    );
}

// A comment begins with # at the start of a line or after a space. Inside a URL, # begins a fragment.
async function* plain(lines: AsyncIterable<Line>): AsyncGenerator<Line, void> {
  for await (const [at, line] of lines) {
    const text = line.replace(/(^|\s)#.*$/, "").trim();
    if (text !== "") yield [at, text];
  }
}

// Reads the first row at once, to find the column.
async function cells(lines: AsyncIterable<Line>, column: string, file: string): Promise<AsyncIterable<ListEntry>> {
  const all = rowsOf(lines);
  const first = await all.next();
  if (first.done) return all as AsyncGenerator<never>;
  const [, , names] = first.value;
  const isNumbered = /^\d+$/.test(column);
  const isNamed = (name: string) => name.trim().toLowerCase() === column.toLowerCase();
  const place = isNumbered ? Number(column) - 1 : names.findIndex(isNamed);
  if (names[place] === undefined) {
    const there = `${isNumbered ? `${names.length}: ` : ""}${names.join(", ")}`;
    throw new UsageError(`${file} has no column ${column}; its columns are ${there}`);
  }
  // Even if the column is given by number, there may be a header.
  const isHeader = !isNumbered || siteJob(names[place]) === undefined;
  const entry = ([at, line, row]: Row): ListEntry => [at, (row[place] ?? "").trim(), line];
  return (async function* () {
    if (!isHeader) yield entry(first.value);
    for await (const row of all) yield entry(row);
  })();
}
