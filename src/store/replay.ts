// Answers a request from exchanges that are at hand, as the website would: a crawl that asks in another order than the
// one that was kept, or knows other documents already, gets the same documents.
import type { DocumentRequest, FailedFetch, Fetched, Hop } from "../exchange.ts";
import { problem } from "../problem.ts";
import { urlKey, withoutCredentials } from "../url.ts";

/**
 * What is at hand for a key. `asked`: an exchange that began with it. `target`: one whose redirects led to it. `alone`: one
 * response, as other tools keep them; a redirect then is a known document that has to be looked up.
 */
export type Find = (key: string) => Promise<Found | undefined>;

export interface Found {
  readonly fetched: Fetched;
  readonly as: "asked" | "target" | "alone";
}

/** More redirects than anybody follows: a guard against loops among archived redirects. */
const maxHops = 20;

/** Equal for requests that name the same document. Nothing that is kept knows user names and passwords. */
export function archiveKey(url: string): string {
  return urlKey(withoutCredentials(url));
}

/** The exchange for a request; unknown URLs are `archive-missing`. */
export async function replay(request: DocumentRequest, find: Find): Promise<Fetched> {
  request.signal?.throwIfAborted();
  const first = await lookUp(request.url, find);
  if (first === undefined) return missing(request.url, request.url, []);
  let { fetched, as } = first;
  const seen = new Set([archiveKey(request.url)]);
  while (fetched.outcome === "known" && (as === "alone" || request.isKnown !== undefined)) {
    const { requestedUrl, url, hops, problems, attempts } = fetched;
    if (request.isKnown?.(url)) return fetched;
    const loops = seen.has(archiveKey(url));
    if (loops || hops.length > maxHops) {
      const reason = loops ? problem("redirect-loop", { value: url }) : problem("redirect-limit", { limit: maxHops });
      return { outcome: "failed", requestedUrl, url, hops, attempts, reason };
    }
    seen.add(archiveKey(url));
    const next = await lookUp(url, find);
    if (next === undefined) return as === "alone" ? missing(requestedUrl, url, hops) : fetched;
    const joined = { ...next.fetched, requestedUrl, hops: [...hops, ...next.fetched.hops], attempts };
    fetched = "problems" in joined ? { ...joined, problems: [...problems, ...joined.problems] } : joined;
    as = next.as;
  }
  return known(fetched, request) ?? fetched;
}

async function lookUp(url: string, find: Find): Promise<Found | undefined> {
  const found = await find(archiveKey(url));
  if (found?.as !== "target" || found.fetched.outcome !== "found") return found;
  // The document at the end of somebody else's redirects, asked for by its own URL.
  return { as: "target", fetched: { ...found.fetched, requestedUrl: url, hops: [], attempts: 1, problems: [] } };
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
