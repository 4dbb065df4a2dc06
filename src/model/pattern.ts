// Patterns for URLs: a substring, a wildcard pattern (`*`) for the whole URL, a regular expression, or a function.
import { invalid, unexpected } from "./option-checks.ts";

/** Text, a wildcard pattern, a regular expression between slashes, a `RegExp`, or a function. A path such as `/blog/` is text. */
export type Pattern = string | RegExp | ((url: string) => boolean);

export type Matches = (url: string) => boolean;

/** Checks an option that takes one or several patterns. */
export function patterns(name: string, value: unknown): readonly Pattern[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  for (const each of list) {
    if (typeof each === "string" || each instanceof RegExp) pattern(each, name);
    else if (typeof each !== "function") throw unexpected(name, "a pattern, a function or a list of them", each);
  }
  return list as Pattern[];
}

export function pattern(given: Pattern, name = "pattern"): Matches {
  if (given === "") throw invalid(`Expected \`${name}\` to be a pattern, got an empty text`);
  if (typeof given === "function") return given;
  if (given instanceof RegExp) return expressionMatches(given.source, given.flags, name);
  const [, source, flags = ""] = /^\/(.+)\/([dgimsuvy]*)$/s.exec(given) ?? [];
  // `/en/` is a path, and so are `/en/us` and `/v1.0/us`, although their ends look like flags. `/en/i` is an expression: its flag has an effect.
  const isPath = flags !== "i" && (flags === "" ? plainPath : dottedPath).test(`${source}`);
  if (source !== undefined && !isPath) return expressionMatches(source, flags, name);
  return given.includes("*") ? wildcard(given) : (url) => url.includes(given);
}

const plainPath = /^[\w/%~-]*$/;
const dottedPath = /^[\w/%~.-]*$/;

/** Returns a function that tells whether one of the patterns matches, or undefined if there are no patterns. */
export function anyPattern(given: readonly Pattern[] = []): Matches | undefined {
  if (given.length === 0) return undefined;
  const all = given.map((each) => pattern(each));
  return (url) => all.some((matches) => matches(url));
}

/** Returns a function that tells whether a URL passes `include` and `exclude`, or undefined if all URLs do. */
export function passing(include: readonly Pattern[] = [], exclude: readonly Pattern[] = []): Matches | undefined {
  const [included, excluded] = [anyPattern(include), anyPattern(exclude)];
  if (included === undefined && excluded === undefined) return undefined;
  return (url) => included?.(url) !== false && excluded?.(url) !== true;
}

function expressionMatches(source: string, flags: string, name: string): Matches {
  try {
    // With `g` or `y`, the result would depend on the previous test.
    const expression = new RegExp(source, flags.replaceAll(/[gy]/g, ""));
    return (url) => expression.test(url);
  } catch (error) {
    throw invalid(`Expected \`${name}\` to be a valid pattern: ${(error as Error).message}`);
  }
}

/** Matches if the whole URL is the parts between the stars, in order, with any text for each star. Taking the first match of each part leaves the most room for the rest. */
export function wildcard(text: string): Matches {
  const parts = text.split("*");
  if (parts.length === 1) return (url) => url === text;
  const first = parts.shift() as string;
  const last = parts.pop() as string;
  return (url) => {
    if (url.length < first.length + last.length || !url.startsWith(first) || !url.endsWith(last)) return false;
    const end = url.length - last.length;
    let at = first.length;
    for (const part of parts) {
      const found = url.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
