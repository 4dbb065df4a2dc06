// Defines and checks the options of a diff.
import {
  type ChangeKind,
  changeKinds,
  type DiffTotals,
  ignorable,
  listedKinds,
  type PageField,
} from "../model/change.ts";
import { functionValue, invalid, signal, strings, suggestion, text } from "../model/option-checks.ts";
import { crawlOptionsIn, type Options } from "../model/options.ts";
import { type Matches, type Pattern, passing, patterns } from "../model/pattern.ts";

/**
 * Options of `diffTrees`. The options of a crawl apply to sides that are websites. `rewrite` also applies to archives and files, `limits` to
 * archives and sitemap files, and `strict` to sitemap files.
 */
export interface DiffOptions extends Omit<Options, "save" | "resume"> {
  /**
   * Differences to ignore: fields of pages, and `sitemap`, the sitemap that declares a page.
   * @default []
   * @example ["lastModified", "priority"]
   */
  ignore?: readonly (PageField | "sitemap")[] | undefined;
  /**
   * The kinds of changes to report.
   * @default all but `expired`
   */
  only?: readonly ChangeKind[] | undefined;
  /** Compare only pages whose URL matches one of these patterns. Other pages count as being on neither side. */
  include?: Pattern | readonly Pattern[] | undefined;
  /** Skip pages whose URL matches one of these patterns. */
  exclude?: Pattern | readonly Pattern[] | undefined;
  /** The column of a table (CSV, TSV) that has the URLs, by its name or its number, if its header does not show it. */
  column?: string | undefined;
  /** Aborts the diff: the loop throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with the totals after the last change. */
  onFinished?: ((totals: DiffTotals) => void) | undefined;
}

/** Returns equal texts for pages with equal content. */
export type ContentOf = (url: string) => string;

/** The checked options. */
export interface DiffSettings extends Pick<DiffOptions, "column" | "signal" | "onFinished"> {
  /** How a side that is a website is crawled. */
  readonly crawl: Options;
  readonly ignored: ReadonlySet<PageField>;
  readonly ignoresSitemap: boolean;
  /** Whether a page is compared, by its URL. @default all */
  readonly include?: Matches | undefined;
  readonly kinds: ReadonlySet<ChangeKind>;
  /** Functions that return the content of a page on each side, if contents are compared. */
  readonly contents?: readonly [before: ContentOf, after: ContentOf] | undefined;
  /** Called with the URL of each page of the new side. */
  readonly onListed?: (url: string) => void;
}

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveDiffOptions(options: DiffOptions = {}): DiffSettings {
  const own = ["ignore", "only", "include", "exclude", "column", "signal", "onFinished"];
  const crawl = crawlOptionsIn(options, own, ["save", "resume"]);
  const { ignore: names = [], only = listedKinds } = options;
  const ignore = namesAmong("ignore", names, ignorable);
  return {
    ignored: new Set(ignore.filter((name) => name !== "sitemap")),
    ignoresSitemap: ignore.includes("sitemap"),
    kinds: new Set(namesAmong("only", only, changeKinds)),
    include: passing(patterns("include", options.include ?? []), patterns("exclude", options.exclude ?? [])),
    column: given("column", options.column, text),
    crawl,
    signal: given("signal", options.signal, signal),
    onFinished: given("onFinished", options.onFinished, functionValue),
  };
}

function given<T>(name: string, value: T, check: (name: string, value: unknown) => unknown): T {
  if (value !== undefined) check(name, value);
  return value;
}

function namesAmong<T extends string>(option: string, names: readonly T[], known: readonly T[]): readonly T[] {
  const wrong = strings(option, names).find((name) => !known.includes(name as T));
  if (wrong === undefined) return names;
  const hint = suggestion(wrong, known) || `; choose from ${known.join(", ")}`;
  throw invalid(`Unknown name \`${wrong}\` in \`${option}\`${hint}`);
}
