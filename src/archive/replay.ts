// Answers requests from stored exchanges, one URL at a time, as the website would.
import {
  type DocumentRequest,
  type FailedFetch,
  type Fetched,
  type RequestIdentity,
  requestKey,
} from "../model/exchange.ts";
import { type ProblemCode, problem } from "../model/problem.ts";
import { withoutCredentials } from "../model/url.ts";

/** Equal for interchangeable exchanges. Without user name and password. */
export function archiveKey(request: RequestIdentity): string {
  return requestKey({ ...request, url: withoutCredentials(request.url) });
}

/** The keys of the response to a request, the best first. Archives from other tools have one response per URL, regardless of role. */
export function archiveKeys(request: DocumentRequest): string[] {
  const { url, role, anonymous, notAsked } = request;
  const ways: Pick<DocumentRequest, "role" | "anonymous" | "notAsked">[] = [
    ...(notAsked === undefined ? [] : [{ role, anonymous, notAsked }]),
    // Stored in the order of reading, regardless of prefetching.
    { role, anonymous, notAsked: "unchanged" },
    { role, anonymous },
    { role: "sitemap", anonymous },
    { role: "sitemap" },
    { role: "sitemap", anonymous: true },
    { role: "robots" },
  ];
  return [...new Set(ways.map((way) => archiveKey({ url, ...way })))];
}

/** Exchanges by their keys. */
export interface Answers {
  has(key: string): boolean;
  /** `key`: of an exchange that is there. */
  read(key: string, request: DocumentRequest): Promise<Fetched>;
}

/** The response to a request; unknown URLs are `archive-missing`. */
export async function replay(request: DocumentRequest, answers: Answers): Promise<Fetched> {
  request.signal?.throwIfAborted();
  const key = archiveKeys(request).find((each) => answers.has(each));
  return key === undefined ? unanswered(request, "archive-missing") : answers.read(key, request);
}

/** Why an archive has no response. */
export function unanswered({ url, role, anonymous }: DocumentRequest, code: ProblemCode): FailedFetch {
  const asked = { url: withoutCredentials(url), role, ...(anonymous && { anonymous }) };
  return { outcome: "failed", ...asked, attempts: 0, reason: problem(code) };
}
