// For comparisons in loops, of thousands of pages: `toEqual` says best what is different, and takes several times as long to say that
// nothing is.
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** As `expect(actual, message).toEqual(expected)`. */
export function expectSame(actual: unknown, expected: unknown, message?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, message).toEqual(expected);
}
