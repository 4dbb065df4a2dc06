// Rules about the pages themselves, which are requested from the website or read from the files of a static site: whether they can be
// opened, redirect, have `noindex`, or declare another canonical URL.

import { type HeaderList, header } from "../../model/exchange.ts";
import { lastInstant } from "../../model/instant.ts";
import type { AlternatePage, SitemapPage } from "../../model/page.ts";
import type { Problem } from "../../model/problem.ts";
import { rewriteUnlessTarget } from "../../model/rewrite.ts";
import { parseUrl } from "../../model/url.ts";
import type { PageAnswer, PageFetch } from "../../pages/fetch-pages.ts";
import { partsOf, robotsOf } from "../../tree/tree.ts";
import { bounds } from "../bounds.ts";
import type { CheckRun } from "../context.ts";
import type { EarlierRun } from "../earlier-run.ts";
import { SitemapFindings } from "../findings.ts";
import { addressSetting, readFolderAddress, wrongAddresses } from "../folder-address.ts";
import type { LastmodEvidence } from "../lastmod-trust.ts";
import { type PageHead, readPageHead } from "../page-head.ts";
import type { RequestedPage, RequestedPages } from "../requested-pages.ts";
import type { PageResults } from "../result.ts";
import { type RuleRows, rule, ruleFor } from "../rule.ts";
import type { SiteFiles } from "../site-files.ts";
import * as sources from "../sources.ts";
import type { WebsitePages } from "../website-pages.ts";

const days = bounds.pageOlder / (24 * 3600 * 1000);

export const pageRules: RuleRows = {
  "page-unreachable": rule("error", "practice", sources.searchConsole, {
    sentence: "A listed page cannot be opened: not found, a server error, or no response.",
    fix: "Fix the page, or remove it from the sitemap.",
    needs: ["requested"],
  }),
  "page-soft-404": rule("warning", "engine", sources.soft404, {
    sentence: "Soft 404: a listed page looks like an error page, but has status 200.",
    fix: "Restore the page, or remove it from the sitemap and answer with 404 or 410.",
    needs: ["requested"],
  }),
  "page-missing-file": rule("error", "practice", sources.searchConsole, {
    sentence: "A listed page has no file, so visitors will get a 404.",
    fix: "Build the page, or remove it from the sitemap.",
    needs: ["files"],
  }),
  "page-not-listed": rule("error", "practice", sources.buildSitemap, {
    sentence: "An indexable page is in no sitemap.",
    fix: "List it, add `noindex`, or exclude its file with --ignore.",
    needs: ["files", "complete"],
  }),
  "page-redirect": rule("warning", "engine", sources.buildSitemap, {
    sentence: "Page with redirect: a listed page redirects.",
    fix: "List the final URL.",
    needs: ["pages"],
  }),
  "page-redirect-stub": rule("warning", "engine", sources.redirects, {
    sentence: "Page with redirect: a listed page is only a meta refresh, or a script that redirects.",
    fix: "List the final URL.",
    needs: ["pages"],
  }),
  "page-noindex": rule("error", "practice", sources.noindex, {
    sentence: "Excluded by 'noindex' tag: a listed page asks not to be indexed.",
    fix: "Remove the noindex, or the page from the sitemap.",
    needs: ["pages"],
  }),
  "page-canonical-other": rule("warning", "engine", sources.canonical, {
    sentence: "Alternate page with proper canonical tag: a listed page declares another URL as canonical.",
    fix: "List the canonical URL.",
    needs: ["pages"],
  }),
  "page-hreflang-differs": ruleFor(["google"], "info", "engine", sources.languages, {
    sentence: "The page and the sitemap list different alternate pages.",
    fix: "Make them agree, or keep one.",
    needs: ["pages"],
  }),
  "page-lastmod-older": ruleFor(["google"], "info", "engine", sources.buildSitemap, {
    sentence: `A page's own date is more than ${days} days older than its date in the sitemap.`,
    fix: "Give each page the time of its last significant change.",
    needs: ["requested"],
  }),
  "page-lastmod-newer": ruleFor(["google", "bing"], "warning", "engine", sources.buildSitemap, {
    sentence: "A page's own date is newer than its date in the sitemap, so crawlers may not fetch the new version.",
    fix: "Update the date in the sitemap whenever the page changes.",
    needs: ["requested"],
  }),
  "page-image-missing": ruleFor(["google"], "warning", "engine", sources.images, {
    sentence: "A listed image does not exist (404 or 410).",
    fix: "Restore the image, or remove it from the sitemap.",
    needs: ["requested"],
  }),
};

/** Checks the pages of a static site in its files. */
export class FileRules {
  readonly #files: SiteFiles;
  readonly #run: CheckRun;
  readonly #listed = new Set<string>();

  constructor(files: SiteFiles, run: CheckRun) {
    this.#files = files;
    this.#run = run;
  }

