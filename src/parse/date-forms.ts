// The forms of dates that websites use instead of the W3C's, each read from its words and numbers in one pass.
//   Lenient: any separator between date and time, one-digit months and days, lower-case `t` and `z`, compact ISO 8601.
//   Lenient: `+hhmm` and `+hh` as offsets.
//   Lenient: a time without an offset is taken as UTC.
//   Lenient: SQL style (`2024-01-02 03:04:05`), slashes and dots, AM and PM.
//   Lenient: RFC 822 and 2822 (https://www.rfc-editor.org/rfc/rfc2822#section-4.3), asctime, month names in English.
//   Lenient: of a time in a zone that nobody can place (BST, IST), the day is kept.
// Never guessed: 01/02/2024 may be in January or in February, so it is not a date; 25/12/2024 and 02/02/2024 are. The name of a weekday is
// not checked.
import { DateTokens } from "./date-tokens.ts";
import { isZoneName, offsetOfZone } from "./date-zones.ts";

/** A date as ISO 8601. */
export interface OtherDate {
  readonly date: string;
  /** What is known about the offset: written, assumed to be UTC, or unknown, so that only the day is kept. */
  readonly zone: "written" | "assumed" | "unknown" | "no time";
}

/** `text` is trimmed and short, and has single spaces only. */
export function readDateForm(text: string): OtherDate | undefined {
  const tokens = new DateTokens(withoutComment(text).replace("\u2212", "-"));
  const start = tokens.word();
  if (start === undefined) return readNumbers(tokens);
  if (!weekdays.has(start)) return readMonthFirst(tokens, start);
  tokens.skip(".,");
  const month = tokens.word();
  return month === undefined ? readNumbers(tokens) : readMonthFirst(tokens, month);
}

// A comment, as in RFC 2822 and in `Date.prototype.toString()`; a zone's name, as in java.time.
function withoutComment(text: string): string {
  const open = text.endsWith(")") ? text.lastIndexOf("(") : text.endsWith("]") ? text.lastIndexOf("[") : -1;
  return open < 0 ? text : text.slice(0, open).trimEnd();
}

function readNumbers(tokens: DateTokens): OtherDate | undefined {
  // 20240102 | 20240102T030405 | 20240102030405
  const compact = tokens.digits(8) ?? tokens.digits(14);
  if (compact !== undefined) {
    const time = compact.length === 14 ? readDigits(tokens, compact.slice(8)) : undefined;
    return dateAndTime(compact.slice(0, 4), compact.slice(4, 6), compact.slice(6, 8), tokens, time);
  }
  const year = tokens.digits(4);
  if (year !== undefined) return readYearFirst(tokens, year);
  const first = tokens.digits(1, 2);
  return first === undefined ? undefined : readDayFirst(tokens, first);
}

function readYearFirst(tokens: DateTokens, year: string): OtherDate | undefined {
  const separator = tokens.next;
  const from = tokens.at;
  // 2024-1-2 | 2024/01/02 | 2024.01.02 | 2024-1 | 2024/01
  if ("-/.".includes(separator) && tokens.joins(separator)) {
    const month = tokens.digits(1, 2);
    if (month !== undefined && tokens.isAtEnd) return separator === "." ? undefined : calendarMonth(year, month);
    if (month !== undefined && tokens.joins(separator)) {
      const day = tokens.digits(1, 2);
      return day === undefined ? undefined : dateAndTime(year, month, day, tokens);
    }
    tokens.at = from;
  }
  // 2024-Jan-02
  if (!tokens.skip("-")) return undefined;
  const month = monthNumber(tokens.word());
  if (month === undefined || !tokens.skip("-")) return undefined;
  const day = tokens.digits(1, 2);
  return day === undefined ? undefined : dateAndTime(year, month, day, tokens);
}

function readDayFirst(tokens: DateTokens, first: string): OtherDate | undefined {
  const separator = tokens.next;
  const from = tokens.at;
  // 25/12/2024 | 12-25-2024 | 25.12.2024
  if ("-/.".includes(separator) && tokens.joins(separator)) {
    const second = tokens.digits(1, 2);
    if (second !== undefined) {
      const year = tokens.joins(separator) ? tokens.digits(4) : undefined;
      return year === undefined ? undefined : ambiguousDate(year, first, second, tokens);
    }
    tokens.at = from;
  }
  // 17 Dec 2009 | 17-Dec-09 | 17th of December, 2009
  tokens.take(...ordinals);
  tokens.take("of");
  tokens.skip(".-");
  const month = monthNumber(tokens.word());
  tokens.take(".");
  tokens.skip(",-");
  const digits = tokens.digits(4) ?? tokens.digits(2);
  if (month === undefined || digits === undefined || tokens.next === ":") return undefined;
  return dateAndTime(fullYear(digits), month, first, tokens);
}

