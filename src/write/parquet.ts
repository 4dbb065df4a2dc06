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
  readonly #tables: ReadonlyMap<string, ParquetTable>;

  /** With the name of a run, the tables are those of a dataset: they include websites and changes, and every row has the time of the fetch. */
  constructor(sink: (file: ParquetFile) => ByteSink, run?: string) {
    this.#run = run;
    const fetched = run === undefined ? [] : columns("fetchedAt:time");
    const tables: Partial<Record<ParquetFile, readonly Column[]>> = {
      pages: [...pagesTable, ...fetched],
      sitemaps: sitemapsTable,
      problems: [...problemsTable, ...fetched],
      ...(run !== undefined && { sites: sitesTable, changes: changesTable }),
    };
    this.#tables = new Map(
      Object.entries(tables).map(([file, columns]) => [file, new ParquetTable(sink(file as ParquetFile), columns)]),
    );
  }

  addPages({ sitemap, pages }: PageBatch, site: string | undefined, fetchedAt?: string): void {
    for (const page of pages) this.#add("pages", { ...page, site, sitemap, fetchedAt }, weightOf(page));
  }

  /** Adds the summary of a website. `preferences` are those for AI in its robots.txt, such as `ai-train=no`. */
  addSite(
    summary: { readonly finishedAt: string; readonly reasons: readonly { readonly code: string }[] },
    preferences: readonly string[],
  ): void {
    const { finishedAt: fetchedAt, reasons } = summary;
    this.#add("sites", { ...summary, preferences, reason: reasons[0]?.code, fetchedAt });
  }

  /** Returns false, and adds nothing, if a value has the wrong type, because the change may come from a damaged file. */
  addChange({ page, ...change }: PageChange, site: string, fetchedAt: string): boolean {
    const { fields = [], before } = change as { fields?: string[]; before?: SitemapPage };
    const { url, lastModified } = page;
    const row = { ...change, site, url, fields, lastModified, lastModifiedBefore: before?.lastModified, fetchedAt };
    return this.#addAll("changes", [row]);
  }

  /** Returns false if a value has the wrong type, because the row may come from a damaged file. */
  addSitemap({ row, problems }: SitemapRow, site: string | undefined, readAt?: string): boolean {
    const { url, fetchedAt = readAt } = row;
    const found = problems.map((each) => ({ site, ...each, url, loss: isLossy(each.code), fetchedAt }));
    return this.#addAll("sitemaps", [{ site, ...row }]) && this.#addAll("problems", found);
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
    this.#tables.get(table)?.add({ ...row, run: this.#run }, weight);
  }
}

/** Creates a table with these columns. A column is text unless a type follows its name: `line:integer`. */
export function parquetTable(sink: ByteSink, names: string): Pick<ParquetTable, "add" | "finish"> {
  return new ParquetTable(sink, columns(names));
}

// Estimates how many characters a page has, from the fields that contain nearly all of them.
function weightOf(page: SitemapPage): number {
  let weight = page.url.length + 100;
  for (const { name, weight: each = 0 } of pageFieldRows) {
    const value: unknown = page[name];
    if (value !== undefined) weight += each * (Array.isArray(value) ? value.length : 1);
  }
  return weight;
}

/** Receives the bytes of a file, in order. The buffer is reused afterwards. */
type ByteSink = (bytes: Uint8Array) => void;

/** The values of a row, by field. A column without a value is null in the table. */
type Row = Readonly<Record<string, unknown>>;

/** Writes a table row group by row group, so that only one group is in memory, however long the table is. */
class ParquetTable {
  readonly #columns: readonly Column[];
  readonly #sink: ByteSink;
  readonly #bytes = new ByteWriter(64 * 1024);
  readonly #writer: ParquetWriter;
  #rows: Row[] = [];
  #weight = 0;

  constructor(sink: ByteSink, columns: readonly Column[]) {
    this.#columns = columns;
    this.#sink = sink;
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: "root", num_children: columns.length }, ...columns.flatMap(schemaOf)],
      codec: "GZIP",
      compressors: { GZIP: (bytes) => gzipSync(bytes, { level: compressionLevel }) },
    });
  }

  /** Whether all values have the types of their columns. A single wrong one would make the whole group fail. */
  accepts(row: Row): boolean {
    return this.#columns.every((column) => row[column.field] === undefined || hasType(row[column.field], column));
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
    this.#flush();
  }

  #writeGroup(): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#weight = 0;
    this.#writer.write({
      columnData: this.#columns.map((column) => ({
        name: column.name,
        data: rows.map((row) => cell(row[column.field], column)),
        // The URLs of one sitemap begin alike, so this encoding needs a quarter of the space of plain text.
        ...(column.name === "url" ? { encoding: "DELTA_BYTE_ARRAY" as const } : {}),
        offsetIndex: false,
      })),
      rowGroupSize: rows.length,
    });
    // The writer queues an empty index for each column, even without indexes.
    this.#writer.pendingIndexes = [];
    this.#flush();
  }

  #flush(): void {
    this.#sink(this.#bytes.getBytes());
    this.#bytes.index = 0;
  }
}

// With larger groups, the file of a million pages is 5% smaller, but writing it takes more memory.
const groupRows = 10_000;
const groupWeight = 8 * 1024 * 1024;
// Level 3 takes a third of the time of level 6, and makes files 10% larger.
const compressionLevel = 3;

