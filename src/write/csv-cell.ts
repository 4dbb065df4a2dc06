// Writes a value as a CSV cell. By default, what a spreadsheet would take for a formula gets an apostrophe in front
// (https://owasp.org/www-community/attacks/CSV_Injection), and control characters are escaped: one page, one line.
import { escaped, printable, printableJson } from "./printable.ts";

/** How a value is written into a cell. */
export function csvCell(safe: boolean): CsvCell {
  return safe ? (text = "") => (unusual.test(text) ? quoted(guarded(text)) : text) : (text = "") => quoted(text);
}

// A cell that has none of these is written as it is. One look instead of three: most cells are URLs and dates.
const unusual = /[^ !#-+\--:<-{}~]|^[^A-Za-z0-9]| $/;

export type CsvCell = (text: string | undefined) => string;

/** JSON for a cell. What would be a formula after a separator is escaped; the value stays the same. */
export function csvJson(value: object): string {
  const json = JSON.stringify(value);
  // Neither a separator, nor a character that has to be escaped.
  if (!/[^ -:<-{}~]/.test(json)) return json;
  const text = printableJson(json);
  return formula.test(text)
    ? text.replace(everyFormula, (place, sign: string) => place.slice(0, -1) + escaped(sign))
    : text;
}

/** A list as a whole cell of JSON. */
export function csvJsonCell(list: readonly object[] | undefined): string {
  return list === undefined ? "" : (usualListCell(list) ?? quoted(csvJson(list)));
}

// Items of usual texts, with doubled quotes from the start: doubling them afterwards takes longer than everything else.
function usualListCell(list: readonly object[]): string | undefined {
  let items = "";
  for (const item of list as readonly Readonly<Record<string, unknown>>[]) {
    let fields = "";
    for (const name in item) {
      const value = item[name];
      if (typeof value !== "string" || unusualInJson.test(value)) return undefined;
      fields += `${fields === "" ? "" : ","}""${name}"":""${value}""`;
    }
    items += `${items === "" ? "" : ","}{${fields}}`;
  }
  return `"[${items}]"`;
}

// What JSON, CSV or a spreadsheet might take for something else.
const unusualInJson = /[^ !#-:<-[\]-{}~]/;

// To restore the original: remove one apostrophe at the start, and after each separator, if spaces, quotes and then = +
// - @ follow it; and undo the \u escapes.
function guarded(text: string): string {
  return printable(formula.test(text) ? text.replace(everyFormula, guard) : text);
}

// Not every spreadsheet splits at commas: with a decimal comma, semicolons separate cells. A spreadsheet that splits
// elsewhere ignores our quotes, so that any part of a cell may become a cell. It may drop spaces and quotes before it
// looks at the sign, and Japanese spreadsheets also read the full-width signs.
const start = "(?:^|[;|\\t])";
const sign = "[=+\\-@\uff1d\uff0b\uff0d\uff20]";
const formula = new RegExp(`${start}[\\s"']*${sign}|^'*[\\t\\r]`);
const everyFormula = new RegExp(`${start}[\\s"']*(${sign})|^'*[\\t\\r]`, "g");

function guard(place: string): string {
  return /^[;|\t](?!$)/.test(place) ? `${place[0]}'${place.slice(1)}` : `'${place}`;
}

function quoted(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Leading and trailing spaces are part of a field, but some readers trim unquoted fields; some also split at
// semicolons.
const special = /[",;\r\n]|^ | $/;
