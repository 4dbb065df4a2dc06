// What counts as a URL, the homepage of a URL, and when two URLs are the same.
// Only `new URL` decides (https://url.spec.whatwg.org/): no other parser of URLs is used anywhere.
import { type Fingerprint, FingerprintReader, Prefix } from "./fingerprints.ts";
import type { ProblemCode } from "./problem.ts";

/** What `resolveUrl` makes of a raw text: a URL, perhaps with something to say about it, or the reason why there is none. */
export type ResolvedUrl =
  | { readonly url: string; readonly problem?: ProblemCode }
  | { readonly url?: undefined; readonly problem: ProblemCode };

/** The protocol asks for less than 2,048 characters: https://www.sitemaps.org/protocol.html#locdef */
export const protocolUrlLength = 2047;

/** Whether the text is an absolute http or https URL. */
export function isHttpUrl(text: string): boolean {
  return httpPrefix.test(text) && resolveUrl(text, undefined, Number.POSITIVE_INFINITY).url !== undefined;
}

/**
 * Makes a URL of what a website wrote: absolute, http or https, at most `maxLength` characters. The site's own spelling
 * is kept. `text` has to be trimmed, see `trimUrl`.
 */
export function resolveUrl(text: string, base: string | undefined, maxLength: number): ResolvedUrl {
  if (text.length > maxLength) return { problem: "limit-url-length" };
  if (unusable.test(text)) return { problem: "url-invalid" };
  if (httpPrefix.test(text)) {
    if (!canParseUrl(text)) return { problem: "url-invalid" };
    return text.length > protocolUrlLength ? { url: text, problem: "protocol-url-length" } : { url: text };
  }
  if (schemePrefix.test(text) && !httpScheme.test(text)) return { problem: "url-scheme" };
  // Lenient: a URL that is relative, or absolute but oddly written, is resolved against the document's URL. So is
  // `www.example.org/x`: without a scheme it is a path, by the rules of URLs.
  const url = text === "" ? undefined : resolveRelative(text, base);
  if (url === undefined) return { problem: "url-invalid" };
  return url.length > maxLength ? { problem: "limit-url-length" } : { url, problem: "url-relative" };
}

/**
 * `resolveUrl` for the many URLs of one document: one pass over each, and nothing is allocated. Origins that the URL parser
 * accepted are remembered. Nothing that follows the slash after an authority can make a URL unparseable
 * (https://url.spec.whatwg.org/#path-state knows no failure), so its neighbours need no parser.
 */
export class UrlResolver {
  readonly #base: string | undefined;
  readonly #maxLength: number;
  readonly #plainLength: number;
  readonly #reader = new FingerprintReader();
  // `https://example.org/`, as written; the last one used comes first.
  readonly #origins: Prefix[] = [];
  /** What there is to say about the URL resolved last, or why there is none. */
  problem: ProblemCode | undefined = undefined;

  /** Relative URLs are resolved against `base`; without one they are invalid. */
  constructor(base: string | undefined, maxLength: number) {
    this.#base = base;
    this.#maxLength = maxLength;
    this.#plainLength = Math.min(maxLength, protocolUrlLength);
  }

  /** Of the URL resolved last. */
  get fingerprint(): Fingerprint {
    return this.#reader;
  }

