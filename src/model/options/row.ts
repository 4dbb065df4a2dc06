// What a row of the table of options says.
//
// To add an option, add one row to the file of its section in this folder and run `npm run tables`: that writes the types
// `Options` and `Settings` (src/model/option-types.ts), docs/options.md and docs/command-line.md. Checks, defaults, flags, shell
// completion and the settings kept in an archive come from the same row.

/** Checks a value that was given, and gives it back as `Settings` has it. Throws a `SitemapError` (`invalid-option`). */
export type Check = (name: string, value: unknown) => unknown;

/** One option. */
export interface OptionRow {
  readonly name: string;
  /** What a caller may give, in TypeScript. @default the type of the default: `number` or `boolean` */
  readonly type?: string;
  /** What `Settings` has, in TypeScript, where that differs. */
  readonly settingType?: string;
  /** Absent: `undefined`, and no check. */
  readonly default?: unknown;
  /** The default as the documentation shows it, where the value itself is not enough. */
  readonly defaultShown?: string;
  /** Not needed for `boolean` and `number`, nor where there are members. */
  readonly check?: Check;
  /** Of a number. @default 0 */
  readonly minimum?: number;
  /** The options inside of this one, such as `limits.depth`. */
  readonly members?: readonly OptionRow[];
  /** A number alone stands for this member. */
  readonly shorthand?: string;
  /** The default where other members have been given. */
  readonly defaultFrom?: (others: Readonly<Record<string, unknown>>) => unknown;
  /**
   * Two crawls with different values can give different trees: it is kept in archives, and a replay uses it. Members do
   * where the option around them does, unless they say no.
   */
  readonly shapesTree?: boolean;
  /** What it does, in sentences. Markdown. */
  readonly text: string;
  /** What else there is to say in docs/options.md, where there is room. Markdown. */
  readonly more?: string;
  /** An example of a value, in TypeScript. */
  readonly example?: string;
  readonly flags?: readonly FlagRow[];
}

/** A flag of the command line that sets an option. */
export interface FlagRow {
  /** As commander reads it: `-r, --no-robots`, `--max-depth <n>`. */
  readonly flags: string;
  /** Where it stands in the help. @default where the flags of its section stand */
  readonly group?: FlagGroup;
  /** A noun phrase or an imperative that makes sense without the name of the flag beside it. */
  readonly text: string;
  /** How its value is read, or what each word that it takes stands for. Without it, the flag takes no value and sets `sets`. */
  readonly value?:
    | "number"
    | "seconds"
    | "bytes"
    | "text"
    | "texts"
    | "headers"
    | "pairs"
    | "files"
    | Readonly<Record<string, unknown>>;
  readonly sets?: unknown;
  /** The flag that says the opposite. */
  readonly conflicts?: string;
}

export type FlagGroup = "Filters" | "Discovery" | "Parsing" | "Archive" | "Network" | "Limits";

export interface OptionSection {
  readonly heading: string;
  readonly flags?: FlagGroup;
  readonly rows: readonly OptionRow[];
}

/** What a caller may give, in TypeScript. */
export function typeOf({ type, default: value }: OptionRow): string {
  return type ?? typeof value;
}
