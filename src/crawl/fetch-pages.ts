// Fetches pages, for `check --sample` and `diff --follow`: politely, within the limits of a crawl, and only if robots.txt allows it. Only
// the beginning of a page is read. With `save`, the responses are kept in an archive; with `resume`, an interrupted run goes on.
import { type Fetched, type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";
import type { Options, Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { openWebsite } from "./fetch-one.ts";
import { allowedUrls, wholeText } from "./host-robots.ts";
import { prepare } from "./prepare.ts";
import { redirectTarget } from "./redirects.ts";

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

/** The response at the end of a chain of redirects. */
export interface FollowedPage extends PageAnswer {
  readonly hops: number;
  readonly finalUrl: string;
  /** The redirects lead in a circle, or there are too many. */
  readonly isLoop: boolean;
}

export interface PageFetch {
  /** Does not follow redirects. Rejects only with the reason of a signal. */
  page(url: string): Promise<PageAnswer>;
  follow(url: string): Promise<FollowedPage>;
  /** How many pages should be fetched at a time. */
  readonly concurrency: number;
  /** Everything was fetched: the archive, if there is one, is complete. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads up to `mostBytes` of each page. Private addresses and the caller's headers are allowed for the origins of URLs that the caller
 * gave (`named`).
 */
export async function openPageFetch(
  homepage: string,
  named: readonly string[],
  crawl: Options | undefined,
  mostBytes: number,
): Promise<PageFetch> {
  const prepared = prepare({ homepage }, { ...crawl, rewrite: [] });
  const { settings } = prepared;
  const limits = { ...settings.limits, documentBytes: mostBytes };
  // A page that fails is a finding; one retry is enough to rule out a hiccup.
  const own: Settings = { ...settings, limits, retries: Math.min(settings.retries, 1) };
  const isStored = own.save !== undefined || own.resume !== undefined;
  const { store } = isStored ? await (await import("./storage.ts")).openStorage(prepared) : {};
  const { fetch, close, robotsOf } = await openWebsite(own, named, store);

  async function htmlOf(fetched: FetchedDocument): Promise<string> {
    if (/html|^\s*$/i.test(header(fetched.headers, "content-type") ?? "")) return wholeText(fetched, own);
    // Leaving the body unread releases the connection.
    for await (const _ of fetched.body) break;
    return "";
  }
  const allows = allowedUrls(own.userAgent, robotsOf, mostOrigins);
  async function page(url: string): Promise<PageAnswer> {
    if (!(await allows(url))) return { outcome: "disallowed", headers: [], html: "" };
    const fetched = await fetch({ url, role: "homepage", signal: own.signal });
    const { outcome, status, headers = [] } = fetched;
    if (outcome === "found") return { outcome, status, headers, html: await htmlOf(fetched) };
    if (outcome !== "redirect") return { outcome, status, headers, reason: fetched.reason, html: "" };
    const redirect = redirectTarget(headers, url, own.limits.urlLength);
    if ("code" in redirect) return { outcome, status, headers, reason: redirect, html: "" };
    return { outcome, status, headers, target: redirect.target.href, html: "" };
  }
  return {
    page,
    concurrency: own.concurrency.total,
    async follow(url) {
      const seen = new Set<string>();
      for (let finalUrl = url; ; ) {
        const answer = await page(finalUrl);
        const hops = seen.size;
        if (answer.target === undefined) return { ...answer, hops, finalUrl, isLoop: false };
        seen.add(finalUrl);
        finalUrl = answer.target;
        if (seen.has(finalUrl) || seen.size > own.limits.redirects)
          return { ...answer, hops: seen.size, finalUrl, isLoop: true };
      }
    },
    finish: async () => store?.finish(),
    async close() {
      await close();
      await store?.close();
    },
  };
}

// With more origins than this, the pages are not those of one website.
const mostOrigins = 100;

/** Applies `action` to all items, up to `most` at a time; yields the results in the order of the items. */
export async function* inOrder<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  most: number,
  action: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const running: Promise<R>[] = [];
  for await (const item of items) {
    const result = action(item);
    // If the caller leaves first, the rejection would be unhandled.
    result.catch(() => undefined);
    running.push(result);
    if (running.length >= most) yield await running.shift()!;
  }
  while (running.length > 0) yield await running.shift()!;
}
