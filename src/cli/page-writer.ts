// The writer for a format that lists pages, configured by flags.
import type { PageWriter } from "../write/batch.ts";
import { byteOrderMark, csvWriter } from "../write/csv.ts";
import type { ExplodedList } from "../write/csv-columns.ts";
import { csvTableWriter } from "../write/csv-table.ts";
import { ndjsonWriter } from "../write/ndjson.ts";
import { pagesWriter } from "../write/pages.ts";
import type { ShowUrl } from "../write/strip-url.ts";
import { UsageError } from "./exit-codes.ts";
import type { Format, PageFormat } from "./formats.ts";

export interface CsvFlags {
  readonly csvSafe: boolean;
  readonly columns?: string | undefined;
  readonly explode?: ExplodedList | undefined;
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
  if (!flags.csvSafe && format !== "sitemaps-csv") throw new UsageError("--no-csv-safe works with the format csv");
  if (flags.columns !== undefined) throw new UsageError("--columns works with the format csv");
  if (flags.explode !== undefined) throw new UsageError("--explode works with the format csv");
  if (flags.excel && format !== "sitemaps-csv") throw new UsageError("--excel works with the format csv");
}

function csv({ csvSafe: safe, columns, explode }: CsvFlags): PageWriter {
  if (columns === undefined && explode === undefined) return csvWriter({ safe });
  const names = columns?.split(",").map((name) => name.trim());
  return csvTableWriter({ safe, columns: names, explode });
}
