// Checks options. Messages omit the values of headers and proxies, and user names and passwords in URLs, which may be secret.
import type { Client } from "./client.ts";
import { SitemapError } from "./errors.ts";
import { parseUrl, withoutCredentials } from "./url.ts";

export function invalid(message: string, options?: { cause?: unknown }): SitemapError {
  return new SitemapError("invalid-option", message, options);
}

export function unexpected(name: string, expected: string, got: unknown): SitemapError {
  // The quotes already show that a value is a string.
  const type = got === null || typeof got === "string" ? "" : ` (${typeof got})`;
  return invalid(`Expected \`${name}\` to be ${expected}, got \`${shown(got)}\`${type}`);
}

// Shows only the type of an object, because options may come from JSON: an object may be huge, or have a `toString` that is not a function.
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return tagOf(value);
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
}

/** Returns `; did you mean …?` if a known name differs by at most two typos, apart from case, hyphens and underscores; otherwise an empty text. */
export function suggestion(name: string, known: Iterable<string>, prefix = ""): string {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, "");
  const typed = plain(name).slice(0, 50);
  let best: string | undefined;
  let least = typed.length < 5 ? 1.5 : 2.5;
  for (const candidate of known) {
    const distance = editDistance(typed, plain(candidate));
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best === undefined ? "" : `; did you mean \`${prefix}${best}\`?`;
}

// Counts the characters that were added, dropped, changed or swapped: https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i += 1) {
    const [row, above] = [[i], rows[i - 1]!];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(Math.min(row[j - 1]! + 1, above[j]! + 1, changed, isSwapped ? rows[i - 2]![j - 2]! + 1 : changed));
    }
    rows.push(row);
  }
  return rows[from.length]![to.length]!;
}

/** Throws if the name is not a known one. */
export function expectKnown(what: string, name: string, known: readonly string[], prefix = ""): void {
  if (known.includes(name)) return;
  throw invalid(`Unknown ${what} \`${prefix}${name.slice(0, 100)}\`${suggestion(name, known, prefix)}`);
}

/** Throws unless the value is an object that can hold options, which an array, a `Map`, a `URL` or a promise cannot. */
export function expectObject(name: string, value: unknown, expected = "an object"): void {
  const isObject = typeof value === "object" && value !== null && objectTags.has(tagOf(value));
  if (!isObject) throw unexpected(name, expected, value);
}

const objectTags: ReadonlySet<string> = new Set(["[object Object]", "[object Module]"]);

function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

/** Returns the members of an object with options. Throws for other values, and for unknown names. */
export function optionsIn(
  name: string,
  value: unknown,
  known: readonly string[],
  { prefix = "", expected = "an object" }: { readonly prefix?: string; readonly expected?: string } = {},
): Map<string, unknown> {
  expectObject(name, value, expected);
  const given = new Map<string, unknown>();
  // Inherited members count, too, because options may be made with `Object.create(defaults)`.
  for (const key in value as object) {
    if (key in Object.prototype && !Object.hasOwn(value as object, key)) continue;
    expectKnown("option", key, known, prefix);
    given.set(key, (value as Record<string, unknown>)[key]);
  }
  return given;
}

type Check<T> = (name: string, value: unknown) => T;

// @__NO_SIDE_EFFECTS__
function expecting<T>(expected: string, isValid: (value: unknown) => boolean): Check<T> {
  return (name, value) => {
    if (isValid(value)) return value as T;
    throw unexpected(name, expected, value);
  };
}

const isText = (value: unknown) => typeof value === "string" && value !== "";
const isStrings = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string");

export const boolean: Check<boolean> = expecting("true or false", (value) => typeof value === "boolean");
export const functionValue: Check<unknown> = expecting("a function", (value) => typeof value === "function");
export const text: Check<string> = expecting("a text", isText);
export const path: Check<string> = expecting("a path", (value) => isText(value) && !String(value).includes("\0"));
export const strings: Check<readonly string[]> = expecting("a list of strings", isStrings);
export const client: Check<Client> = expecting("an object with a `request` function", (value) => {
  return typeof (value as Partial<Client> | null)?.request === "function";
});

// @__NO_SIDE_EFFECTS__
export function oneOf(allowed: readonly unknown[]): Check<unknown> {
  const list = allowed.map((item) => JSON.stringify(item)).join(", ");
  return expecting(`one of ${list}`, (value) => allowed.includes(value));
}

