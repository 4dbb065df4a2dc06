// The format `parquet`: three tables (pages, sitemaps, problems) for DuckDB, pandas and Spark. This file is imported
// only if the format is used, because it brings the library that writes them.
// https://github.com/apache/parquet-format

import { gzipSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { SitemapPage } from "../model/page.ts";
import { isLossy } from "../model/problem.ts";
import type { PageBatch } from "./pages.ts";
import type { SitemapRow } from "./sitemaps.ts";

/** `sites` only in a dataset. */
export type ParquetFile = "pages" | "sitemaps" | "problems" | "sites";

/** The table of pages alone. */
export class ParquetPages {
  readonly #table: ParquetTable;
  readonly #site: string;

  constructor(sink: ByteSink, site: string) {
    this.#table = new ParquetTable(sink, pagesTable);
    this.#site = site;
  }

  add({ sitemap, pages }: PageBatch): void {
    for (const page of pages) this.#table.add({ site: this.#site, sitemap, ...pageRow(page) }, weightOf(page));
  }

  finish(): void {
    this.#table.finish();
  }
}

export class ParquetTables {
  readonly #run: string | undefined;
  readonly #tables: ReadonlyMap<string, ParquetTable>;

  /** With the name of a run, the tables are those of a dataset: they have one of websites, and every row says when it was fetched. */
  constructor(sink: (file: ParquetFile) => ByteSink, run?: string) {
    this.#run = run;
    const isDataset = run !== undefined;
    const fetched = isDataset ? columns("fetched_at:time") : [];
    this.#tables = new Map([
      ["pages", new ParquetTable(sink("pages"), [...pagesTable, ...fetched])],
      ["sitemaps", new ParquetTable(sink("sitemaps"), sitemapsTable)],
      ["problems", new ParquetTable(sink("problems"), [...problemsTable, ...fetched])],
      ...(isDataset ? [["sites", new ParquetTable(sink("sites"), sitesTable)] as const] : []),
    ]);
  }

  addPages({ sitemap, pages }: PageBatch, site: string | undefined, fetchedAt?: string): void {
    const fetched = { fetched_at: instant(fetchedAt) };
    for (const page of pages)
      this.#add("pages", { run: this.#run, site, sitemap, ...pageRow(page), ...fetched }, weightOf(page));
  }

  /** The summary of a website. */
  addSite(summary: SiteFacts): void {
    const { pages, sitemaps, invalid, requests, wireBytes, duration, finishedAt, reasons, ...rest } = summary;
    this.#add(
      "sites",
      {
        run: this.#run,
        ...rest,
        pages: bigint(pages),
        sitemaps: bigint(sitemaps),
        invalid: bigint(invalid),
        requests: bigint(requests),
        wire_bytes: bigint(wireBytes),
        duration: bigint(duration),
        reason: reasons[0]?.code,
        fetched_at: instant(finishedAt),
      },
      1000,
    );
  }

  addSitemap({ row, problems }: SitemapRow, site: string | undefined, readAt?: string): void {
    const { wireBytes, decodedBytes, pageCount, declaredUrl, lastModified, fetchedAt, firstByte, ...rest } = row;
    this.#add(
      "sitemaps",
      {
        run: this.#run,
        site,
        ...rest,
        depth: bigint(rest.depth),
        status: bigint(rest.status),
        first_byte: bigint(firstByte),
        duration: bigint(rest.duration),
        problems: bigint(rest.problems),
        declared_url: declaredUrl,
        last_modified: lastModified,
        page_count: bigint(pageCount),
        wire_bytes: bigint(wireBytes),
        decoded_bytes: bigint(decodedBytes),
        fetched_at: instant(fetchedAt),
      },
      1000,
    );
    for (const { code, message, line, value, count } of problems) {
      const facts = { line: bigint(line), value, count: bigint(count), fetched_at: instant(fetchedAt ?? readAt) };
      this.#add("problems", { run: this.#run, site, url: row.url, code, loss: isLossy(code), message, ...facts }, 1000);
    }
  }

  finish(): void {
    for (const table of this.#tables.values()) table.finish();
  }

  #add(table: ParquetFile, row: Row, weight: number): void {
    this.#tables.get(table)?.add(row, weight);
  }
}

/** What the table of websites holds of a summary. */
export interface SiteFacts {
  readonly site: string;
  readonly outcome: string;
  readonly pages: number;
  readonly sitemaps: number;
  readonly invalid: number;
  readonly requests: number;
  readonly wireBytes: number;
  readonly duration: number;
  readonly finishedAt: string;
  readonly reasons: readonly { readonly code: string }[];
}

function pageRow(page: SitemapPage): Row {
  const { url, lastModified, changeFrequency, priority, priorityGiven, newsStory, alternates, images, videos } = page;
  const news = newsStory && {
    ...inSnakeCase(newsStory),
    publish_date: instant(newsStory.publishDate),
    publish_date_text: newsStory.publishDate,
  };
  return {
    url,
    last_modified: instant(lastModified),
    last_modified_text: lastModified,
    change_frequency: changeFrequency,
    priority: priorityGiven ? priority : undefined,
    news,
    alternates,
    images: images?.map(inSnakeCase),
    videos: videos?.map(inSnakeCase),
  };
}

// Lists stay lists; other objects are JSON.
function inSnakeCase(fields: object): Row {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return typeof value === "object" && !isTexts(value) ? [`${column}_json`, JSON.stringify(value)] : [column, value];
    }),
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

// A date of less precision becomes its first instant; one that no Date can hold is only in the text.
function instant(date: string | undefined): Date | undefined {
  const parsed = date === undefined ? undefined : new Date(date);
  return parsed === undefined || Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

function bigint(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Math.round(value));
}

