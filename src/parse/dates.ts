// Reads dates and normalizes them to ISO 8601, with the offset and precision as written if possible.
// https://www.w3.org/TR/NOTE-datetime (the profile that the sitemap protocol requires):
//   "The formats are as follows. Exactly the components shown here must be present, with exactly this punctuation."
// A valid date in one of its six forms is returned unchanged, except that the offset `-00:00` becomes `Z`.
// Fractions of a second keep all their digits: `new Date` accepts any number of them.
//   Lenient: other forms that websites use are also read.
// Week dates and days of the year (`2024-W05`, `2024-123`), years outside 0002 to 9999 (years 0 and 1 are unset dates of some programs)
// and Unix times are not read.
import type { DocumentProblemCode } from "../model/problem-code.ts";

/**
 * The date as ISO 8601, or undefined if it is ambiguous, impossible or not a date. `new Date` reads every result.
 * A time without an offset is assumed to be UTC, and written with `Z`.
 * @example parseDate("Thu, 17 Dec 2009 12:04 +0200") // "2009-12-17T12:04+02:00"
 */
export function parseDate(text: string): string | undefined {
  return readOther(oneLine(text))?.date;
}

/** Like `parseDate`, but reports corrections and invalid dates. `form` is the document's date format: RFC 822 for RSS, else the W3C's. */
export function readDate(
  text: string,
  report: (code: DocumentProblemCode, value: string) => void,
  form: "w3c" | "rfc822" = "w3c",
): string | undefined {
  if (usual.test(text)) return text;
  const line = oneLine(text);
  const other = readOther(line);
  if (other === undefined) {
    report("date-invalid", text);
    return undefined;
  }
  const { date, zone } = other;
  if (date === line) return date;
  // RFC 822 is the right form in RSS, and a date that lacks only its offset is otherwise in the right form.
  const isFormed = (form === "rfc822" && rfc822.test(line)) || (zone === "assumed" && isW3cDate(`${line}Z`));
  if (!isFormed) report("date-form", text);
  if (zone === "assumed") report("date-no-offset", text);
  if (zone === "unknown") report("date-zone", text);
  return date;
}

// Matches the two forms in nearly all sitemaps, with a day that every month has. This is much faster than the rest.
const usual =
  /^(?!000[01])\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|\+(?:[01]\d|2[0-3]):[0-5]\d))?$/;

function readOther(line: string): OtherDate | undefined {
  if (line.length > maxLength) return undefined;
  if (!isW3cDate(line)) return readDateForm(line);
  // ISO 8601 has no offset of minus zero; in RFC 3339 it means UTC.
  return { date: line.endsWith("-00:00") ? `${line.slice(0, -6)}Z` : line, zone: "written" };
}

// Trims a text and makes inner white space single spaces, because some programs fold long lines.
function oneLine(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > maxFolded ? trimmed : trimmed.replace(/\s+/g, " ");
}

// Matches https://www.rfc-editor.org/rfc/rfc822#section-5 without military zones other than `Z`, also with a four-digit year or no zone.
const rfc822 =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun),? ?)?\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:\d{4}|\d{2}) \d{2}:\d{2}(?::\d{2})?(?: (?:[+-]\d{4}|ut|gmt|[ecmp][sd]t|z)(?: ?\([^()]*\))?)?$/i;

// The longest form in use, `Date.prototype.toString()` with the name of a time zone, has about 70 characters.
const maxLength = 96;
// The longest text that is searched for white space.
const maxFolded = 1024;

// YYYY | YYYY-MM | YYYY-MM-DD | YYYY-MM-DDThh:mm, perhaps :ss, perhaps a fraction, then Z or +hh:mm. 24:00, the start of the next day, does not match.
const w3c =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?)?)?$/;

function isW3cDate(text: string): boolean {
  const [, year, month = "01", day = "01"] = (text.length <= maxLength && w3c.exec(text)) || [];
  return year !== undefined && isDay(Number(year), Number(month), Number(day));
}

