// The forms of dates that websites use instead of the W3C's. All patterns run over the few characters that date.ts lets through.
//   Lenient: any separator between date and time, one-digit months and days, lower-case `t` and `z`, compact ISO 8601.
//   Lenient: `+hhmm` and `+hh` as offsets; a time without an offset is taken as UTC.
//   Lenient: SQL style (`2024-01-02 03:04:05`), slashes and dots, AM and PM.
//   Lenient: RFC 822 and 2822 (https://www.rfc-editor.org/rfc/rfc2822#section-4.3), asctime, month names in English.
// Never guessed: 01/02/2024 may be in January or in February, so it is no date; 25/12/2024 and 02/02/2024 are. A zone that
// several countries use for different offsets (BST, IST) makes a time unreadable. The name of a weekday is not checked.

/** The date as ISO 8601. `text` is trimmed and short. */
export function readDateForm(text: string): string | undefined {
  // A comment, as in RFC 2822 and in `Date.prototype.toString()`; a zone's name, as in java.time.
  const bare = /[)\]]$/.test(text) ? text.replace(/\s*(?:\([^()]*\)|\[[^[\]]*\])$/, "") : text;
  const plain = bare.replace("\u2212", "-").replace(weekday, "");
  if (/^\d{4}/.test(plain)) return readYearFirst(plain);
  return /^\d/.test(plain) ? readDayFirst(plain) : readMonthFirst(plain);
}

const weekday = /^(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?(?:[.,]\s*|\s+)/i;

function readYearFirst(text: string): string | undefined {
  // 2024-1-2 | 2024/01/02 | 2024.01.02
  let match = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)(.*)$/.exec(text);
  if (match !== null) return dateAndTime(match[1], match[3], match[4], match[5]);
  // 20240102 | 20240102T030405 | 20240102030405
  match = /^(\d{4})(\d{2})(\d{2})(?=\D|$|\d{6}(?!\d))(.*)$/.exec(text);
  if (match !== null) return dateAndTime(match[1], match[2], match[3], match[4]);
  // 2024-1 | 2024/01
  match = /^(\d{4})[-/](\d{1,2})$/.exec(text);
  if (match !== null) return calendarMonth(match[1], match[2]);
  // 2024-Jan-02
  match = /^(\d{4})[\s-]+([a-z]{3,9})[\s-]+(\d{1,2})(?!\d)(.*)$/i.exec(text);
  if (match !== null) return dateAndTime(match[1], monthNumber(match[2]), match[3], match[4]);
  return undefined;
}

function readDayFirst(text: string): string | undefined {
  // 17 Dec 2009 | 17-Dec-09 | 17th of December, 2009
  let match = /^(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?[\s.-]*([a-z]{3,9})\.?[\s,-]*(\d{4}|\d{2})(?![\d:])(.*)$/i.exec(
    text,
  );
  if (match !== null) return dateAndTime(fullYear(match[3]), monthNumber(match[2]), match[1], match[4]);
  // 25/12/2024 | 12-25-2024 | 25.12.2024
  match = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)(.*)$/.exec(text);
  if (match !== null) return ambiguousDate(match[4], match[1], match[3], match[5]);
  return undefined;
}

