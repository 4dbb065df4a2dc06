// Fetches pages, for `check --pages` and `diff --follow`: politely, within the limits of a crawl, and only if robots.txt allows it. Only
// the beginning of a page is read. `save` keeps the responses in an archive; `resume` appends them to one, and requests only those that
// are missing from it. If the tree comes from an archive, so do its pages.
import type { ArchiveInfo } from "../archive/info.ts";
import { openWebsite } from "../crawl/fetch-one.ts";
import { allowedUrls, type RobotsOf, robotsIn } from "../crawl/host-robots.ts";
import { type CrawlTarget, prepare } from "../crawl/prepare.ts";
import { textOf } from "../crawl/read.ts";
import { keepsTrust, redirectTarget } from "../crawl/redirects.ts";
import {
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type FetchedDocument,
  type HeaderList,
  header,
} from "../model/exchange.ts";
import { type Options, resolveOptions, type Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";

/** The result of requesting a page. */
export interface PageAnswer {
  /** `disallowed`: robots.txt disallows it, or its rules are unknown (`reason` may say why); nothing was sent. */
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
  /** Whether the redirects lead in a circle, or there are too many. */
  readonly isLoop: boolean;
}

export interface PageFetch {
  /** Fetches a page without following redirects. */
  page(url: string): Promise<PageAnswer>;
  follow(url: string): Promise<FollowedPage>;
  /** Whether there is nothing at a URL: its status is 404 or 410. False if that is not known. */
  isMissing(url: string): Promise<boolean>;
  /** How many pages should be fetched at a time. */
  readonly concurrency: number;
  /** Marks the archive, if there is one, as complete, after everything was fetched. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

interface PageFetchOptions {
  /** URLs that the caller gave. Their origins may have private addresses, and get the caller's headers. */
  readonly givenUrls: readonly string[];
  readonly crawl: Options | undefined;
  /** How many bytes of each page are read. */
  readonly mostBytes: number;
  /** How many pages of the sitemaps are requested. An archive records this. */
  readonly pages?: ArchiveInfo["pages"];
}

export async function openPageFetch(
  target: CrawlTarget,
  { givenUrls, crawl, mostBytes, pages }: PageFetchOptions,
): Promise<PageFetch> {
  const prepared = prepare(target, { ...crawl, rewrite: [] });
  const { settings } = prepared;
  const limits = { ...settings.limits, documentBytes: mostBytes };
  // A page that fails is a finding; one retry is enough to rule out a hiccup.
  const own: Settings = { ...settings, limits, retries: Math.min(settings.retries, 1) };
  const isStored = own.save !== undefined || own.resume !== undefined;
  const page = { pages, limits };
  const { store } = isStored ? await (await import("../crawl/storage.ts")).openStorage(prepared, false, page) : {};
  const website = await openWebsite(own, givenUrls, store);
  const unreachable = new Map<string, Problem>();
  return pageFetch(own, {
    ...website,
    async robotsOf(origin) {
      const found = await website.followed(`${origin}/robots.txt`, "robots");
      if (found.outcome !== "found") unreachable.set(origin, found.reason);
      return robotsIn(found, own);
    },
    unreachable,
    finish: async () => store?.finish(),
    async close() {
      await website.close();
      await store?.close();
    },
  });
}

/** Reads the pages that an archive has. Nothing is requested. */
export function archivedPages(
  { documents, settings }: { documents: DocumentSource; settings: Pick<Settings, "limits" | "strict"> },
  robotsOf: RobotsOf,
  mostBytes: number,
  signal: AbortSignal,
): PageFetch {
  const fetch = (request: DocumentRequest) => documents.fetch(request);
  const nothing = async () => undefined;
  const limits = { ...settings.limits, documentBytes: mostBytes };
  const own = { ...resolveOptions({ signal }), limits, strict: settings.strict };
  const variesByCredentials = (url: string) => documents.variesByCredentials?.(url) === true;
  const source = { fetch, peek: fetch, robotsOf, variesByCredentials, unreachable: new Map() };
  return pageFetch(own, { ...source, finish: nothing, close: nothing });
}

interface PageSource extends Pick<PageFetch, "finish" | "close"> {
  readonly fetch: (request: DocumentRequest) => Promise<Fetched>;
  /** Like `fetch`, for callers that do not need the content of documents. */
  readonly peek: (request: DocumentRequest) => Promise<Fetched>;
  readonly robotsOf: RobotsOf;
  /** Whether a request without the caller's headers may get a different response. */
  readonly variesByCredentials: (url: string) => boolean;
  /** Why the robots.txt of an origin could not be fetched. */
  readonly unreachable: ReadonlyMap<string, Problem>;
}

function pageFetch(own: Settings, source: PageSource): PageFetch {
  const { fetch, peek, robotsOf, unreachable, finish, close } = source;
  // Returns the beginning of an HTML page, or why it cannot be read.
  async function htmlOf(fetched: FetchedDocument): Promise<string | Problem> {
    if (/html|^\s*$/i.test(header(fetched.headers, "content-type") ?? "")) {
      const pieces = textOf(fetched, own);
      let [html, step] = ["", await pieces.next()];
      for (; !step.done; step = await pieces.next()) html += step.value;
      return step.value === undefined || step.value.code === "limit-document-bytes" ? html : step.value;
    }
    // Leaving the loop releases the connection.
    for await (const _ of fetched.body) break;
    return "";
  }
  const allows = allowedUrls(own.userAgent, robotsOf, mostOrigins);
  // If another website chose the URL, the caller's headers are not sent.
  async function page(url: string, isTrusted = true): Promise<PageAnswer> {
    const isAllowed = await allows(url);
    const reason = isAllowed === undefined ? unreachable.get(parseUrl(url)?.origin ?? "") : undefined;
    if (!isAllowed) return { outcome: "disallowed", headers: [], reason, html: "" };
    const anonymous = !isTrusted && source.variesByCredentials(url);
    const fetched = await fetch({ url, role: "homepage", signal: own.signal, ...(anonymous && { anonymous }) });
    const { outcome, status, headers = [] } = fetched;
    if (outcome === "found") {
      const html = await htmlOf(fetched);
      if (typeof html === "string") return { outcome, status, headers, html };
      return { outcome: "failed", status, headers, reason: html, html: "" };
    }
    if (outcome !== "redirect") return { outcome, status, headers, reason: fetched.reason, html: "" };
    const redirect = redirectTarget(headers, url, own.limits.urlLength);
    if ("code" in redirect) return { outcome, status, headers, reason: redirect, html: "" };
    return { outcome, status, headers, target: redirect.target.href, html: "" };
  }
  return {
    page: (url) => page(url),
    finish,
    close,
    concurrency: own.concurrency.total,
    async follow(url) {
      const seen = new Set<string>();
      let isTrusted = true;
      for (let finalUrl = url; ; ) {
        const answer = await page(finalUrl, isTrusted);
        const hops = seen.size;
        if (answer.target === undefined) return { ...answer, hops, finalUrl, isLoop: false };
        seen.add(finalUrl);
        isTrusted &&= keepsTrust(finalUrl, answer.target);
        finalUrl = answer.target;
        if (seen.has(finalUrl) || seen.size > own.limits.redirects)
          return { ...answer, hops: seen.size, finalUrl, isLoop: true };
      }
    },
    async isMissing(url) {
      if (!(await allows(url))) return false;
      const { status } = await peek({ url, role: "homepage", signal: own.signal });
      return status === 404 || status === 410;
    },
  };
}

// The pages of one website hardly ever have more origins. Those of further origins count as disallowed.
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
