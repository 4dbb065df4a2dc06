// What counts as a URL, the homepage of a URL, and when two URLs are the same.
// What is valid is up to the platform's `URL` (https://url.spec.whatwg.org/), except that control characters and overlong hosts are refused.
import type { DocumentProblemCode } from "./problem-code.ts";

/** The result of `resolveUrl`: a URL, perhaps with a problem, or the reason why there is none. */
export type ResolvedUrl =
  | { readonly url: string; readonly problem?: DocumentProblemCode }
  | { readonly url?: undefined; readonly problem: DocumentProblemCode };

/** The protocol allows fewer than 2,048 characters: https://www.sitemaps.org/protocol.html#locdef */
export const protocolUrlLength = 2047;

/** Returns the limit that a URL exceeds, the protocol's or ours, if its problem is its length. */
export function lengthFacts(code: string, maxLength: number): { limit?: number } {
  if (code === "protocol-url-length") return { limit: protocolUrlLength };
  return code === "limit-url-length" ? { limit: maxLength } : {};
}

/** Whether the text is an absolute http or https URL. */
export function isHttpUrl(text: string): boolean {
  return httpPrefix.test(text) && !unusable.test(text) && !isHostTooLong(text) && canParseUrl(text);
}

/**
 * Resolves a URL from a website, as browsers do. The result is absolute, http or https, and has at most `maxLength` characters; the site's
 * own spelling is kept if possible. `text` must be trimmed, see `trimUrl`. With `mayBeDamaged` it may contain U+FFFD, in place of invalid bytes.
 */
export function resolveUrl(
  text: string,
  base: string | undefined,
  maxLength: number,
  mayBeDamaged = false,
): ResolvedUrl {
  if (text.length > maxLength) return { problem: "limit-url-length" };
  if ((mayBeDamaged ? controls : unusable).test(text) || isHostTooLong(text)) return { problem: "url-invalid" };
  if (httpPrefix.test(text)) {
    if (!canParseUrl(text)) return { problem: "url-invalid" };
    return text.length > protocolUrlLength ? { url: text, problem: "protocol-url-length" } : { url: text };
  }
  if (schemePrefix.test(text) && !httpScheme.test(text)) return { problem: "url-scheme" };
  // Lenient: a URL that is relative is resolved against the document's URL.
  const url = text === "" ? undefined : resolveRelative(text, base);
  if (url === undefined) return { problem: "url-invalid" };
  return url.length > maxLength ? { problem: "limit-url-length" } : { url, problem: "url-relative" };
}

/**
 * The beginning of a valid absolute URL, as written: `https://example.org/`. The URL parser accepts every URL that begins with it. Undefined if no
 * slash follows the host, or if the host is named like a scheme: `http://https/` is valid, `http://https//` is a mistake.
 */
