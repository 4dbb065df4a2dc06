// Flags that several commands share. Those that set options of the library come from the table of options: `--max-time 60` is
// `limits: { time: 60_000 }`, `--no-robots` is `useRobots: false`. An invalid value ends the program before anything is fetched or
// written.

import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { grouped } from "../model/figures.ts";
import { timeOrSeconds } from "../model/instant.ts";
import { suggestion } from "../model/option-checks.ts";
import type { FlagRow, OptionRow } from "../model/option-row.ts";
import { type FlagGroup, optionSections } from "../model/option-table.ts";
import type { Options, PageFilters } from "../model/options.ts";
import { type ListField, listFields } from "../model/page-fields.ts";
import type { CsvSeparator } from "../write/csv.ts";
import { orUsageError, UsageError } from "./exit-codes.ts";
import type { MessageFlags } from "./output/messages.ts";

/** The values of the flags, by commander's attribute names: `maxTime`. */
export type CrawlFlags = Readonly<Record<string, unknown>>;

type Texts = readonly string[] | undefined;
type Switch = "force" | "all" | "stripUrl" | "summary" | "trailer" | "json" | "exitCode" | "excel" | "insecure";
type TextFlag = "output" | "columns" | "since" | "save" | "resume" | "column" | "url" | "config" | "now" | "order";
type TextsFlag = "include" | "exclude" | "only" | "ignore" | "sitemap" | "map" | "files" | "off";

/** The flags that commands read directly. Each command has some of them. */
export interface Flags<Format = string>
  extends CrawlFlags,
    MessageFlags,
    Readonly<Partial<Record<Switch, true | undefined>>>,
    Readonly<Partial<Record<TextFlag, string | undefined>>>,
    Readonly<Partial<Record<TextsFlag, Texts>>> {
  readonly format: Format;
  readonly progress: boolean;
  readonly csvSafe: boolean;
  readonly explode?: ListField | undefined;
  readonly separator?: CsvSeparator | undefined;
  readonly limit?: number | undefined;
  readonly previous?: string | Texts;
}

interface OptionFlag extends FlagRow {
  readonly group: FlagGroup | undefined;
  /** The path of its option: `["limits", "time"]`. */
  readonly path: readonly string[];
  readonly row: OptionRow;
  readonly option: Option;
}

const optionFlags: readonly OptionFlag[] = optionSections.flatMap(({ rows, flags: group }) =>
  rows.flatMap((row) => flagsOf(row, group)),
);

function flagsOf(row: OptionRow, group: FlagGroup | undefined, parents: readonly string[] = []): OptionFlag[] {
  const path = [...parents, row.name];
  const own = (row.flags ?? []).map((flag) => ({ ...flag, group, path, row, option: optionOf(flag, row) }));
  return [...own, ...(row.members ?? []).flatMap((member) => flagsOf(member, group, path))];
}

function optionOf({ flags, text, value, conflicts }: FlagRow, row: OptionRow): Option {
  const option = new Option(flags, `${text}${defaultInWords(value, row.default)}`);
  if (value === "number") option.argParser(wholeNumber(row.minimum ?? 0));
  if (value === "seconds") option.argParser((text) => secondsWithMinimum(text, row.minimum));
  if (value === "bytes") option.argParser(byteCount);
  if (["texts", "files", "headers", "pairs"].includes(value as string)) option.argParser(collected);
  if (typeof value === "object") option.choices(Object.keys(value));
  return conflicts === undefined ? option : option.conflicts(conflicts);
}

function defaultInWords(value: FlagRow["value"], given: unknown): string {
  if (typeof given !== "number") return "";
  if (given === Number.POSITIVE_INFINITY) return " (default: none)";
  if (value === "seconds") return ` (default: ${given === 0 ? "none" : `${given / 1000}s`})`;
  return ` (default: ${value === "bytes" ? `${given / 1024 / 1024}M` : grouped(given)})`;
}

/** Adds the flags of one group, in the order of the table. */
export function addCrawlFlags(
  command: Command,
  group: FlagGroup,
  only?: readonly string[],
  except: readonly string[] = [],
): Command {
  for (const flag of optionFlags) {
    const long = flag.option.long ?? "";
    // Each command gets its own option object, because `fleet` changes a description.
    if (flag.group === group && (only?.includes(long) ?? true) && !except.includes(long))
      command.addOption(optionOf(flag, flag.row));
  }
  return command;
}