/** A column of a table, or a part of a nested one. A list has its items as its only part. */
interface Column {
  readonly name: string;
  /** The name of the field in a row. */
  readonly field: string;
  readonly type: keyof typeof elements | "list" | "struct";
  readonly parts?: readonly Column[];
}

const elements = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
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

// Returns the schema elements of a column and its parts. Lists have the three levels of the specification.
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists
function schemaOf({ name, type, parts = [] }: Column): SchemaElement[] {
  const own = { name, repetition_type: "OPTIONAL" } as const;
  const inner = parts.flatMap(schemaOf);
  if (type === "struct") return [{ ...own, num_children: parts.length }, ...inner];
  if (type !== "list") return [{ ...own, ...elements[type] }];
  const items = { name: "list", num_children: 1, repetition_type: "REPEATED" } as const;
  return [{ ...own, num_children: 1, converted_type: "LIST" }, items, ...inner];
}

// Converts a value to the form that the library expects.
function cell(value: unknown, { type, parts = [] }: Column): unknown {
  if (value === undefined) return undefined;
  if (type === "time") return instant(value as string);
  if (type === "integer") return BigInt(Math.round(value as number));
  if (type === "json") return JSON.stringify(value);
  if (type === "list") return (value as readonly unknown[]).map((item) => cell(item, parts[0]!));
  if (type !== "struct") return value;
  return Object.fromEntries(parts.map((part) => [part.name, cell((value as Row)[part.field], part)]));
}

// A date without a time becomes its first instant. A date that `Date` cannot represent is kept only as text.
function instant(date: string): Date | undefined {
  const parsed = new Date(date);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

// Whether `cell` can convert a value. Only pages have structs, and their types were checked before.
function hasType(value: unknown, { type, parts = [] }: Column): boolean {
  if (type === "list") return Array.isArray(value) && value.every((item) => hasType(item, parts[0]!));
  if (type === "integer") return Number.isFinite(value);
  return typeof value === (type === "boolean" ? "boolean" : "string");
}

/** Creates columns from the names of fields, in snake_case, as the tools that read these files expect. A column is text unless a type follows. */
function columns(fields: string): Column[] {
  return fields.split(" ").map((each) => {
    const [field = "", type = "text"] = each.split(":");
    const name = snakeCase(field);
    if (type !== "texts") return { name, field, type: type as Column["type"] };
    return { name, field, type: "list", parts: columns("element") };
  });
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// Creates the columns of a field. A date has two, a timestamp and a text. In items, a date is only text, and objects are JSON.
function columnsOf(field: string, type: FieldType, isInItem: boolean, name: string = snakeCase(field)): Column[] {
  const [parts, items] = [objectTypes(type), itemTypes(type)];
  if (isInItem && isNested(type)) return [{ name: `${name}_json`, field, type: "json" }];
  if (parts !== undefined) return [{ name, field, type: "struct", parts: partsOf(parts, false) }];
  if (items !== undefined) {
    const element: Column = { name: "element", field, type: "struct", parts: partsOf(items, true) };
    return [{ name, field, type: "list", parts: [element] }];
  }
  if (type === "texts" || type === "boolean") return columns(`${field}:${type}`);
  if (type === "number") return columns(`${field}:double`);
  const text: Column = { name, field, type: "text" };
  return type === "date" && !isInItem
    ? [
        { ...text, type: "time" },
        { ...text, name: `${name}_text` },
      ]
    : [text];
}

// Nested fields come last.
function partsOf(fields: FieldTypes, isInItem: boolean): Column[] {
  return Object.entries(fields)
    .toSorted(([, one], [, two]) => Number(isNested(one)) - Number(isNested(two)))
    .flatMap(([field, type]) => columnsOf(field, type, isInItem));
}

function isNested(type: FieldType): boolean {
  return objectTypes(type) !== undefined || itemTypes(type) !== undefined;
}

const isList = ({ type }: { type: FieldType }) => itemTypes(type) !== undefined;
const pagesTable: readonly Column[] = [
  ...columns("run site url sitemap"),
  ...[
    ...pageFieldRows.filter((row) => row.name !== "url" && !isList(row)),
    // Sorted by name, because readers may rely on the order of columns.
    ...pageFieldRows.filter(isList).toSorted((one, two) => (one.name < two.name ? -1 : 1)),
  ].flatMap(({ name, type, column }) => columnsOf(name, type, false, column)),
];
const sitemapsTable: readonly Column[] = [
  ...columns("run site url declaredUrl parent depth:integer kind format pageCount:integer complete:boolean"),
  ...columns("lastModified wireBytes:integer decodedBytes:integer status:integer fetchedAt:time"),
  ...columns("firstByte:integer duration:integer problems:integer reason"),
];
const problemsTable: readonly Column[] = columns(
  "run site url code loss:boolean message line:integer value count:integer",
);
const sitesTable: readonly Column[] = [
  ...columns("run site outcome pages:integer sitemaps:integer invalid:integer requests:integer wireBytes:integer"),
  ...columns("duration:integer reason fetchedAt:time preferences:texts"),
];
const changesTable: readonly Column[] = columns(
  "run site kind url sitemap lastModified:time lastModifiedBefore:time missing fields:texts fetchedAt:time",
);
