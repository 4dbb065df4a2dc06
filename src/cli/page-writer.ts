// What writes a format that lists pages.
import type { PageWriter } from "../write/batch.ts";
import { csvWriter } from "../write/csv.ts";
import { ndjsonWriter } from "../write/ndjson.ts";
import { pagesWriter } from "../write/pages.ts";
import type { ShowUrl } from "../write/strip-url.ts";
import type { PageFormat } from "./formats.ts";

export function pageWriter(format: PageFormat, csvSafe: boolean, show?: ShowUrl): PageWriter {
  switch (format) {
    case "pages":
      return pagesWriter(show);
    case "ndjson":
      return ndjsonWriter();
    case "csv":
      return csvWriter({ safe: csvSafe });
  }
}
