// Parses small values of entries: numbers, booleans, lists. Returns undefined if a value cannot be read; the caller reports that.
import type { ChangeFrequency } from "../model/page.ts";
import { detached } from "../model/text.ts";

/**
 * https://www.sitemaps.org/protocol.html#prioritydef: "Valid values range from 0.0 to 1.0." A decimal comma is not accepted, because it
 * could also separate two numbers.
 */
export function parsePriority(text: string): number | undefined {
  const number = usualPriorities.get(text) ?? parseNumber(text);
  return number !== undefined && number <= 1 ? number : undefined;
}

/** Lenient: in any case, with white space around it. */
export function parseChangeFrequency(text: string): ChangeFrequency | undefined {
  return changeFrequencyOf.get(text) ?? changeFrequencyOf.get(shortWord(text));
}

/** Splits a list at commas. Omits empty items. */
export function parseList(text: string): string[] {
  if (text !== "" && !text.includes(",")) return [text];
  const items = text.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "").map(detached);
}

/** Lenient: besides `yes` and `no`, which the extensions require, also `true`, `false`, `1` and `0`, in any case. */
export function parseBoolean(text: string): boolean | undefined {
  return booleans.get(shortWord(text));
}

/** Parses a number in decimal notation that is finite and not negative. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  // `Number` also reads "", "0x10", "1e3" and "Infinity".
  if (trimmed.length > maxLength || !decimal.test(trimmed)) return undefined;
  return Math.abs(Number(trimmed));
}

// Longer texts are not examined, and count as neither numbers nor words.
const maxLength = 40;
// Accepts `-0.0`, which is zero.
const decimal = /^(?:\+?(?:\d+(?:\.\d*)?|\.\d+)|-(?:0+(?:\.0*)?|\.0+))$/;

function shortWord(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > maxLength ? "" : trimmed.toLowerCase();
}

const changeFrequencies: Readonly<Record<ChangeFrequency, true>> = {
  always: true,
  hourly: true,
  daily: true,
  weekly: true,
  monthly: true,
  yearly: true,
  never: true,
};
const changeFrequencyOf: ReadonlyMap<string, ChangeFrequency> = new Map(
  Object.keys(changeFrequencies).map((name) => [name, name as ChangeFrequency]),
);
const booleans: ReadonlyMap<string, boolean> = new Map(
  ["yes", "true", "1", "no", "false", "0"].map((word, at) => [word, at < 3]),
);
// The tenths from 0.0 to 1.0, by their usual spellings, so that these need no parsing.
const usualPriorities: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 11 }, (_, tenths) => [(tenths / 10).toFixed(1), tenths / 10]),
);
