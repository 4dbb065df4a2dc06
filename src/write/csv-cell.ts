// Writes a value as a CSV cell. By default, what a spreadsheet would take for a formula gets an apostrophe in front
// (https://owasp.org/www-community/attacks/CSV_Injection), and control characters are escaped: one page, one line.
import { escaped, printable, printableJson } from "./printable.ts";

/** How a value is written into a cell. */
export function csvCell(safe: boolean): CsvCell {
  return safe ? (text) => quoted(guarded(text ?? "")) : (text = "") => quoted(text);
}

export type CsvCell = (text: string | undefined) => string;

/** JSON for a cell. What would be a formula after a separator is escaped; the value stays the same. */
export function csvJson(value: object): string {
  const text = printableJson(JSON.stringify(value));
  return formula.test(text)
    ? text.replace(everyFormula, (place, sign: string) => place.slice(0, -1) + escaped(sign))
    : text;
}

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
