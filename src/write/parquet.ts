// The format `parquet`: tables of pages, sitemaps, problems and more, for DuckDB, pandas and Spark. Import this file
// only if the format is used, because it loads the library that writes them.
// https://github.com/apache/parquet-format

import { gzipSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { PageChange } from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import { type FieldType, type FieldTypes, itemTypes, objectTypes, pageFieldRows } from "../model/page-fields.ts";
import { isLossy } from "../model/problem.ts";
import type { PageBatch } from "./pages.ts";
import type { SitemapRow } from "./sitemaps.ts";

/** A table. Only a dataset has `sites` and `changes`. */
export type ParquetFile = "pages" | "sitemaps" | "problems" | "sites" | "changes";

export class ParquetTables {
  readonly #run: string | undefined;
  readonly #tables: ReadonlyMap<ParquetFile, ParquetTable>;

  /**
   * With the name of a run, the tables are those of a dataset: they include websites and changes, and every row has the time of the fetch.
   * A table without a sink is not written.
   */
  constructor(sink: (file: ParquetFile) => ByteSink | undefined, run?: string) {
    this.#run = run;
    const fetched = run === undefined ? [] : columns("fetched_at:time");
    const tables = new Map<ParquetFile, ParquetTable>();
    const add = (file: ParquetFile, columns: readonly Column[]) => {
      const bytes = sink(file);
      if (bytes !== undefined) tables.set(file, new ParquetTable(bytes, columns));
    };
    add("pages", [...pagesTable, ...fetched]);
    add("sitemaps", sitemapsTable);
    add("problems", [...problemsTable, ...fetched]);
    if (run !== undefined) add("sites", sitesTable);
    if (run !== undefined) add("changes", changesTable);
    this.#tables = tables;
  }

  addPages({ sitemap, pages }: PageBatch, site: string | undefined, fetchedAt?: string): void {
    for (const page of pages)
      this.#add("pages", { site, sitemap, ...pageRow(page), fetched_at: fetchedAt }, weightOf(page));
  }

  /** Adds the summary of a website. `preferences` are those for AI in its robots.txt, such as `ai-train=no`. */
  addSite(
    summary: { readonly finishedAt: string; readonly reasons: readonly { readonly code: string }[] },
    preferences: readonly string[],
  ): void {
    const { finishedAt, reasons } = summary;
    this.#add("sites", { ...inSnakeCase(summary), preferences, reason: reasons[0]?.code, fetched_at: finishedAt });
  }

  /** Returns false, and adds nothing, if a value has the wrong type, because the change may come from a damaged file. */
  addChange(change: PageChange, site: string, fetchedAt: string): boolean {
    const { kind, page, sitemap } = change;
    const { fields = [], before, missing } = change as { fields?: string[]; before?: SitemapPage; missing?: string };
    const [last_modified, last_modified_before] = [page.lastModified, before?.lastModified];
    const row = { site, kind, url: page.url, sitemap, fields, last_modified, last_modified_before, missing };
    return this.#addAll("changes", [{ ...row, fetched_at: fetchedAt }]);
  }

  /** Returns false if a value has the wrong type, because the row may come from a damaged file. */
  addSitemap({ row, problems }: SitemapRow, site: string | undefined, readAt?: string): boolean {
    const { url, fetchedAt = readAt } = row;
    const found = problems.map((each) => ({ site, ...each, url, loss: isLossy(each.code), fetched_at: fetchedAt }));
    return this.#addAll("sitemaps", [{ site, ...inSnakeCase(row) }]) && this.#addAll("problems", found);
  }

  finish(): void {
    for (const table of this.#tables.values()) table.finish();
  }

  // Adds all rows, or none if a value has the wrong type.
  #addAll(table: ParquetFile, rows: readonly Row[]): boolean {
    const isAccepted = rows.every((row) => this.#tables.get(table)?.accepts(row) ?? true);
    if (isAccepted) for (const row of rows) this.#add(table, row);
    return isAccepted;
  }

  #add(table: ParquetFile, row: Row, weight = 1000): void {
    this.#tables.get(table)?.add({ run: this.#run, ...row }, weight);
  }
}

/** Creates a table with these columns. A column is text unless a type follows its name: `line:integer`. */
export function parquetTable(sink: ByteSink, names: string): Pick<ParquetTable, "add" | "finish"> {
  return new ParquetTable(sink, columns(names));
}

function pageRow(page: SitemapPage): Row {
  const row: Record<string, unknown> = {};
  for (const { name, column, type } of pageParts) {
    const value = page[name];
    if (value === undefined) continue;
    const fields = objectTypes(type);
    if (Array.isArray(value)) row[column] = value.map(inSnakeCase);
    else
      row[column] =
        fields === undefined ? value : { ...inSnakeCase(value as object), ...datesOf(value as object, fields) };
    if (type === "date") row[`${column}_text`] = value;
  }
  return row;
}

// Returns each date of an object twice: as a timestamp, and as it was written.
function datesOf(value: object, types: FieldTypes): Row {
  const row: Record<string, unknown> = {};
  for (const [name, date] of Object.entries(value)) {
    if (types[name] !== "date") continue;
    row[snakeCase(name)] = instant(date);
    row[`${snakeCase(name)}_text`] = date;
  }
  return row;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// Renames fields to snake_case. Lists of text stay lists; other objects become JSON.
function inSnakeCase(fields: object): Row {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const column = snakeCase(name);
      return typeof value === "object" && !isTexts(value) ? [`${column}_json`, JSON.stringify(value)] : [column, value];
    }),
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

// A date without a time becomes its first instant. A date that `Date` cannot represent is kept only as text.
function instant(date: string | undefined): Date | undefined {
  const parsed = date === undefined ? undefined : new Date(date);
  return parsed === undefined || Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

// Converts a value to the form that its column requires.
function cell(value: unknown, { type, converted_type: meaning }: SchemaElement): unknown {
  if (value === undefined || type !== "INT64") return value;
  return meaning === "TIMESTAMP_MILLIS" ? instant(value as string) : BigInt(Math.round(value as number));
}

// Whether a value has the type of its column. Times are still text here; `cell` converts them.
function hasColumnType({ type, converted_type: meaning }: SchemaElement, value: unknown): boolean {
  if (meaning === "LIST") return isTexts(value);
  if (type === "INT64" && meaning === undefined) return Number.isFinite(value);
  return typeof value === (type === "BOOLEAN" ? "boolean" : "string");
}

// Estimates how many characters a page has, from the fields that contain nearly all of them.
function weightOf(page: SitemapPage): number {
  let weight = page.url.length + 100;
  for (const { name, weight: each = 0 } of pageParts) {
    const value: unknown = page[name];
    if (value !== undefined) weight += each * (Array.isArray(value) ? value.length : 1);
  }
  return weight;
}

/** Receives the bytes of a file, in order. The buffer is reused afterwards. */
type ByteSink = (bytes: Uint8Array) => void;

/** The values of a row, by column. A column without a value is null in the table. */
type Row = Readonly<Record<string, unknown>>;

/** Writes a table row group by row group, so that only one group is in memory, however long the table is. */
class ParquetTable {
  readonly #columns: readonly SchemaElement[];
  readonly #writer: ParquetWriter;
  #rows: Row[] = [];
  #weight = 0;

  constructor(sink: ByteSink, columns: readonly Column[]) {
    this.#columns = columns.map(([element]) => element!);
    this.#writer = new ParquetWriter({
      writer: new SinkWriter(sink),
      schema: [{ name: "root", num_children: columns.length }, ...columns.flat()],
      codec: "GZIP",
      compressors: { GZIP: (bytes) => gzipSync(bytes, { level: compressionLevel }) },
    });
  }

  /** Whether all values have the types of their columns. A single wrong one would make the whole group fail. */
  accepts(row: Row): boolean {
    return this.#columns.every((column) => row[column.name] === undefined || hasColumnType(column, row[column.name]));
  }

  /** Adds a row. `weight` is roughly its number of characters, because large rows need small groups. */
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
      columnData: this.#columns.map((column) => ({
        name: column.name,
        data: rows.map((row) => cell(row[column.name], column)),
        // The URLs of one sitemap begin alike, so this encoding needs a quarter of the space of plain text.
        ...(column.name === "url" ? { encoding: "DELTA_BYTE_ARRAY" as const } : {}),
        offsetIndex: false,
      })),
      rowGroupSize: rows.length,
    });
    // The writer queues an empty index for each column, even without indexes.
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