/** Whether a day exists. Years 0 and 1 do not count, because MySQL, Go and .NET use them for unset dates. */
function isDay(year: number, month: number, day: number): boolean {
  if (year < 2 || month < 1 || month > 12 || day < 1) return false;
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
  return day <= (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28);
}

// The forms of dates that websites use instead of the W3C's.
//   Lenient: any separator between date and time, one-digit months and days, lower-case `t` and `z`, compact ISO 8601.
//   Lenient: `+hhmm` and `+hh` as offsets.
//   Lenient: a time without an offset is assumed to be UTC.
//   Lenient: SQL style (`2024-01-02 03:04:05`), slashes and dots, AM and PM.
//   Lenient: RFC 822 and 2822 (https://www.rfc-editor.org/rfc/rfc2822#section-4.3), asctime, month names in English.
//   Lenient: if the time zone is ambiguous (BST, IST) or the name of a place (Europe/Brussels), only the day is kept.
// Day and month are not guessed: 01/02/2024 may be in January or in February, so it is a date only if its weekday tells which; 25/12/2024
// and 02/02/2024 are unambiguous, and their weekday is not checked. Spaces are single, and no expression has two adjacent repetitions of
// the same characters, so all take linear time.

/** A date as ISO 8601. `readTime` returns only the time, `T03:04:05Z`, or an empty text if only the day is kept. */
interface OtherDate {
  readonly date: string;
  /** What is known about the offset: written, assumed to be UTC, or unknown, so that only the day is kept. */
  readonly zone: "written" | "assumed" | "unknown" | "no time";
}

// The groups are `y`, `m` and `d`; `name` is the name of a month, `one` and `two` are a day and a month in either order, `rest` is a time.
const forms: readonly RegExp[] = [
  // 20240102 | 20240102T030405 | 20240102030405
  /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?<rest>\d{6}(?!\d).*|(?!\d).*)$/,
  // 2024-1 | 2024/01
  /^(?<y>\d{4})[-/](?<m>\d\d?)$/,
  // 2024-1-2 | 2024/01/02 | 2024.01.02
  /^(?<y>\d{4})([-/.])(?<m>\d\d?)\2(?<d>\d\d?)(?!\d)(?<rest>.*)$/,
  // 2024-Jan-02
  /^(?<y>\d{4})[- ]+(?<name>[a-z]+)[- ]+(?<d>\d\d?)(?!\d)(?<rest>.*)$/i,
  // 25/12/2024 | 12-25-2024 | 25.12.2024
  /^(?<one>\d\d?)([-/.])(?<two>\d\d?)\2(?<y>\d{4})(?!\d)(?<rest>.*)$/,
  // 17 Dec 2009 | 17-Dec-09 | 17th of December, 2009
  /^(?<d>\d\d?)(?: ?(?:st|nd|rd|th)(?![a-z]))?(?: ?of(?![a-z]))?[-. ]*(?<name>[a-z]+)(?: ?\.)?[-, ]*(?<y>\d{4}|\d\d)(?!\d| ?:)(?<rest>.*)$/i,
  // December 2009
  /^(?<name>[a-z]+)(?: ?\.)?[-, ]+(?<y>\d{4})$/i,
  // Dec 17, 2009 | December 17th 2009
  /^(?<name>[a-z]+)(?: ?\.)?[-, ]+(?<d>\d\d?)(?: ?(?:st|nd|rd|th)(?![a-z]))?[, ]+(?<y>\d{4})(?!\d)(?<rest>.*)$/i,
  // Dec 17 12:04:56 2009 | Dec 17 12:04:56 +0200 2009
  /^(?<name>[a-z]+)(?: ?\.)?[-, ]+(?<d>\d\d?)(?!\d)(?: ?(?:st|nd|rd|th)(?![a-z]))?[, ]*(?<rest>\d\d?:.*?) ?(?<!\d)(?<y>\d{4})$/i,
];

