// What the status of a response means, from the network or an archive: a document, a redirect, or a failure.
import { defined } from "./defined.ts";
import type { DiscoveryRecord, FailureEvent, ResponseEvent } from "./event.ts";
import type { FailureOutcome, Fetched, HeaderList } from "./exchange.ts";
import { isRefused, type Problem, problem } from "./problem.ts";

/** Whether the response is a document. Status 203 means that a proxy has changed it. */
export function isDocument(status: number): boolean {
  return status === 200 || status === 203;
}

/** Whether the response is a redirect to follow: https://fetch.spec.whatwg.org/#redirect-status */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Returns the event for the result of a request, or undefined for a failure without a request. */
export function fetchedEvent(fetched: Fetched): ResponseEvent | FailureEvent | undefined {
  const { url, outcome, status, attempts, receivedAt, firstByte, obtained = "fetched" } = fetched;
  if ("reason" in fetched && status === undefined) {
    if (attempts === 0) return undefined;
    return { type: "failure", url, outcome: fetched.outcome, attempts, reason: fetched.reason };
  }
  const times = defined({ receivedAt, firstByte });
  return { type: "response", url, outcome, ...defined({ status }), attempts, ...times, obtained };
}

/** The outcome and the problem of a response that is neither a document nor a redirect. */
export function failureOf(status: number, headers: HeaderList): { outcome: FailureOutcome; reason: Problem } {
  if (isChallenge(status, headers)) return { outcome: "blocked", reason: problem("bot-check", { status }) };
  return { outcome: outcomeOfStatus(status), reason: problem(`http-${status}`, { status }) };
}

/** The outcome of a request that ended with a problem instead of a response. */
export function outcomeOfProblem({ code, status }: Problem): FailureOutcome {
  if (isRefused(code)) return "refused";
  if (code === "bot-check") return "blocked";
  // A proxy's response says nothing about the website.
  return status === undefined || code === "proxy-refused" ? "failed" : outcomeOfStatus(status);
}

function outcomeOfStatus(status: number): FailureOutcome {
  if (status === 404 || status === 410) return "absent";
  return blocked.has(status) ? "blocked" : "failed";
}

/** Whether a response is a bot check, by its headers. Bodies of errors are not read. */
export function isChallenge(status: number, headers: HeaderList): boolean {
  for (const [name, value] of headers) {
    const sign = challenges.get(name);
    if (sign?.value.test(value) && (sign.statuses?.includes(status) ?? true)) return true;
  }
  return false;
}

/**
 * Whether the content of a robots.txt is unknown. By https://www.rfc-editor.org/rfc/rfc9309#name-access-results, 4xx means "unavailable",
 * so nothing is restricted; server and network errors mean "unreachable". We add 429, which asks for a later retry, and bot checks.
 */
export function isRobotsUnreachable({ outcome, status, reason }: Partial<DiscoveryRecord>): boolean {
  if (outcome !== "failed" && outcome !== "blocked" && outcome !== "refused") return false;
  return status === undefined || status === 429 || status < 400 || status >= 500 || reason?.code === "bot-check";
}

const blocked: ReadonlySet<number> = new Set([
  401, // login required
  403, // access denied
  407, // the proxy requires a login
  429, // too many requests, even after all retries
  451, // unavailable for legal reasons
]);

const challenges: ReadonlyMap<string, { value: RegExp; statuses?: readonly number[] }> = new Map([
  // https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/
  ["cf-mitigated", { value: /challenge/i }],
  // https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge.html: sent with status 405 or 202.
  ["x-amzn-waf-action", { value: /captcha|challenge/i }],
  ["x-vercel-mitigated", { value: /challenge/i }],
  ["x-datadome", { value: /./, statuses: [403] }],
  ["x-sucuri-block", { value: /./, statuses: [403, 503] }],
  ["server", { value: /^ddos-guard/i, statuses: [403, 503] }],
]);
