// The table of problems. Codes are stable; messages may be reworded in any release. Problems of a single document are in document-problems.ts.
//
// To add a problem, add a row to its group here, and say what to do about it in scripts/problem-fixes.ts (a separate file, to keep bundles small).
// Then run `npm run tables`, which writes problem-code.ts and the tables of docs/problems.md.

import { byteProblems, entryProblems, lineProblems, xmlProblems } from "./document-problems.ts";
import { cut, loss, noResponse, note, outage, type ProblemRow, type ProblemRows, refused } from "./problem-row.ts";

const trust = "trust it with --ca FILE or NODE_EXTRA_CA_CERTS, or use --insecure";

// OpenSSL reports one of these errors for bytes that are not TLS, usually a plain HTTP response. Which one depends on its version and the bytes.
const withoutTls = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"];

/** Whether the handshake failed because the server does not speak TLS, but perhaps plain HTTP. */
export function lacksTls({ code, value = "" }: { readonly code: string; readonly value?: string }): boolean {
  return code === "tls-failed" && withoutTls.includes(value);
}

export const fetchingProblems: ProblemRows = {
  "dns-not-found": noResponse("The host name does not exist"),
  "dns-temporary": outage("The host name could not be resolved"),
  "timeout-connect": outage("No connection within {limit ms}"),
  "timeout-tls": outage("The TLS handshake did not finish within {limit ms}"),
  "timeout-first-byte": outage("No response within {limit ms}"),
  "timeout-idle": cut("The transfer stalled for {limit ms}", { temporary: true }),
  "timeout-total": outage("The transfer took longer than {limit ms}", {
    cutOff: true,
    hint: "(allow more with --timeout)",
  }),
  "connection-refused": outage("Connection refused"),
  "connection-reset": outage("The connection was closed before a response arrived", { cutOff: true }),
  "connection-failed": outage("The connection failed", { cutOff: true }),
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

const treeProblems: ProblemRows = {
  cycle: note("The sitemap contains itself"),
  "limit-depth": loss("Sitemaps nested more than {limit} deep; this one was not fetched", {
    hint: "(allow more with --max-depth)",
  }),
  "limit-sitemaps": loss("More than {limit} sitemaps; the rest were not fetched[ ({count} sitemaps)]", {
    hint: "(allow more with --max-sitemaps)",
  }),
  "limit-sitemap-urls": loss(
    "The URLs of all sitemaps together exceed {limit} characters; the rest were not fetched[ ({count} sitemaps)]",
  ),
  "limit-bytes": loss("More than {limit bytes} transferred; the rest was not fetched[ ({count} sitemaps)]"),
  "limit-pages": loss("More than {limit} pages; reading stopped"),
  "limit-time": cut("Not finished after {limit ms}; reading stopped", { hint: "(allow more with --max-time)" }),
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
  "sitemap-ignored": loss("A sitemap in place of robots.txt or the homepage was not read: {value}"),
  "homepage-link-invalid": note("The homepage has an invalid sitemap link: {value}"),
  "known-path-unreachable": note("Could not try a well-known path: {value}"),
  "archive-missing": loss("Not in the archive"),
  "archive-digest": loss("The content does not match its checksum in the archive"),
  "archive-revisit": loss("The archive refers to content in another file"),
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

// HTTP statuses that are not documents. Each has the code `http-` and its number; these have their own messages.
const later = (message: string): ProblemRow => note(message, { temporary: true });

export const statusProblems: ProblemRows = {
  "http-204": note("Empty response (204)"),
  "http-304": note("Not modified (304)"),
  "http-400": note("Bad request (400)"),
  "http-401": note("Login required (401)", { hint: "pass credentials in the URL or with --header" }),
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

/** Returns the row of any status. Every one is a loss, because a declared document is missing. */
export function statusRow(status: number): ProblemRow {
  return { loss: true, ...(statusProblems[`http-${status}`] ?? otherRow(status)) };
}

function otherRow(status: number): ProblemRow {
  // Content delivery networks send 520 to 529 if the server behind them fails.
  if (status >= 520 && status <= 529) return later(`Server error (${status})`);
  return note(`${status >= 500 ? "Server error" : "Unexpected status"} (${status})`);
}
