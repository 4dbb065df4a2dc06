// Colors on a terminal.
import { styleText } from "node:util";

const names = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;

export type Colors = Readonly<Record<(typeof names)[number], (text: string) => string>>;

/** Functions that color a text, or leave it as it is. */
export function createColors(isEnabled: boolean): Colors {
  // The caller has already checked the stream. Node.js would check standard output instead.
  const paint = (name: keyof Colors) => (text: string) =>
    isEnabled ? styleText(name, text, { validateStream: false }) : text;
  return Object.fromEntries(names.map((name) => [name, paint(name)])) as Colors;
}
