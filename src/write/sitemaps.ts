// The formats `sitemaps` and `sitemaps-csv`: one row for each sitemap of the tree with sizes and times, as a table for
// people or for spreadsheets. Rows come from the events of a crawl, which reports children before their index, but are in the order of
// the tree.
import type { CrawlEvent, SitemapEvent } from "../model/event.ts";
import { duration, grouped, size } from "../model/figures.ts";
import type { Problem } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import { type CsvSeparator, csvCell } from "./csv.ts";
import type { ShowUrl } from "./pages.ts";
import { printable } from "./printable.ts";

/** Collects the rows of one crawl. */
export class SitemapRows {
  readonly #rows: (SitemapRow | undefined)[] = [];
  // The sitemap that is being read and its ancestors, with the positions of their rows.
  readonly #open: { readonly at: number; readonly url: string }[] = [];

  see(event: CrawlEvent): void {
    if (event.type === "start") {
      this.#open.length = Math.min(this.#open.length, event.depth);
      this.#open.push({ at: this.#rows.length, url: event.url });
      this.#rows.push(undefined);
    } else if (event.type === "sitemap") {
      const parent = this.#open[event.depth - 1]?.url;
      const at = this.#open[event.depth]?.at ?? this.#rows.length;
      this.#rows[at] = rowOf(event, parent);
      this.#open.length = Math.min(this.#open.length, event.depth);
    }
  }