/** Reads a date in one of these forms. `text` must be trimmed and short, with single spaces only. */
function readDateForm(text: string): OtherDate | undefined {
  const whole = withoutComment(text).replace("\u2212", "-");
  const bare = whole.replace(weekday, "");
  for (const form of forms) {
    const fields = form.exec(bare)?.groups;
    if (fields === undefined) continue;
    const { name, one, two, d, rest } = fields;
    const year = fullYear(fields["y"]!);
    const month = name === undefined ? Number(fields["m"]) : months.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
    if (name !== undefined && !monthName.test(name)) return undefined;
    if (one === undefined || two === undefined) return dateAndTime(year, month, d, rest);
    const dayFirst = dateAndTime(year, Number(two), one, rest);
    const monthFirst = dateAndTime(year, Number(one), two, rest);
    if (dayFirst === undefined || monthFirst === undefined || dayFirst.date === monthFirst.date) {
      return dayFirst ?? monthFirst;
    }
    const possible = [dayFirst, monthFirst].filter(({ date }) => isOnWeekday(date.slice(0, 10), whole));
    return possible.length === 1 ? possible[0] : undefined;
  }
  return undefined;
}

function isOnWeekday(date: string, text: string): boolean {
  return text.slice(0, 3).toLowerCase() === weekdays.slice(3 * new Date(date).getUTCDay()).slice(0, 3);
}

const weekdays = "sunmontuewedthufrisat";

// Removes a comment, as in RFC 2822 and in `Date.prototype.toString()`, but keeps the name of a zone, as in java.time.
function withoutComment(text: string): string {
  const open = text.endsWith(")") ? text.lastIndexOf("(") : text.endsWith("]") ? text.lastIndexOf("[") : -1;
  if (open < 0) return text;
  const [before, inside] = [text.slice(0, open).trimEnd(), text.slice(open + 1, -1)];
  return endsInTime.test(before) && /^[a-z]+(?:\/[a-z_]+)*$/i.test(inside) ? `${before} ${inside}` : before;
}

const endsInTime = /:\d\d(?:\.\d+)?$/;

const weekday = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?(?![a-z])[., ]*/i;
const months = "janfebmaraprmayjunjulaugsepoctnovdec";
const monthName =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/i;

// RFC 2822: "If a two digit year is encountered whose value is between 00 and 49, the year is interpreted by adding 2000".
function fullYear(digits: string): string {
  if (digits.length !== 2) return digits;
  return Number(digits) < 50 ? `20${digits}` : `19${digits}`;
}

// Without a day, the date is a month.
function dateAndTime(year: string, month: number, day: string | undefined, rest = ""): OtherDate | undefined {
  if (!isDay(Number(year), month, Number(day ?? 1))) return undefined;
  const date = `${year}-${pad(month)}`;
  if (day === undefined) return { date, zone: "no time" };
  const time = readTime(rest);
  return time === undefined ? undefined : { date: `${date}-${pad(day)}${time.date}`, zone: time.zone };
}

