// Texts as a hostile website would write them, and what must never reach a terminal.
import fc from "fast-check";
import { anyText } from "../support/any-text.ts";

/** Nothing of this may be in human-readable output, apart from the line ends and tabs of the format itself. */
export const steering: RegExp = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

const nasty = fc.constantFrom(
  "\u001b[2J\u001b[31m",
  "\u001b]0;title\u0007",
  "\u009b31m",
  "\u0000",
  "\r",
  "\n",
  "\nERROR all good",
  "\t",
  "\b\b\b",
  "\u007f",
  "\u0085",
  "\u2028",
  "\u2029",
  "\u202e",
  "\u2066",
  "\u200f",
  "\u061c",
  "\ufeff",
  "\ud800",
  '"',
  "'",
  "\\",
  ",",
  ";",
  "|",
  " ",
  "=1+1",
  "@SUM(1)",
  "-2+3",
  "\\u001b",
  "😀",
  "é",
);

/** Mixtures of controls, quotes, formulas and arbitrary Unicode. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 2, arbitrary: nasty }, { weight: 1, arbitrary: anyText({ maxLength: 6 }) }), {
    maxLength: 6,
  })
  .map((parts) => parts.join(""));
