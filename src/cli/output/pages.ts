// The formats of websites and documents, and the writers of those that list pages.
import { byteOrderMark, type CsvSeparator, csvWriter, type ExplodedList } from "../../write/csv.ts";
import { ndjsonWriter, type PageWriter, pagesJsonWriter, pagesWriter, type ShowUrl } from "../../write/pages.ts";
import { UsageError } from "../exit-codes.ts";

/** Of one document. */
export const documentFormats = ["tabtree", "pages", "pages-json", "json", "ndjson", "csv"] as const;
/** Of a website. */
export const formats = [
  "tabtree",
  "pages",
  "pages-json",
  "json",
  "ndjson",
  "csv",
  "sitemaps",
  "sitemaps-csv",
  "parquet",
] as const;
export const formatInWords = "output format";
export const explodeInWords = "one row per item of a list (csv)";

export type Format = (typeof formats)[number];
/** Lists of pages: written during the crawl. The others show the tree, and wait for it. */
export type PageFormat = "pages" | "pages-json" | "ndjson" | "csv";
/** Tables of sitemaps: made from what happened, without reading pages again. */
export type SitemapFormat = "sitemaps" | "sitemaps-csv";

export function isPageFormat(format: Format): format is PageFormat {
  return format === "pages" || format === "pages-json" || format === "ndjson" || format === "csv";
}

export function isSitemapFormat(format: Format): format is SitemapFormat {
  return format === "sitemaps" || format === "sitemaps-csv";
}

export interface CsvFlags {
  readonly csvSafe: boolean;
  readonly columns?: string | undefined;
  readonly explode?: ExplodedList | undefined;
  readonly separator?: CsvSeparator | undefined;
  readonly excel?: true | undefined;
}

export function pageWriter(format: PageFormat, flags: CsvFlags, show?: ShowUrl): PageWriter {
  if (format === "pages") return pagesWriter(show);
  if (format === "pages-json") return pagesJsonWriter(show);
  if (format === "ndjson") return ndjsonWriter();
  const writer = csv(flags);
  return flags.excel ? { ...writer, header: byteOrderMark + writer.header } : writer;
}

/** Refuses flags without an effect, and unknown columns. */
export function checkCsvFlags(format: Format, flags: CsvFlags): void {
  if (format === "csv") return void csv(flags);
  const { csvSafe, columns, explode, separator, excel } = flags;
  const ofPages = [columns !== undefined && "--columns", explode && "--explode"];
  const ofTables = [!csvSafe && "--no-csv-safe", separator && "--separator", excel && "--excel"];
  const useless = [...ofPages, ...(format === "sitemaps-csv" ? [] : ofTables)].find(Boolean);
  if (useless) throw new UsageError(`${useless} works with the format csv`);
}

function csv({ csvSafe: safe, columns, explode, separator }: CsvFlags): PageWriter {
  return csvWriter({ columns: columns?.split(",").map((name) => name.trim()), explode, separator, safe });
}
