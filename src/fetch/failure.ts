// Maps errors of sockets, parsers and clients to problem codes, by their `code`. Users see the message of an error only if its code is
// unknown, because messages may contain addresses.
import { type Problem, type ProblemCode, problem } from "../model/problem.ts";

/** An error that carries its problem. */
export class ConnectionProblem extends Error {
  readonly problem: Problem;

  constructor(reason: Problem) {
    super(reason.message);
    this.problem = reason;
  }
}

/** Returns the problem for an error that occurred before the head of a response, or inside its body. */
export function problemOf(error: unknown, where: "head" | "body"): Problem {
  if (error instanceof ConnectionProblem) return error.problem;
  const code = codeOf(error);
  const known = (where === "body" ? bodyCodes.get(code) : undefined) ?? codes.get(code) ?? family(code);
  if (known !== undefined) return problem(known, withCode.has(known) ? { value: readableCode(code) } : {});
  return problem("client-failed", { value: error instanceof Error ? error.message : String(error) });
}

// `fetch` hides the code in `cause`; connecting to several addresses hides it in `errors`.
function codeOf(error: unknown, depth = 0): string {
  if (typeof error !== "object" || error === null || depth > 4) return "";
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return codeOf(Array.isArray(errors) ? errors[0] : cause, depth + 1);
}

// The meanings of codes, unless `bodyCodes` has one for a body. Those with `UND_ERR` come from the global `fetch` of Node.js.
const codes = codeTable({
  "dns-not-found": "ENOTFOUND ENODATA EBADNAME",
  "dns-temporary": "EAI_AGAIN EAI_FAIL ESERVFAIL ETIMEOUT",
  "connection-refused": "ECONNREFUSED",
  "connection-reset": "ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET",
  "connection-failed": "EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN EADDRNOTAVAIL EACCES EPERM",
  "connection-no-socket": "EMFILE ENFILE",
  "timeout-connect": "ETIMEDOUT UND_ERR_CONNECT_TIMEOUT",
  "timeout-first-byte": "UND_ERR_HEADERS_TIMEOUT",
  "timeout-idle": "UND_ERR_BODY_TIMEOUT",
  "tls-failed": "EPROTO",
  "tls-certificate": `CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_REJECTED CERT_UNTRUSTED CERT_CHAIN_TOO_LONG
    CERT_SIGNATURE_FAILURE DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE INVALID_CA INVALID_PURPOSE HOSTNAME_MISMATCH
    ERR_TLS_CERT_ALTNAME_INVALID ERR_TLS_CERT_ALTNAME_FORMAT`,
  "http-protocol": "UND_ERR_HEADERS_OVERFLOW",
});

// The meanings of codes inside a body, if they differ from `codes`.
const bodyCodes = codeTable({
  "body-short": "UND_ERR_SOCKET UND_ERR_RES_CONTENT_LENGTH_MISMATCH HPE_INVALID_EOF_STATE",
  "body-reset": "ECONNRESET ECONNABORTED EPIPE ETIMEDOUT",
});

function codeTable(lists: Partial<Record<ProblemCode, string>>): ReadonlyMap<string, ProblemCode> {
  const entries = Object.entries(lists) as [ProblemCode, string][];
  return new Map(entries.flatMap(([problemCode, list]) => list.split(/\s+/).map((code) => [code, problemCode])));
}

function family(code: string): ProblemCode | undefined {
  if (/^ERR_(?:SSL|TLS|OSSL)_/.test(code)) return "tls-failed";
  return code.startsWith("HPE_") ? "http-protocol" : undefined;
}

const withCode: ReadonlySet<ProblemCode> = new Set<ProblemCode>(["tls-certificate", "tls-failed", "http-protocol"]);

// Makes codes of HTTP parsers readable. Codes of TLS stay, because the table of problems has words for them.
function readableCode(code: string): string {
  return httpWords.get(code) ?? code.replace(/^HPE_.*/, (name) => name.slice(4).replaceAll("_", " ").toLowerCase());
}

const tooLong = "the response headers are too long";
const httpWords: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", tooLong],
  ["UND_ERR_HEADERS_OVERFLOW", tooLong],
  ["HPE_INVALID_CONSTANT", "it does not begin with HTTP/"],
]);