// In characters, roughly: nearly all other content of a page is in these lists.
function weightOf({ url, newsStory, alternates = [], images = [], videos = [] }: SitemapPage): number {
  return (
    url.length + 100 + (newsStory ? 300 : 0) + alternates.length * 150 + images.length * 300 + videos.length * 2000
  );
}

/** Receives the bytes of a file, in order. The buffer is reused afterwards. */
export type ByteSink = (bytes: Uint8Array) => void;

/** A value for each column, by name; absent ones are null in the table. */
export type Row = Readonly<Record<string, unknown>>;

/** Written row group by row group: only one group is in memory, however long the table is. */
export class ParquetTable {
  readonly #columns: readonly string[];
  readonly #writer: ParquetWriter;
  #rows: Row[] = [];
  #weight = 0;

  constructor(sink: ByteSink, columns: readonly Column[]) {
    this.#columns = columns.map(([element]) => element?.name ?? "");
    this.#writer = new ParquetWriter({
      writer: new SinkWriter(sink),
      schema: schemaOf(columns),
      codec: "GZIP",
      compressors: { GZIP: (bytes) => gzipSync(bytes, { level: compressionLevel }) },
    });
  }

  /** `weight`: roughly the number of characters in the row; large rows make small groups. */
  add(row: Row, weight: number): void {
    this.#rows.push(row);
    this.#weight += weight;
    if (this.#rows.length >= groupRows || this.#weight >= groupWeight) this.#writeGroup();
  }

  /** Writes the last group and the footer. A file without a footer cannot be read. */
  finish(): void {
    if (this.#rows.length > 0) this.#writeGroup();
    this.#writer.finish();
  }

  #writeGroup(): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#weight = 0;
    this.#writer.write({
      columnData: this.#columns.map((name) => ({
        name,
        data: rows.map((row) => row[name]),
        // The URLs of one sitemap begin alike: a quarter of the size of plain text.
        ...(name === "url" ? { encoding: "DELTA_BYTE_ARRAY" as const } : {}),
        offsetIndex: false,
      })),
      rowGroupSize: rows.length,
    });
    // Of these there are none, but a note for each column that says so.
    this.#writer.pendingIndexes = [];
  }
}

class SinkWriter extends ByteWriter {
  readonly #sink: ByteSink;

  constructor(sink: ByteSink) {
    super(64 * 1024);
    this.#sink = sink;
  }

  flush(): void {
    this.#sink(this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

// Measured with a million pages: larger groups take more memory and make the file 5 % smaller.
const groupRows = 10_000;
const groupWeight = 8 * 1024 * 1024;
// 10 % larger than with level 6, in a third of the time.
const compressionLevel = 3;

const types = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  double: { type: "DOUBLE" },
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
} as const;

/** A column: its schema element, followed by those of its fields. */
export type Column = readonly SchemaElement[];

// The tables as schema elements of the file format. Names are in snake_case, as the tools that read these files expect; lists have
// the three levels of the specification. https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists
const pagesTable: readonly Column[] = [
  ...columns("run site url sitemap last_modified:time last_modified_text change_frequency priority:double"),
  struct("news", [
    ...columns("title publish_date:time publish_date_text publication_name publication_language access"),
    ...["genres", "keywords", "stock_tickers"].map((name) => list(name)),
    ...columns("section"),
  ]),
  list("alternates", struct("element", columns("language url"))),
  list("images", struct("element", columns("url caption geo_location title license"))),
  list(
    "videos",
    struct("element", [
      ...columns("thumbnail_url title description content_url player_url player_allows_embed:boolean player_autoplay"),
      ...columns("duration:double expiration_date rating:double view_count:double publication_date"),
      ...columns("is_family_friendly:boolean requires_subscription:boolean uploader uploader_url is_live:boolean"),
      list("tags"),
      ...columns("category gallery_url gallery_title"),
      // Rarely used and deeply nested: as JSON, so that nothing is lost.
      ...columns("restriction_json platform_json prices_json content_segments_json ids_json tv_show_json"),
    ]),
  ),
];
const sitemapsTable: readonly Column[] = [
  ...columns("run site url declared_url parent depth:integer kind format page_count:integer complete:boolean"),
  ...columns("last_modified wire_bytes:integer decoded_bytes:integer status:integer fetched_at:time"),
  ...columns("first_byte:integer duration:integer problems:integer reason"),
];
const problemsTable: readonly Column[] = columns(
  "run site url code loss:boolean message line:integer value count:integer",
);
/** The websites of a dataset. */
const sitesTable: readonly Column[] = [
  ...columns("run site outcome pages:integer sitemaps:integer invalid:integer requests:integer wire_bytes:integer"),
  ...columns("duration:integer reason fetched_at:time"),
];

/** The root element and all columns, as a file begins with them. */
function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [{ name: "root", num_children: columns.length }, ...columns.flat()];
}

/** Columns by their names, with a type unless it is text. */
function columns(names: string): Column[] {
  return names.split(" ").map((each) => {
    const [name = "", type = "text"] = each.split(":");
    return [{ name, ...types[type as keyof typeof types], repetition_type: "OPTIONAL" }];
  });
}

function struct(name: string, fields: readonly Column[]): Column {
  return [{ name, num_children: fields.length, repetition_type: "OPTIONAL" }, ...fields.flat()];
}

// Of texts, unless it is said.
function list(name: string, element: Column = columns("element")[0]!): Column {
  return [
    { name, num_children: 1, converted_type: "LIST", repetition_type: "OPTIONAL" },
    { name: "list", num_children: 1, repetition_type: "REPEATED" },
    ...element,
  ];
}
