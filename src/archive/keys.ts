// Decides which stored exchange answers a request.
import { type DocumentRequest, type FailedFetch, type RequestIdentity, requestKey } from "../model/exchange.ts";
import { type ProblemCode, problem } from "../model/problem.ts";
import { withoutCredentials } from "../model/url.ts";

/** Returns the keys that may have a response to this request, best first. Responses recorded by other tools are stored with the role `sitemap`. */
export function archiveKeys({ url, role, anonymous }: RequestIdentity): string[] {
  const ways: Omit<RequestIdentity, "url">[] = [
    { role, anonymous },
    { role: "sitemap", anonymous },
    { role: "sitemap" },
    { role: "sitemap", anonymous: true },
    { role: "robots" },
  ];
  return [...new Set(ways.map((way) => requestKey({ url, ...way })))];
}

/** Returns the failure of a request that the archive cannot answer. */
export function archiveFailure({ url, role, anonymous }: DocumentRequest, code: ProblemCode): FailedFetch {
  const exchange = { url: withoutCredentials(url), role, ...(anonymous && { anonymous }) };
  return { outcome: "failed", ...exchange, attempts: 0, reason: problem(code) };
}