// Matches the absence of a time: nothing, or only an offset of less than 15 hours, as in XML Schema's `xs:date`. The offset is dropped.
const noTime = /^ ?(?:z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/i;
// Matches T030405 and T0304, and 030405 at the end of a compact date.
const compactTime = /^(?: ?,)? ?t? ?(\d\d)(\d\d)(\d\d)?(?![\d:])/i;
// h:mm | h:mm:ss | h:mm:ss.f, perhaps AM or p.m., perhaps `+0200`, `GMT+2`, `EST`, `EST -0500` or `Europe/Brussels`; a name after an
// offset, as in Go, is ignored.
const clock =
  /^(?: ?,)? ?(?:(?<t>t)(?![a-z]) ?|(?:at|um|\u00e0)(?![a-z]) ?|[-|@\u2013] ?)?(?<hour>\d\d?)(?!\d)(?:[:h](?<minute>[0-5]\d)(?!\d)(?::(?<second>[0-5]\d)(?!\d)(?<fraction>[.,]\d+)?)?)?(?: ?(?<half>[ap]) ?\.? ?m(?![a-z])(?: ?\.)?)?(?: ?(?:uhr|h)(?![a-z]))?(?: ?(?<zone>[a-z]+(?:\/[a-z0-9_+-]+)*(?:(?: [a-z]+)? time)?))?(?: ?(?<offset>[+-].*?)(?: [a-z/_]+)?)?$/i;

function readTime(rest: string): OtherDate | undefined {
  if (noTime.test(rest)) return { date: "", zone: "no time" };
  const isCompact = /^(?: ?,)? ?t|^\d/i.test(rest) && compactTime.test(rest);
  const fields = clock.exec(isCompact ? rest.replace(compactTime, spread) : rest)?.groups;
  if (fields === undefined) return undefined;
  const { minute, second, fraction, half } = fields;
  // A bare hour is a time only if marked as one: `T03` or `3 PM`.
  if (minute === undefined && half === undefined && fields["t"] === undefined) return undefined;
  const written = Number(fields["hour"]);
  if (half !== undefined && (written < 1 || written > 12)) return undefined;
  const hour = half === undefined ? written : (written % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const offset = offsetOf(fields["zone"], fields["offset"]);
  if (hour > 23 || offset === undefined) return undefined;
  if (offset === "unknown") return { date: "", zone: offset };
  const seconds = (second === undefined ? "" : `:${second}`) + (fraction === undefined ? "" : `.${fraction.slice(1)}`);
  const time = `T${pad(hour)}:${minute ?? "00"}${seconds}`;
  return offset === "" ? { date: `${time}Z`, zone: "assumed" } : { date: time + offset, zone: "written" };
}

function spread(_: string, hour: string, minute: string, second: string | undefined): string {
  return `t${hour}:${minute}${second === undefined ? "" : `:${second}`}`;
}

// Returns the offset: empty if there is none (UTC is assumed), "unknown" if it is ambiguous or contradictory, undefined if it is invalid.
function offsetOf(name: string | undefined, offset: string | undefined): string | undefined {
  const named = name === undefined ? "" : (zones.get(name.toUpperCase()) ?? (isZoneName(name) ? "unknown" : undefined));
  if (offset === undefined || named === undefined) return named;
  // +02:00, +0200, +02 or +2
  const [, sign, hours = "", minutes = "00"] = /^([+-]) ?([01]?\d|2[0-3])(?::?([0-5]\d))?$/.exec(offset) ?? [];
  if (sign === undefined) return undefined;
  // https://www.rfc-editor.org/rfc/rfc2822#section-3.3: "-0000" is a time in UTC. ISO 8601 has no offset of minus zero.
  const written = sign === "-" && Number(hours + minutes) === 0 ? "Z" : `${sign}${pad(hours)}:${minutes}`;
  // An offset may follow a name, as in `GMT+2` and `IST +0530`. After a known name, as in `EST -0500`, both must mean the same.
  return named === "" || named === "Z" || named === "unknown" || named === written ? written : "unknown";
}

function pad(number: number | string): string {
  return String(number).padStart(2, "0");
}

// Whether this looks like the name of a zone, so that the day is known, but not the time: IST is used in India, Israel and Ireland. About
// single letters, https://www.rfc-editor.org/rfc/rfc2822#section-4.3 says: "they do not convey any useful information".
function isZoneName(name: string): boolean {
  return /^[A-Z]{1,5}$|\/| [Tt]ime$/.test(name) || ambiguous.has(name.toUpperCase());
}

// The names of time zones in dates. https://www.rfc-editor.org/rfc/rfc822#section-5.1 has the American ones; others are listed only if
// they mean the same offset everywhere.
const zones: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Z: "Z UT UTC GMT ETC/UTC ETC/GMT",
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

// The names of zones that stand for several offsets, in upper case.
const ambiguous: ReadonlySet<string> = new Set(["ADT", "AMT", "AST", "BST", "COT", "ECT", "GST", "IST", "SST", "WST"]);