/** The options that the flags set, except for page filters. Throws a `UsageError` if a value cannot be read. */
export function crawlOptions(flags: CrawlFlags): Options {
  return optionsOf(flags, (group) => group !== "Filters");
}

/** The page filters that the flags set. */
export function pageFilters(flags: CrawlFlags): PageFilters {
  return optionsOf(flags, (group) => group === "Filters");
}

function optionsOf(flags: CrawlFlags, isWanted: (group: FlagGroup | undefined) => boolean): object {
  const options: Record<string, unknown> = {};
  for (const flag of optionFlags) {
    if (!isWanted(flag.group) || !isGiven(flag, flags)) continue;
    let target = options;
    for (const name of flag.path.slice(0, -1)) target = (target[name] ??= {}) as Record<string, unknown>;
    target[flag.path.at(-1) as string] = "sets" in flag ? flag.sets : read(flag, flags[flag.option.attributeName()]);
  }
  return options;
}

function read({ value }: OptionFlag, given: unknown): unknown {
  if (value === "seconds") return Number(given) * 1000;
  if (typeof value === "object") return value[String(given)];
  if (value === "files")
    return (given as readonly string[]).map((file) => orUsageError(file, () => readFileSync(file, "utf8")));
  if (value === "pairs") return (given as readonly string[]).map(urlPair);
  return value === "headers" ? headerLines(given as readonly string[]) : given;
}

/** Returns the flags that were given, such as `--max-time`, except for those that set one of the options in `except`. */
export function givenFlags(flags: CrawlFlags, except: readonly string[]): string[] {
  return optionFlags
    .filter((flag) => !except.includes(flag.path[0] as string) && isGiven(flag, flags))
    .map(({ option }) => option.long ?? option.flags);
}

/** Rewords a message about an option of the library in terms of its flag: `Expected --since to be a date, got "x"`. */
export function withFlagName(message: string): string {
  const [start, name] = /^Expected `([\w.]+)`/.exec(message) ?? [];
  const flag = optionFlags.find(({ path, value }) => value !== undefined && path.join(".") === name);
  if (start === undefined || flag === undefined) return message;
  return `Expected ${flag.option.long}${message.slice(start.length).replace(/ got `(.*)`/s, " got $1")}`;
}

/** Splits `--only added,removed --only moved` into names. Throws a `UsageError` for an unknown one. */
export function namesIn<T extends string>(
  flag: string,
  values: readonly string[] | undefined,
  known: readonly T[],
): readonly T[] {
  const names = (values ?? []).flatMap((value) => value.split(",")).map((name) => name.trim());
  const wrong = names.find((name) => !(known as readonly string[]).includes(name));
  if (wrong === undefined) return names as T[];
  const hint = suggestion(wrong, known) || `; choose from ${known.join(", ")}`;
  throw new UsageError(`${flag}: ${wrong === "" ? "a name is empty" : `unknown name ${wrong}`}${hint}`);
}

/** Refuses --undated without --since. */
export function checkSince({ since, undated }: CrawlFlags): void {
  if (undated && since === undefined) throw new UsageError("--undated needs --since");
}

// In commander, a flag that begins with `no-` is true until it is given; any other flag is undefined.
function isGiven({ option }: OptionFlag, flags: CrawlFlags): boolean {
  const value = flags[option.attributeName()];
  return option.negate ? value === false : value !== undefined && value !== false;
}

/** Appends a value of a flag that may be given several times. */
export function collected(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** Counts how often a flag is given. */
export function raised(_: string, before: number | undefined): number {
  return (before ?? 0) + 1;
}

export function wholeNumber(minimum: number, alternative = ""): (text: string) => number {
  return (text) => {
    if (/^\d{1,15}$/.test(text) && Number(text) >= minimum) return Number(text);
    throw new InvalidArgumentError(`Expected ${alternative}a whole number, ${minimum} or greater.`);
  };
}

/** Parses `30s`, `5m`, `1d`, or a number of seconds. Returns seconds. */
export function seconds(text: string): number {
  const span = timeOrSeconds(text);
  if (span === undefined) throw new InvalidArgumentError("Expected a time such as 500ms, 30s, 5m, 12h or 1d.");
  return span / 1000;
}

function secondsWithMinimum(text: string, minimumMs = 0): number {
  const given = seconds(text);
  if (given * 1000 < minimumMs)
    throw new InvalidArgumentError("Expected a time greater than zero, such as 500ms, 30s or 5m.");
  return given;
}

function date(text: string): string {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError("Expected a date, such as 2026-05-31.");
  return text;
}

/** Parses `5000`, `64k`, `50M`, `1G`, and also `50MB` and `50MiB`. The letters are powers of 1024. */
export function byteCount(text: string): number {
  const [, digits, unit = ""] = /^(\d{1,12}(?:\.\d{1,6})?) ?(?:([kmgt])(?:i?b)?|b)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(digits) * 1024 ** ["", "k", "m", "g", "t"].indexOf(unit.toLowerCase()));
  if (digits === undefined || !Number.isSafeInteger(bytes)) {
    throw new InvalidArgumentError("Expected a number of bytes, such as 5000, 64k, 50M or 1G.");
  }
  return bytes;
}

