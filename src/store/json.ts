// JSON for the archive: with infinite numbers, which the limits of a crawl may be, and without prototypes from outside.
import { randomUUID } from "node:crypto";

/** On one line. Infinite numbers are written as 1e999: valid JSON, and infinite again for every reader. */
export function toJson(value: unknown): string {
  let mark: string | undefined;
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (item !== Number.POSITIVE_INFINITY) return item;
    // Nothing else in the value can be equal to it.
    mark ??= randomUUID();
    return mark;
  });
  return mark === undefined ? text : text.replaceAll(`"${mark}"`, "1e999");
}

/** The value; undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (name, item: unknown) => (name === "__proto__" ? undefined : item));
  } catch {
    return undefined;
  }
}
