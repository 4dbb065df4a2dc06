import { expect, test } from "vitest";
import { parseBoolean, parseChangeFrequency, parseList, parseNumber, parsePriority } from "../../src/parse/values.ts";
import { words } from "../support/words.ts";

const long = "1".repeat(100_000);

// https://www.sitemaps.org/protocol.html#prioritydef
test("spec: a priority is a number from 0.0 to 1.0", () => {
  expect(["0.0", "0.3", "1.0", "0.75", "1", "0", ".5", " 0.8\n", "+0.5", "-0.0", "1.00"].map(parsePriority)).toEqual([
    0, 0.3, 1, 0.75, 1, 0, 0.5, 0.8, 0.5, 0, 1,
  ]);
});

test("an invalid priority is absent", () => {
  for (const text of ["", " ", ...words("1.1 2.0 -0.5 NaN high 0,8 1e-1 0x1 Infinity 0.5.5 ٠٫٥"), long]) {
    expect(parsePriority(text), text.slice(0, 10)).toBeUndefined();
  }
});

test("every usual priority is the number that its digits say", () => {
  for (let hundredths = 0; hundredths <= 100; hundredths++) {
    for (const digits of [1, 2]) {
      const text = (hundredths / 100).toFixed(digits);
      expect(parsePriority(text)).toBe(Number(text));
    }
  }
});

test("spec: a change frequency is one of seven words", () => {
  const words = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];
  expect(words.map(parseChangeFrequency)).toEqual(words);
});

test("lenient: a change frequency in any case, with white space around it", () => {
  expect(parseChangeFrequency(" Weekly\r\n")).toBe("weekly");
  expect(parseChangeFrequency("DAILY")).toBe("daily");
});

test("an invalid change frequency is absent", () => {
  for (const text of ["", "biweekly", "week ly", "0", "constructor", "__proto__", long]) {
    expect(parseChangeFrequency(text)).toBeUndefined();
  }
});

test("a list is comma separated, and empty items are left out", () => {
  expect(parseList(" a, b c ,, d,")).toEqual(["a", "b c", "d"]);
  expect(parseList("")).toEqual([]);
  expect(parseList(" , ,")).toEqual([]);
});

test("spec: yes and no are true and false", () => {
  expect(["yes", "no"].map(parseBoolean)).toEqual([true, false]);
});

test("lenient: other words for yes and no are accepted, in any case", () => {
  expect([" Yes ", "NO", "true", "False", "1", "0"].map(parseBoolean)).toEqual([true, false, true, false, true, false]);
  for (const text of ["", "y", "maybe", "2", "toString", long]) expect(parseBoolean(text)).toBeUndefined();
});

test("a number is finite, not negative and decimal", () => {
  expect(["0", "600", "4.5", " 12 ", "+3", "-0", ".5", "5.", "007"].map(parseNumber)).toEqual([
    0, 600, 4.5, 12, 3, 0, 0.5, 5, 7,
  ]);
  for (const text of ["", " ", "-1", "1e3", "0x10", "Infinity", "NaN", "1,000", "1 2", ".", "-", long]) {
    expect(parseNumber(text), text.slice(0, 10)).toBeUndefined();
  }
});
