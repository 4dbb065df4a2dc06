// What can be wrong with a website's sitemaps, by code, and one sentence for each. Every loss and every repair is a
// problem; nothing that a website does is thrown. Codes are stable; sentences may be reworded in any release.

/** Something that was wrong with a document, on the way to it, or with what it declares. */
export interface Problem {
  readonly code: ProblemCode;
  /** One sentence for people. */
  readonly message: string;
  /** Where it was first seen: a line of the decoded document, from 1. */
  readonly line?: number;
  /** The raw text it is about, the first time; cut where it is long. */
  readonly value?: string;
  /** How often it was seen in this document, where that is more than once. */
  readonly count?: number;
  /** The limit that was reached. */
  readonly limit?: number;
  /** The HTTP status. */
  readonly status?: number;
  /** ISO 8601: when the website says that it may be asked again. */
  readonly retryAfter?: string;
}

/** `http-404` and so on for every status that is not a document; the table below for all others. */
export type ProblemCode = keyof typeof sentences | `http-${number}`;

/** The facts of a problem that are not its code or its sentence. */
export type ProblemFacts = Omit<Problem, "code" | "message">;

// {value}, {limit}, {status} and {retryAfter} are filled in.
const sentences = {
  // On the way to a document.
  "dns-not-found": "The host name does not exist",
  "dns-temporary": "The host name could not be looked up",
  "timeout-connect": "No connection within {limit} ms",
  "timeout-tls": "The TLS handshake did not finish within {limit} ms",
  "timeout-first-byte": "No response within {limit} ms",
  "timeout-idle": "Nothing more came for {limit} ms",
  "timeout-total": "The document did not arrive within {limit} ms",
  "connection-refused": "The connection was refused",
  "connection-reset": "The connection was closed before a response came",
  "connection-failed": "The connection failed",
  "tls-certificate": "The TLS certificate is not valid: {value}",
  "tls-failed": "The TLS handshake failed: {value}",
  "http-protocol": "The response is not valid HTTP: {value}",
  "rate-limited": "The website asks to come back after {retryAfter}",
  "bot-check": "A page that tells people from programs was sent instead of the document",
  "client-failed": "The HTTP client failed: {value}",
  "redirect-loop": "The redirects lead back to {value}",
  "limit-redirects": "More than {limit} redirects",
  "redirect-invalid": "A redirect without a usable Location: {value}",
  "redirect-encoding": "A redirect's Location holds bytes that no URL may hold; they were taken for UTF-8: {value}",
  "redirect-downgrade": "A redirect led from https to http: {value}",
  "address-blocked": "The address is not a public one",
  "scheme-refused": "Only http and https are fetched: {value}",
  "port-refused": "No website is expected on port {value}",
  // The bytes of a document.
  "body-short": "The body ended before its announced length",
  "body-reset": "The connection broke inside the body",
  "limit-document-bytes": "The document is larger than {limit} bytes; the rest was not read",
  "protocol-size": "The document is larger than the {limit} bytes that the protocol allows",
  "coding-truncated": "The compressed data ends too early",
  "coding-trailing": "There is something after the end of the compressed data; it was ignored",
  "coding-checksum": "The checksum of the compressed data is wrong",
  "coding-damaged": "The compressed data is damaged",
  "limit-encoding-layers": "More than {limit} layers of compression",
  "coding-unknown": "The content encoding {value} is not known",
  "coding-mismatch": "The content encoding {value} was announced but not used",
  "charset-unsupported": "The character set {value} is not supported",
  "charset-conflict": "The character sets that the document and its headers name differ: {value}",
  "charset-invalid": "Some bytes are not valid in the character set {value}; they were replaced",
  empty: "The document is empty",
  "not-a-sitemap": "The document is not a sitemap: {value}",
  // Lines.
  "limit-robots-bytes": "robots.txt is larger than {limit} bytes; the rest was not read",
  "limit-line-length": "A line is longer than {limit} characters; it was skipped",
  "text-junk": "A line is not a URL; it was skipped: {value}",
  "text-extra": "A line holds more than a URL; only the URL was taken: {value}",
  "robots-spelling": "A line means Sitemap but is written in another way; it was taken: {value}",
  // XML.
  "xml-doctype": "A document type declaration was skipped",
  "xml-dtd-refused": "The document declares entities; it was refused",
  "limit-xml-depth": "Elements are nested deeper than {limit}; reading stopped",
  "limit-xml-attributes": "An element has more than {limit} attributes; reading stopped",
  "limit-xml-token": "A name or value is longer than {limit} characters; it was skipped",
  "xml-truncated": "The document ends inside an element",
  "xml-mismatched-tag": "An end tag does not match its start tag: {value}",
  "xml-malformed-tag": "A tag is not well-formed: {value}",
  "xml-stray-text": "There is a < in the text that starts no tag",
  "xml-bare-ampersand": "An & is not escaped: {value}",
  "xml-html-entity": "An HTML entity was used that XML does not have: {value}",
  "xml-unknown-entity": "An entity is not known and was left as text: {value}",
  "xml-char-reference": "A character reference names no character: {value}",
  "xml-junk-before-root": "There is text before the document; it was skipped: {value}",
  "xml-junk-after-root": "There is something after the end of the document; it was ignored: {value}",
  "xml-namespace": "The namespace is not the one of the format: {value}",
  "xml-root-name": "The root element is not written as in the format: {value}",
  "xml-element-name": "An element is not written as in the format: {value}",
  "xml-mixed": "The document lists both pages and sitemaps",
  "xml-not-well-formed": "The document is not well-formed; reading stopped, as asked for by `strict`",
  // Entries.
  "url-missing": "An entry has no URL; it was skipped",
  "url-several": "An entry has more than one URL; each was taken as an entry: {value}",
  "url-relative": "A URL is not absolute; it was resolved: {value}",
  "url-invalid": "Not a valid URL; it was skipped: {value}",
  "url-scheme": "Not an http or https URL; it was skipped: {value}",
  "url-double-escaped": "A URL is escaped twice; it was decoded twice: {value}",
  "protocol-url-length": "A URL is longer than the {limit} characters that the protocol allows",
  "limit-url-length": "A URL is longer than {limit} characters; it was skipped",
  "date-invalid": "Not a date; it was left out: {value}",
  "priority-invalid": "Not a priority from 0 to 1; taken as 0.5: {value}",
  "change-frequency-invalid": "Not a change frequency; it was left out: {value}",
  "limit-text-length": "A text is longer than {limit} characters; it was left out",
  "news-incomplete": "A news story lacks something that the extension requires: {value}",
  "image-incomplete": "An image has no URL; it was skipped",
  "video-incomplete": "A video lacks something that the extension requires: {value}",
  "video-invalid": "A field of a video cannot be read; it was left out: {value}",
  "alternate-incomplete": "An alternate page lacks its language or URL; it was skipped",
  "limit-images": "A page has more than {limit} images; the others were skipped",
  "limit-videos": "A page has more than {limit} videos; the others were skipped",
  "limit-alternates": "A page has more than {limit} alternate pages; the others were skipped",
  "protocol-entries": "The document lists more than the {limit} entries that the protocol allows",
  "limit-document-entries": "The document lists more than {limit} entries; the rest was not read",
  // The tree.
  cycle: "The sitemap is its own ancestor",
  "limit-depth": "Sitemaps are nested deeper than {limit}",
  "limit-documents": "More than {limit} documents; this one was not fetched",
  "limit-bytes": "More than {limit} bytes in all; this one was not fetched",
  "limit-pages": "More than {limit} pages in all; reading stopped",
  "limit-time": "More than {limit} ms in all; reading stopped",
  "robots-unreachable": "robots.txt could not be reached: sitemaps that only it names are missing",
  "homepage-unreachable": "The homepage could not be reached: sitemaps that only it names are missing",
  "known-path-unreachable": "A well-known path could not be reached, and may hold a sitemap: {value}",
  "archive-missing": "The archive does not hold this document",
  "archive-truncated": "The archive was cut off; what came before is used",
} as const;

