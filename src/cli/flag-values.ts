// Reads the values of flags. What cannot be read is said in words, and ends the program before it begins.
import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { systemReason } from "../system-reason.ts";
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

export function seconds(text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new InvalidArgumentError("Expected seconds, such as 2 or 0.5.");
  return Number(text);
}

/** `5000`, `64k`, `50M`, `1G`; the letters are powers of 1024. */
export function byteCount(text: string): number {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)([kmg]?)$/i.exec(text);
  if (match === null) throw new InvalidArgumentError("Expected a number of bytes, such as 5000, 64k, 50M or 1G.");
  const power = ["", "k", "m", "g"].indexOf((match[2] as string).toLowerCase());
  return Math.floor(Number(match[1]) * 1024 ** power);
}

/** The text of a file. */
export function fileContent(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path}: ${systemReason(error)}`);
  }
}

/** Pairs of `Name: value`. A header may be a secret: no message repeats it. */
export function headerLines(lines: readonly string[]): [name: string, value: string][] {
  return lines.map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new UsageError('--header takes "Name: value"');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
}