  /** Yields the rows in the order of the tree, without the root. */
  *[Symbol.iterator](): Generator<SitemapRow, void> {
    for (const row of this.#rows) if (row !== undefined && row.row.depth > 0) yield row;
  }
}

export interface SitemapRow {
  readonly row: SitemapMeasurements;
  readonly problems: readonly Problem[];
}

// The columns, and how to compute their values.
const measurements = {
  url: ({ sitemap }: SitemapEvent): string => sitemap.url,
  declaredUrl: ({ sitemap }: SitemapEvent): string | undefined => sitemap.declaredUrl,
  parent: (_: SitemapEvent, parent?: string): string | undefined => parent,
  depth: ({ depth }: SitemapEvent): number => depth,
  kind: ({ sitemap }: SitemapEvent): string => sitemap.kind,
  format: ({ sitemap }: SitemapEvent): string | undefined => ("format" in sitemap ? sitemap.format : undefined),
  pageCount: ({ sitemap }: SitemapEvent): number | undefined => pagesOf(sitemap),
  complete: ({ sitemap }: SitemapEvent): boolean => sitemap.kind !== "invalid" && sitemap.complete,
  // This is the `lastmod` that the index gives for the sitemap.
  lastModified: ({ sitemap }: SitemapEvent): string | undefined => sitemap.lastModified,
  wireBytes: ({ wireBytes }: SitemapEvent): number => wireBytes,
  decodedBytes: ({ decodedBytes }: SitemapEvent): number => decodedBytes,
  status: ({ response }: SitemapEvent): number | undefined => response?.status,
  fetchedAt: ({ response }: SitemapEvent): string | undefined => response?.receivedAt,
  // Both times are milliseconds from the request: to the head of the response, and to the last byte.
  firstByte: ({ response }: SitemapEvent): number | undefined => response?.firstByte,
  duration: ({ response }: SitemapEvent): number | undefined => response?.duration,
  // Counts kinds of problems, not their occurrences.
  problems: ({ sitemap }: SitemapEvent): number => problemsOf(sitemap).length,
  reason: ({ sitemap }: SitemapEvent): string | undefined => ("reason" in sitemap ? sitemap.reason.message : undefined),
} as const;

export type SitemapMeasurements = {
  readonly [Name in keyof typeof measurements]: ReturnType<(typeof measurements)[Name]>;
};
export const sitemapColumns: readonly (keyof SitemapMeasurements)[] = Object.keys(
  measurements,
) as (keyof SitemapMeasurements)[];

function rowOf(event: SitemapEvent, parent: string | undefined): SitemapRow {
  const row = Object.fromEntries(sitemapColumns.map((name) => [name, measurements[name](event, parent)]));
  return { row: row as SitemapMeasurements, problems: problemsOf(event.sitemap) };
}

// An index that also lists pages has a child for them at its own URL, without a separate event.
function pagesOf(sitemap: Sitemap): number | undefined {
  if (sitemap.kind === "pages") return sitemap.pageCount;
  if (sitemap.kind === "invalid") return undefined;
  const own = sitemap.children.find((child) => child.kind === "pages" && child.url === sitemap.url);
  return own?.kind === "pages" ? own.pageCount : undefined;
}

// The columns of the table before the URL. If there is no room, those with the highest `rank` are left out first.
const tableColumns: readonly {
  heading: string;
  rank: number;
  isText?: true;
  cell(row: SitemapMeasurements): string;
}[] = [
  { heading: "pages", rank: 0, cell: ({ pageCount }) => (pageCount === undefined ? "" : grouped(pageCount)) },
  { heading: "format", rank: 2, isText: true, cell: formatInWords },
  { heading: "status", rank: 1, cell: ({ status }) => (status === undefined ? "" : String(status)) },
  { heading: "sent", rank: 6, cell: ({ wireBytes }) => (wireBytes === 0 ? "" : size(wireBytes)) },
  { heading: "decoded", rank: 7, cell: ({ decodedBytes }) => (decodedBytes === 0 ? "" : size(decodedBytes)) },
  { heading: "time", rank: 4, cell: ({ duration: took }) => (took === undefined ? "" : duration(took)) },
  { heading: "problems", rank: 3, cell: ({ problems }) => (problems === 0 ? "" : grouped(problems)) },
  { heading: "lastmod", rank: 5, isText: true, cell: ({ lastModified }) => printable(lastModified ?? "") },
];

function formatInWords({ kind, format }: SitemapMeasurements): string {
  return format === undefined ? kind : kind === "index" ? `${format} index` : format;
}

/**
 * Writes a table. Columns are as wide as their widest cell. The URL, indented by depth, comes last, because it may be long. To fit `width`,
 * the least important columns are dropped, then URLs are shortened.
 */
export function* writeSitemapTable(
  rows: Iterable<SitemapRow>,
  show: ShowUrl,
  width: number = Number.POSITIVE_INFINITY,
): Generator<string, void, undefined> {
  const all = [...rows].map(({ row }) => row);
  const urls = all.map(({ depth, url }) => `${"  ".repeat(depth - 1)}${printable(show(url))}`);
  let columns = tableColumns.map(({ heading, rank, isText, cell }) => {
    const cells = [heading, ...all.map(cell)];
    const width = cells.reduce((widest, { length }) => Math.max(widest, length), 0);
    return { rank, width, cells: cells.map((text) => (isText ? text.padEnd(width) : text.padStart(width))) };
  });
  const room = () => columns.reduce((rest, column) => rest - column.width - 2, width);
  const needed = Math.min(
    40,
    urls.reduce((longest, { length }) => Math.max(longest, length), 0),
  );
  while (columns.length > 1 && room() < needed) {
    const last = Math.max(...columns.map(({ rank }) => rank));
    columns = columns.filter(({ rank }) => rank < last);
  }
  const left = (at: number) => columns.map(({ cells }) => cells[at]).join("  ");
  yield `${left(0)}  sitemap\n`;
  for (const [at, row] of all.entries()) {
    const note = remark(row, width < Number.POSITIVE_INFINITY);
    yield `${left(at + 1)}  ${cutInside(urls[at]!, room() - note.length)}${note}\n`;
  }
}

// Shortens a URL in the middle, because sitemap URLs usually differ at the end.
function cutInside(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = Math.max(Math.floor(length / 3), 8);
  return `${text.slice(0, start)}…${text.slice(Math.min(start + 1 - length, -8))}`;
}

function remark({ kind, complete, reason }: SitemapMeasurements, isBrief: boolean): string {
  if (kind === "invalid") return isBrief ? " (not read)" : ` (not read: ${printable(reason ?? "")})`;
  return complete ? "" : " (incomplete)";
}

/** Writes a header and one row for each sitemap. Numbers are not formatted. */
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
