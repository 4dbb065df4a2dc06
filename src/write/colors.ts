// Colors on a terminal.
import { styleText } from "node:util";

const names = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;

export type Colors = Readonly<Record<(typeof names)[number], (text: string) => string>>;

/** Returns functions that color a text or, if colors are disabled, return it unchanged. */
export function createColors(isEnabled: boolean): Colors {
  // Without this option, Node.js would check standard output, but the caller has already checked the right stream.
  const paint = (name: keyof Colors) => (text: string) =>
    isEnabled ? styleText(name, text, { validateStream: false }) : text;
  return Object.fromEntries(names.map((name) => [name, paint(name)])) as Colors;
}
