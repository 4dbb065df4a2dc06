// URLs as documents list them: most are valid, and others are repaired or skipped; docs/inside/formats.md lists the repairs.
//   Lenient: extra characters around a URL, and mistakes between its scheme and host, are repaired if the URL is unambiguous. A Markdown link
//   stands for its target. If there are two schemes, the second counts.
//   Lenient: a URL with bytes that could not be decoded is kept.
//   Lenient: a text with several URLs, after white space or where a line break was lost, is several URLs.
import { type Fingerprint, FingerprintReader, Prefix } from "./fingerprints.ts";
import type { DocumentProblemCode } from "./problem-code.ts";
import { bareHost, originOf, parsedBase, protocolUrlLength, type ResolvedUrl, resolveUrl, trimUrl } from "./url.ts";

/**
 * Resolves a URL from a document. The result is absolute, http or https, and has at most `maxLength` characters; the site's own spelling
 * is kept if possible. `text` must be trimmed, see `trimUrl`. With `isExact`, nothing around the URL is removed.
 */
export function resolveListedUrl(
  text: string,
  base: string | undefined,
  maxLength: number,
  isExact = false,
): ResolvedUrl {
  const resolved = resolveForm(text, base, maxLength, isExact);
  if (!resolved.url?.includes("\ufffd")) return resolved;
  return { url: resolved.url, problem: "url-damaged" };
}

function resolveForm(text: string, base: string | undefined, maxLength: number, isExact: boolean): ResolvedUrl {
  if (text.length > maxLength) return { problem: "limit-url-length" };
  const bare = isExact ? text : unwrapUrl(text);
  const [outer] = doubleScheme.exec(bare) ?? [];
  if (outer !== undefined) return resolveInner(bare.slice(outer.length), maxLength);
  if (bare !== text && absolute.test(bare)) return repaired(bare, maxLength);
  if (absolute.test(text)) return resolveUrl(text, undefined, maxLength, true);
  const meant = nearlyAbsolute.exec(text)?.groups;
  if (meant !== undefined) return resolveNearlyAbsolute(text, meant, base, maxLength);
  const own = ownProtocol(text, base);
  if (own !== undefined) return repaired(`${own}//${text}`, maxLength);
  return notRelative.test(text) ? { problem: "url-invalid" } : resolveUrl(text, base, maxLength, true);
}

// Resolves what follows `http://` in `http://https://example.org/` or `http://https//example.org/`.
function resolveInner(text: string, maxLength: number): ResolvedUrl {
  const url = text.replace(/^https?(?=\/)/i, "$&:");
  return absolute.test(url) && !doubleScheme.test(url) ? repaired(url, maxLength) : { problem: "url-invalid" };
}

/** Splits a text into its URLs, nearly always one. Each begins after white space, or as `urlStarts` says. */
export function urlsIn(text: string): string[] {
  // A cheap test, which nearly all URLs fail.
  const starts = text.includes("://", "https://".length) ? urlStarts(text, /\s/) : [];
  return starts.length < 2
    ? [text]
    : starts.map((start, at) => trimUrl(text.slice(start, starts[at + 1]).replace(/[,;]\s+$/, "")));
}

/**
 * Returns where the URLs of a text begin, with an opening quote or bracket: at its start and after separators; and after a letter or digit if
 * the host is that of the first, because a line break was lost there. After other characters, the URL is a part of the one before it.
 */
export function urlStarts(text: string, separator: RegExp): number[] {
  const starts: number[] = [];
  let own: string | undefined;
  for (const { index, 1: host = "" } of text.matchAll(urlStart)) {
    const isFirst = index === 0 || separator.test(text[index - 1]!);
    if (isFirst || (host !== "" && host === own && lostBreak.test(text.slice(Math.max(index - 3, 0), index))))
      starts.push(index);
    own ??= host;
  }
  return starts;
}

/** Removes quotes, brackets or CDATA delimiters around a URL. A Markdown link becomes its target. */
export function unwrapUrl(text: string): string {
  let bare = markdownLink.exec(text)?.[1] ?? text;
  if (bare.endsWith("]]>")) bare = bare.slice(bare.startsWith("<![CDATA[") ? 9 : 0, -3);
  const closing = pairs.get(bare[0] ?? "");
  if (closing !== undefined && bare.length > 1 && bare.endsWith(closing)) bare = bare.slice(1, -1);
  return bare === text ? text : bare.trim();
}

// Repairs a mistake between the scheme and the host. If the host is that of the document, the URL is unambiguous.
function resolveNearlyAbsolute(
  text: string,
  { scheme, slashes, rest = "" }: Readonly<Record<string, string | undefined>>,
  base: string | undefined,
  maxLength: number,
): ResolvedUrl {
  // JSON allows every slash to be escaped.
  if (slashes === "\\/\\/" && !bareSlash.test(text)) return repaired(text.replaceAll("\\/", "/"), maxLength);
  const protocol = scheme === undefined ? undefined : `${scheme.toLowerCase()}:`;
  // Browsers treat backslashes like slashes.
  if (protocol !== undefined && slashes?.length === 2) {
    return repaired(`${protocol}//${rest.replaceAll("\\", "/")}`, maxLength);
  }
  const own = ownProtocol(rest, base);
  if (own !== undefined) return repaired(`${protocol ?? own}//${rest}`, maxLength);
  // A generator that does not know its host writes `https:///sitemap.xml`.
  const origin = slashes === "///" && base !== undefined && pathStart.test(rest) ? parsedBase(base)?.origin : undefined;
  return origin === undefined ? { problem: "url-invalid" } : repaired(`${origin}/${rest}`, maxLength);
}

