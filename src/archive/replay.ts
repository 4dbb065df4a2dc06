// Answers requests from stored exchanges, one URL at a time, as the website would.
import {
  type DocumentRequest,
  type FailedFetch,
  type Fetched,
  type RequestIdentity,
  requestKey,
} from "../model/exchange.ts";
import { problem } from "../model/problem.ts";
import { withoutCredentials } from "../model/url.ts";

/** Equal for exchanges of which one is enough. Without user name and password. */
export function archiveKey(request: RequestIdentity): string {
  return requestKey({ ...request, url: withoutCredentials(request.url) });
}

/**
 * The keys under which the answer to a request may be kept, the best first. Archives of other tools, and older ones of
 * ours, have one response for each URL, whatever its role.
 */
function archiveKeys(request: DocumentRequest): string[] {
  const { url, role, anonymous, notAsked } = request;
  const ways: Pick<DocumentRequest, "role" | "anonymous" | "notAsked">[] = [
    ...(notAsked === undefined ? [] : [{ role, anonymous, notAsked }]),
    // Kept when it was read, whatever was prefetched.
    { role, anonymous, notAsked: "unchanged" },
    { role, anonymous },
    { role: "sitemap", anonymous },
    { role: "sitemap" },
    { role: "sitemap", anonymous: true },
    { role: "robots" },
  ];
  return [...new Set(ways.map((way) => archiveKey({ url, ...way })))];
}

/** The answer to a request; unknown URLs are `archive-missing`. */
export async function replay<Entry>(
  request: DocumentRequest,
  find: (key: string) => Entry | undefined,
  read: (entry: Entry) => Promise<Fetched | undefined>,
): Promise<Fetched> {
  request.signal?.throwIfAborted();
  for (const key of archiveKeys(request)) {
    const entry = find(key);
    const fetched = entry && (await read(entry));
    if (fetched !== undefined) return fetched;
  }
  return missing(request);
}

function missing({ url, role, anonymous }: DocumentRequest): FailedFetch {
  const asked = { url: withoutCredentials(url), role, ...(anonymous && { anonymous }) };
  return { outcome: "failed", ...asked, attempts: 0, reason: problem("archive-missing") };
}