export function number(name: string, value: unknown, minimum = 0): number {
  if (typeof value !== "number" || !(value >= minimum)) {
    throw unexpected(name, `a number, ${minimum} or greater`, value);
  }
  return value;
}

export function paths(name: string, value: unknown): readonly string[] {
  for (const path of strings(name, value)) {
    // A path must stay on the website, so it must not contain a host.
    if (parseUrl(path, "http://website.invalid/")?.host !== "website.invalid") {
      throw unexpected(name, "a list of paths on the website", path);
    }
  }
  return value as readonly string[];
}

// https://www.rfc-editor.org/rfc/rfc9110#name-field-values allows visible characters, spaces and tabs. The message omits the value, which
// may be a secret.
export function headerValue(name: string, value: unknown): string {
  if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw invalid(`Expected \`${name}\` to be a header value without control characters`);
  }
  return value;
}

/** Reads headers from an object, `Headers`, a `Map` or pairs. Names become lower case; values of one name are joined as one list. */
export function headers(name: string, value: unknown): Readonly<Record<string, string>> {
  const checked = new Map<string, string>();
  for (const [key, item] of headerPairs(name, value)) {
    if (typeof key !== "string" || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(key)) {
      throw unexpected(name, "an object of header names and values", key);
    }
    const field = key.toLowerCase();
    if (connectionHeader.test(field)) throw unexpected(name, "request headers, not connection headers", key);
    const before = checked.get(field);
    const text = headerValue(`${name}.${key}`, item);
    // Repeated fields form one list: https://www.rfc-editor.org/rfc/rfc9110#name-field-lines-and-combined-fi
    checked.set(field, before === undefined ? text : `${before}, ${text}`);
  }
  return Object.fromEntries(checked);
}

function headerPairs(name: string, value: unknown): [unknown, unknown][] {
  if (typeof value !== "object" || value === null || !(Symbol.iterator in value)) {
    expectObject(name, value, "headers: an object, `Headers` or a `Map`");
    return Object.entries(value as object);
  }
  return [...(value as Iterable<unknown>)].map((pair) => {
    // The message omits the pair, which may contain a secret.
    if (!Array.isArray(pair) || pair.length !== 2)
      throw invalid(`Expected \`${name}\` to hold pairs of a name and a value`);
    return [pair[0], pair[1]];
  });
}

// Headers that control the framing or the route of a message, which the caller must not set.
const connectionHeader =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-(?:authorization|connection)|te|trailer|transfer-encoding|upgrade)$/;

export function proxy(name: string, value: unknown): string | false | ((url: string) => string | undefined) {
  if (value === false) return false;
  if (typeof value === "function") return value as (url: string) => string | undefined;
  const given = urlText(value);
  if (given === "environment") return given;
  // Without a scheme, a port is required, because a single word is probably a mistake.
  const url = typeof given === "string" && /^[^/?#@]+:\d+\/?$/.test(given) ? `http://${given}` : given;
  if (typeof url === "string" && /^https?:$/.test(parseUrl(url)?.protocol ?? "")) return url;
  // The message omits the value, which may contain a password.
  throw invalid(`Expected \`${name}\` to be the URL of an http or https proxy, or \`host:port\``);
}

export function signal(name: string, value: unknown): AbortSignal {
  const { aborted, addEventListener, throwIfAborted } = (value ?? {}) as Partial<AbortSignal>;
  const isSignal = typeof aborted === "boolean" && typeof addEventListener === "function";
  if (!isSignal || typeof throwIfAborted !== "function") throw unexpected(name, "an AbortSignal", value);
  return value as AbortSignal;
}

/** Checks an absolute URL, given as a string or a `URL`. */
export function absoluteUrl(name: string, value: unknown): string {
  const url = urlText(value);
  if (typeof url === "string" && parseUrl(url) !== null) return url;
  throw unexpected(name, "an absolute URL", typeof url === "string" ? withoutCredentials(url) : url);
}

/** Returns the text of a `URL` object, even from another realm or a polyfill, and any other value unchanged. */
export function urlText(value: unknown): unknown {
  const { href } = (typeof value === "object" && value !== null ? value : {}) as { href?: unknown };
  return typeof href === "string" ? href : value;
}