// With one of these, the bytes of a document ended before the document did: its last line or tag is not what was meant.
const cutOff: readonly ProblemCode[] = [
  "timeout-idle",
  "timeout-total",
  "limit-time",
  "body-short",
  "body-reset",
  "limit-document-bytes",
  "coding-truncated",
  "coding-damaged",
  "http-protocol",
  "connection-reset",
  "connection-failed",
  "client-failed",
  "limit-robots-bytes",
];

// A document with one of these was not read to its end, or lost more than what one bad entry costs.
const lossy: ReadonlySet<string> = new Set<ProblemCode>([
  ...cutOff,
  "coding-checksum",
  "limit-line-length",
  "limit-xml-depth",
  "limit-xml-attributes",
  "limit-xml-token",
  "xml-truncated",
  "xml-mismatched-tag",
  "xml-malformed-tag",
  "xml-stray-text",
  "xml-not-well-formed",
  "limit-images",
  "limit-videos",
  "limit-alternates",
  "limit-document-entries",
  "limit-pages",
  "robots-unreachable",
  "archive-truncated",
]);

// Enough to recognise the place; a problem must not become a way to carry megabytes.
const valueLength = 200;

/** A problem with its sentence. */
export function problem(code: ProblemCode, facts: ProblemFacts = {}): Problem {
  const { value } = facts;
  const kept = value === undefined ? facts : { ...facts, value: shorten(value) };
  return { code, message: sentence(code, kept), ...kept };
}

