// The table of problems. Codes are stable; sentences may be reworded in any release.
//
// To add a problem, add one row to the group of its kind, and what to do about it to scripts/problem-fixes.ts, which keeps these sentences out of
// bundles. Then run `npm run tables`, which writes problem-code.ts and the tables of docs/problems.md.

/** One kind of problem. Its code is the key of the row: kebab-case, one prefix for each family, and stable. */
export interface ProblemRow {
  /** Something that the website declares is missing: `complete` is false. */
  readonly loss?: true;
  /** An entry was skipped because of it; why, for many entries: "invalid URLs". */
  readonly skipsEntry?: string;
  /** The document is cut off, so its last line or tag may be incomplete. */
  readonly cutOff?: true;
  /** A temporary failure: the request is retried. */
  readonly temporary?: true;
  /** The host sent no response: it may be down. */
  readonly noResponse?: true;
  /** Our own policy forbids the request. */
  readonly refused?: true;
  /**
   * The fact, in one sentence without a full stop. `{value}`, `{limit}`, `{line}`, `{status}` and `{retryAfter}` are filled
   * in; `{limit ms}` and `{limit bytes}` with a unit. The part in `[…]` is omitted if its fact is unknown.
   */
  readonly message: string;
  /** Messages for specific values, used instead of `message`. */
  readonly messageFor?: Readonly<Record<string, string>>;
  /** A flag that helps, which the program appends to the message. */
  readonly hint?: string;
  readonly hintFor?: Readonly<Record<string, string>>;
}

export type ProblemRows = Readonly<Record<string, ProblemRow>>;

type Row = ProblemRow;
type RowOf = (message: string, more?: Partial<Row>) => Row;

function rowsThat(traits: Partial<Row>): RowOf {
  return (message, more) => ({ ...traits, message, ...more });
}

// One function for each common set of traits.
/** Repaired, ignored or accepted: nothing is missing. */
const note: RowOf = rowsThat({});
const skipped = (skipsEntry: string): RowOf => rowsThat({ skipsEntry });
const loss: RowOf = rowsThat({ loss: true });
/** The document ended too early. */
const cut: RowOf = rowsThat({ loss: true, cutOff: true });
const refused: RowOf = rowsThat({ loss: true, refused: true });
const noResponse: RowOf = rowsThat({ loss: true, noResponse: true });
/** No response, but a retry may get one. */
const outage: RowOf = rowsThat({ loss: true, noResponse: true, temporary: true });

const trust = "trust it with --ca FILE or NODE_EXTRA_CA_CERTS, or use --insecure";

// OpenSSL's errors for bytes that are not TLS, usually a plain HTTP response. Which one depends on its version and the bytes.
const withoutTls = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"];

/** Whether the handshake failed because the server does not speak TLS, but plain HTTP, for example. */
export function lacksTls({ code, value = "" }: { readonly code: string; readonly value?: string }): boolean {
  return code === "tls-failed" && withoutTls.includes(value);
}

// What was received instead of a sitemap. Any other value of `not-a-sitemap` is the name of a root element.
const notSitemaps = {
  html: "Got an HTML page, not a sitemap",
  json: "Got JSON, not a sitemap",
  pdf: "Got a PDF file, not a sitemap",
  image: "Got an image, not a sitemap",
  archive: "Got a zip file or another archive, not a sitemap",
  binary: "Got binary data, not a sitemap",
  "robots.txt": "Got a robots.txt, not a sitemap",
  "text without a URL": "Got text without a URL, not a sitemap",
  "XML without a root": "Got XML without a root element, not a sitemap",
  "a sitemap in place of robots.txt": "A sitemap served at /robots.txt is not accepted",
} as const;

/** A key of the messages of `not-a-sitemap`: a type, so that a misspelled one does not compile. */
export type NotSitemap = keyof typeof notSitemaps;

