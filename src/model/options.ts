// Every option: the table is in options/, which also says how to add one. Options are checked once, at the call; all
// other code uses `Settings`.
import { absoluteUrl, boolean, invalid, number, optionsIn, readable } from "./option-checks.ts";
import type { Limits, Options, PageFilterSettings, PageFilters, Settings } from "./option-types.ts";
import { discoveryOptions, filterOptions, parsingOptions } from "./options/discovery.ts";
import { fetchingOptions } from "./options/fetching.ts";
import { limitOptions } from "./options/limits.ts";
import { pageOptions } from "./options/pages.ts";
import { type OptionRow, type OptionSection, typeOf } from "./options/row.ts";
import { storageOptions, watchingOptions } from "./options/running.ts";

export type { Limits, Options, PageFilterSettings, PageFilters, Settings, Timeouts } from "./option-types.ts";
export { version } from "./version.ts";

/** The table, in the order of the documentation. */
export const optionSections: readonly OptionSection[] = [
  { heading: "Discovery", flags: "Discovery", rows: discoveryOptions },
  { heading: "Page filters", flags: "Filters", rows: pageOptions },
  { heading: "Filters", rows: filterOptions },
  { heading: "Parsing", flags: "Parsing", rows: parsingOptions },
  { heading: "Fetching", flags: "Network", rows: fetchingOptions },
  { heading: "Limits", flags: "Limits", rows: limitOptions },
  { heading: "Storage", flags: "Archive", rows: storageOptions },
  { heading: "Events and cancellation", rows: watchingOptions },
];

const rows = optionSections.flatMap(({ rows }) => (rows === pageOptions ? [] : rows));

/** The options that shape a tree. */
export const shapingOptions: readonly OptionRow[] = rows.filter(({ shapesTree }) => shapesTree);

/** Which addresses may be connected to. */
export type NetworkPolicy = "default" | "allow-private" | "public-only";

/** Where documents are kept until the tree is closed. */
export type StoreKind = "auto" | "memory" | "file";

/** Where the children are that `recurse` and `recurseList` decide about. */
export interface RecurseContext {
  /** The URL of the index that names the children. */
  readonly parent: string;
  /** The URLs from the root to the parent. */
  readonly ancestors: readonly string[];
  /** The depth of the children; 1 for those of the root. */
  readonly depth: number;
}

/** The names of the page filters. */
export const pageFilterNames: readonly string[] = pageOptions.map(({ name }) => name);

/** Options of `streamPages` and `crawl`. */
export interface StreamOptions extends Options, PageFilters {}
export interface StreamSettings extends Settings, PageFilterSettings {}

/** Options of `parseSitemap` and `readSitemap`. */
export interface ParseOptions extends Pick<Options, "strict" | "limits"> {
  /** The URL of the document: relative URLs are resolved against it, and a URL that ends in `/robots.txt` makes it a robots.txt. */
  url?: string | URL | undefined;
}

export interface ParseSettings extends Pick<Settings, "strict" | "limits"> {
  readonly url: string | undefined;
}

const parseRows: readonly OptionRow[] = [
  { name: "url", type: "string | URL", check: absoluteUrl, text: "The URL of the document." },
  ...rows.filter(({ name }) => name === "strict" || name === "limits"),
];

/** Options of `openTree`. */
export type ArchiveOptions = Pick<Options, "limits" | "rewrite" | "signal" | "onEvent">;
export type ArchiveSettings = Pick<Settings, "limits" | "rewrite" | "signal" | "onEvent">;

const archiveRows = rows.filter(({ name }) => ["limits", "rewrite", "signal", "onEvent"].includes(name));

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveOptions(options?: Options): Settings {
  const isGiven = ({ name }: OptionRow) =>
    (options as StreamOptions | undefined)?.[name as keyof PageFilters] !== undefined;
  const filter = readable("options", () => pageOptions.find(isGiven));
  if (filter)
    throw invalid(
      `Unknown option \`${filter.name}\` of a tree; give it to \`tree.pages()\`, \`streamPages\` or \`crawl\``,
    );
  return resolve(rows, options) as unknown as Settings;
}

/** For a stream of pages. */
export function resolveStreamOptions(options?: StreamOptions): StreamSettings {
  return resolve([...rows, ...pageOptions], options) as unknown as StreamSettings;
}

/** For the pages of a tree or a document. */
export function resolvePageFilters(filters?: PageFilters): PageFilterSettings {
  return resolve(pageOptions, filters) as unknown as PageFilterSettings;
}

/** For one document. */
export function resolveParseOptions(options?: ParseOptions): ParseSettings {
  return resolve(parseRows, options) as unknown as ParseSettings;
}

/** For an archive. */
export function resolveArchiveOptions(options?: ArchiveOptions): ArchiveSettings {
  return resolve(archiveRows, options) as unknown as ArchiveSettings;
}

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
  return typeOf(row) === "boolean" ? boolean(name, value) : number(name, value, row.minimum);
}

function resolve(
  known: readonly OptionRow[],
  given: unknown = {},
  { name = "options", prefix = "", expected = "an object" } = {},
): Record<string, unknown> {
  const names = known.map((row) => row.name);
  const values = optionsIn(name, given, names, { prefix, expected });
  const settings: Record<string, unknown> = {};
  for (const row of known) {
    const value = values.get(row.name);
    const path = `${prefix}${row.name}`;
    settings[row.name] =
      value === undefined ? defaultOf(row, settings) : readable(path, () => checkOption(row, value, path));
  }
  return settings;
}

function defaultOf({ members, defaultFrom, default: value }: OptionRow, others: Record<string, unknown>): unknown {
  if (members !== undefined) return resolve(members);
  return defaultFrom === undefined ? value : defaultFrom(others);
}

export const defaultLimits: Limits = resolveOptions().limits;
