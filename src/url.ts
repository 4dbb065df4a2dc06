// What counts as a URL, the homepage of a URL, and when two URLs are the same.
// Only `new URL` decides (https://url.spec.whatwg.org/): no other parser of URLs is used anywhere.
import type { ProblemCode } from "./problem.ts";

/** What `resolveUrl` makes of a raw text: a URL, perhaps with something to say about it, or the reason why there is none. */
export type ResolvedUrl =
  | { readonly url: string; readonly problem?: ProblemCode }
  | { readonly url?: undefined; readonly problem: ProblemCode };

/** The protocol asks for less than 2,048 characters: https://www.sitemaps.org/protocol.html#locdef */
export const protocolUrlLength = 2047;

/** Whether the text is an absolute http or https URL. */
export function isHttpUrl(text: string): boolean {
  return resolveUrl(text, undefined, Number.POSITIVE_INFINITY).url === text;
}

/**
 * Makes a URL of what a website wrote: absolute, http or https, at most `maxLength` characters. The site's own spelling
 * is kept where it is absolute. `text` has to be trimmed.
 */
export function resolveUrl(text: string, base: string | undefined, maxLength: number): ResolvedUrl {
  if (text.length > maxLength) return { problem: "url-too-long" };
  // A URL parser drops tabs and line ends silently and so names another page; U+FFFD stands for bytes that were lost.
  if (unusable.test(text)) return { problem: "url-invalid" };
  const long = text.length > protocolUrlLength;
  if (httpPrefix.test(text)) {
    if (!URL.canParse(text)) return { problem: "url-invalid" };
    return long ? { url: text, problem: "url-long" } : { url: text };
  }
  if (schemePrefix.test(text) && !httpScheme.test(text)) return { problem: "url-scheme" };
  // Lenient: a URL that is relative, or absolute but oddly written, is resolved against the document's URL.
  const resolved = text === "" ? null : parse(text, base);
  if (resolved === null) return { problem: "url-invalid" };
  if (resolved.protocol !== "http:" && resolved.protocol !== "https:") return { problem: "url-scheme" };
  if (resolved.href.length > maxLength) return { problem: "url-too-long" };
  return { url: resolved.href, problem: long ? "url-long" : "url-relative" };
}

/** The homepage of the website that a URL belongs to: its origin, with a slash. */
export function homepageOf(url: string): string {
  const parsed = new URL(url);
  return `${parsed.origin}/`;
}

/**
 * Equal for two URLs that name the same document: host case, default port, fragment and needless percent-encoding
 * (`%7E` for `~`) make no difference. User names and passwords do.
 */
export function urlKey(url: string): string {
  const parsed = parse(url, undefined);
  if (parsed === null) return url;
  parsed.hash = "";
  return parsed.href.replace(/%[0-9a-f]{2}/gi, (sequence) => {
    const character = String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : sequence.toUpperCase();
  });
}

/** The URL without the user name and password it may carry: for everything that is printed, logged or kept. */
export function withoutCredentials(url: string): string {
  if (!url.includes("@")) return url;
  const parsed = parse(url, undefined);
  if (parsed === null) return url.replace(/\/\/[^/@]*@/, "//");
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

// C0 controls and DEL, and the replacement character.
const unusable = /[\u0000-\u001f\u007f\ufffd]/;
// A scheme and an authority in their usual spelling. `https:/x` and `https:\\x` are left to the URL parser.
const httpPrefix = /^https?:\/\/[^/\\?#]/i;
const httpScheme = /^https?:/i;
const schemePrefix = /^[a-z][a-z0-9+.-]*:/i;

// URL.parse is missing in Node 20.
function parse(text: string, base: string | undefined): URL | null {
  return URL.canParse(text, base) ? new URL(text, base) : null;
}
