import fc from "fast-check";
import { expect, test } from "vitest";
import { textJson } from "../../src/write/pages.ts";
import { jsonOf, printable } from "../../src/write/printable.ts";
import { some } from "../support/long.ts";
import { hostileText, steering } from "./hostile.ts";

test("none of 10,000 hostile texts keeps a terminal control character", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      expect(printable(text)).not.toMatch(steering);
    }),
    { numRuns: some(10_000) },
  );
});

test("10,000 hostile texts survive JSON unchanged, without terminal control characters", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      for (const json of [textJson(text), jsonOf([text])]) expect(json).not.toMatch(steering);
      expect(JSON.parse(textJson(text))).toBe(text);
      expect(JSON.parse(jsonOf([text]))).toEqual([text]);
    }),
    { numRuns: some(10_000) },
  );
});

test("printable text is unchanged, in any script", () => {
  for (const text of ["https://example.org/?a=1&b=%20", "Grüße, 世界, שלום, 😀", ""])
    expect(printable(text)).toBe(text);
});

test("an escaped character is visible and named", () => {
  expect(printable("a\u001b[31m\n\u202eb")).toBe("a\\u001b[31m\\u000a\\u202eb");
});
