// Parses the values of flags. A value that cannot be parsed ends the program with a message before anything else
// happens.
import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { systemReason } from "../model/system-reason.ts";
import type { CsvSeparator } from "../write/csv.ts";
import { UsageError } from "./exit-codes.ts";

/** A flag that may be given several times. */
export function collected(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** How often a flag was given. */
export function raised(_: string, before: number | undefined): number {
  return (before ?? 0) + 1;
}

export function wholeNumber(minimum: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,15}$/.test(text) || Number(text) < minimum) {
      throw new InvalidArgumentError(`Expected a whole number, ${minimum} or greater.`);
    }
    return Number(text);
  };
}

/** `2`, `0.5`, `500ms`, `30s`, `5m`, `1h`, in seconds. */
export function seconds(text: string): number {
  const [, digits, unit = ""] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|[smh])?$/i.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError("Expected seconds, such as 2, 0.5, 30s or 5m.");
  return Number(digits) * (unitSeconds.get(unit.toLowerCase()) ?? 1);
}

const unitSeconds: ReadonlyMap<string, number> = new Map([
  ["ms", 0.001],
  ["m", 60],
  ["h", 3600],
]);

/** `5000`, `64k`, `50M`, `1G`, also `50MB` and `50MiB`; the letters are powers of 1024. */
export function byteCount(text: string): number {
  const [, digits, unit = ""] = /^(\d{1,12}(?:\.\d{1,6})?) ?(?:([kmgt])(?:i?b)?|b)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(digits) * 1024 ** ["", "k", "m", "g", "t"].indexOf(unit.toLowerCase()));
  if (digits === undefined || !Number.isSafeInteger(bytes)) {
    throw new InvalidArgumentError("Expected a number of bytes, such as 5000, 64k, 50M or 1G.");
  }
  return bytes;
}

/** Between the cells of a table. */
export function separator(text: string): CsvSeparator {
  if (text === "," || text === ";") return text;
  if (text === "tab" || text === "\t") return "\t";
  throw new InvalidArgumentError("Expected a comma, ';' or tab.");
}

/** The text of a file. */
export function fileContent(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path}: ${systemReason(error)}`);
  }
}

/** Without the byte order mark that editors on Windows write. */
export function withoutMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Pairs of `Name: value`. A header may be a secret: no message repeats it. */
export function headerLines(lines: readonly string[]): [name: string, value: string][] {
  return lines.map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new UsageError('--header takes "Name: value"');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
}
