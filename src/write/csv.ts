// The format `csv`: one page per row. https://www.rfc-editor.org/rfc/rfc4180
//   "Fields containing line breaks (CRLF), double quotes, and commas should be enclosed in double-quotes."
// Deviation: lines end with LF, as in the other text formats; CSV readers accept both.
// Every field of a page is a column, named by its path (`news.title`). If one list is spread over rows (`--explode
// images`), the fields of its items are columns, too (`images.url`).
// By default, text that a spreadsheet may take for a formula gets a leading apostrophe
// (https://owasp.org/www-community/attacks/CSV_Injection), and control characters are escaped, so that a
// row stays on one line.
import { SitemapError } from "../model/errors.ts";
import { suggestion } from "../model/option-checks.ts";
import type { AlternatePage, SitemapImage, SitemapPage, SitemapVideo } from "../model/page.ts";
import {
  type FieldType,
  itemTypes,
  type ListField,
  listFields,
  objectTypes,
  pageFieldRows,
  pageFields,
} from "../model/page-fields.ts";
import type { PageWriter } from "./pages.ts";
import { escaped, printable, printableJson } from "./printable.ts";

export type CsvSeparator = "," | ";" | "\t";

export interface CsvOptions {
  /** The names of the columns. `all` stands for every field of a page. */
  readonly columns?: readonly string[] | undefined;
  /**
   * A list to spread over rows, one row per item. Adds the fields of the items, unless some of them are among the columns. A page without
   * items keeps one row.
   */
  readonly explode?: ListField | undefined;
  readonly separator?: CsvSeparator | undefined;
  /** Whether to escape values that a spreadsheet may read as formulas (default: true). */
  readonly safe?: boolean | undefined;
}

export const defaultCsvColumns: readonly string[] = ["url", "lastModified", "changeFrequency", "priority", "sitemap"];

/** Creates the writer of these columns. Throws a `SitemapError` if a column is unknown. */
export function csvWriter({
  columns = defaultCsvColumns,
  explode,
  separator = ",",
  safe = true,
}: CsvOptions = {}): PageWriter {
  const chosen = chosenColumns(columns, explode);
  const cell = csvCell(safe, separator);
  const row = (page: SitemapPage, sitemap: string, item?: Item) =>
    `${chosen.map(({ read }) => cell(read(page, sitemap, item))).join(separator)}\n`;
  return {
    header: `${chosen.map(({ name }) => name).join(separator)}\n`,
    write({ sitemap, pages }) {
      let rows = "";
      for (const page of pages) {
        const items = explode === undefined ? undefined : page[explode];
        if (items === undefined || items.length === 0) rows += row(page, sitemap);
        else for (const item of items) rows += row(page, sitemap, item);
      }
      return rows;
    },
    writeReferences(sitemap, references) {
      return references.map((reference) => row(reference, sitemap)).join("");
    },
  };
}

/** Excel needs this mark at the start of a file. Without it, Excel decodes UTF-8 with the character set of the machine. */
export const byteOrderMark = "\ufeff";

type Item = SitemapImage | SitemapVideo | AlternatePage;
type Value = string | number | boolean | undefined;

interface Column {
  readonly name: string;
  /** `item` is the item of the row, if a list is spread over rows and is not empty. */
  readonly read: Read<Value>;
}

function chosenColumns(names: readonly string[], explode: ListField | undefined): Column[] {
  const items = explode === undefined ? [] : itemColumns(explode);
  const known = new Map([...pageColumns, ...items].map((column) => [column.name, column]));
  const chosen = names.flatMap((name) => {
    if (name === "all") return pageColumns.filter((column) => column.name !== explode);
    const column = known.get(name);
    if (column !== undefined) return [column];
    const list = listFields.find((candidate) => itemColumns(candidate).some((field) => field.name === name));
    if (list !== undefined) throw new SitemapError("invalid-option", `The column ${name} needs --explode ${list}`);
    const hint = suggestion(name, known.keys()) || `; choose from ${[...known.keys()].join(", ")}`;
    throw new SitemapError("invalid-option", `Unknown column ${name}${hint}`);
  });
  return items.some((column) => chosen.includes(column)) ? chosen : [...chosen, ...items];
}

