import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDate, readDate } from "../../src/parse/dates.ts";
import { anyText } from "../support/any-text.ts";
import { some } from "../support/long.ts";

const list = (text: string) => text.split("|").map((each) => each.trim());
const pairs = (text: string) => text.split(" | ").map((each) => each.split(" is ") as [text: string, expected: string]);

describe("spec: the six forms of the W3C profile are returned as written", () => {
  test.each([
    ...list("2024 | 2024-05 | 2024-05-01 | 2024-02-29 | 2000-02-29 | 2024-05-01T10:20Z | 2024-05-01T10:20+02:00"),
    ...list("2024-05-01T10:20:30Z | 2024-05-01T10:20:30-05:30 | 2024-05-01T10:20:30.1Z"),
    ...list("2024-05-01T10:20:30.123456789+00:00 | 0002-01-01T00:00:00Z | 9999-12-31T23:59:59.999Z"),
  ])("%s", (text) => {
    expect(parseDate(text)).toBe(text);
    expect(parseDate(` \n\t${text}\u00a0`)).toBe(text);
  });
});

describe("lenient: other forms are rewritten as ISO 8601, with the offset and precision that the site gave", () => {
  test.each([
    // Less usual forms of ISO 8601.
    ...pairs(
      "2024-05-01T10:20:30+0200 is 2024-05-01T10:20:30+02:00 | 2024-05-01T10:20:30+02 is 2024-05-01T10:20:30+02:00",
    ),
    ...pairs(
      "2024-05-01T10:20:30.5-0330 is 2024-05-01T10:20:30.5-03:30 | 2024-05-01T10:20:30,5Z is 2024-05-01T10:20:30.5Z",
    ),
    ...pairs("2024-05-01t10:20:30z is 2024-05-01T10:20:30Z | 2024-05-01T10:20:30 +02:00 is 2024-05-01T10:20:30+02:00"),
    ...pairs(
      "2024-05-01T10:20:30\u221205:00 is 2024-05-01T10:20:30-05:00 | 2024-05-01T10:20:30 is 2024-05-01T10:20:30Z",
    ),
    ...pairs("2024-05-01T10:20 is 2024-05-01T10:20Z | 2024-05-01T10 is 2024-05-01T10:00Z"),
    ...pairs("2024-05-01T10+02 is 2024-05-01T10:00+02:00 | 2024-5-1 is 2024-05-01 | 2024-5 is 2024-05"),
    ...pairs("2024-05-01Z is 2024-05-01 | 2024-05-01+02:00 is 2024-05-01 | 20240501 is 2024-05-01"),
    ...pairs("20240501T102030Z is 2024-05-01T10:20:30Z | 20240501T102030.25+0200 is 2024-05-01T10:20:30.25+02:00"),
    ...pairs("20240501T102030+02:00 is 2024-05-01T10:20:30+02:00 | 20240501T1020 is 2024-05-01T10:20Z"),
    ...pairs("20240501T10 is 2024-05-01T10:00Z | 20240501T10:20:30Z is 2024-05-01T10:20:30Z"),
    ...pairs("20240501102030 is 2024-05-01T10:20:30Z | 2024-05-01T102030Z is 2024-05-01T10:20:30Z"),
    ...pairs("2024-05-01T10:20:30+02:00[Europe/Berlin] is 2024-05-01T10:20:30+02:00"),
    // SQL, Go, slashes, dots.
    ...pairs("2024-01-02 03:04:05 is 2024-01-02T03:04:05Z | 2024-01-02 03:04 is 2024-01-02T03:04Z"),
    ...pairs("2024-01-02 3:04:05 is 2024-01-02T03:04:05Z | 2024-01-02  03:04:05.678901 is 2024-01-02T03:04:05.678901Z"),
    ...pairs("2024-01-02 03:04:05+01 is 2024-01-02T03:04:05+01:00 | 2024-01-02 03:04:05 UTC is 2024-01-02T03:04:05Z"),
    ...pairs("2024-01-02 03:04:05 EST is 2024-01-02T03:04:05-05:00"),
    ...pairs(
      "2024-01-02 03:04:05.123456789 +0100 CET is 2024-01-02T03:04:05.123456789+01:00 | 2024/01/02 is 2024-01-02",
    ),
    ...pairs("2024/1/2 3:04 PM is 2024-01-02T15:04Z | 2024/01 is 2024-01 | 2024.01.02 is 2024-01-02"),
    ...pairs("25/12/2024 is 2024-12-25 | 12/25/2024 is 2024-12-25 | 25.12.2024 is 2024-12-25"),
    ...pairs("25-12-2024 18:30 is 2024-12-25T18:30Z | 02/02/2024 is 2024-02-02"),
    ...pairs("12/25/2024 12:05:06 AM is 2024-12-25T00:05:06Z | 12/25/2024 12:05:06 p.m. is 2024-12-25T12:05:06Z"),
    // RFC 822, 850, 2822, asctime.
    ...pairs("Thu, 17 Dec 2009 12:04:56 +0200 is 2009-12-17T12:04:56+02:00"),
    ...pairs("Thu, 17 Dec 2009 12:04:56 -0000 is 2009-12-17T12:04:56Z"),
    ...pairs("Thu, 17 Dec 2009 12:04:56 GMT is 2009-12-17T12:04:56Z"),
    ...pairs("Thu, 17 Dec 2009 12:04:56 EST is 2009-12-17T12:04:56-05:00"),
    ...pairs("Thu, 17 Dec 2009 12:04:56 PDT is 2009-12-17T12:04:56-07:00"),
    ...pairs(
      "Thu, 17 Dec 2009 12:04:56 CEST is 2009-12-17T12:04:56+02:00 | Thu, 17 Dec 2009 12:04 UT is 2009-12-17T12:04Z",
    ),
    ...pairs("Thu, 17 Dec 09 12:04:56 Z is 2009-12-17T12:04:56Z | 17 Dec 49 12:04:56 GMT is 2049-12-17T12:04:56Z"),
    ...pairs("17 Dec 50 12:04:56 GMT is 1950-12-17T12:04:56Z | Thu,17 Dec 2009 12:04:56 is 2009-12-17T12:04:56Z"),
    ...pairs(
      "Thursday, 17-Dec-09 12:04:56 GMT is 2009-12-17T12:04:56Z | Thu Dec 17 12:04:56 2009 is 2009-12-17T12:04:56Z",
    ),
    ...pairs(
      "Thu Dec  7 12:04:56 2009 is 2009-12-07T12:04:56Z | Thu Dec 17 12:04:56 EST 2009 is 2009-12-17T12:04:56-05:00",
    ),
    ...pairs("Thu Dec 17 12:04:56 +0200 2009 is 2009-12-17T12:04:56+02:00"),
    ...pairs("Thu, 17 Dec 2009 12:04:56 +0200 (EET) is 2009-12-17T12:04:56+02:00"),
    ...pairs("Thu Dec 17 2009 12:04:56 GMT+0100 (Central European Standard Time) is 2009-12-17T12:04:56+01:00"),
    ...pairs("Thu, 17 Dec 2009 12:04:56 UTC-3 is 2009-12-17T12:04:56-03:00"),
    // Month names.
    ...pairs("17 December 2009 is 2009-12-17 | 1 Sept. 2009 is 2009-09-01 | 17th of December, 2009 is 2009-12-17"),
    ...pairs("Dec 17, 2009 is 2009-12-17 | DECEMBER 17TH 2009 is 2009-12-17"),
    ...pairs("December 17, 2009 3:04 PM is 2009-12-17T15:04Z"),
    ...pairs("December 17, 2009, 3:04:05\u202fpm EST is 2009-12-17T15:04:05-05:00"),
    ...pairs("December 17, 2009 at 3 PM is 2009-12-17T15:00Z | December 2009 is 2009-12 | 2009-Dec-17 is 2009-12-17"),
  ])("%s is %s", (text, expected) => {
    expect(parseDate(text)).toBe(expected);
  });
});