// With larger groups, the file of a million pages is 5% smaller, but writing it takes more memory.
const groupRows = 10_000;
const groupWeight = 8 * 1024 * 1024;
// Level 3 takes a third of the time of level 6, and makes files 10% larger.
const compressionLevel = 3;

const types = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  double: { type: "DOUBLE" },
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  time: {
    type: "INT64",
    converted_type: "TIMESTAMP_MILLIS",
    // Without this, DuckDB would treat times as local.
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
} as const;

/** A column: its schema element, followed by those of its fields. */
type Column = readonly SchemaElement[];

// The tables as schema elements of the file format. Names are in snake_case, as the tools that read these files expect; lists have
// the three levels of the specification. https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists
const pageParts = pageFieldRows.map((row) => ({ ...row, column: snakeCase(row.column ?? row.name) }));
const pagesTable: readonly Column[] = [
  ...columns("run site url sitemap"),
  ...pageParts.flatMap(({ name, column, type }) => {
    if (name === "url" || itemTypes(type) !== undefined) return [];
    const fields = objectTypes(type);
    if (fields === undefined) return fieldColumns(column, type);
    return [
      struct(
        column,
        Object.entries(fields).flatMap(([field, inner]) => fieldColumns(snakeCase(field), inner)),
      ),
    ];
  }),
  // Lists come after the other fields, sorted by name, because readers may rely on the order of columns.
  ...pageParts
    .toSorted((a, b) => (a.column < b.column ? -1 : 1))
    .flatMap(({ column, type }) => {
      const items = itemTypes(type);
      return items === undefined ? [] : [list(column, struct("element", itemColumns(items)))];
    }),
];