  /** Checks a listed page. */
  check({ url, alternates = [] }: SitemapPage, findings: SitemapFindings): void {
    const answer = this.#files.find(url);
    if (answer?.kind === "missing") findings.add("page-missing-file", url, answer.hint);
    if (answer?.kind === "redirect") {
      findings.add("page-redirect", url, `${answer.status} to ${answer.to}`, "error");
      // The file is listed, although under another URL.
      if (answer.file !== undefined) this.#listed.add(answer.file);
    }
    if (answer?.kind !== "file" || this.#listed.has(answer.file)) return;
    const { file, robotsTags } = answer;
    this.#listed.add(file);
    if (!this.#files.isPage(file)) return;
    const head = readPageHead(url, headersOf(robotsTags), this.#files.read(file), this.#run.site.rewrite);
    checkHead({ url, alternates }, head, this.#run, findings, this.#files.shown(file));
  }

  /** Reports the pages that no sitemap lists, after all listed pages were checked. */
  async finish(): Promise<void> {
    const { findings, tree, robots, time, settings, site } = this.#run;
    for (const { file, url } of this.#files.pages()) {
      if (await time.isOver()) return;
      if (this.#listed.has(file) || robots.blocked(url)?.isFirst) continue;
      const own = this.#files.find(url);
      if (own?.kind === "redirect") continue;
      const html = this.#files.read(file);
      // A file without these is not a page, but a fragment or a proof of ownership.
      if (!/<!doctype html|<html[\s>]/i.test(html)) continue;
      const {
        noindex,
        refresh,
        canonical = url,
      } = readPageHead(url, headersOf(own?.kind === "file" ? own.robotsTags : []), html, site.rewrite);
      const answer = this.#files.find(canonical);
      const isCanonical = answer?.kind === "file" && answer.file === file;
      if (isCanonical && refresh === undefined && !isExcluded(settings.agents[0] ?? "", noindex)) {
        findings.count("page-not-listed", tree.homepage, 1, { url, file: this.#files.shown(file) });
      }
    }
  }
}

/** Finds files that contain an address other than the website's. */
export function checkAddress(files: SiteFiles, { findings, tree }: CheckRun): void {
  for (const folder of files.folders) {
    const wrong = wrongAddresses(readFolderAddress(folder.path), folder.url, folder.path);
    for (const origin of new Set(wrong.map((each) => each.origin))) {
      const { file, line } = wrong.find((each) => each.origin === origin)!;
      const website = parseUrl(folder.url)?.origin;
      const real = website === origin ? "which only your machine can reach" : `the website is ${website}`;
      const value = `your files name ${origin}, ${real}: set ${addressSetting(folder.path)}`;
      findings.count("address-wrong", tree.homepage, 1, { value, file: files.shown(file), line });
    }
  }
}

function headersOf(robotsTags: readonly string[]): HeaderList {
  return robotsTags.map((value) => ["x-robots-tag", value]);
}

/** A page that was requested: the response, and what its HTML says about it. */
interface FetchedPage extends RequestedPage {
  readonly answer: Omit<PageAnswer, "html">;
  readonly head?: PageHead;
  readonly isError?: boolean;
  /** Images of the page that are in the sitemap, but do not exist. */
  readonly missingImages: readonly string[];
}

/** Requests and checks pages. Reports findings in the order of the pages. */
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
  // A page that needs a password is a finding only if its server sends other pages without one, which is known at the end.
  const openServers = new Set<string>();
  const blocked: FetchedPage[] = [];
  let done = 0;
  const check = (each: FetchedPage) => {
    counts.checked += 1;
    if (checkPage(each, requested, run, trust)) counts.bad += 1;
  };
  for await (const each of fetchPages(requested, website, run, earlier)) {
    done += 1;
    settings.onPage?.(done, size);
    const { outcome, reason } = each?.answer ?? {};
    if (outcome === "disallowed") counts.disallowed += 1;
    else if (each === undefined || outcome === "refused" || isUnknown(reason)) counts.unanswered += 1;
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
  return reason !== undefined && ["bot-check", "rate-limited", "archive-missing"].includes(reason.code);
}

// Fetches pages until the time is up. Yields undefined for a page that has no response by then.
async function* fetchPages(
  requested: RequestedPages,
  website: WebsitePages,
  { tree, site, settings, time }: CheckRun,
  earlier: EarlierRun | undefined,
): AsyncGenerator<FetchedPage | undefined, void> {
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
  const fetchPage = async ({ page, sitemap }: RequestedPage): Promise<FetchedPage | undefined> => {
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
  async function* untilEnd(): AsyncGenerator<RequestedPage, void> {
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

// Returns whether the page should not be listed as it is.
function checkPage(
  { page, sitemap, answer, head, isError }: FetchedPage,
  requested: RequestedPages,
  run: CheckRun,
  trust: LastmodEvidence,
): boolean {
  const own = new SitemapFindings(run.findings, sitemap);
  const { url, lastModified } = page;
  const { outcome, target, status, reason, headers } = answer;
  if (outcome === "redirect") {
    const isListed = target !== undefined && requested.isListed(rewriteUnlessTarget(target, run.site.rewrite));
    // A sitemap that could not be read may list the target.
    const listed = isListed ? " (listed)" : run.tree.complete ? " (not listed)" : "";
    own.add("page-redirect", url, target === undefined ? reason?.message : `${status} to ${target}${listed}`);
  } else if (head === undefined) own.add("page-unreachable", url, reason?.message ?? String(status ?? ""));
  if (head === undefined) return true;
  // An error page often has a noindex and another canonical URL, too, but is one finding.
  if (isError) {
    own.add("page-soft-404", url);
    return true;
  }
  if (lastModified !== undefined) {
    const compared = compareDates(lastModified, head.modified, header(headers, "last-modified"));
    trust.compare(compared?.verdict);
    if (compared !== undefined && compared.verdict !== "same")
      own.add(`page-lastmod-${compared.verdict}`, url, `${lastModified}, but ${compared.modified}`);
  }
  return checkHead(page, head, run, own);
}

/** How a page's own date compares with its date in the sitemap. */
interface DateComparison {
  readonly verdict: "older" | "newer" | "same";
  /** The page's own date. */
  readonly modified: string;
}

// Many servers send the time of the deployment or of the request as Last-Modified, so that header proves something only if it is old.
function compareDates(inSitemap: string, inPage?: string, inHeader?: string): DateComparison | undefined {
  const instant = Date.parse(inPage ?? inHeader ?? "");
  if (Number.isNaN(instant) || Number.isNaN(Date.parse(inSitemap))) return undefined;
  const modified = new Date(instant).toISOString();
  if (Date.parse(inSitemap) - instant > bounds.pageOlder) return { verdict: "older", modified };
  if (inPage === undefined) return undefined;
  const isNewer = instant - lastInstant(inSitemap) > bounds.pageNewer;
  return { verdict: isNewer ? "newer" : "same", modified };
}

// Checks what a page says about itself. Returns whether it should not be listed as it is.
function checkHead(
  { url, alternates = [] }: Pick<SitemapPage, "url" | "alternates">,
  head: PageHead,
  run: CheckRun,
  findings: SitemapFindings,
  file?: string,
): boolean {
  const { agents } = run.settings;
  const { noindex, canonical, refresh, lines } = head;
  const at = (what: keyof PageHead["lines"]) => (file === undefined ? {} : { file, line: lines[what] });
  // In a folder, redirects and other canonical URLs are errors, because the next build can fix them.
  const own = file === undefined ? undefined : "error";
  // A page that redirects often has a noindex and another canonical URL, too, but is one finding.
  if (refresh !== undefined && !isSamePage(refresh, url)) {
    findings.add("page-redirect-stub", url, refresh, own, at("refresh"));
    return true;
  }
  const excluded = agents.filter((agent) => isExcluded(agent, noindex));
  if (excluded.length > 0) {
    const isFirst = excluded[0] === agents[0];
    const line = noindex.get(excludedBy(excluded[0]!, noindex)!);
    const place = file === undefined ? {} : { file, line };
    findings.add("page-noindex", url, excluded.join(", "), isFirst ? undefined : "warning", place);
  }
  const isDuplicate = canonical !== undefined && !isSamePage(canonical, url);
  if (isDuplicate) findings.add("page-canonical-other", url, canonical, own, at("canonical"));
  const different = differentLanguage(alternates, head);
  if (different !== undefined) findings.add("page-hreflang-differs", url, different, undefined, at("alternates"));
  return excluded.length > 0 || isDuplicate;
}

function isExcluded(agent: string, noindex: PageHead["noindex"]): boolean {
  return excludedBy(agent, noindex) !== undefined;
}

// Returns the name of the meta tag that excludes a crawler. Tags for Yandex say `yandex`, whatever the crawler is called in robots.txt:
// https://yandex.com/support/webmaster/controlling-robot/meta-robots.html
function excludedBy(agent: string, noindex: PageHead["noindex"]): string | undefined {
  const name = agent.toLowerCase();
  return ["robots", name, ...(name.startsWith("yandex") ? ["yandex"] : [])].find((each) => noindex.has(each));
}

function differentLanguage(alternates: readonly AlternatePage[], head: PageHead): string | undefined {
  if (alternates.length === 0 || head.alternates.size === 0) return undefined;
  const listed = new Map(alternates.map((each) => [each.language.toLowerCase(), each.url]));
  return [...new Set([...listed.keys(), ...head.alternates.keys()])].find((language) => {
    const inSitemap = listed.get(language);
    const inPage = head.alternates.get(language);
    return inSitemap === undefined || inPage === undefined || !isSamePage(inSitemap, inPage);
  });
}

function isSamePage(one: string, two: string): boolean {
  return withoutFragment(one) === withoutFragment(two);
}

function withoutFragment(url: string): string {
  return (parseUrl(url)?.href ?? url).replace(/#.*$/s, "");
}

function serverOf(url: string): string {
  return parseUrl(url)?.origin ?? "";
}
