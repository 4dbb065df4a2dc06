// Dates: what a website wrote becomes ISO 8601, with the offset and the precision that it wrote.
// https://www.w3.org/TR/NOTE-datetime (the profile that the sitemap protocol asks for):
//   "The formats are as follows. Exactly the components shown here must be present, with exactly this punctuation."
// A date in one of its six forms is returned as it is; this is where nearly all dates end, so it allocates nothing.
// Fractions of a second keep all their digits: `new Date` takes any number of them.
//   Lenient: the other forms that websites use are read too, see date-forms.ts.
// Not read: week dates and days of the year (`2024-W05`, `2024-123`), years outside 0002 to 9999 (programs write a date that was
// never set in year 0 or 1), Unix times.
import type { ProblemCode } from "../model/problem.ts";
import { daysInMonth, firstYear, type OtherDate, readDateForm } from "./date-forms.ts";

/**
 * The date as ISO 8601, or undefined if it is ambiguous, impossible or not a date. `new Date` reads every result.
 * A time without an offset is taken as UTC and written with `Z`.
 * @example parseDate("Thu, 17 Dec 2009 12:04 +0200") // "2009-12-17T12:04+02:00"
 */
export function parseDate(text: string): string | undefined {
  return isUsualDate(text) ? text : readOther(oneLine(text))?.date;
}

/**
 * As `parseDate`, but reports what had to be corrected. `form`: how the format writes dates: RSS as in RFC 822,
 * all others as the W3C does.
 */
export function readDate(
  text: string,
  report: (code: ProblemCode, value: string) => void,
  form: "w3c" | "rfc822" = "w3c",
): string | undefined {
  if (isUsualDate(text)) return text;
  const line = oneLine(text);
  const other = readOther(line);
  if (other === undefined) {
    report("date-invalid", text);
    return undefined;
  }
  const { date, zone } = other;
  if (date === line) return date;
  // A time that only lacks its offset has the right form otherwise.
  const isFormed = (form === "rfc822" && rfc822.test(line)) || (zone === "assumed" && isW3cDate(`${line}Z`));
  if (!isFormed) report("date-form", text);
  if (zone === "assumed") report("date-no-offset", text);
  if (zone === "unknown") report("date-zone", text);
  return date;
}

/** ISO 8601 has no offset of minus zero; RFC 3339 means UTC by it. */
function hasMinusZero(date: string): boolean {
  return date.endsWith("-00:00");
}

function isUsualDate(text: string): boolean {
  return usual.test(text) && !hasMinusZero(text);
}

function readOther(line: string): OtherDate | undefined {
  if (line.length > maxLength) return undefined;
  if (!isW3cDate(line)) return readDateForm(line);
  return { date: hasMinusZero(line) ? `${line.slice(0, -6)}Z` : line, zone: "written" };
}

// Without white space around it, and with single spaces inside: programs fold long lines.
function oneLine(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > maxFolded ? trimmed : trimmed.replace(/\s+/g, " ");
}

// https://www.rfc-editor.org/rfc/rfc822#section-5, with years of four digits, as RSS allows and everybody writes them.
const rfc822 =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun),? ?)?\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:\d{4}|\d{2}) \d{2}:\d{2}(?::\d{2})?(?: (?:[+-]\d{4}|ut|gmt|[ecmp][sd]t|z)(?: ?\([^()]*\))?)?$/i;

// What nearly all sitemaps write, with a day that every month has: twice as fast as checking each character.
const usual =
  /^(?!000[01])\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

// The longest form in use, `Date.prototype.toString()` with the name of a time zone, has about 70 characters.
const maxLength = 96;
// With all its white space.
const maxFolded = 1024;

// YYYY | YYYY-MM | YYYY-MM-DD | YYYY-MM-DDThh:mm, perhaps :ss, perhaps a fraction, then Z or +hh:mm
function isW3cDate(text: string): boolean {
  const { length } = text;
  if (length < 4 || length > maxLength) return false;
  const century = twoDigits(text, 0);
  const yearOfCentury = twoDigits(text, 2);
  if (century < 0 || yearOfCentury < 0) return false;
  const year = century * 100 + yearOfCentury;
  if (year < firstYear) return false;
  if (length === 4) return true;
  const month = twoDigits(text, 5);
  if (text.charCodeAt(4) !== hyphen || month < 1 || month > 12) return false;
  if (length === 7) return true;
  const day = twoDigits(text, 8);
  if (text.charCodeAt(7) !== hyphen || day < 1 || (day > 28 && day > daysInMonth(year, month))) return false;
  return length === 10 || isW3cTime(text, length);
}

function isW3cTime(text: string, length: number): boolean {
  if (text.charCodeAt(10) !== letterT || !isTimeOfDay(text, 11)) return false;
  let at = 16;
  if (text.charCodeAt(at) === colon) {
    const second = twoDigits(text, at + 1);
    if (second < 0 || second > 59) return false;
    at += 3;
    if (text.charCodeAt(at) === dot) {
      const fraction = ++at;
      while (isDigit(text.charCodeAt(at))) at++;
      if (at === fraction) return false;
    }
  }
  const sign = text.charCodeAt(at);
  if (sign === letterZ) return length === at + 1;
  return (sign === plus || sign === hyphen) && length === at + 6 && isTimeOfDay(text, at + 1);
}

// hh:mm, of a time or of an offset. 24:00 is not accepted: it means a moment of the next day.
function isTimeOfDay(text: string, at: number): boolean {
  const hour = twoDigits(text, at);
  const minute = twoDigits(text, at + 3);
  return hour >= 0 && hour < 24 && text.charCodeAt(at + 2) === colon && minute >= 0 && minute < 60;
}

// -1 if there are no two digits.
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const units = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(units) ? (tens - zero) * 10 + units - zero : -1;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

const plus = 0x2b;
const hyphen = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const letterT = 0x54;
const letterZ = 0x5a;