export function originOf(url: string): string | undefined {
  const slash = url.indexOf("/", url.indexOf("//") + 2);
  const origin = url.slice(0, slash + 1);
  return slash < 0 || /[?#\\]|\/\/https?:?\/$/i.test(origin) ? undefined : origin;
}

/** Removes surrounding white space and invisible characters, which editors and spreadsheets leave behind. */
export function trimUrl(text: string): string {
  let end = text.length;
  // Nearly always there is nothing to trim.
  if (end === 0 || (isPrintable(text.charCodeAt(0)) && isPrintable(text.charCodeAt(end - 1)))) return text;
  let start = 0;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Whether a URL is the URL of a robots.txt. */
export function isRobotsUrl(url: string | undefined): boolean {
  return url !== undefined && /\/robots\.txt(?:[?#]|$)/i.test(url) && isRobotsPath(parseUrl(url)?.pathname ?? "");
}

/** The host without `www.`, which does not distinguish websites. */
export function bareHost(host: string): string {
  return host.startsWith("www.") ? host.slice(4) : host;
}

/** Returns the origin of `to`, if it differs from that of `from`, but only in scheme, port or `www.`. */
export function movedOrigin(from: string, to: string): string | undefined {
  const [one, other] = [parseUrl(from), parseUrl(to)];
  if (one === null || other === null || one.origin === other.origin) return undefined;
  return bareHost(one.hostname) === bareHost(other.hostname) ? other.origin : undefined;
}

/** Moves a URL to another origin. */
export function atOrigin(url: string, origin: string): string {
  return origin + url.slice(parseUrl(url)?.origin.length);
}

/** Whether the path of a URL or a file is that of a robots.txt. */
export function isRobotsPath(path: string): boolean {
  return /(?:^|[/\\])robots\.txt$/i.test(path);
}

/** Adds the scheme that people leave out: `https`, or `http` for this machine. */
export function withAssumedScheme(text: string): string {
  return hasScheme(text) ? text : `${isOnOwnMachine(text) ? "http" : "https"}://${text}`;
}

export function hasScheme(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Whether the host of a URL without a scheme is `localhost`, a name below it, or a loopback address. */
export function isOnOwnMachine(name: string): boolean {
  return /^(?:[^/?#@]*@)?(?:(?:[^/?#:@]+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)/i.test(name);
}

/** The homepage of the website that a URL belongs to: its origin, with a slash. */
export function homepageOf(url: string): string {
  return `${parseUrl(url)?.origin}/`;
}

/**
 * Returns a key that is equal for URLs of the same document: the host's case, a dot at its end, a default port, a fragment and
 * unnecessary percent-encoding (`%7E` for `~`) make no difference. User names and passwords do.
 */
export function urlKey(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === null) return url;
  // Setting `hash` parses the URL again, so it is set only if there is a fragment.
  if (url.includes("#")) parsed.hash = "";
  const { href } = parsed;
  // Returning the same string object keeps only one of them in memory.
  if (!href.includes("%")) return href === url ? url : href;
  return href.replace(unusualSequences, (sequence, at: number) => {
    const character = String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
    // A decoded character must not complete a sequence after a lone %: `%%34%31` is not `%41`.
    const isLiteral = /[A-Za-z0-9._~-]/.test(character) && !/%[\da-f]?$/i.test(href.slice(at - 2, at));
    return isLiteral ? character : sequence.toUpperCase();
  });
}

// Matches percent-encoded characters that need no encoding (RFC 3986, section 2.3), and lowercase digits. Both are rare in a parsed URL.
const unusualSequences = /%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E|[\dA-F][a-f]|[a-f][\da-fA-F])/g;

/** Removes the user name and password from a URL, so that it can be printed, logged or kept. */
export function withoutCredentials(url: string): string {
  if (!url.includes("@")) return url;
  const parsed = parseUrl(url);
  if (parsed === null) return withoutAnythingBeforeAt(url);
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

// In an invalid URL such as `http://user:p/ss@host/`, it is uncertain where the password ends. The last @ is the safe choice.
function withoutAnythingBeforeAt(text: string): string {
  const slashes = text.indexOf("//");
  const at = text.lastIndexOf("@");
  return slashes >= 0 && slashes < at ? text.slice(0, slashes + 2) + text.slice(at + 1) : text.slice(at + 1);
}

function resolveRelative(text: string, base: string | undefined): string | undefined {
  if (base === undefined && !httpScheme.test(text)) return undefined;
  const from = base === undefined ? null : parsedBase(base);
  const slashed = text.includes("\\") ? withSlashes(text) : text;
  // Concatenation gives what a URL parser would, but in the site's own spelling, and faster.
  if (from !== null && /^https?:$/.test(from.protocol) && !needsParser.test(slashed)) {
    return beforeRelative(slashed, from) + (text.startsWith("\\") ? slashed : text);
  }
  // A parser that fails creates an error, which is slow, and a document can have a million invalid URLs. Without a host, parsing cannot fail.
  if ((from === null || hasAuthority.test(slashed)) && !canParseUrl(slashed, from?.href)) return undefined;
  const resolved = new URL(text, from?.href);
  if (resolved.protocol !== "http:" && resolved.protocol !== "https:") return undefined;
  if (from === null || hasSteps.test(slashed)) return resolved.href;
  // `href` is percent-encoded. The site's own spelling is kept if it means the same.
  const spelled = beforeRelative(slashed, from) + slashed;
  if (spelled === resolved.href) return spelled;
  return canParseUrl(spelled) && new URL(spelled).href === resolved.href ? spelled : resolved.href;
}

// Replaces backslashes, which a URL parser treats like slashes up to the query: https://url.spec.whatwg.org/#relative-state
function withSlashes(text: string): string {
  const end = text.search(/[?#]/);
  return end === -1 ? text.replaceAll("\\", "/") : text.slice(0, end).replaceAll("\\", "/") + text.slice(end);
}

// The last base is kept, because the next URL is nearly always from the same document.
let lastBase: { readonly text: string; readonly url: URL | null } | undefined;

/** A document's parsed URL, without user name and password. */
export function parsedBase(text: string): URL | null {
  if (lastBase?.text !== text) lastBase = { text, url: parseUrl(withoutCredentials(text)) };
  return lastBase.url;
}

function beforeRelative(text: string, base: URL): string {
  if (text.startsWith("//")) return base.protocol;
  if (text.startsWith("/")) return base.origin;
  if (text.startsWith("?")) return base.origin + base.pathname;
  if (text.startsWith("#")) return base.origin + base.pathname + base.search;
  return base.origin + base.pathname.slice(0, base.pathname.lastIndexOf("/") + 1);
}

// Matches C0 controls and DEL. A URL parser silently drops tabs and line breaks, which would change the URL.
const controls = /[\u0000-\u001f\u007f]/;
// Also matches the replacement character, which stands for invalid bytes.
const unusable = /[\u0000-\u001f\u007f\ufffd]/;
// Matches a scheme and an authority in their usual spelling. `https:/x` and `https:\\x` are left to the URL parser.
const httpPrefix = /^https?:\/\/[^/\\?#]/i;
const httpScheme = /^https?:/i;
// Matches all URLs with a host or with a `.` or `..` segment, in any spelling, which only a parser can resolve, and a few others.
const needsParser = /^(?: |https?:|\/\/|\.)|\/\.|\/%2e|^%2e/i;
const hasSteps = /(?:^|\/)(?:\.|%2e)/i;
const hasAuthority = /^(?: |https?:|\/\/)/i;
const schemePrefix = /^[a-z][a-z0-9+.-]*:/i;

function isPrintable(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

function isBlank(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0xa0) return code === 0x85;
  return invisible.test(String.fromCharCode(code));
}

// Matches white space, zero-width spaces and joiners, direction marks, the word joiner and the byte order mark.
const invisible = /[\s\u180e\u200b-\u200f\u2060\ufeff]/;

/** Does what `URL.parse` does, which Node 20 does not have, and removes a trailing dot of the host, which makes no difference. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    const url = new URL(text, base);
    const { hostname } = url;
    if (/[^.]\.$/.test(hostname)) url.hostname = hostname.slice(0, -1);
    return url;
  } catch {
    return null;
  }
}

/**
 * Does what `URL.canParse` does. In Node 20 and 22, its optimized version refuses hosts with letters from U+0080 to U+00FF, unless
 * letters above U+00FF follow.
 */
function canParseUrl(text: string, base?: string): boolean {
  if (!nonAscii.test(text)) return URL.canParse(text, base);
  if (!httpPrefix.test(text)) return URL.canParse(`${text}${/[?#]/.test(text) ? "" : "?"}${beyond}`, base);
  // Nothing after the host can make a URL invalid: https://url.spec.whatwg.org/#path-start-state
  const origin = originStart.exec(text)![0];
  if (!nonAscii.test(origin)) return URL.canParse(`${origin}/`);
  return !impossibleHost.test(origin) && URL.canParse(`${origin}/${beyond}`);
}

const beyond = "\u0100";
const originStart = /^https?:\/\/[^/\\?#]+/i;
// Matches hosts with a forbidden character (https://url.spec.whatwg.org/#forbidden-host-code-point), unless an @ follows, because user names may have these characters.
const impossibleHost = /^https?:\/\/(?![^/\\?#]*@)(?:[ <>\]^|]|[^/\\?#[][^/\\?#]*[ <>[\]^|])/i;

const nonAscii = /[^\u0000-\u007f]/;

// Whether a host is much too long (https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4): a URL parser takes quadratic time for non-ASCII ones.
function isHostTooLong(text: string): boolean {
  if (text.length <= longestHost) return false;
  const authority = anyAuthority.exec(text)?.[1];
  if (authority === undefined || authority.length <= longestHost) return false;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  let bytes = 0;
  for (let at = 0; at < host.length; at++) {
    const code = host.charCodeAt(at);
    bytes += code === percentSign ? -1 : code < 0x80 ? 1 : 3;
  }
  return bytes > longestHost * 3;
}

const longestHost = 255;
const anyAuthority = /^(?:https?:[/\\]*|[/\\]{2,})([^/\\?#]*)/i;
const percentSign = 0x25;

/** Returns the URL up to the first directory of its path, or up to the root: `https://example.org/`. */
export function sectionOf(url: string): string {
  const host = url.indexOf("//") + 2;
  const end = url.slice(0, host + 512).search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const root = path.indexOf("/", host);
  if (root === -1) return `${path}/`;
  const directory = path.indexOf("/", root + 1);
  return path.slice(0, (directory === -1 ? root : directory) + 1);
}