describe("an ambiguous or impossible date is absent", () => {
  test.each([
    // Ambiguous: day and month could be either way.
    ...list("01/02/2024 | 01.02.2024 | 1-2-2024 | 01/02/03 | 25/12/24"),
    // Impossible dates.
    ...list(
      "0000-01-01 | 0001-01-01 | 0001-01-01T00:00:00Z | 0001-01 | Mon, 01 Jan 0001 00:00:00 +0000 | 1/1/0001 | 0000",
    ),
    ...list("10000-01-01 | 2024-00-01 | 2024-13-01 | 2024-01-00 | 2024-01-32 | 2024-02-30 | 2023-02-29 | 1900-02-29"),
    ...list("2024-04-31T00:00:00Z | 2024-01-02T24:00:00Z | 2024-01-02T24:00Z | 2024-01-02T25:00:00Z"),
    ...list("2024-01-02T10:60:00Z | 2016-12-31T23:59:60Z | 2024-01-02 23:59:60 | 2024-01-02T10:00:00+99:99"),
    ...list("2024-01-02T10:00:00+24:00 | 2024-01-02T10:00:00+9999 | 2024-01-02T10:00:00.Z | 30 Feb 2024 | 17 Foo 2009"),
    ...list("0000-00-00 00:00:00 | 13:00 PM | 2024-01-02 13:00 PM | 2024-01-02 0:00 AM"),
    // Not complete, or not a date at all.
    ...list("| - | NaN | null | today | yesterday at 3 PM | 12:30 | Thursday | December | Dec 17 | 24 | 202405"),
    ...list("1714557600 | 1714557600000 | 2024-W05-1 | 2024-123 | 2024-01-02 03 | 2024-01-02 0304 | 2024-01-02 lunch"),
    ...list("2024-01-02T10:00:00 Mars | 2024-01-02T10:00:00Z trailing | 2024-01-022024"),
    ...list("-2024-01-02 | +002024-01-02 | ٢٠٢٤-٠١-٠٢ | 10:20 | 17.12. | Thu 10:20:30 | --12-17"),
    " ",
    `2024-01-02${" ".repeat(2000)}03:04:05 UTC`,
  ])("like %j", (text) => {
    expect(parseDate(text)).toBeUndefined();
  });
});

