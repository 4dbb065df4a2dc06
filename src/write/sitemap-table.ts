// The formats `sitemaps` and `sitemaps-csv`: one row for each sitemap, as a table for people or for spreadsheets.
import { type CsvSeparator, csvCell } from "./csv.ts";
import { printable } from "./printable.ts";
import type { SitemapFacts, SitemapRow } from "./sitemap-rows.ts";
import type { ShowUrl } from "./strip-url.ts";

/** How numbers are formatted. */
export interface Figures {
  readonly count: (count: number) => string;
  readonly size: (bytes: number) => string;
  readonly duration: (milliseconds: number) => string;
}

/** Columns are as wide as their widest cell; the URL, indented by its depth, comes last because it may be long. */
export function* writeSitemapTable(
  rows: Iterable<SitemapRow>,
  figures: Figures,
  show: ShowUrl,
): Generator<string, void, undefined> {
  const lines = [...rows].map(({ row }) => ({
    cells: [
      row.pageCount === undefined ? "" : figures.count(row.pageCount),
      row.format === undefined ? row.kind : row.kind === "index" ? `${row.format} index` : row.format,
      row.status === undefined ? "" : String(row.status),
      row.wireBytes === 0 ? "" : figures.size(row.wireBytes),
      row.decodedBytes === 0 ? "" : figures.size(row.decodedBytes),
      row.duration === undefined ? "" : figures.duration(row.duration),
      row.problems === 0 ? "" : figures.count(row.problems),
      row.lastModified ?? "",
    ].map(printable),
    url: `${"  ".repeat(row.depth - 1)}${printable(show(row.url))}${remark(row)}`,
  }));
  const widths = headings.map((heading, at) =>
    lines.reduce((width, { cells }) => Math.max(width, cells[at]?.length ?? 0), heading.length),
  );
  const padded = (cells: readonly string[]) =>
    cells.map((cell, at) => (isNumber.has(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)));
  yield `${[...padded(headings), "sitemap"].join("  ")}\n`;
  for (const { cells, url } of lines) yield `${[...padded(cells), url].join("  ")}\n`;
}

const headings = ["pages", "format", "status", "sent", "decoded", "time", "problems", "lastmod"];
const isNumber: ReadonlySet<number> = new Set([0, 2, 3, 4, 5, 6]);

function remark({ kind, complete, reason }: SitemapFacts): string {
  if (kind === "invalid") return ` (not read: ${printable(reason ?? "")})`;
  return complete ? "" : " (incomplete)";
}

/** A header and one row for each sitemap; numbers are not formatted. */
export function* writeSitemapCsv(
  rows: Iterable<SitemapRow>,
  safe: boolean,
  separator: CsvSeparator = ",",
): Generator<string, void, undefined> {
  const cell = csvCell(safe, separator);
  yield `${sitemapColumns.join(separator)}\n`;
  for (const { row, problems } of rows) {
    const values = { ...row, problems: problems.map(({ code }) => code).join(" ") };
    yield `${sitemapColumns.map((name) => cell(values[name])).join(separator)}\n`;
  }
}

export const sitemapColumns: readonly (keyof SitemapFacts)[] = [
  "url",
  "declaredUrl",
  "parent",
  "depth",
  "kind",
  "format",
  "pageCount",
  "complete",
  "lastModified",
  "wireBytes",
  "decodedBytes",
  "status",
  "fetchedAt",
  "firstByte",
  "duration",
  "problems",
  "reason",
];
