// What an option is, how its value is checked, and the options for a single document. This file must not import the options of a crawl
// (option-table.ts) or have texts of flags, because it is part of the bundles of `sitegrove/parse`.
import { fixedLimitsOf } from "./fixed-limits.ts";
import { absoluteUrl, boolean, number, optionsIn } from "./option-checks.ts";

/** One option. */
export interface OptionRow {
  readonly name: string;
  /** The value if the option is not given. */
  readonly default?: unknown;
  /** Returns the value for `Settings`, or throws a `SitemapError`. Not needed for booleans, numbers and options with members. */
  readonly check?: (name: string, value: unknown) => unknown;
  /** The smallest valid number. @default 0 */
  readonly minimum?: number;
  /** The options inside this one, such as `limits.depth`. */
  readonly members?: readonly OptionRow[];
  /** The member that a plain number sets. */
  readonly shorthand?: string;
  /** Computes the default from the members before this one. */
  readonly defaultFrom?: (others: Readonly<Record<string, unknown>>) => unknown;
  /** False for an option that a replay must not take from the archive. */
  readonly shapesTree?: false;
  /** More text for docs/options.md. Markdown. */
  readonly more?: string;
  readonly flags?: readonly FlagRow[];
}

/** A flag of the command line that sets an option. */
export interface FlagRow {
  /** As commander reads it: `-r, --no-robots`, `--max-depth <n>`. */
  readonly flags: string;
  /** A noun phrase or an imperative that makes sense without the flag's name. */
  readonly text: string;
  /** How to read the flag's value, or the words it accepts and the value of each. If absent, the flag sets the option to `sets`. */
  readonly value?: FlagValue;
  readonly sets?: unknown;
  /** The flag it cannot be combined with. */
  readonly conflicts?: string;
}

type FlagFormat = "number" | "seconds" | "bytes" | "text" | "texts" | "headers" | "pairs" | "files";
export type FlagValue = FlagFormat | Readonly<Record<string, unknown>>;

/** The URL of a document that is parsed. */
export const urlOption: OptionRow = { name: "url", check: absoluteUrl };

export const strictOption: OptionRow = { name: "strict", default: false };

export const limitOptions: readonly OptionRow[] = [
  { name: "pages", default: Number.POSITIVE_INFINITY },
  { name: "sitemaps", default: 50_000 },
  { name: "depth", default: 11 },
  { name: "bytes", default: Number.POSITIVE_INFINITY },
  { name: "documentBytes", default: 104_857_600 },
  // A replay needs no time limit: what the crawl had no time for is not in the archive.
  { name: "time", default: Number.POSITIVE_INFINITY, shapesTree: false },
];

export const limitsOption: OptionRow = { name: "limits", members: limitOptions };

/** Checks the value of one option. */
export function checkOption(row: OptionRow, value: unknown, name: string = row.name): unknown {
  const { members, shorthand, check } = row;
  if (members !== undefined) {
    if (shorthand === undefined || typeof value !== "number") {
      const expected = shorthand === undefined ? "an object" : "a number or an object";
      return resolve(members, value, { name, prefix: `${name}.`, expected });
    }
    const member = members.find((candidate) => candidate.name === shorthand) as OptionRow;
    return resolve(members, { [shorthand]: checkOption(member, value, name) });
  }
  if (check !== undefined) return check(name, value);
  return typeof row.default === "boolean" ? boolean(name, value) : number(name, value, row.minimum);
}

/** Checks the values of options and fills in the defaults. */
export function resolve<Resolved>(
  known: readonly OptionRow[],
  given: unknown = {},
  {
    name = "options",
    prefix = "",
    expected = "an object",
  }: Partial<Record<"name" | "prefix" | "expected", string>> = {},
): Resolved {
  const names = known.map((row) => row.name);
  const values = optionsIn(name, given, names, { prefix, expected });
  const settings: Record<string, unknown> = {};
  for (const row of known) {
    const value = values.get(row.name);
    const path = `${prefix}${row.name}`;
    settings[row.name] = value === undefined ? defaultOf(row, settings) : checkOption(row, value, path);
  }
  return settings as Resolved;
}

function defaultOf({ members, defaultFrom, default: value }: OptionRow, others: Record<string, unknown>): unknown {
  if (members !== undefined) return resolve(members);
  return defaultFrom === undefined ? value : defaultFrom(others);
}

/** Checks options, fills in the defaults, and adds the limits that users cannot set. */
export function resolveAll<Resolved extends { readonly limits: object }>(
  known: readonly OptionRow[],
  options: { readonly limits?: object | undefined } | undefined,
): Resolved {
  const settings: Resolved = resolve(known, options);
  return { ...settings, limits: { ...fixedLimitsOf(options?.limits), ...settings.limits } };
}