describe("rewritten dates are reported", () => {
  const said = (text: string, form?: "rfc822") => {
    const codes: string[] = [];
    const date = readDate(text, (code, value) => codes.push(code, value), form);
    return [date, ...codes.filter((code) => code !== text)];
  };

  test.each([
    ["2024-05-31", "2024-05-31"],
    ["\n  2024-05-31T10:00Z\n", "2024-05-31T10:00Z"],
    ["2024-05-31T10:00:00", "2024-05-31T10:00:00Z", "date-no-offset"],
    ["2024-05-31T10:00", "2024-05-31T10:00Z", "date-no-offset"],
    ["2024-01-02 03:04:05", "2024-01-02T03:04:05Z", "date-form", "date-no-offset"],
    ["2024-01-02 03:04:05Z", "2024-01-02T03:04:05Z", "date-form"],
    ["2017-06-20-04:00", "2017-06-20", "date-form"],
    ["31.05.2024", "2024-05-31", "date-form"],
    ["2024-5-1", "2024-05-01", "date-form"],
    ["2024-05-01T00:00:00-00:00", "2024-05-01T00:00:00Z", "date-form"],
    ["2024-05-01T00:00:00.5-00:00", "2024-05-01T00:00:00.5Z", "date-form"],
    ["Thu, 17 Dec 2009 12:04:56 +0200", "2009-12-17T12:04:56+02:00", "date-form"],
    ["Thu, 17 Dec 2009 12:04:56 IST", "2009-12-17", "date-form", "date-zone"],
    ["yesterday", undefined, "date-invalid"],
  ])("%j becomes %s", (text, ...expected) => {
    expect(said(text)).toEqual(expected);
  });

  test.each([
    ["Thu, 17 Dec 2009 12:04:56 +0200", "2009-12-17T12:04:56+02:00"],
    ["17 Dec 09 12:04 GMT", "2009-12-17T12:04Z"],
    ["Thu, 17 Dec 2009 12:04:56 EST (comment)", "2009-12-17T12:04:56-05:00"],
    ["Thu, 17 Dec\r\n\t2009\r\n 12:04:56 GMT", "2009-12-17T12:04:56Z"],
    ["2009-12-17T12:04:56Z", "2009-12-17T12:04:56Z"],
    ["Thu, 17 Dec 2009 12:04:56", "2009-12-17T12:04:56Z", "date-no-offset"],
    ["Thu, 17 Dec 2009 12:04:56 AEST", "2009-12-17T12:04:56+10:00", "date-form"],
    ["17 December 2009", "2009-12-17", "date-form"],
  ])("in RSS, %j becomes %s", (text, ...expected) => {
    expect(said(text, "rfc822")).toEqual(expected);
  });
});