function readMonthFirst(text: string): string | undefined {
  // Dec 17, 2009 | December 17th 2009
  let match = /^([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:\s*,\s*|\s+)(\d{4})(?!\d)(.*)$/i.exec(text);
  if (match !== null) return dateAndTime(match[3], monthNumber(match[1]), match[2], match[4]);
  // Dec 17 12:04:56 2009 | Dec 17 12:04:56 +0200 2009
  match = /^([a-z]{3,9})\s+(\d{1,2})(\s+\d{1,2}:\d{2}(?::\d{2})?(?:\s+[^\s\d]\S*)?)\s+(\d{4})$/i.exec(text);
  if (match !== null) return dateAndTime(match[4], monthNumber(match[1]), match[2], match[3]);
  // December 2009
  match = /^([a-z]{3,9})\.?[\s,-]+(\d{4})$/i.exec(text);
  if (match !== null) return calendarMonth(match[2], monthNumber(match[1]));
  return undefined;
}

// Day and month in either order, where only one order gives a date.
function ambiguousDate(year: Digits, one: Digits, other: Digits, time: string | undefined): string | undefined {
  const dayFirst = dateAndTime(year, other, one, time);
  const monthFirst = dateAndTime(year, one, other, time);
  if (dayFirst !== undefined && monthFirst !== undefined && dayFirst !== monthFirst) return undefined;
  return dayFirst ?? monthFirst;
}

function dateAndTime(year: Digits, month: Digits, day: Digits, rest: string | undefined): string | undefined {
  const yearAndMonth = calendarMonth(year, month);
  const date = Number(day);
  if (yearAndMonth === undefined || date < 1 || date > daysInMonth(Number(year), Number(month))) return undefined;
  const time = readTime(rest ?? "");
  return time === undefined ? undefined : `${yearAndMonth}-${pad(date)}${time}`;
}

export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function calendarMonth(year: Digits, month: Digits): string | undefined {
  const number = Number(month);
  if (Number(year) < 1 || !(number >= 1 && number <= 12)) return undefined;
  return `${year}-${pad(number)}`;
}

// What follows a date: nothing, an offset alone (which only XML Schema's `xs:date` has, and which a day does not keep), or a time.
function readTime(rest: string): string | undefined {
  if (dateEnd.test(rest)) return "";
  const match = (clockTime.exec(rest) ?? compactTime.exec(rest))?.groups;
  if (match === undefined) return undefined;
  const { mark, hour: hours, minute, second, fraction, half, name, offset } = match;
  // An hour alone is a time only where something says so: `T03` or `3 PM`.
  if (minute === undefined && half === undefined && mark?.trim().toUpperCase() !== "T") return undefined;
  const hour = hourOfDay(Number(hours), half);
  const zone = readZone(name, offset);
  if (hour === undefined || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59 || zone === undefined)
    return undefined;
  const seconds = second === undefined ? "" : `:${second}`;
  const fractions = fraction === undefined ? "" : `.${fraction}`;
  return `T${pad(hour)}:${minute ?? "00"}${seconds}${fractions}${zone}`;
}

const dateEnd = /^\s*(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/i;
const zonePattern = String.raw`\s*(?<name>[a-z]+)?\s*(?:(?<offset>[+-]\d{1,2}(?::?\d{2})?)(?:\s+[a-z]+)?)?$`;
const compactTime = new RegExp(
  String.raw`^(?<mark>\s*t\s*)?(?<hour>\d{2})(?<minute>\d{2})(?:(?<second>\d{2})(?:[.,](?<fraction>\d+))?)?${zonePattern}`,
  "i",
);
const clockTime = new RegExp(
  String.raw`^(?<mark>\s*,?\s*(?:t|at\s|-\s)?\s*)(?<hour>\d{1,2})(?::(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d+))?)?)?\s*(?:(?<half>[ap])\.?m\b\.?)?${zonePattern}`,
  "i",
);

function hourOfDay(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour < 24 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
}

// `+0200`, `GMT+2`, `EST`, or nothing: UTC. A name after an offset, as Go writes it, adds nothing.
function readZone(name: string | undefined, offset: string | undefined): string | undefined {
  const named = name === undefined ? "Z" : zones.get(name.toUpperCase());
  if (offset === undefined || named === undefined) return named;
  const [hours = "", minutes = "00"] = /^.(\d{1,2}?):?(\d{2})?$/.exec(offset)?.slice(1) ?? [];
  if (named !== "Z" || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return `${offset[0]}${hours.padStart(2, "0")}:${minutes}`;
}

// The zones of RFC 822 without its military letters, whose signs it got wrong, and names that mean one offset everywhere.
const zones: ReadonlyMap<string, string> = new Map([
  ...["Z", "UT", "UTC", "GMT"].map((name) => [name, "Z"] as const),
  ...(["EDT", "CDT", "MDT", "PDT"] as const).map((name, index) => [name, `-0${4 + index}:00`] as const),
  ...(["EST", "CST", "MST", "PST"] as const).map((name, index) => [name, `-0${5 + index}:00`] as const),
  ["WET", "+00:00"],
  ["WEST", "+01:00"],
  ["CET", "+01:00"],
  ["CEST", "+02:00"],
  ["EET", "+02:00"],
  ["EEST", "+03:00"],
  ["MSK", "+03:00"],
  ["JST", "+09:00"],
]);

const months: readonly string[] =
  "january february march april may june july august september october november december".split(" ");

function monthNumber(name: string | undefined): Digits {
  const lower = (name ?? "").toLowerCase();
  const index = months.findIndex((month) => month === lower || month.slice(0, 3) === lower);
  return index >= 0 ? index + 1 : lower === "sept" ? 9 : undefined;
}

// RFC 2822: "If a two digit year is encountered whose value is between 00 and 49, the year is interpreted by adding 2000".
function fullYear(digits: string | undefined): Digits {
  if (digits?.length !== 2) return digits;
  return Number(digits) < 50 ? `20${digits}` : `19${digits}`;
}

type Digits = string | number | undefined;

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