function readMonthFirst(tokens: DateTokens, name: string): OtherDate | undefined {
  const month = monthNumber(name);
  tokens.take(".");
  if (month === undefined || !tokens.skip(",-")) return undefined;
  // December 2009
  const year = tokens.digits(4);
  if (year !== undefined) return tokens.isAtEnd ? calendarMonth(year, month) : undefined;
  const day = tokens.digits(1, 2);
  if (day === undefined) return undefined;
  tokens.take(...ordinals);
  const hasSeparator = tokens.skip(",");
  // Dec 17, 2009 | December 17th 2009
  const next = hasSeparator ? tokens.digits(4) : undefined;
  if (next !== undefined) return dateAndTime(next, month, day, tokens);
  // Dec 17 12:04:56 2009 | Dec 17 12:04:56 +0200 2009
  const time = readClock(tokens, false);
  const last = time === undefined ? undefined : tokens.digits(4);
  return last === undefined ? undefined : dateAndTime(last, month, day, tokens, time);
}

// Day and month in either order, if only one order gives a valid date.
function ambiguousDate(year: string, one: string, other: string, tokens: DateTokens): OtherDate | undefined {
  const from = tokens.at;
  const dayFirst = dateAndTime(year, other, one, tokens);
  tokens.at = from;
  const monthFirst = dateAndTime(year, one, other, tokens);
  if (dayFirst !== undefined && monthFirst !== undefined && dayFirst.date !== monthFirst.date) return undefined;
  return dayFirst ?? monthFirst;
}

// The remaining tokens are the time, unless it was read before.
function dateAndTime(
  year: string,
  month: string | number,
  day: string,
  tokens: DateTokens,
  known?: Time,
): OtherDate | undefined {
  const number = Number(day);
  const yearAndMonth = calendarMonth(year, month)?.date;
  if (yearAndMonth === undefined || number < 1 || number > daysInMonth(Number(year), Number(month))) return undefined;
  const time = known ?? readTime(tokens);
  if (time === undefined || !tokens.isAtEnd) return undefined;
  return { date: `${yearAndMonth}-${pad(number)}${time.text}`, zone: time.zone };
}

/** Years 0 and 1 are dates that were never set: those of MySQL, Go and .NET. */
export const firstYear = 2;

export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function calendarMonth(year: string, month: string | number): OtherDate | undefined {
  const number = Number(month);
  if (Number(year) < firstYear || number < 1 || number > 12) return undefined;
  return { date: `${year}-${pad(number)}`, zone: "no time" };
}

interface Time {
  /** `T03:04:05Z`; empty if only the day is kept. */
  readonly text: string;
  readonly zone: OtherDate["zone"];
}

const noTime: Time = { text: "", zone: "no time" };

// What follows a date: nothing, an offset alone (which only XML Schema's `xs:date` has, and which a day does not keep), or a time.
function readTime(tokens: DateTokens): Time | undefined {
  if (tokens.isAtEnd) return noTime;
  const from = tokens.at;
  if (tokens.take("z") !== undefined && tokens.isAtEnd) return noTime;
  tokens.at = from;
  if (readOffset(tokens, true) !== undefined && tokens.isAtEnd) return noTime;
  tokens.at = from;
  tokens.take(",");
  const mark = tokens.take("t", "at", "-");
  if (mark === "-" && !tokens.isSpaced) return undefined;
  const compact = mark === "t" ? (tokens.digits(4) ?? tokens.digits(6)) : undefined;
  return compact === undefined ? readClock(tokens, mark === "t") : readDigits(tokens, compact);
}

// hhmm | hhmmss
function readDigits(tokens: DateTokens, digits: string): Time | undefined {
  const second = digits.length === 6 ? digits.slice(4) : undefined;
  const fraction = second === undefined ? undefined : readFraction(tokens);
  if (fraction === "") return undefined;
  return moment(tokens, Number(digits.slice(0, 2)), digits.slice(2, 4), second, fraction);
}