/** Lists the names of all columns, for the docs. */
export function allCsvColumns(): string[] {
  return [...pageColumns, ...listFields.flatMap(itemColumns)].map(({ name }) => name);
}

const sitemapColumn: Column = { name: "sitemap", read: (_, sitemap) => sitemap };
const fieldColumns: readonly Column[] = pageFieldRows.flatMap(({ name, column = name, type }) => {
  const fields = objectTypes(type);
  if (fields === undefined) return [columnOf(column, type, (page) => page[name])];
  return Object.entries(fields).map(([field, inner]) =>
    columnOf(`${column}.${field}`, inner, (page) => (page[name] as Fields | undefined)?.[field]),
  );
});
const pageColumns: readonly Column[] = [
  ...fieldColumns.filter(({ name }) => defaultCsvColumns.includes(name)),
  sitemapColumn,
  ...fieldColumns.filter(({ name }) => !defaultCsvColumns.includes(name)),
];

function itemColumns(list: ListField): readonly Column[] {
  return Object.entries(itemTypes(pageFields[list].type) ?? {}).map(([field, type]) =>
    columnOf(`${list}.${field}`, type, (_page, _sitemap, item) => (item as Fields | undefined)?.[field]),
  );
}

type Fields = Readonly<Record<string, unknown>>;
type Read<T> = (page: SitemapPage, sitemap: string, item: Item | undefined) => T;

// Creates a column. Lists of text are joined with commas, and other objects are written as JSON.
function columnOf(name: string, type: FieldType, read: Read<unknown>): Column {
  if (typeof type === "string" ? type !== "texts" : "oneOf" in type) return { name, read: read as Read<Value> };
  const text = (value: object) => (type === "texts" ? (value as string[]).join(", ") : json(value));
  return {
    name,
    read(page, sitemap, item) {
      const value = read(page, sitemap, item) as object | undefined;
      return value && text(value);
    },
  };
}

// Escapes signs that would begin a formula after a separator. The JSON keeps its value: no field is an array of numbers, so such a sign
// is always inside a string, where it may be escaped.
function json(value: object): string {
  return printableJson(JSON.stringify(value)).replace(
    anyFormula,
    (match, sign: string) => match.slice(0, -1) + escaped(sign),
  );
}

export type CsvCell = (value: Value) => string;

/** Returns a function that writes a value as a cell. */
export function csvCell(safe: boolean, separator: CsvSeparator = ","): CsvCell {
  // Also quotes cells with leading or trailing spaces, which some readers would trim, or with semicolons, at which some readers split.
  const special = new RegExp(`[",;${separator}\\r\\n]|^ | $`);
  const quoted = (text: string) => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  if (!safe) return (value = "") => quoted(String(value));
  // To restore the original, undo the \u escapes, and remove one apostrophe at the start and after each separator other than ours,
  // wherever spaces, quotes and then a sign (= + - @) follow it.
  const formula = formulas(",;|\t".replace(separator, ""));
  return (value = "") => {
    const text = String(value);
    return unusual.test(text) ? quoted(printable(text.replace(formula, guarded))) : text;
  };
}

// Matches cells that may need quotes or escapes. Most cells are URLs and dates, so this one test saves all others.
const unusual = /[^ !#-+\--:<-{}~]|^[^A-Za-z0-9]| $/;

// Not every spreadsheet uses our separator: in locales with a decimal comma, semicolons separate cells. Such a spreadsheet ignores our
// quotes, so any part of a cell may become a cell. It may drop spaces and quotes before it looks at the sign, and Japanese spreadsheets
// also read full-width signs.
function formulas(separators: string): RegExp {
  return new RegExp(`(?:^|[${separators}])[\\s"']*([=+\\-@\uff1d\uff0b\uff0d\uff20])|^'*[\\t\\r]`, "g");
}

const anyFormula = formulas(",;|\t");

function guarded(match: string): string {
  return /^[,;|\t](?!$)/.test(match) ? `${match[0]}'${match.slice(1)}` : `'${match}`;
}