describe("names of time zones", () => {
  test.each([
    ...pairs("AEST is +10:00 | AEDT is +11:00 | ACST is +09:30 | KST is +09:00 | NZST is +12:00 | NZDT is +13:00"),
    ...pairs("SGT is +08:00 | SAST is +02:00 | aest is +10:00 | NST is -03:30"),
  ])("%s is %s everywhere", (name, offset) => {
    expect(parseDate(`Thu, 17 Dec 2009 12:04:56 ${name}`)).toBe(`2009-12-17T12:04:56${offset}`);
  });

  // BST is an hour ahead of UTC in Britain and six in Bangladesh; XYZT is unknown; RFC 822 defines its letters wrongly.
  test.each(["IST", "BST", "bst", "AST", "GST", "XYZT", "A"])(
    "the zone %s is ambiguous, so only the day is kept",
    (name) => {
      expect(parseDate(`Thu, 17 Dec 2009 12:04:56 ${name}`)).toBe("2009-12-17");
      expect(parseDate(`Dec 17 12:04:56 ${name} 2009`)).toBe("2009-12-17");
    },
  );
});

// Strings near dates: pieces of dates in any order.
const nearDates = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."-:/.,TZ+ tz".split(""), " +0200", "Dec", "May", "Thu, ", "PM", "at ", "GMT", "EST"),
      fc.nat({ max: 99 }).map((number) => String(number).padStart(2, "0")),
      fc.nat({ max: 9999 }).map((number) => String(number).padStart(4, "0")),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

test("`new Date` accepts every result, and parsing a result again does not change it", () => {
  fc.assert(
    fc.property(fc.oneof(nearDates, anyText()), (text) => {
      const date = parseDate(text);
      if (date === undefined) return;
      expect(new Date(date).getTime()).not.toBeNaN();
      expect(parseDate(date)).toBe(date);
    }),
    { numRuns: some(3000) },
  );
});

describe("the instant of a date", () => {
  const moments = fc.record({
    time: fc.integer({ min: Date.UTC(1000, 0, 2) / 1000, max: Date.UTC(9999, 11, 30) / 1000 }).map((s) => s * 1000),
    offset: fc.integer({ min: -12 * 60, max: 14 * 60 }),
  });
  /** Writes what a clock shows in a zone; `zone` is `+02:00`. */
  type Write = (clock: Date, zone: string) => string;
  const iso = (clock: Date) => clock.toISOString();
  const forms: [name: string, write: Write, lost?: "seconds" | "offset"][] = [
    ["ISO 8601", (clock, zone) => iso(clock).slice(0, 19) + zone],
    ["compact ISO", (clock, zone) => (iso(clock).slice(0, 19) + zone).replaceAll(/(?<!T.*)-|:/g, "")],
    ["ISO without seconds", (clock, zone) => iso(clock).slice(0, 16) + zone, "seconds"],
    ["SQL", (clock, zone) => `${iso(clock).replace("T", " ").slice(0, 23)} ${zone}`],
    ["SQL without offset", (clock) => iso(clock).replace("T", " ").slice(0, 23), "offset"],
    ["RFC 2822", (clock, zone) => clock.toUTCString().replace("GMT", zone.replace(":", ""))],
    ["HTTP", (clock) => clock.toUTCString(), "offset"],
  ];

  test.each(forms)("is kept if it is written as %s", (_, write, lost) => {
    fc.assert(
      fc.property(moments, ({ time, offset }) => {
        const clock = new Date(time + offset * 60_000);
        const expected = { seconds: Math.floor(time / 60_000) * 60_000, offset: clock.getTime() };
        const date = parseDate(write(clock, zoneOf(offset))) ?? "";
        expect(new Date(date).getTime()).toBe(lost === undefined ? time : expected[lost]);
      }),
      { numRuns: some(300) },
    );
  });

  test("is the one that Node.js gives, for dates with an offset", () => {
    const dated = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
    fc.assert(
      fc.property(nearDates, (text) => {
        const date = parseDate(text);
        // 24:00 is refused here.
        if (date === undefined || !dated.test(text)) return;
        expect(new Date(date).getTime()).toBe(Date.parse(text));
      }),
      { numRuns: some(3000) },
    );
  });
});