// h:mm | h:mm:ss | h:mm:ss.f, optionally with AM or PM. An hour alone is a time only with a mark: `T03` or `3 PM`.
function readClock(tokens: DateTokens, isHour: boolean): Time | undefined {
  const hours = tokens.digits(1, 2);
  if (hours === undefined) return undefined;
  const minute = tokens.joins(":") ? tokens.digits(2) : "";
  const second = minute && tokens.joins(":") ? tokens.digits(2) : "";
  const fraction = second ? readFraction(tokens) : undefined;
  if (minute === undefined || second === undefined || fraction === "") return undefined;
  const half = readHalf(tokens);
  if (minute === "" && half === undefined && !isHour) return undefined;
  const hour = hourOfDay(Number(hours), half);
  return hour === undefined ? undefined : moment(tokens, hour, minute || "00", second || undefined, fraction);
}

// Undefined if there is none, empty if its digits are missing.
function readFraction(tokens: DateTokens): string | undefined {
  return tokens.joins(".") || tokens.joins(",") ? (tokens.digits(1, mostDigits) ?? "") : undefined;
}

// AM | p.m.
function readHalf(tokens: DateTokens): "a" | "p" | undefined {
  const from = tokens.at;
  const word = tokens.take("am", "pm", "a", "p");
  if (word === undefined) return undefined;
  tokens.take(".");
  if (word.length === 2) return word[0] as "a" | "p";
  if (tokens.take("m") !== undefined) {
    tokens.take(".");
    return word as "a" | "p";
  }
  tokens.at = from;
  return undefined;
}

function hourOfDay(hour: number, half: "a" | "p" | undefined): number | undefined {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

function moment(
  tokens: DateTokens,
  hour: number,
  minute: string,
  second: string | undefined,
  fraction: string | undefined,
): Time | undefined {
  const zone = readZone(tokens);
  if (hour > 23 || Number(minute) > 59 || Number(second ?? 0) > 59 || zone === undefined) return undefined;
  if (zone === "unknown") return { text: "", zone };
  const seconds = second === undefined ? "" : `:${second}`;
  const fractions = fraction === undefined ? "" : `.${fraction}`;
  const text = `T${pad(hour)}:${minute}${seconds}${fractions}`;
  return zone === "assumed" ? { text: `${text}Z`, zone } : { text: text + zone, zone: "written" };
}

// `+0200`, `GMT+2`, `EST`, or nothing, which means UTC. A name after an offset, as Go writes it, adds nothing.
function readZone(tokens: DateTokens): string | undefined {
  const raw = tokens.next;
  const name = tokens.word();
  const named = name === undefined ? "assumed" : (offsetOfZone(name) ?? (isZoneName(raw) ? "unknown" : undefined));
  if (tokens.next !== "+" && tokens.next !== "-") return named;
  const offset = named === "assumed" || named === "Z" ? readOffset(tokens) : undefined;
  if (offset !== undefined && tokens.isSpaced) tokens.word();
  return offset;
}

// +02:00; unless `isStrict` also +0200, +02 and +2.
function readOffset(tokens: DateTokens, isStrict = false): string | undefined {
  const sign = tokens.take("+", "-");
  const digits = sign === undefined ? undefined : isStrict ? tokens.digits(2) : tokens.digits(1, 4);
  if (digits === undefined) return undefined;
  const hasColon = digits.length <= 2 && tokens.joins(":");
  const minutes = hasColon ? tokens.digits(2) : digits.length > 2 ? digits.slice(-2) : isStrict ? undefined : "00";
  const hours = digits.length > 2 ? digits.slice(0, -2) : digits;
  if (minutes === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  // https://www.rfc-editor.org/rfc/rfc2822#section-3.3: "-0000" is a time in UTC. ISO 8601 has no offset of minus zero.
  return sign === "-" && Number(hours) + Number(minutes) === 0 ? "Z" : `${sign}${hours.padStart(2, "0")}:${minutes}`;
}

const months: readonly string[] =
  "january february march april may june july august september october november december".split(" ");

function monthNumber(name: string | undefined): number | undefined {
  const index = months.findIndex((month) => month === name || month.slice(0, 3) === name);
  return index >= 0 ? index + 1 : name === "sept" ? 9 : undefined;
}

const weekdays: ReadonlySet<string> = new Set(
  ["mon", "tue", "tues", "wed", "wednes", "thu", "thur", "thurs", "fri", "sat", "satur", "sun"].flatMap((name) => [
    name,
    `${name}day`,
  ]),
);
const ordinals: readonly string[] = ["st", "nd", "rd", "th"];

// RFC 2822: "If a two digit year is encountered whose value is between 00 and 49, the year is interpreted by adding 2000".
function fullYear(digits: string): string {
  if (digits.length !== 2) return digits;
  return Number(digits) < 50 ? `20${digits}` : `19${digits}`;
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}

// More than fit into the length that date.ts accepts.
const mostDigits = 96;
