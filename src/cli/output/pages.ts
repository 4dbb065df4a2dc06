// The formats of websites and documents, and the writers of those that list pages.
import { Option } from "commander";
import { byteOrderMark, csvWriter } from "../../write/csv.ts";
import { ndjsonWriter, type PageWriter, pagesJsonWriter, pagesWriter, type ShowUrl } from "../../write/pages.ts";
import { UsageError } from "../exit-codes.ts";
import type { Flags } from "../flags.ts";

/** The formats of one document. */
export const documentFormats = ["tabtree", "pages", "pages-json", "json", "ndjson", "csv"] as const;
export type Format = (typeof documentFormats)[number] | "sitemaps" | "sitemaps-csv" | "parquet";
/** The formats of a website. */
export const formats: readonly Format[] = [...documentFormats, "sitemaps", "sitemaps-csv", "parquet"];
/** Formats that are lists of pages, written as text during the crawl. */
export type PageFormat = "pages" | "pages-json" | "ndjson" | "csv";

export function formatOption(choices: readonly Format[]): Option {
  const option = new Option("-f, --format <format>", "output format").choices(choices);
  return option.default(undefined, byNameText("tabtree"));
}

/** Describes the default of a command that chooses its format with `formatByName`. */
export function byNameText(format: string): string {
  return `${format}, or by the file name in --output`;
}

/**
 * Returns the given format. Without one, the name of the output file decides, or else it is the first of `formats`. Throws a `UsageError` if
 * that name promises a compressed file or a workbook, which no format is.
 */
export function formatByName<F extends string>(
  given: F | undefined,
  output: string | undefined,
  formats: readonly F[],
): F {
  const [, ending = ""] = /\.(\w+)$/.exec(output?.toLowerCase() ?? "") ?? [];
  if (/^(?:gz|zst|br|bz2|xz|zip)$/.test(ending))
    throw new UsageError(`--output does not compress: name a file without .${ending}, or use a pipe`);
  if (/^(?:xlsx?|ods)$/.test(ending)) throw new UsageError(`--output writes no .${ending} files: use -f csv and .csv`);
  if (given !== undefined) return given;
  const named =
    { md: "markdown", jsonl: "ndjson", xml: "rss", txt: formats[0] === "ndjson" ? "pages" : formats[0] }[ending] ??
    ending;
  return formats.find((format) => format === named) ?? formats[0]!;
}

export function isPageFormat(format: Format): format is PageFormat {
  return format === "pages" || format === "pages-json" || format === "ndjson" || format === "csv";
}

/** Whether a format is a table of sitemaps, which needs only the events of the crawl. */
export function isSitemapFormat(format: Format): format is "sitemaps" | "sitemaps-csv" {
  return format === "sitemaps" || format === "sitemaps-csv";
}

export function pageWriter(format: PageFormat, flags: Flags, show?: ShowUrl): PageWriter {
  if (format === "pages") return pagesWriter(show);
  if (format === "pages-json") return pagesJsonWriter(show);
  if (format === "ndjson") return ndjsonWriter();
  const { csvSafe: safe, columns, explode, separator, excel } = flags;
  const writer = csvWriter({ columns: columns?.split(",").map((name) => name.trim()), explode, separator, safe });
  return excel ? { ...writer, header: byteOrderMark + writer.header } : writer;
}

/** Refuses CSV flags without an effect, and unknown columns. */
export function checkCsvFlags(format: Format, flags: Flags): void {
  if (format === "csv") return void pageWriter(format, flags);
  const { csvSafe, columns, explode, separator, excel } = flags;
  const ofPages = [columns !== undefined && "--columns", explode && "--explode"];
  const ofTables = [!csvSafe && "--no-csv-safe", separator && "--separator", excel && "--excel"];
  const useless = [...ofPages, ...(format === "sitemaps-csv" ? [] : ofTables)].find(Boolean);
  if (useless) throw new UsageError(`${useless} works only with -f csv`);
}
