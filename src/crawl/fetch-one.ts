// Fetches single documents, without a crawl: a sitemap for `sitegrove parse URL`, the robots.txt of a host, or pages (../pages).
import type { Store } from "../archive/store.ts";
import type { SharedLimits } from "../fetch/limiter.ts";
import type { DocumentRequest, DocumentRole, Fetched } from "../model/exchange.ts";
import { type Options, resolveOptions, type Settings } from "../model/options.ts";
import type { RobotsGroups } from "../parse/robots.ts";
import { type RobotsOf, robotsIn } from "./host-robots.ts";
import type { Prepared } from "./prepare.ts";
import {
  type Followed,
  type FollowFailure,
  type FoundDocument,
  follow,
  followRules,
  Hop,
  hopsFrom,
} from "./redirects.ts";

export interface SingleDocument extends FoundDocument {
  /** Ends the fetch, if it is still running. */
  close(): Promise<void>;
}

/** Fetches one document, which the caller must close. Rejects if `options.signal` is aborted. */
export async function fetchDocument(
  url: string,
  options: Options,
  shared?: SharedLimits,
): Promise<SingleDocument | FollowFailure> {
  const { close, followed } = await openWebsite(resolveOptions(options), [url], undefined, shared);
  let found: Followed | undefined;
  try {
    found = await followed(url, "sitemap");
    return found.outcome === "found" ? { ...found, close } : found;
  } finally {
    if (found?.outcome !== "found") await close();
  }
}

/** Fetches the robots.txt of an origin. Returns undefined if its rules are unknown. */
export async function fetchRobots(
  origin: string,
  { settings, startUrls }: Prepared,
): Promise<RobotsGroups | undefined> {
  const { close, robotsOf } = await openWebsite(settings, startUrls);
  try {
    return await robotsOf(origin);
  } finally {
    await close();
  }
}

/** Fetches documents of one website, outside of a crawl. */
export interface WebsiteFetch {
  /** Like `fetch`, but the content of a document is dropped: for callers that only need the status. */
  peek(request: DocumentRequest): Promise<Fetched>;
  fetch(request: DocumentRequest): Promise<Fetched>;
  /** Follows the redirects of a URL. */
  followed(url: string, role: DocumentRole): Promise<Followed>;
  readonly robotsOf: RobotsOf;
  /** Whether a request without the caller's headers may get a different response. */
  variesByCredentials(url: string): boolean;
  close(): Promise<void>;
}

/** Prepares to fetch from a website. With a `store`, `fetch` keeps responses there, and nothing that the store has is requested. */
export async function openWebsite(
  settings: Settings,
  startUrls: readonly string[],
  store?: Store,
  shared?: SharedLimits,
): Promise<WebsiteFetch> {
  const { limits, rewrite, signal, onEvent } = settings;
  const { Fetcher } = await import("../fetch/fetcher.ts");
  const fetcher = new Fetcher({ settings, start: startUrls, onEvent, shared });
  const fetch = async (request: DocumentRequest): Promise<Fetched> => {
    if (store?.has(request)) return store.fetch(request);
    const fetched = await fetcher.fetch(request);
    return store === undefined ? fetched : store.keep(fetched);
  };
  const peek = async (request: DocumentRequest): Promise<Fetched> => {
    const fetched = store?.has(request) ? await store.fetch(request) : await fetcher.fetch(request);
    if (fetched.outcome !== "found") return store === undefined || store.has(request) ? fetched : store.keep(fetched);
    // Leaving the loop releases the connection.
    for await (const _ of fetched.body) break;
    return fetched;
  };
  const followed = (url: string, role: DocumentRole) => {
    const rules = followRules(limits, startUrls, fetcher, rewrite);
    return follow(Hop.first(url, role, rules), hopsFrom({ fetch }, rules, signal));
  };
  const robotsOf: RobotsOf = async (origin) => robotsIn(await followed(`${origin}/robots.txt`, "robots"), settings);
  const variesByCredentials = (url: string) => fetcher.variesByCredentials(url);
  return { fetch, peek, close: () => fetcher.close(), followed, robotsOf, variesByCredentials };
}
