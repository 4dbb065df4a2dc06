// Fetches single documents, without a crawl: a sitemap for `sitegrove parse URL`, and pages for `check --sample`. Pages are fetched only
// if robots.txt allows it; their redirects are not followed, and only their beginning is read.
import { type DocumentRole, type Fetched, type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";
import { type Options, resolveOptions, type Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { RobotsGroups } from "../parse/robots.ts";
import { allowedUrls, type RobotsOf, robotsIn, wholeText } from "./host-robots.ts";
import { type Prepared, prepare } from "./prepare.ts";
import {
  type Followed,
  type FollowFailure,
  type FoundDocument,
  follow,
  followRules,
  Hop,
  redirectTarget,
} from "./redirects.ts";

export interface SingleDocument extends FoundDocument {
  /** Ends the fetch, if it is still running. */
  close(): Promise<void>;
}

/** Rejects with the reason of `options.signal`. The document must be closed. */
export async function fetchDocument(url: string, options: Options): Promise<SingleDocument | FollowFailure> {
  const { fetcher, followed } = await openWebsite(resolveOptions(options), [url]);
  const close = () => fetcher.close();
  let found: Followed | undefined;
  try {
    found = await followed(url, "sitemap");
    return found.outcome === "found" ? { ...found, close } : found;
  } finally {
    if (found?.outcome !== "found") await close();
  }
}

/** The robots.txt of an origin; undefined if it cannot be reached. */
export async function fetchRobots(
  origin: string,
  { settings, startUrls }: Prepared,
): Promise<RobotsGroups | undefined> {
  const { fetcher, robotsOf } = await openWebsite(settings, startUrls);
  try {
    return await robotsOf(origin);
  } finally {
    await fetcher.close();
  }
}

/** The response of a page. */
export interface PageAnswer {
  /** `disallowed`: robots.txt disallows it, and nothing was sent. */
  readonly outcome: Fetched["outcome"] | "disallowed";
  readonly status?: number | undefined;
  readonly headers: HeaderList;
  readonly reason?: Problem | undefined;
  /** The target of a redirect; if invalid, `reason` says why. */
  readonly target?: string | undefined;
  /** The beginning of an HTML page; empty for anything else. */
  readonly html: string;
}

/**
 * Fetches pages, many in parallel, up to `mostBytes` of each. Private addresses and the caller's headers are allowed for the origin of a homepage
 * that the caller gave (`isNamed`). Rejects only with the reason of a signal.
 */
export async function openPageFetch(
  homepage: string,
  isNamed: boolean,
  crawl: Options | undefined,
  mostBytes: number,
): Promise<{ page(url: string): Promise<PageAnswer>; close(): Promise<void> }> {
  const { settings, startUrls } = prepare({ homepage }, crawl);
  const limits = { ...settings.limits, documentBytes: mostBytes };
  // A page that fails is a finding; one retry is enough to rule out a hiccup.
  const own: Settings = { ...settings, limits, retries: Math.min(settings.retries, 1) };
  const { fetcher, robotsOf } = await openWebsite(own, isNamed ? startUrls : []);

  async function htmlOf(fetched: FetchedDocument): Promise<string> {
    if (/html|^\s*$/i.test(header(fetched.headers, "content-type") ?? "")) return wholeText(fetched, own);
    // Leaving the body unread releases the connection.
    for await (const _ of fetched.body) break;
    return "";
  }
  const allows = allowedUrls(own.userAgent, robotsOf, mostOrigins);
  return {
    close: () => fetcher.close(),
    async page(url) {
      if (!(await allows(url))) return { outcome: "disallowed", headers: [], html: "" };
      const fetched = await fetcher.fetch({ url, role: "homepage" });
      const { outcome, status, headers = [] } = fetched;
      if (outcome === "found") return { outcome, status, headers, html: await htmlOf(fetched) };
      if (outcome !== "redirect") return { outcome, status, headers, reason: fetched.reason, html: "" };
      const redirect = redirectTarget(headers, url, own.limits.urlLength);
      if ("code" in redirect) return { outcome, status, headers, reason: redirect, html: "" };
      return { outcome, status, headers, target: redirect.target.href, html: "" };
    },
  };
}

// With more origins than this, the pages are not a sample of one website.
const mostOrigins = 100;

async function openWebsite(settings: Settings, startUrls: readonly string[]) {
  const { limits, rewrite, signal, onEvent } = settings;
  const { Fetcher } = await import("../fetch/fetcher.ts");
  const fetcher = new Fetcher({ settings, start: startUrls, onEvent });
  const followed = (url: string, role: DocumentRole) => {
    const rules = followRules(limits, startUrls, fetcher, rewrite);
    const fetch = async ({ request }: Hop) => {
      const fetched = await fetcher.fetch({ ...request, signal });
      rules.cookies.take(fetched);
      return fetched;
    };
    return follow(Hop.first(url, role, rules), fetch);
  };
  const robotsOf: RobotsOf = async (origin) => robotsIn(await followed(`${origin}/robots.txt`, "robots"), settings);
  return { fetcher, followed, robotsOf };
}
