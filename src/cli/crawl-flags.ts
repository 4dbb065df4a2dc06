// The flags that set options of the library, from the rows of the table of options: `--max-time 60` is
// `limits: { time: 60_000 }`, `--no-robots` is `useRobots: false`.
import { type Command, InvalidArgumentError, Option } from "commander";
import { grouped } from "../model/figures.ts";
import type { FlagGroup, FlagRow, OptionRow } from "../model/options/row.ts";
import { type Options, optionSections } from "../model/options.ts";
import { byteCount, collected, fileContent, headerLines, seconds, wholeNumber } from "./flag-values.ts";

/** The flags as typed, by commander's names. */
export type CrawlFlags = Readonly<Record<string, unknown>>;

interface CrawlFlag extends FlagRow {
  /** The path of its option: `["limits", "time"]`. */
  readonly path: readonly string[];
  readonly row: OptionRow;
}

const crawlFlags: readonly CrawlFlag[] = optionSections.flatMap(({ rows }) => rows.flatMap((row) => flagsOf(row)));

/** Adds the flags of one group, in the order of the table. */
export function addCrawlFlags(command: Command, group: FlagGroup, only?: readonly string[]): void {
  for (const flag of crawlFlags) {
    const name = new Option(flag.flags).long ?? "";
    if (flag.group === group && (only === undefined || only.includes(name))) command.addOption(optionOf(flag));
  }
}

/** Adds whole groups, each under its own heading. */
export function addCrawlFlagGroups(command: Command, ...groups: readonly FlagGroup[]): void {
  for (const group of groups) {
    command.optionsGroup(`${group}:`);
    addCrawlFlags(command, group);
  }
}

/** The options that the flags stand for. Throws a `UsageError` where a value cannot be read. */
export function crawlOptions(flags: CrawlFlags): Options {
  const options: Record<string, unknown> = {};
  for (const flag of crawlFlags) {
    if (!isGiven(flag, flags)) continue;
    const value = "sets" in flag ? flag.sets : read(flag, flags[attributeOf(flag)]);
    let place = options;
    for (const name of flag.path.slice(0, -1)) place = (place[name] ??= {}) as Record<string, unknown>;
    place[flag.path.at(-1) as string] = value;
  }
  return options as Options;
}

/** The flags that were given and set an option other than these, as they are typed. */
export function givenFlags(flags: CrawlFlags, except: readonly string[]): string[] {
  return crawlFlags
    .filter((flag) => !except.includes(flag.path[0] as string) && isGiven(flag, flags))
    .map((flag) => new Option(flag.flags).long ?? flag.flags);
}

function flagsOf(row: OptionRow, around: readonly string[] = []): CrawlFlag[] {
  const path = [...around, row.name];
  const own = (row.flags ?? []).map((flag) => ({ ...flag, path, row }));
  return [...own, ...(row.members ?? []).flatMap((member) => flagsOf(member, path))];
}

function optionOf(flag: CrawlFlag): Option {
  const option = new Option(flag.flags, `${flag.text}${defaultInWords(flag)}`);
  const parser = parserOf(flag);
  if (parser !== undefined) option.argParser(parser);
  if (typeof flag.value === "object") option.choices(Object.keys(flag.value));
  return flag.conflicts === undefined ? option : option.conflicts(flag.conflicts);
}

function parserOf({ value, row }: CrawlFlag): ((text: string, before: unknown) => unknown) | undefined {
  switch (value) {
    case "number":
      return wholeNumber(row.minimum ?? 0);
    case "seconds":
      return (text) => someSeconds(text, row.minimum);
    case "bytes":
      return byteCount;
    case "texts":
    case "files":
    case "headers":
      return (text, before) => collected(text, before as readonly string[] | undefined);
    default:
      return undefined;
  }
}

/** `least` in milliseconds. */
function someSeconds(text: string, least = 0): number {
  const given = seconds(text);
  if (given * 1000 < least) throw new InvalidArgumentError("Expected more than no time, such as 0.5, 30s or 5m.");
  return given;
}

function read({ value }: CrawlFlag, given: unknown): unknown {
  if (value === "seconds") return Number(given) * 1000;
  if (typeof value === "object") return value[String(given)];
  if (value === "files") return (given as readonly string[]).map(fileContent);
  return value === "headers" ? headerLines(given as readonly string[]) : given;
}

function defaultInWords({ value, row }: CrawlFlag): string {
  const given = row.default;
  if (typeof given !== "number") return "";
  if (given === Number.POSITIVE_INFINITY) return " (default: none)";
  if (value === "seconds") return ` (default: ${given / 1000})`;
  return ` (default: ${value === "bytes" ? `${given / 1024 / 1024}M` : grouped(given)})`;
}

// A flag that begins with `no-` is true for commander until it is given; every other is undefined.
function isGiven(flag: CrawlFlag, flags: CrawlFlags): boolean {
  const value = flags[attributeOf(flag)];
  return new Option(flag.flags).negate ? value === false : value !== undefined && value !== false;
}

function attributeOf({ flags }: CrawlFlag): string {
  return new Option(flags).attributeName();
}
