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
    const stopped = known(fetched, request);
    if (stopped !== undefined) return stopped;
    const loops = seen.has(archiveKey(url));
    if (loops || hops.length > maxHops) {
      const reason = loops ? problem("redirect-loop", { value: url }) : problem("limit-redirects", { limit: maxHops });
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

/** The URLs behind the first that an exchange tells of, too: those that its redirects passed, and where they ended. */
export function keysOnTheWay(fetched: Fetched): string[] {
  // Too many redirects from the first need not be too many from the others.
  if ("reason" in fetched && fetched.reason.code === "limit-redirects") return [];
  const passed = fetched.hops.slice(1).map(({ url }) => archiveKey(url));
  // A known document is told of by the exchange that brought it.
  return fetched.outcome === "known" || fetched.hops.length === 0 ? passed : [...passed, archiveKey(fetched.url)];
}

async function lookUp(url: string, find: Find): Promise<Found | undefined> {
  const found = await find(archiveKey(url));
  return found?.as === "target" ? { as: "target", fetched: from(url, found.fetched) } : found;
}

// Somebody else's redirects passed here: from here on they are ours.
function from(url: string, fetched: Fetched): Fetched {
  const { hops } = fetched;
  const own = hops.findIndex((hop) => archiveKey(hop.url) === archiveKey(url));
  const rest = { requestedUrl: url, hops: own === -1 ? [] : hops.slice(own), attempts: 1 };
  if ("problems" in fetched) return { ...fetched, ...rest, problems: [] };
  if (fetched.reason.code !== "redirect-loop") return { ...fetched, ...rest };
  const { status = 302, headers = [] } = fetched;
  const passed: Hop[] = [...hops, { url: fetched.url, status, headers }];
  const back = passed.findIndex((hop) => hop.url === fetched.reason.value);
  const start = own === -1 ? hops.length : own;
  if (back === -1 || start < back) return { ...fetched, ...rest };
  // Inside of the circle they lead back to where they begin, wherever that is.
  const circle = [...passed.slice(start), ...passed.slice(back, start)];
  const last = circle.pop()?.url ?? url;
  return { ...fetched, ...rest, hops: circle, url: last, reason: problem("redirect-loop", { value: url }) };
}

/** Where a redirect on the way led to a document that this caller has already. Each is asked about, as a network would. */
function known({ requestedUrl, url, hops, attempts, ...rest }: Fetched, request: DocumentRequest): Fetched | undefined {
  if (request.isKnown === undefined || hops.length === 0) return undefined;
  const targets = [...hops.slice(1).map((hop) => hop.url), url];
  const place = targets.findIndex(request.isKnown);
  const target = targets[place];
  if (target === undefined) return undefined;
  const problems = "problems" in rest ? rest.problems : [];
  return { outcome: "known", requestedUrl, url: target, hops: hops.slice(0, place + 1), attempts, problems };
}

function missing(requestedUrl: string, url: string, hops: readonly Hop[]): FailedFetch {
  return { outcome: "failed", requestedUrl, url, hops, attempts: 0, reason: problem("archive-missing") };
}