export const fetchingProblems: ProblemRows = {
  "dns-not-found": noResponse("The host name does not exist"),
  "dns-temporary": outage("The host name could not be resolved"),
  "timeout-connect": outage("No connection within {limit ms}"),
  "timeout-tls": outage("The TLS handshake did not finish within {limit ms}"),
  "timeout-first-byte": outage("No response within {limit ms}"),
  "timeout-idle": cut("The transfer stalled for {limit ms}", { temporary: true }),
  "timeout-total": outage("The transfer took longer than {limit ms}", {
    cutOff: true,
    hint: "allow more with --timeout",
  }),
  "connection-refused": outage("Connection refused"),
  "connection-reset": outage("The connection was closed before a response arrived", { cutOff: true }),
  "connection-failed": outage("The connection failed", {
    cutOff: true,
  }),
  "connection-no-socket": outage("Too many open files on this machine", { cutOff: true }),
  "tls-certificate": noResponse("Invalid TLS certificate[: {value}]", {
    hint: "--insecure accepts any certificate",
    messageFor: {
      DEPTH_ZERO_SELF_SIGNED_CERT: "Self-signed certificate",
      SELF_SIGNED_CERT_IN_CHAIN: "Self-signed certificate in the chain",
      UNABLE_TO_GET_ISSUER_CERT: "The certificate's issuer is unknown",
      UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The certificate's issuer is unknown",
      UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        "The certificate's issuer is unknown; the server may omit an intermediate certificate",
      CERT_HAS_EXPIRED: "The certificate has expired",
      CERT_NOT_YET_VALID: "The certificate is not valid yet; check the clock of this machine",
      CERT_REVOKED: "The certificate was revoked",
      HOSTNAME_MISMATCH: "The certificate is for another host name",
      ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is for another host name",
    },
    hintFor: {
      DEPTH_ZERO_SELF_SIGNED_CERT: trust,
      SELF_SIGNED_CERT_IN_CHAIN: trust,
      UNABLE_TO_GET_ISSUER_CERT: trust,
      UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
    },
  }),
  "tls-failed": noResponse("The TLS handshake failed[: {value}]", {
    messageFor: {
      ...Object.fromEntries(withoutTls.map((value) => [value, "The server does not speak TLS on this port"])),
      ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: "The server speaks HTTP/2 only; HTTP/1.1 is required",
    },
    hintFor: Object.fromEntries(withoutTls.map((value) => [value, "try http://"])),
  }),
  "https-missing": note("No response over https[ ({value})]; http was used"),
  "proxy-failed": outage("The proxy failed[: {value}]"),
  "proxy-refused": noResponse("The proxy answered {status}[ to {value}]", {
    hintFor: { "407": "add user name and password to its URL" },
  }),
  "http-protocol": noResponse("Invalid HTTP response[: {value}]", { cutOff: true }),
  "rate-limited": loss("Rate limited[ until {retryAfter time}]"),
  "bot-check": loss("Blocked by a bot check[ (status {status})]"),
  "client-failed": cut("The HTTP client failed[: {value}]"),
  "redirect-loop": loss("Redirect loop[: back to {value}]"),
  "limit-redirects": loss("More than {limit} redirects"),
  "redirect-invalid": loss("Redirect without a valid Location[: {value}]"),
  "redirect-encoding": note("Followed a redirect whose Location is not percent-encoded[: {value}]"),
  "redirect-downgrade": note("Followed a redirect from https to http[: {value}]"),
  "address-blocked": refused("Refused: private address", { hint: "(allow with --allow-private)" }),
  "not-local": refused("Not a local file[: {value}]; nothing was fetched", {
    hint: "map its URL to a folder with --map",
  }),
  "scheme-refused": refused("Refused: not an http or https URL[: {value}]"),
  "port-refused": refused("Port {value} is blocked"),
};

/** The bytes of a document: its length, its compression, its character set, and what it is. */
export const byteProblems: ProblemRows = {
  "body-short": cut("The response is shorter than announced", { temporary: true }),
  "body-reset": cut("The connection broke during the transfer", {
    temporary: true,
  }),
  "limit-document-bytes": cut("Larger than {limit bytes}; the rest was not read", {
    hint: "allow more with --max-bytes",
  }),
  "body-no-length": note("The response has no length, so it may be cut off"),
  "protocol-size": note("Larger than the {limit bytes} that the protocol allows"),
  "coding-truncated": cut("The compressed data is cut off"),
  "coding-trailing": note("Ignored data after the end of the compressed data"),
  "coding-checksum": loss("The checksum of the compressed data is wrong"),
  "coding-damaged": cut("The compressed data is damaged"),
  "limit-encoding-layers": loss("Compressed more than {limit} times"),
  "coding-unknown": loss("Unknown content coding: {value}"),
  "coding-mismatch": note("Announced as {value}, but not compressed that way"),
  "charset-unsupported": loss("Unsupported character set: {value}"),
  "charset-conflict": note("Conflicting character sets: {value}"),
  "charset-invalid": note("Invalid {value}; the bytes were replaced with U+FFFD"),
  empty: loss("The document is empty"),
  "not-a-sitemap": loss("Got XML with the root element {value}, not a sitemap", {
    messageFor: notSitemaps,
  }),
};

