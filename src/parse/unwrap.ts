// What people put around a URL in a line of text.

/** Without a pair of quotes or angle brackets, and the white space inside of it. */
export function unwrap(text: string): string {
  const closing = pairs.get(text[0] ?? "");
  if (closing === undefined || text.length < 2 || !text.endsWith(closing)) return text;
  return text.slice(1, -1).trim();
}

const pairs: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["<", ">"],
  ["\u201c", "\u201d"],
  ["\u2018", "\u2019"],
]);
