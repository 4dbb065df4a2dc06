// Which certificates are trusted: those that Node trusts, and those that the caller adds.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import tls from "node:tls";
import { SitemapError } from "../model/errors.ts";
import type { Settings } from "../model/options.ts";

/** Undefined if nothing was added. Made once: parsing the built-in certificates takes longer than a handshake. */
export function secureContextOf({ tls: { ca } }: Settings): tls.SecureContext | undefined {
  if (ca.length === 0) return undefined;
  // Usually the same for all crawls of a program.
  const key = JSON.stringify([process.env["NODE_EXTRA_CA_CERTS"], ca]);
  if (last?.key !== key) last = { key, context: createContext(ca) };
  return last.context;
}

let last: { readonly key: string; readonly context: tls.SecureContext } | undefined;

function createContext(ca: readonly string[]): tls.SecureContext {
  const added = ca.flatMap(certificatesIn);
  // Node's option `ca` would replace what Node trusts: its own list, that of the system (--use-system-ca,
  // --use-openssl-ca, SSL_CERT_FILE) and NODE_EXTRA_CA_CERTS. Node 20 cannot list them, but certificates can be added
  // to the context.
  const secure = tls.createSecureContext();
  const { addCACert } = secure.context as { addCACert?: (pem: string) => void };
  if (addCACert === undefined) return tls.createSecureContext({ ca: [...trustedByNode(), ...added] });
  for (const certificate of [...extra(), ...added]) addCACert.call(secure.context, certificate);
  return secure;
}

// Node 20 drops these once something is added; adding them again does no harm elsewhere. Node itself reports a file
// that cannot be read.
function extra(): string[] {
  const { NODE_EXTRA_CA_CERTS: file } = process.env;
  try {
    return file === undefined || file === "" ? [] : certificatesIn(readFileSync(file, "utf8"));
  } catch {
    return [];
  }
}

function trustedByNode(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (kind: "default") => string[] };
  return getCACertificates?.("default") ?? tls.rootCertificates;
}

// A file may hold several. OpenSSL would silently skip what is not a certificate.
function certificatesIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN [^-]*CERTIFICATE-----[^-]*-----END [^-]*CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
    if (blocks.length > 0) return blocks;
  } catch {}
  throw new SitemapError("invalid-option", "Expected `tls.ca` to be certificates in PEM form");
}