function zoneOf(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.trunc(size / 60))}:${two(size % 60)}`;
}

// As Drupal and WordPress write them, in American and European order.
test.each<[text: string, date: string]>([
  ["Monday, October 6, 2023 - 16:29", "2023-10-06T16:29Z"],
  ["Fri, 6 Oct 2023 - 16:29", "2023-10-06T16:29Z"],
  ["October 6, 2023 - 4:29pm", "2023-10-06T16:29Z"],
  ["24/11/2023 - 18:28", "2023-11-24T18:28Z"],
  ["24.11.2023 - 08:28", "2023-11-24T08:28Z"],
  ["24.11.2023 um 18:28 Uhr", "2023-11-24T18:28Z"],
  ["24/11/2023 \u00e0 18h28", "2023-11-24T18:28Z"],
  ["Mon, 03/30/2020 - 19:19", "2020-03-30T19:19Z"],
  ["2020-03-30 - 19:19", "2020-03-30T19:19Z"],
  ["2020-03-30 | 19:19:20", "2020-03-30T19:19:20Z"],
  // Its weekday shows which number is the month.
  ["Thu, 01/02/2024 - 10:00", "2024-02-01T10:00Z"],
  ["Tue, 01/02/2024", "2024-01-02"],
  // This is an offset of `xs:date`, not a time.
  ["2024-01-02-05:00", "2024-01-02"],
])("lenient: %j is read with the time after its separator", (text, date) => {
  const codes: string[] = [];
  expect(readDate(text, (code) => codes.push(code))).toBe(date);
  expect(codes).toEqual(date.endsWith("Z") ? ["date-form", "date-no-offset"] : ["date-form"]);
});

test.each([
  ...["Europe/Brussels", "America/Los_Angeles", "America/Argentina/Buenos_Aires", "US/Pacific", "Etc/GMT+1"],
  ...["Pacific Standard Time", "EST +0200", "[Europe/Paris]"],
])("lenient: for a time in the zone %j, only the day is kept", (zone) => {
  for (const time of ["2023-11-24 18:28", "Fri, 24 Nov 2023 18:28:00"]) {
    const codes: string[] = [];
    expect(readDate(`${time} ${zone}`, (code) => codes.push(code))).toBe("2023-11-24");
    expect(codes).toEqual(["date-form", "date-zone"]);
  }
});

test.each([
  ["EST -0500", "-05:00"],
  ["EST-05:00", "-05:00"],
  ["CET +0100", "+01:00"],
  ["BST +0100", "+01:00"],
  ["GMT+0100 (CET)", "+01:00"],
  ["(EST)", "-05:00"],
  ["+01:00[Europe/Paris]", "+01:00"],
  ["Etc/UTC", "Z"],
])("lenient: a zone name next to an offset is accepted: %j", (zone, offset) => {
  expect(parseDate(`Fri, 24 Nov 2023 18:28:00 ${zone}`)).toBe(`2023-11-24T18:28:00${offset}`);
});

test("a date stays ambiguous if its weekday fits neither order", () => {
  expect(parseDate("Mon, 01/02/2024 - 10:00")).toBeUndefined();
});
