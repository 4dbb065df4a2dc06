// Dates: what a website wrote becomes ISO 8601, with the offset and the precision that it wrote.
// https://www.w3.org/TR/NOTE-datetime (the profile that the sitemap protocol asks for):
//   "The formats are as follows. Exactly the components shown here must be present, with exactly this punctuation."
// A date in one of its six forms is returned as it is; this is where nearly all dates end, so it allocates nothing.
// Fractions of a second keep all their digits: `new Date` takes any number of them.
//   Lenient: the other forms that websites use are read too, see date-forms.ts.
// Not read: week dates and days of the year (`2024-W05`, `2024-123`), years outside 0002 to 9999 (programs write a date that was
// never set in year 0 or 1), Unix times.
import type { ProblemCode } from "../model/problem.ts";

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

// The forms of dates that websites use instead of the W3C's, each read from its words and numbers in one pass.
//   Lenient: any separator between date and time, one-digit months and days, lower-case `t` and `z`, compact ISO 8601.
//   Lenient: `+hhmm` and `+hh` as offsets.
//   Lenient: a time without an offset is taken as UTC.
//   Lenient: SQL style (`2024-01-02 03:04:05`), slashes and dots, AM and PM.
//   Lenient: RFC 822 and 2822 (https://www.rfc-editor.org/rfc/rfc2822#section-4.3), asctime, month names in English.
//   Lenient: of a time in a zone that nobody can place (BST, IST), the day is kept.
// Never guessed: 01/02/2024 may be in January or in February, so it is not a date; 25/12/2024 and 02/02/2024 are. The name of a weekday is
// not checked.

/** A date as ISO 8601. */
export interface OtherDate {
  readonly date: string;
  /** What is known about the offset: written, assumed to be UTC, or unknown, so that only the day is kept. */
  readonly zone: "written" | "assumed" | "unknown" | "no time";
}

/** `text` is trimmed and short, and has single spaces only. */
function readDateForm(text: string): OtherDate | undefined {
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
const firstYear = 2;

function daysInMonth(year: number, month: number): number {
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

// Splits a date into words, numbers and signs. Date forms are read from these tokens instead of by regular expressions:
// one with several optional spaces backtracked for a quarter of a second on 96 characters.

/** A run of digits, a run of letters, or one other character at a time. */
class DateTokens {
  readonly #tokens: readonly string[];
  // Whether each of them has white space before it.
  readonly #spaced: readonly boolean[];
  at = 0;

  /** `text` has single spaces only. */
  constructor(text: string) {
    const tokens: string[] = [];
    const spaced: boolean[] = [];
    for (let at = 0; at < text.length; ) {
      const isSpaced = text.charCodeAt(at) === space;
      if (isSpaced) at++;
      const kind = kindOf(text.charCodeAt(at));
      let end = at + 1;
      if (kind !== sign) while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end++;
      if (at < text.length) {
        tokens.push(text.slice(at, end));
        spaced.push(isSpaced);
      }
      at = end;
    }
    this.#tokens = tokens;
    this.#spaced = spaced;
  }

  /** The next token; empty at the end. */
  get next(): string {
    return this.#tokens[this.at] ?? "";
  }

  get isAtEnd(): boolean {
    return this.at >= this.#tokens.length;
  }

  /** Whether the next token has white space before it. */
  get isSpaced(): boolean {
    return this.#spaced[this.at] ?? false;
  }

  /** Takes a number with so many digits. */
  digits(fewest: number, most: number = fewest): string | undefined {
    const { next } = this;
    if (next.length < fewest || next.length > most || kindOf(next.charCodeAt(0)) !== digit) return undefined;
    this.at++;
    return next;
  }

  /** Takes a word, in lower case. */
  word(): string | undefined {
    const { next } = this;
    if (kindOf(next.charCodeAt(0)) !== letter) return undefined;
    this.at++;
    return next.toLowerCase();
  }

  /** Takes the next token if it is one of these words or signs. */
  take(...wanted: readonly string[]): string | undefined {
    const next = this.next.toLowerCase();
    if (next === "" || !wanted.includes(next)) return undefined;
    this.at++;
    return next;
  }

  /** Takes the next token if it is this sign, with no white space around it. */
  joins(wanted: string): boolean {
    if (this.isAtEnd || this.next !== wanted || this.isSpaced || this.#spaced[this.at + 1] === true) return false;
    this.at++;
    return true;
  }

  /** Skips any of these signs. Returns whether there were any, or white space. */
  skip(signs: string): boolean {
    let hasAny = this.isSpaced;
    while (this.next !== "" && signs.includes(this.next)) {
      this.at++;
      hasAny = true;
    }
    return hasAny || this.isSpaced;
  }
}

function kindOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return digit;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a ? letter : sign;
}

const digit = 0;
const letter = 1;
const sign = 2;
const space = 0x20;

// The names of time zones in dates. https://www.rfc-editor.org/rfc/rfc822#section-5.1 has the American ones; others are
// listed only if they mean the same offset everywhere.

/** The offset of a zone; undefined if the name is unknown, or means different offsets in different places. */
function offsetOfZone(name: string): string | undefined {
  return zones.get(name.toUpperCase());
}

/**
 * Whether this looks like the name of a zone, so that the time before it cannot be placed, but the day can. BST is an hour ahead of
 * UTC in Britain and six in Bangladesh; IST is the time of India, Israel and Ireland. https://www.rfc-editor.org/rfc/rfc2822#section-4.3
 * on the single letters of RFC 822: "they do not convey any useful information".
 */
function isZoneName(name: string): boolean {
  return /^[A-Z]{1,5}$/.test(name) || ambiguous.has(name.toUpperCase());
}

const zones: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Z: "Z UT UTC GMT",
    "+00:00": "WET",
    "+01:00": "CET WEST WAT",
    "+02:00": "CEST EET CAT SAST",
    "+03:00": "EEST MSK EAT TRT",
    "+03:30": "IRST",
    "+04:30": "AFT",
    "+05:00": "PKT UZT YEKT",
    "+05:45": "NPT",
    "+06:30": "MMT",
    "+07:00": "WIB ICT KRAT",
    "+08:00": "AWST HKT SGT PHT WITA MYT IRKT",
    "+09:00": "JST KST WIT YAKT",
    "+09:30": "ACST",
    "+10:00": "AEST CHST VLAT",
    "+10:30": "ACDT",
    "+11:00": "AEDT",
    "+12:00": "NZST FJT",
    "+13:00": "NZDT",
    "-02:30": "NDT",
    "-03:00": "BRT ART UYT",
    "-03:30": "NST",
    "-04:00": "EDT VET BOT",
    "-05:00": "EST CDT PET",
    "-06:00": "CST MDT",
    "-07:00": "MST PDT",
    "-08:00": "PST AKDT",
    "-09:00": "AKST",
    "-10:00": "HST",
  }).flatMap(([offset, names]) => names.split(" ").map((name) => [name, offset] as const)),
);

// In whatever case they are written.
const ambiguous: ReadonlySet<string> = new Set(["ADT", "AMT", "AST", "BST", "COT", "ECT", "GST", "IST", "SST", "WST"]);
