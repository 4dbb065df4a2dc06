// The format `csv` with columns of the caller's choice, and, if a list of the pages is spread over rows, one row for
// each of its items. A page with an empty list keeps one row.
import type { SitemapPage } from "../model/page.ts";
import type { PageWriter } from "./batch.ts";
import { csvCell } from "./csv-cell.ts";
import { columnsNamed, type ExplodedList, explodedColumns } from "./csv-columns.ts";

export interface CsvTableOptions {
  /** @default the columns of `explode` */
  readonly columns?: readonly string[] | undefined;
  readonly explode?: ExplodedList | undefined;
  readonly safe?: boolean | undefined;
}

/** Throws a `SitemapError` for an unknown column. */
export function csvTableWriter({ columns, explode, safe = true }: CsvTableOptions): PageWriter {
  const names = columns ?? (explode === undefined ? ["url"] : explodedColumns(explode));
  const chosen = columnsNamed(names, explode);
  const cell = csvCell(safe);
  const text = (value: string | number | boolean | undefined) => cell(value === undefined ? undefined : String(value));
  const items = (page: SitemapPage) => (explode === undefined ? none : (page[explode] ?? none));
  return {
    header: `${names.join(",")}\n`,
    write({ sitemap, pages }) {
      let rows = "";
      for (const page of pages) {
        const list = items(page);
        for (let at = 0; at < Math.max(list.length, 1); at += 1) {
          for (let column = 0; column < chosen.length; column += 1) {
            if (column > 0) rows += ",";
            rows += text(chosen[column]?.read(page, sitemap, list[at]));
          }
          rows += "\n";
        }
      }
      return rows;
    },
    writeReferences(sitemap, references) {
      const known = ({ url, lastModified }: { url: string; lastModified?: string }) =>
        new Map<string, string | undefined>([
          ["url", url],
          ["lastModified", lastModified],
          ["sitemap", sitemap],
        ]);
      return references
        .map((reference) => `${names.map((name) => cell(known(reference).get(name))).join(",")}\n`)
        .join("");
    },
  };
}

const none: readonly never[] = [];
