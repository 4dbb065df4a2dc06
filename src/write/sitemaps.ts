// The formats `sitemaps` and `sitemaps-csv`: one row for each sitemap of the tree with sizes and times, as a table for
// people or for spreadsheets. Rows are made from the events of a crawl, which come in declared order, children before
// their index; the rows are in the order of the tree.
import type { CrawlEvent, SitemapEvent } from "../model/event.ts";
import { duration, grouped, size } from "../model/figures.ts";
import type { Problem } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { type CsvSeparator, csvCell } from "./csv.ts";
import type { ShowUrl } from "./pages.ts";
import { printable } from "./printable.ts";

/** Collects the rows of one crawl. */
export class SitemapRows {
  readonly #rows: (SitemapRow | undefined)[] = [];
  // The positions of the rows of the sitemap being read and its ancestors.
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

  /** In the order of the tree, without the root. */
  *[Symbol.iterator](): Generator<SitemapRow, void> {
    for (const row of this.#rows) if (row !== undefined && row.row.depth > 0) yield row;
  }
}

export interface SitemapRow {
  readonly row: SitemapFacts;
  readonly problems: readonly Problem[];
}

export interface SitemapFacts {
  readonly url: string;
  readonly declaredUrl?: string | undefined;
  readonly parent?: string | undefined;
  readonly depth: number;
  readonly kind: string;
  readonly format?: string | undefined;
  readonly pageCount?: number | undefined;
  readonly complete: boolean;
  /** The `lastmod` in its index. */
  readonly lastModified?: string | undefined;
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly status?: number | undefined;
  readonly fetchedAt?: string | undefined;
  /** From the request to the head of the response, in milliseconds. */
  readonly firstByte?: number | undefined;
  /** From the request to the last byte, in milliseconds. */
  readonly duration?: number | undefined;
  /** How many kinds of problems it has. */
  readonly problems: number;
  /** Why it could not be read, as a sentence. */
  readonly reason?: string | undefined;
}

function rowOf(
  { sitemap, depth, wireBytes, decodedBytes, response }: SitemapEvent,
  parent: string | undefined,
): SitemapRow {
  const problems = sitemap.kind === "invalid" ? [sitemap.reason] : sitemap.problems;
  return {
    row: {
      url: sitemap.url,
      declaredUrl: sitemap.declaredUrl,
      parent,
      depth,
      kind: sitemap.kind,
      format: sitemap.kind === "invalid" ? undefined : sitemap.format,
      pageCount: pagesOf(sitemap),
      complete: sitemap.kind !== "invalid" && sitemap.complete,
      lastModified: sitemap.lastModified,
      wireBytes,
      decodedBytes,
      status: response?.status,
      fetchedAt: response?.receivedAt,
      firstByte: response?.firstByte,
      duration: response?.duration,
      problems: problems.length,
      reason: sitemap.kind === "invalid" ? sitemap.reason.message : undefined,
    },
    problems,
  };
}

// An index that also lists pages has a child for them at its own URL, without an event of its own.
function pagesOf(sitemap: Sitemap): number | undefined {
  if (sitemap.kind === "pages") return sitemap.pageCount;
  if (sitemap.kind === "invalid") return undefined;
  const own = sitemap.children.find((child) => child.kind === "pages" && child.url === sitemap.url);
  return own?.kind === "pages" ? own.pageCount : undefined;
}

/** Columns are as wide as their widest cell; the URL, indented by its depth, comes last because it may be long. In lines of at most `width` characters: columns that people need least are left out first, then URLs are shortened. */
export function* writeSitemapTable(
  rows: Iterable<SitemapRow>,
  show: ShowUrl,
  width: number = Number.POSITIVE_INFINITY,
): Generator<string, void, undefined> {
  const lines = [...rows].map(({ row }) => ({
    cells: [
      row.pageCount === undefined ? "" : grouped(row.pageCount),
      row.format === undefined ? row.kind : row.kind === "index" ? `${row.format} index` : row.format,
      row.status === undefined ? "" : String(row.status),
      row.wireBytes === 0 ? "" : size(row.wireBytes),
      row.decodedBytes === 0 ? "" : size(row.decodedBytes),
      row.duration === undefined ? "" : duration(row.duration),
      row.problems === 0 ? "" : grouped(row.problems),
      row.lastModified ?? "",
    ].map(printable),
    url: `${"  ".repeat(row.depth - 1)}${printable(show(row.url))}`,
    remark: remark(row, width < Number.POSITIVE_INFINITY),
  }));
  const widths = headings.map((heading, at) =>
    lines.reduce((width, { cells }) => Math.max(width, cells[at]?.length ?? 0), heading.length),
  );
  let columns = [...headings.keys()];
  const room = () => columns.reduce((rest, at) => rest - (widths[at] ?? 0) - 2, width);
  const longest = lines.reduce((length, { url }) => Math.max(length, url.length), 0);
  for (const name of leastNeeded) {
    if (room() < Math.min(longest, 40)) columns = columns.filter((at) => headings[at] !== name);
  }
  const line = (cells: readonly string[], url: string, remark = "") => {
    const padded = columns.map((at) =>
      isNumber.has(at) ? cells[at]?.padStart(widths[at] ?? 0) : cells[at]?.padEnd(widths[at] ?? 0),
    );
    return `${[...padded, shortened(url, room() - remark.length)].join("  ")}${remark}\n`;
  };
  yield line(headings, "sitemap");
  for (const { cells, url, remark } of lines) yield line(cells, url, remark);
}

// Names of sitemaps differ at their ends.
function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = Math.max(Math.floor(length / 3), 8);
  return `${text.slice(0, start)}…${text.slice(Math.min(start + 1 - length, -8))}`;
}

const headings = ["pages", "format", "status", "sent", "decoded", "time", "problems", "lastmod"];
const leastNeeded = ["decoded", "sent", "lastmod", "time", "problems", "format", "status"];
const isNumber: ReadonlySet<number> = new Set([0, 2, 3, 4, 5, 6]);

function remark({ kind, complete, reason }: SitemapFacts, isBrief: boolean): string {
  if (kind === "invalid") return isBrief ? " (not read)" : ` (not read: ${printable(reason ?? "")})`;
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
