// Maps errors of sockets, parsers and clients to problem codes. Only the `code` of an error counts, never its class or
// message, and what is shown of it never contains an address.
import { type Problem, type ProblemCode, problem } from "../model/problem.ts";

/** An error that carries its problem. */
export class ConnectionProblem extends Error {
  readonly problem: Problem;

  constructor(reason: Problem) {
    super(reason.message);
    this.problem = reason;
  }
}

/** The problem for an error, before the head of a response or inside its body. */
export function problemOf(error: unknown, where: "head" | "body"): Problem {
  if (error instanceof ConnectionProblem) return error.problem;
  const code = codeOf(error);
  const known = (where === "body" ? bodyCodes.get(code) : undefined) ?? codes.get(code) ?? family(code);
  if (known !== undefined) return problem(known, sayCode.has(known) ? { value: code } : {});
  return problem("client-failed", { value: error instanceof Error ? error.message : String(error) });
}

// `fetch` hides the code in `cause`; connecting to several addresses hides it in `errors`.
function codeOf(error: unknown, depth = 0): string {
  if (typeof error !== "object" || error === null || depth > 4) return "";
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return codeOf(Array.isArray(errors) ? errors[0] : cause, depth + 1);
}

const codes: ReadonlyMap<string, ProblemCode> = new Map<string, ProblemCode>([
  ["ENOTFOUND", "dns-not-found"],
  ["ENODATA", "dns-not-found"],
  ["EBADNAME", "dns-not-found"],
  ["EAI_AGAIN", "dns-temporary"],
  ["EAI_FAIL", "dns-temporary"],
  ["ESERVFAIL", "dns-temporary"],
  ["ETIMEOUT", "dns-temporary"],
  ["ECONNREFUSED", "connection-refused"],
  ["ECONNRESET", "connection-reset"],
  ["ECONNABORTED", "connection-reset"],
  ["EPIPE", "connection-reset"],
  // The server closed the connection in good order, without a response.
  ["UND_ERR_SOCKET", "connection-reset"],
  ["UND_ERR_DESTROYED", "connection-reset"],
  ["UND_ERR_CLOSED", "connection-reset"],
  ["ETIMEDOUT", "timeout-connect"],
  ["UND_ERR_CONNECT_TIMEOUT", "timeout-connect"],
  ["UND_ERR_HEADERS_TIMEOUT", "timeout-first-byte"],
  ["UND_ERR_BODY_TIMEOUT", "timeout-idle"],
  ["EHOSTUNREACH", "connection-failed"],
  ["ENETUNREACH", "connection-failed"],
  ["EHOSTDOWN", "connection-failed"],
  ["ENETDOWN", "connection-failed"],
  ["EADDRNOTAVAIL", "connection-failed"],
  ["EACCES", "connection-failed"],
  ["EPERM", "connection-failed"],
  ["EMFILE", "connection-no-socket"],
  ["ENFILE", "connection-no-socket"],
  ["EPROTO", "tls-failed"],
  ["CERT_HAS_EXPIRED", "tls-certificate"],
  ["CERT_NOT_YET_VALID", "tls-certificate"],
  ["CERT_REVOKED", "tls-certificate"],
  ["CERT_REJECTED", "tls-certificate"],
  ["CERT_UNTRUSTED", "tls-certificate"],
  ["CERT_CHAIN_TOO_LONG", "tls-certificate"],
  ["CERT_SIGNATURE_FAILURE", "tls-certificate"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls-certificate"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "tls-certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT", "tls-certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "tls-certificate"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls-certificate"],
  ["INVALID_CA", "tls-certificate"],
  ["INVALID_PURPOSE", "tls-certificate"],
  ["HOSTNAME_MISMATCH", "tls-certificate"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls-certificate"],
  ["ERR_TLS_CERT_ALTNAME_FORMAT", "tls-certificate"],
  ["UND_ERR_HEADERS_OVERFLOW", "http-protocol"],
  // In the head: there is more than one length.
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "http-protocol"],
]);

const bodyCodes: ReadonlyMap<string, ProblemCode> = new Map<string, ProblemCode>([
  ["UND_ERR_SOCKET", "body-short"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "body-short"],
  ["HPE_INVALID_EOF_STATE", "body-short"],
  ["ECONNRESET", "body-reset"],
  ["ECONNABORTED", "body-reset"],
  ["EPIPE", "body-reset"],
  ["ETIMEDOUT", "body-reset"],
]);

function family(code: string): ProblemCode | undefined {
  if (code.startsWith("HPE_")) return "http-protocol";
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_OSSL_")) return "tls-failed";
  return undefined;
}

const sayCode: ReadonlySet<ProblemCode> = new Set<ProblemCode>(["tls-certificate", "tls-failed", "http-protocol"]);
