// The tables of the format `parquet`, as the schema elements of the file format. Names are in snake_case, as the tools that read
// these files (DuckDB, pandas, Spark) expect; lists have the three levels of the specification.
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists
import type { SchemaElement } from "hyparquet-writer";

/** A column: its schema element, followed by those of its fields. */
export type Column = readonly SchemaElement[];

export const pagesTable: readonly Column[] = [
  text("run"),
  text("site"),
  text("url"),
  text("sitemap"),
  timestamp("last_modified"),
  text("last_modified_text"),
  text("change_frequency"),
  double("priority"),
  struct("news", [
    text("title"),
    timestamp("publish_date"),
    text("publish_date_text"),
    text("publication_name"),
    text("publication_language"),
    text("access"),
    list("genres", text("element")),
    list("keywords", text("element")),
    list("stock_tickers", text("element")),
  ]),
  list("alternates", struct("element", [text("language"), text("url")])),
  list(
    "images",
    struct("element", [text("url"), text("caption"), text("geo_location"), text("title"), text("license")]),
  ),
  list(
    "videos",
    struct("element", [
      text("thumbnail_url"),
      text("title"),
      text("description"),
      text("content_url"),
      text("player_url"),
      boolean("player_allows_embed"),
      text("player_autoplay"),
      double("duration"),
      text("expiration_date"),
      double("rating"),
      double("view_count"),
      text("publication_date"),
      boolean("is_family_friendly"),
      boolean("requires_subscription"),
      text("uploader"),
      text("uploader_url"),
      boolean("is_live"),
      list("tags", text("element")),
      text("category"),
      text("gallery_url"),
      text("gallery_title"),
      // Rarely used and deeply nested: as JSON, so that nothing is lost.
      json("restriction"),
      json("platform"),
      json("prices"),
      json("content_segments"),
      json("ids"),
      json("tv_show"),
    ]),
  ),
];

export const sitemapsTable: readonly Column[] = [
  text("run"),
  text("site"),
  text("url"),
  text("declared_url"),
  text("parent"),
  integer("depth"),
  text("kind"),
  text("format"),
  integer("page_count"),
  boolean("complete"),
  text("last_modified"),
  integer("wire_bytes"),
  integer("decoded_bytes"),
  integer("status"),
  timestamp("fetched_at"),
  integer("first_byte"),
  integer("duration"),
  integer("problems"),
  text("reason"),
];

export const problemsTable: readonly Column[] = [
  text("run"),
  text("site"),
  text("url"),
  text("code"),
  boolean("loss"),
  text("message"),
  integer("line"),
  text("value"),
  integer("count"),
];

/** The root element and all columns, as a file begins with them. */
export function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [{ name: "root", num_children: columns.length }, ...columns.flat()];
}

function text(name: string): Column {
  return [{ name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" }];
}

function json(name: string): Column {
  return text(`${name}_json`);
}

function double(name: string): Column {
  return [{ name, type: "DOUBLE", repetition_type: "OPTIONAL" }];
}

function integer(name: string): Column {
  return [{ name, type: "INT64", repetition_type: "OPTIONAL" }];
}

function boolean(name: string): Column {
  return [{ name, type: "BOOLEAN", repetition_type: "OPTIONAL" }];
}

function timestamp(name: string): Column {
  return [{ name, type: "INT64", converted_type: "TIMESTAMP_MILLIS", repetition_type: "OPTIONAL" }];
}

function struct(name: string, fields: readonly Column[]): Column {
  return [{ name, num_children: fields.length, repetition_type: "OPTIONAL" }, ...fields.flat()];
}

function list(name: string, element: Column): Column {
  return [
    { name, num_children: 1, converted_type: "LIST", repetition_type: "OPTIONAL" },
    { name: "list", num_children: 1, repetition_type: "REPEATED" },
    ...element,
  ];
}