  /** `text` has to be trimmed. Sets `problem`. */
  resolve(text: string): string | undefined {
    const reader = this.#reader;
    if (text.length <= this.#plainLength) {
      reader.read(text);
      if (this.#isKnown()) {
        const isUnusable = reader.hasControls || (reader.hasOthers && text.includes("\ufffd"));
        this.problem = isUnusable ? "url-invalid" : undefined;
        return isUnusable ? undefined : text;
      }
    }
    const { url, problem } = resolveUrl(text, this.#base, this.#maxLength);
    this.problem = problem;
    if (url === undefined) return undefined;
    reader.read(url);
    if (url === text) this.#remember(text);
    return url;
  }

  // Whether what was read starts with an origin that was accepted before.
  #isKnown(): boolean {
    const origins = this.#origins;
    for (let index = 0; index < origins.length; index++) {
      const origin = origins[index]!;
      if (!this.#reader.startsWith(origin)) continue;
      if (index > 0) {
        origins[index] = origins[0]!;
        origins[0] = origin;
      }
      return true;
    }
    return false;
  }

  #remember(url: string): void {
    const origin = originOf(url);
    if (origin === undefined || this.#isKnown()) return;
    this.#origins.unshift(new Prefix(origin));
    if (this.#origins.length > rememberedOrigins) this.#origins.pop();
  }
}

/** The beginning of an absolute URL, as written: `https://example.org/`. Undefined where no slash follows the host. */
export function originOf(url: string): string | undefined {
  const slash = url.indexOf("/", url.indexOf("//") + 2);
  const origin = url.slice(0, slash + 1);
  return slash < 0 || /[?#\\]/.test(origin) ? undefined : origin;
}

// Pages, and the images and alternate pages between them, rarely take turns on more hosts than this.
const rememberedOrigins = 4;

/**
 * Without the white space and the invisible characters around it, as editors and spreadsheets leave them: Unicode white
 * space, zero-width spaces and joiners, direction marks, byte order marks.
 */
export function trimUrl(text: string): string {
  let end = text.length;
  // Nearly always nothing has to be done.
  if (end === 0 || (isPrintable(text.charCodeAt(0)) && isPrintable(text.charCodeAt(end - 1)))) return text;
  let start = 0;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Whether a URL is that of a robots.txt, by its name. */
export function isRobotsUrl(url: string | undefined): boolean {
  return url !== undefined && /\/robots\.txt(?:[?#]|$)/i.test(url) && isRobotsPath(parseUrl(url)?.pathname ?? "");
}

/** Whether a path, of a URL or of a file, is that of a robots.txt. */
export function isRobotsPath(path: string): boolean {
  return /(?:^|[/\\])robots\.txt$/i.test(path);
}

/** The homepage of the website that a URL belongs to: its origin, with a slash. */
export function homepageOf(url: string): string {
  return `${new URL(url).origin}/`;
}

/**
 * Equal for two URLs that name the same document: host case, default port, fragment and needless percent-encoding
 * (`%7E` for `~`) make no difference. User names and passwords do.
 */
export function urlKey(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === null) return url;
  // Setting it parses the URL once more, and hardly any has one.
  if (url.includes("#")) parsed.hash = "";
  const { href } = parsed;
  if (!href.includes("%")) return href;
  return href.replace(/%[0-9a-f]{2}/gi, (sequence) => {
    const character = String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : sequence.toUpperCase();
  });
}

/** The URL without the user name and password it may carry: for everything that is printed, logged or kept. */
export function withoutCredentials(url: string): string {
  if (!url.includes("@")) return url;
  const parsed = parseUrl(url);
  if (parsed === null) return withoutAnythingBeforeAt(url);
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

// Nobody can say where the password ends in something that is no URL (`http://user:p/ss@host/`): at the last @, to be safe.
function withoutAnythingBeforeAt(text: string): string {
  const slashes = text.indexOf("//");
  const at = text.lastIndexOf("@");
  return slashes >= 0 && slashes < at ? text.slice(0, slashes + 2) + text.slice(at + 1) : text.slice(at + 1);
}

function resolveRelative(text: string, base: string | undefined): string | undefined {
  // A URL parser says no by making an error, which is dear: a text of a million words is a million of them.
  if (base === undefined && !httpScheme.test(text)) return undefined;
  const from = base === undefined ? undefined : parseUrl(withoutCredentials(base));
  const resolved = parseUrl(text, from?.href);
  if (resolved === null || (resolved.protocol !== "http:" && resolved.protocol !== "https:")) return undefined;
  if (from === undefined || from === null || text.startsWith(".") || text.includes("/.")) return resolved.href;
  // `href` is percent-encoded. The site's own spelling is kept where it means the same.
  const spelled = beforeRelative(text, from) + text;
  return parseUrl(spelled)?.href === resolved.href ? spelled : resolved.href;
}

function beforeRelative(text: string, base: URL): string {
  if (text.startsWith("//")) return base.protocol;
  if (text.startsWith("/")) return base.origin;
  if (text.startsWith("?")) return base.origin + base.pathname;
  if (text.startsWith("#")) return base.origin + base.pathname + base.search;
  return base.origin + base.pathname.slice(0, base.pathname.lastIndexOf("/") + 1);
}

// C0 controls and DEL: a URL parser drops tabs and line ends silently and so names another page. And the replacement
// character: it stands for bytes that were lost.
const unusable = /[\u0000-\u001f\u007f\ufffd]/;
// A scheme and an authority in their usual spelling. `https:/x` and `https:\\x` are left to the URL parser.
const httpPrefix = /^https?:\/\/[^/\\?#]/i;
const httpScheme = /^https?:/i;
const schemePrefix = /^[a-z][a-z0-9+.-]*:/i;

function isPrintable(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

function isBlank(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0xa0) return code === 0x85;
  return invisible.test(String.fromCharCode(code));
}

// White space; zero-width space, (non-)joiners and direction marks; word joiner; byte order mark.
const invisible = /[\s\u180e\u200b-\u200f\u2060\ufeff]/;

/** `URL.parse`, which Node 20 does not have. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/**
 * `URL.canParse`, right. That of Node 20 and 22, once it is compiled, refuses every host with a letter from U+0080 to U+00FF:
 * it is only asked where there is none, to save the making of a URL (or of an error).
 */
function canParseUrl(text: string): boolean {
  return nonAscii.test(text) ? parseUrl(text) !== null : URL.canParse(text);
}

const nonAscii = /[^\u0000-\u007f]/;
