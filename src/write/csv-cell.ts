// How a value becomes a cell of CSV. Unless asked otherwise, whatever a spreadsheet would take for a formula gets an apostrophe in
// front (https://owasp.org/www-community/attacks/CSV_Injection), and control characters are escaped: one page, one line.
import { escaped, printable, printableJson } from "./printable.ts";

/** How a value is written into a cell. */
export function csvCell(safe: boolean): CsvCell {
  return safe ? (text) => quoted(guarded(text ?? "")) : (text = "") => quoted(text);
}

export type CsvCell = (text: string | undefined) => string;

/** JSON for a cell. What would be a formula after a separator is escaped: the value stays the same. */
export function csvJson(value: object): string {
  const text = printableJson(JSON.stringify(value));
  return formula.test(text)
    ? text.replace(everyFormula, (place, sign: string) => place.slice(0, -1) + escaped(sign))
    : text;
}

// To get back what was there: take away one apostrophe from the start, and from what follows each separator, where spaces, quotes
// and then = + - @ come after it; and undo the \u escapes.
function guarded(text: string): string {
  return printable(formula.test(text) ? text.replace(everyFormula, guard) : text);
}

// Not every spreadsheet splits at commas: where the decimal sign is a comma, semicolons separate cells. Whoever splits elsewhere does
// not see our quotes, so that every part of a cell may be a cell. Spaces and quotes may be gone before the sign is looked at, and
// Japanese spreadsheets read the wide signs, too.
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

// Leading and trailing spaces are part of a field, but some readers trim what is not quoted; some split at semicolons, too.
const special = /[",;\r\n]|^ | $/;