/** Whether a document with this problem counts as not complete. */
export function isLossy(code: ProblemCode): boolean {
  return lossy.has(code);
}

/** The codes that have a sentence of their own; `http-404` and its like follow one pattern. */
export function problemCodes(): readonly ProblemCode[] {
  return Object.keys(sentences) as ProblemCode[];
}

/** Collects the problems of one document: one for each code, with its first place and how often it came. */
export class ProblemLog {
  readonly #problems = new Map<ProblemCode, Problem>();
  readonly #counts = new Map<ProblemCode, number>();
  #complete = true;

  /** Whether nothing was added that makes a document incomplete. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Whether the bytes of the document ended before the document did. */
  get isCutOff(): boolean {
    return cutOff.some((code) => this.#problems.has(code));
  }

  /** Whether this code was seen: then only its count still matters, and no facts need to be gathered. */
  has(code: ProblemCode): boolean {
    return this.#problems.has(code);
  }

  add(code: ProblemCode, facts?: ProblemFacts): void {
    const count = this.#counts.get(code);
    this.#counts.set(code, (count ?? 0) + (facts?.count ?? 1));
    if (count !== undefined) return;
    this.#problems.set(code, problem(code, facts));
    if (isLossy(code)) this.#complete = false;
  }

  /** Takes over a problem that was made elsewhere. */
  addProblem({ code, message: _, ...facts }: Problem): void {
    this.add(code, facts);
  }

  /** In the order of their first appearance. */
  toArray(): Problem[] {
    return [...this.#problems.values()].map((first) => {
      const count = this.#counts.get(first.code) ?? 1;
      return count > 1 ? { ...first, count } : first;
    });
  }
}

function sentence(code: ProblemCode, facts: ProblemFacts): string {
  const template: string =
    code in sentences ? sentences[code as keyof typeof sentences] : `The website answered with status ${code.slice(5)}`;
  return template.replace(/\{(value|limit|status|retryAfter)\}/g, (_, name: keyof ProblemFacts) =>
    String(facts[name] ?? "unknown"),
  );
}

function shorten(value: string): string {
  if (value.length <= valueLength) return value;
  // Never end in half a character. A short copy, too, lets go of the long string behind it.
  const end = /[\uD800-\uDBFF]/.test(value[valueLength - 1] ?? "") ? valueLength - 1 : valueLength;
  return `${value.slice(0, end)}…`;
}
