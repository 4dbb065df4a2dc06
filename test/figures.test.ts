import { expect, test } from "vitest";
import { duration } from "../src/model/figures.ts";
import { age } from "../src/report/html.ts";

test.each([
  [0, "0 ms"],
  [400, "400 ms"],
  [999.6, "1 s"],
  [1500, "1.5 s"],
  [9949, "9.9 s"],
  [9960, "10 s"],
  [119_400, "119 s"],
  [119_600, "2 min"],
  [125_000, "2 min 5 s"],
  [179_600, "3 min"],
  [3_599_600, "1 h"],
  [5_400_000, "1 h 30 min"],
  [7_199_000, "2 h"],
  [187_200_000, "2 d 4 h"],
])("%i ms are shown as %s", (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected);
});

test("no duration is shown as 60 s or 60 min, and a count of one is singular", () => {
  const durations = Array.from({ length: 400_000 }, (_, at) => duration(at * 350));
  expect(durations.filter((text) => / (60 (s|min)|24 h)|^10\.0|\d{4}/.test(text))).toEqual([]);
  expect(Array.from({ length: 2000 }, (_, days) => age(days)).filter((text) => /^1 \w+s$/.test(text))).toEqual([]);
});
