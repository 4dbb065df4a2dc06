// Problems on the way to a document: names, connections, TLS, HTTP, redirects, and what is refused.
import type { ProblemRows } from "./row.ts";

const trust = "trust it with --ca FILE or NODE_EXTRA_CA_CERTS, or use --insecure";

// What OpenSSL says of bytes that are no record of TLS, mostly of a response in plain HTTP. Which one depends on its version and the bytes.
const withoutTls = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"];
const withoutTlsMessage = "The server does not speak TLS on this port";

/** Whether a handshake failed because the server speaks something else, such as plain HTTP. */
export function lacksTls({ code, value = "" }: { readonly code: string; readonly value?: string }): boolean {
  return code === "tls-failed" && withoutTls.includes(value);
}

export const fetchingProblems: ProblemRows = {
  "dns-not-found": {
    noResponse: true,
    loss: true,
    message: "The host name does not exist",
    fix: "Check the spelling; the domain may be gone.",
  },
  "dns-temporary": {
    noResponse: true,
    loss: true,
    temporary: true,
    message: "The host name could not be looked up",
    fix: "Try again; check your own DNS resolver.",
  },
  "timeout-connect": {
    noResponse: true,
    loss: true,
    temporary: true,
    message: "No connection within {limit ms}",
    fix: "A firewall may drop packets. Raise `timeout.connect` for slow networks.",
  },
  "timeout-tls": {
    noResponse: true,
    loss: true,
    temporary: true,
    message: "The TLS handshake did not finish within {limit ms}",
    fix: "Raise `timeout.connect`, which covers the handshake.",
  },
  "timeout-first-byte": {
    noResponse: true,
    loss: true,
    temporary: true,
    message: "No response within {limit ms}",
    fix: "Sitemaps that are generated on request can be slow: raise `timeout.firstByte`, lower `concurrency`.",
  },
  "timeout-idle": {
    loss: true,
    cutOff: true,
    temporary: true,
    message: "The transfer stalled for {limit ms}",
    fix: "Try again; lower `concurrency`, or raise `timeout.idle`. What had arrived was read.",
  },
  "timeout-total": {
    noResponse: true,
    loss: true,
    cutOff: true,
    temporary: true,
    message: "The transfer took longer than {limit ms}",
    fix: "Raise `timeout.total` for large documents on slow lines. What had arrived was read.",
    hint: "allow more with --timeout",
  },
  "connection-refused": {
    noResponse: true,
    loss: true,
    temporary: true,
    message: "Connection refused",
    fix: "Nothing listens on that port: check scheme and port.",
  },
  "connection-reset": {
    noResponse: true,
    loss: true,
    cutOff: true,
    temporary: true,
    message: "The connection was closed before a response arrived",
    fix: "Some websites close the connections of programs: try another `userAgent`, lower `concurrency`.",
  },
  "connection-failed": {
    noResponse: true,
    loss: true,
    cutOff: true,
    temporary: true,
    message: "The connection failed",
    fix: "No route to the host: check your network.",
  },
  "connection-no-socket": {
    noResponse: true,
    loss: true,
    cutOff: true,
    temporary: true,
    message: "Too many open files on this machine; `ulimit -n` allows more, a lower concurrency needs fewer",
    fix: "Raise the limit of open files (`ulimit -n`), or lower `concurrency.total`.",
  },
  "tls-certificate": {
    noResponse: true,
    loss: true,
    message: "Invalid TLS certificate[: {value}]",
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
    fix: "Site owner: renew the certificate or send the whole chain. For a server of your own: `tls.ca` or `NODE_EXTRA_CA_CERTS`; `tls.verify: false` accepts any certificate.",
    hint: "--insecure accepts any certificate",
    hintFor: {
      DEPTH_ZERO_SELF_SIGNED_CERT: trust,
      SELF_SIGNED_CERT_IN_CHAIN: trust,
      UNABLE_TO_GET_ISSUER_CERT: trust,
      UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
    },
  },
  "tls-failed": {
    noResponse: true,
    loss: true,
    message: "The TLS handshake failed[: {value}]",
    messageFor: {
      ...Object.fromEntries(withoutTls.map((code) => [code, withoutTlsMessage])),
      ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: "The server speaks HTTP/2 only, and this reads HTTP/1.1",
    },
    fix: "No TLS version or cipher in common, no TLS on that port, or a client certificate is required: check scheme and port.",
    hintFor: Object.fromEntries(withoutTls.map((code) => [code, "try http://"])),
  },
  "proxy-failed": {
    noResponse: true,
    loss: true,
    temporary: true,
    message: "The proxy failed[: {value}]",
    fix: "Check the address in `proxy`, or in HTTP_PROXY and HTTPS_PROXY. The website was not asked.",
  },
  "proxy-refused": {
    noResponse: true,
    loss: true,
    message: "The proxy answered {status}[ to {value}]",
    fix: "With 407, put user name and password into the URL of the proxy. Otherwise the proxy does not reach the website, or must not: ask its owner, or name the host in NO_PROXY. Retried where the status is a temporary one.",
    hintFor: { 407: "it wants a user name and password in its URL" },
  },
  "http-protocol": {
    noResponse: true,
    loss: true,
    cutOff: true,
    message: "Invalid HTTP response[: {value}]",
    fix: "Site owner: fix the server or the proxy in front of it. What had arrived of a body was read.",
  },
  "rate-limited": {
    loss: true,
    message: "Rate limited[ until {retryAfter}]",
    fix: "Come back at `retryAfter`, or raise `limits.retryAfter`, the longest wait that is accepted.",
  },
  "bot-check": {
    loss: true,
    message: "Blocked by a bot check[ (status {status})]",
    fix: "Ask the site owner for access, or pass a `client` that has it. A bot check is recognized by its headers.",
  },
  "client-failed": {
    loss: true,
    cutOff: true,
    message: "The HTTP client failed[: {value}]",
    fix: "See `value`: it is the error of the `client` in use.",
  },
  "redirect-loop": {
    loss: true,
    message: "Redirect loop[: back to {value}]",
    fix: "Site owner: fix the redirect. It leads back although the cookies that were set on the way were sent.",
  },
  "limit-redirects": {
    loss: true,
    message: "More than {limit} redirects",
    fix: "Raise `limits.redirects` (`limits.robotsRedirects` for robots.txt), or start from where they lead.",
  },
  "redirect-invalid": {
    loss: true,
    message: "Redirect without a valid Location[: {value}]",
    fix: "Site owner: send an absolute URL in `Location`.",
  },
  "redirect-encoding": {
    message: "Followed a redirect whose Location holds unescaped bytes[: {value}]",
    fix: "Site owner: percent-encode the `Location`. It was read as UTF-8, as browsers do.",
  },
  "redirect-downgrade": {
    message: "Followed a redirect from https to http[: {value}]",
    fix: "Site owner: redirect to https. Your own `headers` were not sent along.",
  },
  "address-blocked": {
    refused: true,
    loss: true,
    message: "Refused: private address",
    fix: 'For websites of your own network: [`network: "allow-private"`](security.md). Nothing was sent.',
    hint: "(allow with --allow-private)",
  },
  "not-local": {
    refused: true,
    loss: true,
    message: "Not a local file[: {value}]; nothing was fetched",
    fix: "When local files are checked: name the folder that stands for its URL, too.",
    hint: "map its URL to a folder with --map",
  },
  "scheme-refused": {
    refused: true,
    loss: true,
    message: "Refused: not an http or https URL[: {value}]",
    fix: "Site owner: use https. Nothing was sent.",
  },
  "port-refused": {
    refused: true,
    loss: true,
    message: "Port {value} is blocked",
    fix: "Site owner: use another port. Other protocols than HTTP use this one, as in [the Fetch standard](https://fetch.spec.whatwg.org/#port-blocking); nothing was sent.",
  },
};