// A date has two columns, a timestamp and a text, unless it is in a list.
function fieldColumns(column: string, type: FieldType): Column[] {
  if (type === "texts") return [list(column)];
  if (type === "date") return columns(`${column}:time ${column}_text`);
  return columns(type === "number" ? `${column}:double` : type === "boolean" ? `${column}:boolean` : column);
}

// Objects inside items are rare and deeply nested, so they come last, as JSON.
function itemColumns(types: FieldTypes): Column[] {
  const [flat, nested]: [Column[], Column[]] = [[], []];
  for (const [name, type] of Object.entries(types)) {
    if (typeof type === "object" && !("oneOf" in type)) nested.push(...columns(`${snakeCase(name)}_json`));
    else flat.push(...fieldColumns(snakeCase(name), type === "date" ? "text" : type));
  }
  return [...flat, ...nested];
}

const sitemapsTable: readonly Column[] = [
  ...columns("run site url declared_url parent depth:integer kind format page_count:integer complete:boolean"),
  ...columns("last_modified wire_bytes:integer decoded_bytes:integer status:integer fetched_at:time"),
  ...columns("first_byte:integer duration:integer problems:integer reason"),
];
const problemsTable: readonly Column[] = columns(
  "run site url code loss:boolean message line:integer value count:integer",
);
const sitesTable: readonly Column[] = [
  ...columns("run site outcome pages:integer sitemaps:integer invalid:integer requests:integer wire_bytes:integer"),
  ...columns("duration:integer reason fetched_at:time"),
  list("preferences"),
];
const changesTable: readonly Column[] = [
  ...columns("run site kind url sitemap last_modified:time last_modified_before:time missing"),
  list("fields"),
  ...columns("fetched_at:time"),
];

/** Creates columns from their names. A column is text unless a type follows its name. */
function columns(names: string): Column[] {
  return names.split(" ").map((each) => {
    const [name = "", type = "text"] = each.split(":");
    return [{ name, ...types[type as keyof typeof types], repetition_type: "OPTIONAL" }];
  });
}

function struct(name: string, fields: readonly Column[]): Column {
  return [{ name, num_children: fields.length, repetition_type: "OPTIONAL" }, ...fields.flat()];
}

// Creates a list column, of text unless another element is given.
function list(name: string, element: Column = columns("element")[0]!): Column {
  return [
    { name, num_children: 1, converted_type: "LIST", repetition_type: "OPTIONAL" },
    { name: "list", num_children: 1, repetition_type: "REPEATED" },
    ...element,
  ];
}
