import { expect, test } from "vitest";
import { parseBoolean, parseChangeFrequency, parseList, parseNumber, parsePriority } from "../../src/parse/values.ts";
import { words } from "../support/words.ts";

const long = "1".repeat(100_000);
const usual = Array.from({ length: 101 }, (_, hundredths) => (hundredths / 100).toFixed(2));
const tenths = usual.map((text) => Number(text).toFixed(1));
const frequencies = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];

// https://www.sitemaps.org/protocol.html#prioritydef
test.each<[what: string, parse: (text: string) => unknown, texts: string[], values: unknown[], invalid: string[]]>([
  [
    "spec: a priority is a number from 0.0 to 1.0",
    parsePriority,
    ["1", "0", ".5", " 0.8\n", "+0.5", "-0.0", ...usual, ...tenths],
    [1, 0, 0.5, 0.8, 0.5, 0, ...usual.map(Number), ...tenths.map(Number)],
    words("1.1 2.0 -0.5 NaN high 0,8 1e-1 0x1 Infinity 0.5.5 ٠٫٥"),
  ],
  [
    "spec: a change frequency is one of seven words; lenient: in any case, with white space around it",
    parseChangeFrequency,
    [...frequencies, " Weekly\r\n", "DAILY"],
    [...frequencies, "weekly", "daily"],
    ["biweekly", "week ly", "0", "constructor", "__proto__"],
  ],
  [
    "spec: yes and no are true and false; lenient: other words for them, in any case",
    parseBoolean,
    ["yes", "no", " Yes ", "NO", "true", "False", "1", "0"],
    [true, false, true, false, true, false, true, false],
    words("y maybe 2 toString"),
  ],
  [
    "a number is finite, not negative and decimal",
    parseNumber,
    ["0", "600", "4.5", " 12 ", "+3", "-0", ".5", "5.", "007"],
    [0, 600, 4.5, 12, 3, 0, 0.5, 5, 7],
    [...words("-1 1e3 0x10 Infinity NaN 1,000 . -"), "1 2"],
  ],
])("%s", (_, parse, texts, values, invalid) => {
  expect(texts.map(parse)).toEqual(values);
  for (const text of ["", " ", long, ...invalid]) expect(parse(text), text.slice(0, 10)).toBeUndefined();
});

test("a list is split at commas, without empty items", () => {
  expect([" a, b c ,, d,", "", " , ,"].map(parseList)).toEqual([["a", "b c", "d"], [], []]);
});
