// Problems on the way to a document: names, connections, TLS, HTTP, redirects, and what is refused.
import { cut, loss, noResponse, note, outage, type ProblemRows, refused } from "./row.ts";

const trust = "trust it with --ca FILE or NODE_EXTRA_CA_CERTS, or use --insecure";

// What OpenSSL says of bytes that are no record of TLS, mostly of a response in plain HTTP. Which one depends on its version and the bytes.
const withoutTls = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"];

/** Whether a handshake failed because the server speaks something else, such as plain HTTP. */
export function lacksTls({ code, value = "" }: { readonly code: string; readonly value?: string }): boolean {
  return code === "tls-failed" && withoutTls.includes(value);
}

export const fetchingProblems: ProblemRows = {
  "dns-not-found": noResponse("The host name does not exist", "Check the spelling; the domain may be gone."),
  "dns-temporary": outage("The host name could not be looked up", "Try again; check your own DNS resolver."),
  "timeout-connect": outage("No connection within {limit ms}", "Check firewalls, or raise `timeout.connect`."),
  "timeout-tls": outage("The TLS handshake did not finish within {limit ms}", "Raise `timeout.connect`."),
  "timeout-first-byte": outage(
    "No response within {limit ms}",
    "Raise `timeout.firstByte`, or lower `concurrency`: the sitemap may be generated on request.",
  ),
  "timeout-idle": cut(
    "The transfer stalled for {limit ms}",
    "Try again; lower `concurrency`, or raise `timeout.idle`. What arrived was read.",
    { temporary: true },
  ),
  "timeout-total": outage("The transfer took longer than {limit ms}", "Raise `timeout.total`. What arrived was read.", {
    cutOff: true,
    hint: "allow more with --timeout",
  }),
  "connection-refused": outage("Connection refused", "Check scheme and port: nothing listens there."),
  "connection-reset": outage(
    "The connection was closed before a response arrived",
    "Try another `userAgent`, or lower `concurrency`: some websites disconnect bots.",
    { cutOff: true },
  ),
  "connection-failed": outage("The connection failed", "Check your network: there is no route to the host.", {
    cutOff: true,
  }),
  "connection-no-socket": outage(
    "Too many open files on this machine; raise `ulimit -n`, or lower the concurrency",
    "Raise `ulimit -n`, or lower `concurrency.total`.",
    { cutOff: true },
  ),
  "tls-certificate": noResponse(
    "Invalid TLS certificate[: {value}]",
    "Site owner: renew the certificate or send the whole chain. Your own server: set `tls.ca` or `NODE_EXTRA_CA_CERTS`; `tls.verify: false` accepts any certificate.",
    {
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
    },
  ),
  "tls-failed": noResponse(
    "The TLS handshake failed[: {value}]",
    "Check scheme and port. Otherwise the server requires another TLS version or a client certificate.",
    {
      messageFor: {
        ...Object.fromEntries(withoutTls.map((value) => [value, "The server does not speak TLS on this port"])),
        ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: "The server speaks HTTP/2 only; HTTP/1.1 is required",
      },
      hintFor: Object.fromEntries(withoutTls.map((value) => [value, "try http://"])),
    },
  ),
  "proxy-failed": outage("The proxy failed[: {value}]", "Check `proxy`, HTTP_PROXY and HTTPS_PROXY."),
  "proxy-refused": noResponse(
    "The proxy answered {status}[ to {value}]",
    "With 407, put user name and password into the proxy's URL. Otherwise ask the proxy's owner, or add the host to NO_PROXY. Temporary statuses are retried.",
    { hintFor: { "407": "put user name and password into its URL" } },
  ),
  "http-protocol": noResponse(
    "Invalid HTTP response[: {value}]",
    "Site owner: fix the server or its proxy. What arrived was read.",
    { cutOff: true },
  ),
  "rate-limited": loss("Rate limited[ until {retryAfter}]", "Try again then, or raise `limits.retryAfter`."),
  "bot-check": loss(
    "Blocked by a bot check[ (status {status})]",
    "Ask the site owner for access, or use a `client` that has it.",
  ),
  "client-failed": cut("The HTTP client failed[: {value}]", "See `value`, the error of your `client`."),
  "redirect-loop": loss("Redirect loop[: back to {value}]", "Site owner: fix the redirect."),
  "limit-redirects": loss("More than {limit} redirects", "Raise `limits.redirects` or `limits.robotsRedirects`."),
  "redirect-invalid": loss("Redirect without a valid Location[: {value}]", "Site owner: send an absolute `Location`."),
  "redirect-encoding": note(
    "Followed a redirect whose Location is not percent-encoded[: {value}]",
    "Site owner: percent-encode it. It was read as UTF-8.",
  ),
  "redirect-downgrade": note("Followed a redirect from https to http[: {value}]", "Site owner: use https."),
  "address-blocked": refused(
    "Refused: private address",
    'For your own network: [`network: "allow-private"`](security.md). Nothing was sent.',
    { hint: "(allow with --allow-private)" },
  ),
  "not-local": refused("Not a local file[: {value}]; nothing was fetched", "Map its URL to a folder, too.", {
    hint: "map its URL to a folder with --map",
  }),
  "scheme-refused": refused("Refused: not an http or https URL[: {value}]", "Site owner: use https. Nothing was sent."),
  "port-refused": refused(
    "Port {value} is blocked",
    "Site owner: use another port; [browsers block this one](https://fetch.spec.whatwg.org/#port-blocking), too. Nothing was sent.",
  ),
};
