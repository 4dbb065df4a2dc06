// Patterns for URLs on the command line: a text that occurs in the URL, a pattern with `*` for the whole URL, or a
// regular expression between slashes. Patterns with `*` are matched in linear time; regular expressions are the user's
// own responsibility.
import { wildcard } from "../model/wildcard.ts";
import { UsageError } from "./exit-codes.ts";

export type Matches = (url: string) => boolean;

export function pattern(text: string): Matches {
  if (text === "") throw new UsageError("a pattern must not be empty");
  const expression = /^\/(.+)\/([a-z]*)$/s.exec(text);
  if (expression !== null) return regularExpression(expression[1] as string, expression[2] as string);
  if (!text.includes("*")) return (url) => url.includes(text);
  return wildcard(text);
}

/** Whether one of the patterns matches; undefined if there are none. */
export function anyPattern(texts: readonly string[] = []): Matches | undefined {
  if (texts.length === 0) return undefined;
  const all = texts.map(pattern);
  return (url) => all.some((matches) => matches(url));
}

function regularExpression(source: string, flags: string): Matches {
  try {
    // With `g` or `y`, each test would depend on the one before.
    const expression = new RegExp(source, flags.replaceAll(/[gy]/g, ""));
    return (url) => expression.test(url);
  } catch (error) {
    throw new UsageError(`not a regular expression: /${source}/${flags} (${(error as Error).message})`);
  }
}