const lineProblems: ProblemRows = {
  "limit-robots-bytes": cut("robots.txt is larger than {limit bytes}; the rest was not read"),
  "limit-line-length": loss("Skipped a line of more than {limit} characters"),
  "text-junk": skipped("lines that are not URLs")("Skipped a line that is not a URL: {value}"),
  "text-extra": note("Ignored extra text around a URL: {value}"),
  "json-not-well-formed": cut("The JSON is broken or cut off"),
  "robots-spelling": note("Accepted a misspelled Sitemap line: {value}"),
};

const xmlProblems: ProblemRows = {
  "xml-doctype": note("Skipped a DOCTYPE"),
  "xml-dtd-refused": loss("Refused: the DOCTYPE declares entities"),
  "limit-xml-depth": loss("Elements nested more than {limit} levels deep; reading stopped"),
  "limit-xml-attributes": loss("An element has more than {limit} attributes; reading stopped"),
  "limit-xml-token": loss("Skipped a name or value of more than {limit} characters"),
  "xml-truncated": cut("The file is cut off[ at line {line}]"),
  "xml-mismatched-tag": loss("Mismatched tag: {value}"),
  "xml-malformed-tag": loss("Malformed tag: {value}"),
  "xml-unclosed-instruction": note("An XML declaration or instruction does not end in ?>: {value}"),
  "xml-comment-end": note("A comment ends in {value}, not -->"),
  "xml-stray-text": loss("Unescaped < in text"),
  "xml-bare-ampersand": note("Unescaped &: {value}"),
  "xml-html-entity": note("Decoded an HTML entity that XML does not define: {value}"),
  "xml-unknown-entity": note("Kept an unknown entity as text: {value}"),
  "xml-char-reference": note("Invalid character reference: {value}"),
  "xml-junk-before-root": note("Skipped text before the document: {value}"),
  "xml-junk-after-root": note("Unexpected content after the document: {value}"),
  "xml-namespace": note("Unexpected namespace: {value}"),
  "xml-root-name": note("Unexpected root element name: {value}"),
  "xml-element-name": note("Unexpected element name: {value}"),
  "xml-misplaced": note("Read an entry in an unexpected place[: {value}]"),
  "xml-entry-skipped": loss("Skipped what may be an entry: {value}"),
  "xml-mixed": note("Lists both pages and sitemaps"),
  "xml-not-well-formed": loss("Not well-formed XML; reading stopped because of `strict`"),
};

const entryProblems: ProblemRows = {
  "url-missing": skipped("entries without a URL")("Skipped an entry without a URL"),
  "url-several": note("Several URLs in one entry; each is listed: {value}"),
  "element-repeated": note("Repeated element in an entry; the first one is used: {value}"),
  "news-repeated": loss("Skipped a second news story for one URL"),
  "url-repeated": note("A URL is listed more than once: {value}"),
  "limit-repeats": loss(
    "Skipped the details of a repeated URL, more than {limit} characters after its first entry: {value}",
  ),
  "no-entries": note("The sitemap lists nothing"),
  "url-relative": note("Resolved a relative URL: {value}"),
  "url-repaired": note("Repaired a URL: {value}"),
  "url-damaged": loss("A URL has bytes that could not be decoded: {value}"),
  "url-invalid": skipped("invalid URLs")("Skipped an invalid URL: {value}"),
  "url-scheme": skipped("URLs that are not http or https")("Skipped a URL that is not http or https: {value}"),
  "url-double-escaped": note("Decoded a URL that was escaped twice: {value}"),
  "protocol-url-length": note("A URL is longer than the {limit} characters that the protocol allows"),
  "limit-url-length": loss("Skipped a URL of more than {limit} characters", {
    skipsEntry: "URLs that are too long",
  }),
  "date-invalid": note("Ignored an invalid date: {value}"),
  "date-form": note("Rewrote a date in an unexpected format: {value}"),
  "date-no-offset": note("Assumed UTC for a time without a time zone: {value}"),
  "date-zone": note("Kept only the day, because the time zone is ambiguous or unknown: {value}"),
  "priority-invalid": note("Ignored an invalid priority: {value}"),
  "change-frequency-invalid": note("Ignored an invalid change frequency: {value}"),
  "limit-text-length": loss("Skipped a text of more than {limit} characters"),
  "news-incomplete": note("Incomplete news story: {value}"),
  "news-date-form": note("Rewrote a publication date in a format that Google does not read: {value}"),
  "image-license": note("Ignored an image license that is not a URL: {value}"),
  "image-incomplete": note("Skipped an image without a URL"),
  "video-incomplete": note("Incomplete video: {value}"),
  "video-invalid": note("Ignored an invalid video field: {value}"),
  "alternate-incomplete": note("Skipped an alternate page without language or URL"),
  "alternate-relative": note("Resolved the relative URL of an alternate page: {value}"),
  "limit-video-values": loss("A video has more than {limit} values of one kind; the rest were skipped: {value}"),
  "limit-images": loss("A page has more than {limit} images; the rest were skipped"),
  "limit-videos": loss("A page has more than {limit} videos; the rest were skipped"),
  "limit-alternates": loss("A page has more than {limit} alternates; the rest were skipped"),
  "protocol-entries": note("More than the {limit} entries that the protocol allows"),
  "limit-document-entries": loss("More than {limit} entries; the rest were not read"),
};