// Returns the protocol of the document if the text begins with the document's host, with or without `www.`.
function ownProtocol(text: string, base: string | undefined): string | undefined {
  const dot = text.indexOf(".");
  if (base === undefined || dot < 1) return undefined;
  const end = text.search(/[/\\?#]/);
  if (end !== -1 && end < dot) return undefined;
  const host = (end === -1 ? text : text.slice(0, end)).toLowerCase();
  const own = parsedBase(base);
  return own !== null && bareHost(own.host) === bareHost(host) ? own.protocol : undefined;
}

function repaired(url: string, maxLength: number): ResolvedUrl {
  const resolved = resolveUrl(url, undefined, maxLength, true);
  return resolved.url === undefined ? resolved : { url: resolved.url, problem: "url-repaired" };
}

const urlStart = /["'<\u201c\u2018]{0,2}https?:(?=(?:\/\/([^\s/?#,;|]+))?)/gi;
// Matches a letter or digit that is not part of a percent-encoded character, such as `%3D`.
const lostBreak = /(?<!%.?)[\p{L}\p{N}]$/u;

const pairs: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["<", ">"],
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
  ["`", "`"],
  ["\u201c", "\u201d"],
  ["\u2018", "\u2019"],
]);

// Matches a scheme and an authority in their usual spelling.
const absolute = /^https?:\/\/[^/\\?#\s]/i;
// Matches the start of `http://https://example.org/`, which would be valid, with a host named `https`.
const doubleScheme = /^(?:https?:\/\/)+(?=https?:?\/\/)/i;
const markdownLink = /^\[[^[\]]*\]\((https?:\/\/[^\s[\]]+)\)$/i;
// Matches `https:/example.org/`, `https:example.org/`, `https//example.org/`, `https:://example.org/`, `https: // example.org/`,
// `https:\\example.org\`, `://example.org/` and `www.example.org/`.
const nearlyAbsolute =
  /^(?:(?<scheme>https?)(?::(?<slashes>[/\\]*)(?=[^\s:;.,])|\s?:[:;.,]{0,2}\s?[/\\]*\s?|[;.,]{0,2}[/\\]{2,}\s?)|:[/\\]{1,3}|(?=www\.[^/\\?#.]+\.[^/\\?#]))(?<rest>[^/\\?#].*)$/is;
// Matches a path, not a host: the first segment has no dot, or is a file name.
const pathStart = /^(?:[^./?#]+(?:[/?#]|$)|[^/?#]+\.(?:xml|txt|gz|html?|php|aspx?|jsp|rss|atom)(?:[?#]|$))/i;
const bareSlash = /(?<!\\)\//;
// Matches text that does not start like a relative URL: something before `://`, a percent-encoded scheme, a colon, a host.
const notRelative =
  /^(?:https?(?:\s?:|%3a)|(?![./\\?#]|[a-z][a-z0-9+.-]*:)(?:[^/?#]*:\/\/|:|[^/\\?#\s]+\.(?:(?:com|org|net|edu|gov)(?:[/\\?#]|$)|(?!(?:cc|do|en|js|md|pl|ps|py|rb|rs|sh|so|ts)[/\\])(?:[a-z]{2}|info|biz|app|dev)[/\\])))/i;

/**
 * Does what `resolveListedUrl` does for the many URLs of one document, usually in one pass over each and without allocating. It remembers
 * origins that the URL parser accepted. Nothing after the slash that follows an authority can make a URL invalid
 * (https://url.spec.whatwg.org/#path-state has no failure), so other URLs of the origin need no parser.
 */
export class UrlResolver {
  readonly #base: string | undefined;
  readonly #maxLength: number;
  readonly #plainLength: number;
  // Accepted origins as written, such as `https://example.org/`. The last one used comes first.
  readonly #origins: Prefix[] = [];
  /** The problem with the last URL: what was repaired, or why there is no URL. */
  problem: DocumentProblemCode | undefined = undefined;

  /** Relative URLs are resolved against `base`; without one they are invalid. */
  constructor(base: string | undefined, maxLength: number) {
    this.#base = base;
    this.#maxLength = maxLength;
    this.#plainLength = Math.min(maxLength, protocolUrlLength);
  }

  /** The fingerprint of the last URL; valid until any resolver resolves another one. */
  get fingerprint(): Fingerprint {
    return reader;
  }

  /** Resolves a trimmed text, and sets `problem`. With `isExact`, nothing around the URL is removed. */
  resolve(text: string, isExact = false): string | undefined {
    if (text.length <= this.#plainLength) {
      reader.read(text);
      if (this.#isKnown() && !needsCare(text)) {
        this.problem = undefined;
        return text;
      }
    }
    const { url, problem } = resolveListedUrl(text, this.#base, this.#maxLength, isExact);
    this.problem = problem;
    if (url === undefined) return undefined;
    reader.read(url);
    if (url === text) this.#remember(text);
    return url;
  }

  // Whether the last text starts with a known origin.
  #isKnown(): boolean {
    const origins = this.#origins;
    for (let index = 0; index < origins.length; index++) {
      const origin = origins[index]!;
      if (!reader.startsWith(origin)) continue;
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

// All resolvers share this reader: its result is used immediately, and its memory would be most of what a small document needs.
const reader = new FingerprintReader();

// Pages, images and alternate pages rarely alternate between more hosts than this.
const rememberedOrigins = 4;

// Whether a URL needs a closer look: it has control or replacement characters, or its end may not belong to it, such as `]]>`.
function needsCare(text: string): boolean {
  return reader.hasControls || text.endsWith(">") || (reader.hasOthers && text.includes("\ufffd"));
}
