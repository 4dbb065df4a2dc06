// Requests pages and checks them: a sample, or all of them. A page that several sitemaps list is requested once.
import { PageSample } from "../../crawl/page-sample.ts";
import type { SitemapPage } from "../../model/page.ts";
import type { Problem } from "../../model/problem.ts";
import { isDocument } from "../../model/status.ts";
import { TextSet } from "../../model/text-set.ts";
import { parseUrl, urlKey } from "../../model/url.ts";
import type { PageFetch } from "../../pages/fetch-pages.ts";
import { partsOf, robotsOf } from "../../tree/tree.ts";
import type { WebsitePages } from "../across/website-pages.ts";
import type { CheckRun } from "../context.ts";
import type { EarlierRun } from "../dates/earlier-run.ts";
import type { LastmodEvidence } from "../dates/lastmod-trust.ts";
import type { PageResults } from "../findings/result.ts";
import { bounds } from "../rules/bounds.ts";
import { checkPage, type ListedPage, type RequestedPage } from "../rules/pages.ts";
import { readPageHead } from "./page-head.ts";

export class RequestedPages {
  /** How many pages the caller asked for. */
  readonly count: number | "all";
  readonly #sample: PageSample<string> | undefined;
  readonly #listed = new TextSet();

  constructor(count: number | "all") {
    this.count = count;
    this.#sample = count === "all" ? undefined : new PageSample(count, 0);
  }