const treeProblems: ProblemRows = {
  cycle: note("The sitemap contains itself"),
  "feed-next": loss("The next page of the feed was not read: {value}"),
  "limit-depth": loss("Sitemaps nested more than {limit} deep; this one was not fetched", {
    hint: "allow more with --max-depth",
  }),
  "limit-sitemaps": loss("More than {limit} sitemaps; the rest were not fetched[ ({count} sitemaps)]", {
    hint: "allow more with --max-sitemaps",
  }),
  "limit-sitemap-urls": loss(
    "More than {limit} characters in the URLs of sitemaps; the rest were not fetched[ ({count} sitemaps)]",
  ),
  "limit-bytes": loss("More than {limit bytes} transferred; the rest was not fetched[ ({count} sitemaps)]"),
  "limit-pages": loss("More than {limit} pages; reading stopped"),
  "limit-time": cut("Not finished after {limit ms}; reading stopped", { hint: "allow more with --max-time" }),
  "website-unreachable": loss("Nothing could be read from the website, so all its pages are missing"),
  "robots-unreachable": loss("Could not read robots.txt, so some sitemaps may be missing"),
  "robots-unknown": note("Could not read the robots.txt of a host, so `allowedFor` skips its pages"),
  "crawl-delay": note("robots.txt asks for a Crawl-delay of {limit ms}; requests are sent faster", {
    hint: "respect it with --crawl-delay",
  }),
  "homepage-unreachable": loss("Could not read the homepage, so some sitemaps may be missing"),
  "homepage-blocked": note("Access to the homepage was denied, so its links to sitemaps, if any, were not read"),
  "homepage-cut": loss("The homepage was not fully read, so some sitemaps may be missing: {value}"),
  "homepage-too-many-links": loss("The homepage links to more than {limit} sitemaps; the rest were not fetched"),
  "homepage-link-invalid": note("The homepage has an invalid sitemap link: {value}"),
  "known-path-unreachable": note("Could not try a well-known path: {value}"),
  "archive-missing": loss("Not in the archive"),
  "archive-digest": loss("The content does not match its checksum in the archive"),
  "archive-revisit": note("The archive refers to content in another file"),
  "archive-website": loss("The archive also contains another website, which was not read: {value}"),
  "archive-truncated": loss("The archive is cut off or damaged; the readable part was used"),
};

/** The table, in the order of the documentation. */
export const problemGroups: Readonly<Record<string, ProblemRows>> = {
  "Fetching a document": fetchingProblems,
  "The bytes of a document": byteProblems,
  Lines: lineProblems,
  XML: xmlProblems,
  Entries: entryProblems,
  "The tree": treeProblems,
};

// HTTP statuses that are not documents. Every status has the code `http-` and its number; these have their own messages.
const later = (message: string): Row => note(message, { temporary: true });

export const statusProblems: ProblemRows = {
  "http-204": note("Empty response (204)"),
  "http-304": note("Not modified (304)"),
  "http-400": note("Bad request (400)"),
  "http-401": note("Login required (401)", {
    hint: "pass credentials in the URL or with --header",
  }),
  "http-403": note("Access denied (403)"),
  "http-404": note("Not found (404)"),
  "http-407": note("The proxy requires a login (407)"),
  "http-408": later("The server timed out (408)"),
  "http-410": note("Gone (410)"),
  "http-425": later("Too early (425)"),
  "http-429": note("Too many requests (429)", { temporary: true }),
  "http-451": note("Unavailable for legal reasons (451)"),
  "http-500": later("Server error (500)"),
  "http-502": later("Bad gateway (502)"),
  "http-503": later("Service unavailable (503)"),
  "http-504": later("Gateway timeout (504)"),
};

/** The row of any status. Each is a loss: a declared document is missing. */
export function statusRow(status: number): Row {
  return { loss: true, ...(statusProblems[`http-${status}`] ?? otherRow(status)) };
}

function otherRow(status: number): Row {
  // 520 to 529 come from content delivery networks: the server behind them failed.
  if (status >= 520 && status <= 529) return later(`Server error (${status})`);
  return note(`${status >= 500 ? "Server error" : "Unexpected status"} (${status})`);
}
