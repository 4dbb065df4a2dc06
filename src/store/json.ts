// JSON for archives: with infinite numbers, as limits may be, and without prototypes from outside.
import { randomUUID } from "node:crypto";

/** On one line. Infinite numbers are written as 1e999: valid JSON, and infinite again when parsed. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON.stringify writes null instead, and is much faster without a replacer.
  if (!text.includes("null")) return text;
  // A marker that no other value can be equal to.
  const mark = randomUUID();
  const marked = JSON.stringify(value, (_, item: unknown) => (item === Number.POSITIVE_INFINITY ? mark : item));
  return marked.replaceAll(`"${mark}"`, "1e999");
}

/** The value; undefined if the text is not JSON. Has to be checked field by field: see `withoutPrototypes`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy that is safe to pass on: copying a field called `__proto__` would set a prototype. */
export function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  const fields = Object.entries(value).filter(([name]) => name !== "__proto__");
  return Object.fromEntries(fields.map(([name, item]) => [name, withoutPrototypes(item)]));
}