  add(page: SitemapPage, sitemap: string): void {
    if (this.#listed.add(urlKey(page.url))) this.#sample?.add(sitemap, [page], sitemap);
  }

  /** How many different pages are listed. Valid after all pages were seen. */
  get listedCount(): number {
    return this.#listed.size;
  }

  /** How many pages to request. */
  get size(): number {
    return this.count === "all" ? this.listedCount : Math.min(this.count, this.listedCount);
  }

  isListed(url: string): boolean {
    return this.#listed.has(urlKey(url));
  }

  /** Yields the pages in declared order. If all pages are wanted, reads them again, because they may not fit into memory. */
  async *pages(website: WebsitePages): AsyncGenerator<ListedPage, void> {
    if (this.#sample !== undefined) {
      for (const { origin: sitemap, pages } of this.#sample.take()) for (const page of pages) yield { page, sitemap };
      return;
    }
    const seen = new TextSet();
    for await (const [page, sitemap] of website.all()) if (seen.add(urlKey(page.url))) yield { page, sitemap };
  }
}

interface PageWithImages extends RequestedPage {
  /** Images of the page that are in the sitemap, but do not exist. */
  readonly missingImages: readonly string[];
}

/** Requests and checks pages. Checks them in declared order, but blocked ones last. */
export async function checkPages(
  requested: RequestedPages,
  website: WebsitePages,
  run: CheckRun,
  trust: LastmodEvidence,
  earlier: EarlierRun | undefined,
): Promise<PageResults> {
  const { settings, findings } = run;
  const { size, listedCount } = requested;
  const counts = { checked: 0, bad: 0, disallowed: 0, unanswered: 0 };
  // A blocked page, such as one that needs a password, is a finding only if its server sends other pages, which is known at the end.
  const openServers = new Set<string>();
  const blocked: PageWithImages[] = [];
  let done = 0;
  const check = (each: PageWithImages) => {
    counts.checked += 1;
    if (checkPage(each, (url) => requested.isListed(url), run, trust)) counts.bad += 1;
  };
  for await (const each of fetchPages(requested, website, run, earlier)) {
    done += 1;
    settings.onPage?.(done, size);
    const { outcome, reason, status } = each?.answer ?? {};
    // A page with status 200 that could not be read may have been cut off on the way.
    const isDamaged = outcome === "failed" && status !== undefined && isDocument(status);
    if (outcome === "disallowed") counts.disallowed += 1;
    else if (each === undefined || outcome === "refused" || isDamaged || isUnknown(reason)) counts.unanswered += 1;
    else if (outcome !== "blocked") check(each);
    else if (blocked.length < mostBlocked) blocked.push(each);
    else counts.unanswered += 1;
    if (each !== undefined && outcome === "found") openServers.add(serverOf(each.page.url));
    for (const url of each?.missingImages ?? [])
      findings.count("page-image-missing", each!.sitemap, 1, { url: each!.page.url, value: url });
  }
  for (const each of blocked) {
    if (openServers.has(serverOf(each.page.url))) check(each);
    else counts.unanswered += 1;
  }
  counts.unanswered += size - done;
  return { listed: listedCount, requested: size, ...counts };
}

const mostBlocked = 10_000;

// Whether the response says nothing about the page.
function isUnknown(reason: Problem | undefined): boolean {
  return reason !== undefined && ["bot-check", "rate-limited", "http-429", "archive-missing"].includes(reason.code);
}

// Fetches pages until the time is up. Yields undefined for a page that has no response by then.
async function* fetchPages(
  requested: RequestedPages,
  website: WebsitePages,
  { tree, site, settings, time }: CheckRun,
  earlier: EarlierRun | undefined,
): AsyncGenerator<PageWithImages | undefined, void> {
  const { signal, crawl } = settings;
  const end = new AbortController();
  const onAbort = () => end.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  // setTimeout treats longer delays as 1 ms.
  const timer = time.left < 2 ** 31 ? setTimeout(() => end.abort(), Math.max(0, time.left)) : undefined;
  const { openPageFetch, archivedPages, inOrder } = await import("../../pages/fetch-pages.ts");
  const { ErrorPages } = await import("../../pages/error-pages.ts");
  const given = tree.discovery.filter(({ by }) => by === "given").map(({ url }) => url);
  const target = given.length > 0 ? { sitemaps: given } : { homepage: tree.homepage };
  const source = partsOf(tree).isNamed
    ? await openPageFetch(target, {
        givenUrls: [tree.homepage],
        crawl: { ...crawl, signal: end.signal },
        mostBytes: bounds.pageBytes,
        pages: requested.count,
      })
    : archivedPages(partsOf(tree), robotsOf(tree), bounds.pageBytes, end.signal);
  const errors = new ErrorPages(source);
  const images = new ImageRequests(source);
  const fetchPage = async ({ page, sitemap }: ListedPage): Promise<PageWithImages | undefined> => {
    try {
      const { html, ...answer } = await source.page(page.url);
      const missingImages = await images.missing(page);
      if (answer.outcome !== "found") return { page, sitemap, answer, missingImages };
      const head = readPageHead(page.url, answer.headers, html, site.rewrite);
      const isError = html !== "" && (await errors.isError(page.url, { finalUrl: page.url, hops: 0, html }));
      if (!isError) await earlier?.compare(page.url, html);
      return { page, sitemap, answer, head, isError, missingImages };
    } catch (error) {
      if (!end.signal.aborted) throw error;
      return undefined;
    }
  };
  async function* untilEnd(): AsyncGenerator<ListedPage, void> {
    for await (const each of requested.pages(website)) {
      if (end.signal.aborted) return;
      yield each;
    }
  }
  try {
    // More pages are in progress than are requested at a time, so that a slow page does not hold up the others. fetch/limiter.ts decides
    // how many are requested.
    yield* inOrder(untilEnd(), Math.max(pagesInProgress, 2 * source.concurrency), fetchPage);
    signal?.throwIfAborted();
    await source.finish();
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    await source.close();
  }
}

const pagesInProgress = 64;

/** Requests a few images of each page, up to a limit in total. */
class ImageRequests {
  readonly #source: PageFetch;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(source: PageFetch) {
    this.#source = source;
  }

  async missing({ images = [] }: SitemapPage): Promise<string[]> {
    const urls = images.slice(0, bounds.imagesOfPage).map(({ url }) => url);
    const answers = urls.map((url) => {
      const known = this.#known.get(url) ?? (this.#known.size < bounds.imageRequests && this.#source.isMissing(url));
      if (known) this.#known.set(url, known);
      return known;
    });
    const isMissing = await Promise.all(answers);
    return urls.filter((_, at) => isMissing[at]);
  }
}

function serverOf(url: string): string {
  return parseUrl(url)?.origin ?? "";
}