function separator(text: string): CsvSeparator {
  if (text === "," || text === ";") return text;
  if (text === "tab" || text === "\t") return "\t";
  throw new InvalidArgumentError("Expected a comma, ';' or tab.");
}

function urlPair(text: string): readonly string[] {
  const pair = text.split(/=(?=https?:\/\/)/i);
  if (pair.length === 2) return pair;
  throw new UsageError("--rewrite takes FROM=TO, such as https://example.org/=http://localhost:3000/");
}

/** Removes the byte order mark that editors on Windows write. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Splits each line into a name and a value. A header may be a secret, so no message repeats it. */
function headerLines(lines: readonly string[]): [name: string, value: string][] {
  return lines.map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new UsageError('--header takes "Name: value"');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
}

type SharedFlags = "output" | "column" | "csvSafe" | "csv" | "patterns" | "sitemap" | "rules" | "local" | "messages";

const sharedFlags: Readonly<Record<SharedFlags, (command: Command) => Command>> = {
  output: (command) =>
    command
      .option("-o, --output <file>", "write to FILE at the end, unless the run fails")
      .option("--force", "replace existing files"),
  csvSafe: (command: Command) => command.option("--no-csv-safe", "do not escape cells that look like formulas (csv)"),
  csv: (command) => {
    const explode = "one row per item of a list (csv)";
    return sharedFlags
      .csvSafe(command)
      .option("--columns <names>", "columns, such as url,news.title, or all (csv)")
      .addOption(new Option("--explode <list>", explode).choices(listFields))
      .option("--separator <character>", "cell separator: a comma, ';' or tab (csv)", separator)
      .option("--excel", "start with a byte order mark, so that Excel recognizes UTF-8 (csv)");
  },
  column: (command) =>
    command.option("--column <name>", "column of a CSV or TSV file that has the URLs, by name or number"),
  patterns: (command) => addCrawlFlags(command, "Filters", ["--include", "--exclude"]),
  sitemap: (command) =>
    command
      .optionsGroup("Discovery:")
      .option("--sitemap <url>", "start from this sitemap, without discovery (repeatable)", collected),
  rules: (command) =>
    command
      .optionsGroup("Rules:")
      .option("--config <file>", "configuration file (default: sitegrove.json in this folder or a parent)")
      .option("--off <rules>", "rules to disable (repeatable)", collected)
      .option("--now <date>", "evaluate dates as of this day, such as 2026-05-31", date),
  local: (command) => {
    const map = "read URLs with this prefix from a folder (repeatable)";
    return command
      .optionsGroup("Local files:")
      .option("--url <url>", "public URL of the folder or sitemap file")
      .option("--map <url=folder>", map, collected);
  },
  messages: (command) =>
    command
      .optionsGroup("Messages:")
      .option("-v, --verbose", "log sitemaps, problems and retries; -vv: everything", raised)
      .option("-q, --quiet", "print only errors")
      .option("-l, --log-file <file>", "append the log to FILE")
      .option("--no-progress", "no progress line on a terminal")
      .option("--no-color", "no colors on a terminal"),
};

/** Adds shared flags by name, and flags from the table of options by group. Each of these groups gets a heading. */
export function addFlags(command: Command, ...names: readonly (SharedFlags | FlagGroup)[]): Command {
  for (const name of names) {
    if (name in sharedFlags) sharedFlags[name as SharedFlags](command);
    else addCrawlFlags(command.optionsGroup(`${name}:`), name as FlagGroup);
  }
  return command;
}
