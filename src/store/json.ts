// JSON for the archive: with infinite numbers, as the limits of a crawl may be, and without prototypes from outside.
import { randomUUID } from "node:crypto";

/** On one line. Infinite numbers are written as 1e999: valid JSON, and infinite again for every reader. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON.stringify writes null instead, and is much faster when it does not have to ask about every value.
  if (!text.includes("null")) return text;
  // Nothing else in the value can be equal to it.
  const mark = randomUUID();
  const marked = JSON.stringify(value, (_, item: unknown) => (item === Number.POSITIVE_INFINITY ? mark : item));
  return marked.replaceAll(`"${mark}"`, "1e999");
}

/** The value; undefined where the text is not JSON. To be taken apart field by field: see `withoutPrototypes`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy that can be handed on whole: a field called `__proto__` would become a prototype when it is copied. */
export function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  const fields = Object.entries(value).filter(([name]) => name !== "__proto__");
  return Object.fromEntries(fields.map(([name, item]) => [name, withoutPrototypes(item)]));
}
