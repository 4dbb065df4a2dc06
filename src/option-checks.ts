// How options are checked: one form of message for every mistake, and no value in it that may be a secret.
import type { Client } from "./client.ts";
import { SitemapError } from "./errors.ts";
import { parseUrl } from "./url.ts";

export function invalid(message: string): SitemapError {
  return new SitemapError("invalid-option", message);
}

function unexpected(name: string, expected: string, got: unknown): SitemapError {
  return invalid(
    `Expected \`${name}\` to be ${expected}, got \`${shown(got)}\` (${got === null ? "null" : typeof got})`,
  );
}

// Options may come from JSON: an object there can be huge, and can have a `toString` that is no function.
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return Object.prototype.toString.call(value);
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
}

export function suggestion(name: string, known: Iterable<string>): string {
  const close = [...known].find((candidate) => candidate.toLowerCase() === name.toLowerCase().replaceAll(/[-_]/g, ""));
  return close === undefined ? "" : `; did you mean \`${close}\`?`;
}

export function expectObject(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null) throw unexpected(name, "an object", value);
}

export function boolean(name: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw unexpected(name, "true or false", value);
  return value;
}

export function number(name: string, value: unknown, minimum: number): number {
  if (typeof value !== "number" || !(value >= minimum))
    throw unexpected(name, `a number from ${minimum} and up`, value);
  return value;
}

export function numbers<T extends object>(name: string, given: Partial<T>, defaults: T): T {
  expectObject(name, given);
  const known = Object.keys(defaults);
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) throw invalid(`Unknown option \`${name}.${key}\`${suggestion(key, known)}`);
    if (value !== undefined) number(`${name}.${key}`, value, 0);
  }
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(present) };
}

export function strings(name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
    throw unexpected(name, "a list of strings", value);
  return value;
}

export function path(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value.includes("\0")) throw unexpected(name, "a path", value);
  return value;
}

export function paths(name: string, value: unknown): readonly string[] {
  for (const path of strings(name, value)) {
    // A path stays on the website: what names a host of its own is not a path.
    if (parseUrl(path, "http://website.invalid/")?.host !== "website.invalid") {
      throw unexpected(name, "a list of paths on the website", path);
    }
  }
  return value as readonly string[];
}

export function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value))
    throw unexpected(name, `one of ${allowed.map((item) => `"${item}"`).join(", ")}`, value);
  return value;
}

export function optionalFunction<T>(name: string, value: T): T {
  if (value !== undefined && typeof value !== "function") throw unexpected(name, "a function", value);
  return value;
}

// https://www.rfc-editor.org/rfc/rfc9110#name-field-values: visible characters, spaces and tabs. No value is shown: it may be a secret.
export function headerValue(name: string, value: unknown): string {
  if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw invalid(`Expected \`${name}\` to be a header value without control characters`);
  }
  return value;
}

export function headers(name: string, value: unknown): Readonly<Record<string, string>> {
  expectObject(name, value);
  const checked: [string, string][] = [];
  for (const [key, item] of Object.entries(value as object)) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(key))
      throw unexpected(name, "an object of header names and values", key);
    if (connectionHeaders.has(key.toLowerCase()))
      throw unexpected(name, "headers of requests, not of connections", key);
    checked.push([key.toLowerCase(), headerValue(`${name}.${key}`, item)]);
  }
  return Object.fromEntries(checked);
}

// They say how a message is framed or where it goes, which is not for a caller to say.
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export function proxy(name: string, value: unknown): string {
  if (value === "environment") return value;
  if (typeof value === "string" && /^https?:$/.test(parseUrl(value)?.protocol ?? "")) return value;
  // The value may hold a password.
  throw invalid(`Expected \`${name}\` to be the URL of an http or https proxy, or "environment"`);
}

export function client(name: string, value: Client | undefined): Client | undefined {
  if (value !== undefined && typeof value?.request !== "function")
    throw unexpected(name, "an object with a `request` function", value);
  return value;
}

export function signal(name: string, value: AbortSignal | undefined): AbortSignal | undefined {
  if (value !== undefined && typeof value?.addEventListener !== "function")
    throw unexpected(name, "an AbortSignal", value);
  return value;
}
