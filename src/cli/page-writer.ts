// The writer for a format that lists pages, configured by flags.

import { byteOrderMark, type CsvSeparator, csvWriter, type ExplodedList } from "../write/csv.ts";
import { ndjsonWriter, type PageWriter, pagesWriter, type ShowUrl } from "../write/pages.ts";
import { UsageError } from "./exit-codes.ts";
import type { Format, PageFormat } from "./formats.ts";

export interface CsvFlags {
  readonly csvSafe: boolean;
  readonly columns?: string | undefined;
  readonly explode?: ExplodedList | undefined;
  readonly separator?: CsvSeparator | undefined;
  readonly excel?: true | undefined;
}

export function pageWriter(format: PageFormat, flags: CsvFlags, show?: ShowUrl): PageWriter {
  switch (format) {
    case "pages":
      return pagesWriter(show);
    case "ndjson":
      return ndjsonWriter();
    case "csv": {
      const writer = csv(flags);
      return flags.excel ? { ...writer, header: byteOrderMark + writer.header } : writer;
    }
  }
}

/** Refuses flags without an effect, and unknown columns. */
export function checkCsvFlags(format: Format, flags: CsvFlags): void {
  if (format === "csv") {
    csv(flags);
    return;
  }
  const { csvSafe, columns, explode, separator, excel } = flags;
  const ofPages = [columns !== undefined && "--columns", explode && "--explode"];
  const ofTables = [!csvSafe && "--no-csv-safe", separator && "--separator", excel && "--excel"];
  const useless = [...ofPages, ...(format === "sitemaps-csv" ? [] : ofTables)].find(Boolean);
  if (useless) throw new UsageError(`${useless} works with the format csv`);
}

function csv({ csvSafe: safe, columns, explode, separator }: CsvFlags): PageWriter {
  return csvWriter({ columns: columns?.split(",").map((name) => name.trim()), explode, separator, safe });
}
