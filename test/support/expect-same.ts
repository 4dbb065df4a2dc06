// For comparing thousands of pages in loops: `toEqual` explains differences best, but takes several times as long if
// there are none.
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** As `expect(actual, message).toEqual(expected)`. */
export function expectSame(actual: unknown, expected: unknown, message?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, message).toEqual(expected);
}
