// Answers a request from exchanges that are at hand, as the website would: a crawl that asks in another order than the
// one that was kept, or knows other documents already, gets the same documents.
import type { DocumentRequest, FailedFetch, Fetched, Hop } from "../exchange.ts";
import { problem } from "../problem.ts";
import { urlKey, withoutCredentials } from "../url.ts";

/** What is at hand for a key: an exchange that was asked for by it, or a document that a redirect led to. */
export type Find = (key: string) => Promise<{ readonly fetched: Fetched; readonly byRedirect: boolean } | undefined>;

/** More redirects than anybody follows: a guard against loops among archived redirects. */
const maxHops = 20;

/** Equal for requests that name the same document. Nothing that is kept knows user names and passwords. */
export function archiveKey(url: string): string {
  return urlKey(withoutCredentials(url));
}

/** Unknown URLs are `archive-missing`. `follows`: redirects stand alone, as other tools write them. */
export async function replay(request: DocumentRequest, find: Find, follows: boolean): Promise<Fetched> {
  request.signal?.throwIfAborted();
  const first = await lookUp(request.url, find);
  if (first === undefined) return missing(request.url, request.url, []);
  let fetched = first;
  const seen = new Set([archiveKey(request.url)]);
  while (fetched.outcome === "known" && (follows || request.isKnown !== undefined)) {
    const { url, hops, problems, attempts } = fetched;
    if (request.isKnown?.(url)) return fetched;
    const loops = seen.has(archiveKey(url));
    if (loops || hops.length > maxHops) {
      const reason = loops ? problem("redirect-loop", { value: url }) : problem("redirect-limit", { limit: maxHops });
      return { outcome: "failed", requestedUrl: request.url, url, hops, attempts, reason };
    }
    seen.add(archiveKey(url));
    const next = await lookUp(url, find);
    if (next === undefined) return follows ? missing(request.url, url, hops) : fetched;
    const joined = { ...next, requestedUrl: fetched.requestedUrl, hops: [...hops, ...next.hops], attempts };
    fetched = "problems" in joined ? { ...joined, problems: [...problems, ...joined.problems] } : joined;
  }
  return known(fetched, request) ?? fetched;
}

async function lookUp(url: string, find: Find): Promise<Fetched | undefined> {
  const found = await find(archiveKey(url));
  if (found === undefined || !found.byRedirect || found.fetched.outcome !== "found") return found?.fetched;
  // The document at the end of somebody else's redirects, asked for by its own URL.
  return { ...found.fetched, requestedUrl: url, hops: [], attempts: 1, problems: [] };
}

/** Where a redirect on the way led to a document that this caller has already. */
function known(fetched: Fetched, request: DocumentRequest): Fetched | undefined {
  if (fetched.outcome !== "found" || request.isKnown === undefined) return undefined;
  const targets = [...fetched.hops.slice(1).map((hop) => hop.url), fetched.url];
  const place = fetched.hops.length === 0 ? -1 : targets.findIndex(request.isKnown);
  const url = targets[place];
  if (url === undefined) return undefined;
  const { requestedUrl, attempts, problems } = fetched;
  return { outcome: "known", requestedUrl, url, hops: fetched.hops.slice(0, place + 1), attempts, problems };
}

function missing(requestedUrl: string, url: string, hops: readonly Hop[]): FailedFetch {
  return { outcome: "failed", requestedUrl, url, hops, attempts: 0, reason: problem("archive-missing") };
}
