// Rules about listed pages, those of a sample or all files of a static site: whether they can be opened, redirect, have `noindex`, or
// have another canonical URL.
import type { PageAnswer } from "../../crawl/fetch-pages.ts";
import { type HeaderList, header } from "../../model/exchange.ts";
import type { AlternatePage, SitemapPage } from "../../model/page.ts";
import { parseUrl } from "../../model/url.ts";
import { partsOf } from "../../tree/tree.ts";
import { bounds } from "../bounds.ts";
import type { CheckRun } from "../context.ts";
import { SitemapFindings } from "../findings.ts";
import { placeOfAddress, readFolderAddress, wrongAddresses } from "../folder-address.ts";
import { type PageHead, readPageHead } from "../page-head.ts";
import type { PageSample } from "../result.ts";
import { type RuleRows, rule, ruleFor, type Words } from "../rule.ts";
import { type SampledPage, upperBound } from "../sample.ts";
import type { SiteFiles } from "../site-files.ts";
import * as sources from "../sources.ts";

const days = bounds.pageOlder / (24 * 3600 * 1000);

type PageRuleId =
  | Words<"page-unreachable page-missing-file page-not-listed page-redirect page-redirect-stub page-noindex">
  | Words<"page-canonical-other page-hreflang-differs page-lastmod-older">;

export const pageRules: RuleRows<PageRuleId> = {
  "page-unreachable": rule("error", "practice", sources.searchConsole, {
    sentence: "A listed page cannot be opened: not found, a server error, or no response.",
    fix: "Fix the page, or remove it from the sitemap.",
    needs: ["sample"],
  }),
  "page-missing-file": rule("error", "practice", sources.searchConsole, {
    sentence: "A listed page has no file, so it will be a 404.",
    fix: "Build the page, or remove it from the sitemap.",
    needs: ["files"],
  }),
  "page-not-listed": rule("warning", "practice", sources.buildSitemap, {
    sentence: "A page that search engines may index is in no sitemap.",
    fix: "List it, add `noindex`, or exclude its file with --ignore.",
    needs: ["files", "complete"],
  }),
  "page-redirect": rule("warning", "engine", sources.buildSitemap, {
    sentence: "Page with redirect: a listed page redirects.",
    fix: "List the final URL.",
    needs: ["pages"],
  }),
  "page-redirect-stub": rule("warning", "engine", sources.redirects, {
    sentence: "Page with redirect: a listed page is only a meta refresh.",
    fix: "List the final URL.",
    needs: ["pages"],
  }),
  "page-noindex": rule("error", "practice", sources.noindex, {
    sentence: "Excluded by 'noindex' tag: a listed page asks not to be indexed.",
    fix: "Remove the noindex, or the page from the sitemap.",
    needs: ["pages"],
  }),
  "page-canonical-other": rule("warning", "engine", sources.canonical, {
    sentence: "Alternate page with proper canonical tag: the canonical URL of a listed page is a different one.",
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
    needs: ["sample"],
  }),
};

/** Checks the pages of a static site by their files: those that are listed, and those that are not. */
export class FileRules {
  readonly #files: SiteFiles;
  readonly #run: CheckRun;
  readonly #listed = new Set<string>();

  constructor(files: SiteFiles, run: CheckRun) {
    this.#files = files;
    this.#run = run;
  }

  see({ url, alternates = [] }: SitemapPage, findings: SitemapFindings): void {
    const answer = this.#files.find(url);
    if (answer?.kind === "missing") findings.add("page-missing-file", url, answer.hint);
    if (answer?.kind === "redirect") findings.add("page-redirect", url, `${answer.status} to ${answer.to}`);
    if (answer?.kind !== "file" || this.#listed.has(answer.file)) return;
    const { file, robotsTags } = answer;
    this.#listed.add(file);
    if (!this.#files.isPage(file)) return;
    const head = readPageHead(url, headersOf(robotsTags), this.#files.read(file), this.#run.site.rewrite);
    judgeHead({ url, alternates }, head, this.#run, findings, this.#files.shown(file));
  }

  /** All listed pages were seen: reports those that no sitemap lists. */
  async finish(): Promise<void> {
    const { findings, tree, robots, time, settings, site } = this.#run;
    for (const { file, url } of this.#files.pages()) {
      if (await time.isOver()) return;
      if (this.#listed.has(file) || robots.blocked(url)?.isFirst) continue;
      const own = this.#files.find(url);
      if (own?.kind === "redirect") continue;
      const html = this.#files.read(file);
      // Without these it is a fragment, or a proof of ownership.
      if (!/<!doctype html|<html[\s>]/i.test(html)) continue;
      const {
        noindex,
        refresh,
        canonical = url,
      } = readPageHead(url, headersOf(own?.kind === "file" ? own.robotsTags : []), html, site.rewrite);
      const answer = this.#files.find(canonical);
      const isOwn = answer?.kind === "file" && answer.file === file;
      if (isOwn && refresh === undefined && !isExcluded(settings.agents[0] ?? "", noindex)) {
        findings.count("page-not-listed", tree.homepage, 1, { url, file: this.#files.shown(file) });
      }
    }
  }
}

/** Finds files that name another address than the website's. */
export function judgeAddress(files: SiteFiles, { findings, tree }: CheckRun): void {
  for (const folder of files.folders) {
    const wrong = wrongAddresses(readFolderAddress(folder.path), folder.url, folder.path);
    for (const origin of new Set(wrong.map((each) => each.origin))) {
      const { file, line } = wrong.find((each) => each.origin === origin)!;
      const website = parseUrl(folder.url)?.origin;
      const real = website === origin ? "which only your machine can reach" : `the website is ${website}`;
      const value = `your files name ${origin}, ${real}: set ${placeOfAddress(folder.path)}`;
      findings.count("address-wrong", tree.homepage, 1, { value, file: files.shown(file), line });
    }
  }
}

function headersOf(robotsTags: readonly string[]): HeaderList {
  return robotsTags.map((value) => ["x-robots-tag", value]);
}

/** A response, and the relevant parts of its HTML. */
type Seen = { readonly page: SampledPage; readonly answer: Omit<PageAnswer, "html">; readonly head?: PageHead };
type Listed = Pick<SampledPage, "url" | "alternates">;

/** Fetches and checks pages; findings come in page order, regardless of arrival order. `pageCount`: the pages of the website. */
export async function judgeSample(
  pages: readonly SampledPage[],
  pageCount: number,
  run: CheckRun,
): Promise<PageSample> {
  const seen = await fetchAll(pages, run);
  const open = new Set(seen.flatMap(({ answer, page }) => (answer.outcome === "found" ? [serverOf(page.url)] : [])));
  let judged = 0;
  let bad = 0;
  let disallowed = 0;
  let unanswered = pages.length - seen.length;
  for (const each of seen) {
    const { outcome } = each.answer;
    if (outcome === "disallowed") disallowed += 1;
    // A bot check says nothing about the page. A password does, if other pages need none.
    else if (outcome === "refused" || (outcome === "blocked" && isInconclusive(each, open))) unanswered += 1;
    else {
      judged += 1;
      if (judge(each, run)) bad += 1;
    }
  }
  const isAll = judged >= pageCount;
  const atMost = isAll ? (judged === 0 ? 0 : bad / judged) : upperBound(bad, judged);
  return { pages: pageCount, judged, bad, atMost, disallowed, unanswered };
}

// Those that have responded when the time limit is reached.
async function fetchAll(pages: readonly SampledPage[], { tree, site, settings, time }: CheckRun): Promise<Seen[]> {
  const { signal, crawl: options } = settings;
  const end = new AbortController();
  const onAbort = () => end.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  // setTimeout treats longer delays as 1 ms.
  const timer = time.left < 2 ** 31 ? setTimeout(() => end.abort(), Math.max(0, time.left)) : undefined;
  const { openPageFetch } = await import("../../crawl/fetch-pages.ts");
  const crawl = { ...options, signal: end.signal };
  const source = await openPageFetch(
    tree.homepage,
    partsOf(tree).isNamed ? [tree.homepage] : [],
    crawl,
    bounds.pageBytes,
  );
  const seen: (Seen | undefined)[] = [];
  let next = 0;
  const worker = async () => {
    while (next < pages.length && !end.signal.aborted) {
      const index = next++;
      const page = pages[index]!;
      const { html, ...answer } = await source.page(page.url);
      const isFound = answer.outcome === "found";
      seen[index] = {
        page,
        answer,
        ...(isFound && { head: readPageHead(page.url, answer.headers, html, site.rewrite) }),
      };
    }
  };
  try {
    // How many wait to be sent. fetch/limiter.ts decides how many are.
    await Promise.all(Array.from({ length: mostWaiting }, worker));
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    await source.close();
  }
  signal?.throwIfAborted();
  return seen.filter((each) => each !== undefined);
}

const mostWaiting = 16;

function isInconclusive({ answer, page }: Seen, open: ReadonlySet<string>): boolean {
  const { reason } = answer;
  return reason?.code === "bot-check" || reason?.code === "rate-limited" || !open.has(serverOf(page.url));
}

// Whether it should not be listed as is.
function judge({ page, answer, head }: Seen, run: CheckRun): boolean {
  const own = new SitemapFindings(run.findings, page.sitemap);
  const { url, lastModified = "" } = page;
  const { outcome, target, status, reason, headers } = answer;
  if (outcome === "redirect")
    own.add("page-redirect", url, target === undefined ? reason?.message : `${status} to ${target}`);
  else if (head === undefined) own.add("page-unreachable", url, reason?.message ?? String(status ?? ""));
  if (head === undefined) return true;
  const changed = Date.parse(header(headers, "last-modified") ?? "");
  if (Date.parse(lastModified) - changed > bounds.pageOlder)
    own.add("page-lastmod-older", url, `${lastModified}, but ${new Date(changed).toISOString()}`);
  return judgeHead(page, head, run, own);
}

// Checks the page's own metadata. Returns whether it should not be listed as is.
function judgeHead(page: Listed, head: PageHead, run: CheckRun, findings: SitemapFindings, file?: string): boolean {
  const { url, alternates } = page;
  const { agents } = run.settings;
  const { noindex, canonical, refresh, lines } = head;
  const at = (what: keyof PageHead["lines"]) => (file === undefined ? {} : { file, line: lines[what] });
  // Such a page often has a noindex and a canonical URL, too.
  if (refresh !== undefined && !isSamePage(refresh, url)) {
    findings.add("page-redirect-stub", url, refresh, undefined, at("refresh"));
    return true;
  }
  const excluded = agents.filter((agent) => isExcluded(agent, noindex));
  if (excluded.length > 0) {
    const own = excluded[0] === agents[0] ? undefined : "warning";
    findings.add("page-noindex", url, excluded.join(", "), own, at("noindex"));
  }
  const isElsewhere = canonical !== undefined && !isSamePage(canonical, url);
  if (isElsewhere) findings.add("page-canonical-other", url, canonical, undefined, at("canonical"));
  const different = differentLanguage(alternates, head);
  if (different !== undefined) findings.add("page-hreflang-differs", url, different, undefined, at("alternates"));
  return excluded.length > 0 || isElsewhere;
}

// Yandex uses another name for its crawler in pages: https://yandex.com/support/webmaster/controlling-robot/meta-robots.html
function isExcluded(agent: string, noindex: ReadonlySet<string>): boolean {
  const name = agent.toLowerCase();
  return noindex.has("robots") || noindex.has(name) || (name.startsWith("yandex") && noindex.has("yandex"));
}

function differentLanguage(alternates: readonly AlternatePage[], head: PageHead): string | undefined {
  if (alternates.length === 0 || head.alternates.size === 0) return undefined;
  const listed = new Map(alternates.map((each) => [each.language.toLowerCase(), each.url]));
  return [...new Set([...listed.keys(), ...head.alternates.keys()])].find((language) => {
    const one = listed.get(language);
    const two = head.alternates.get(language);
    return one === undefined || two === undefined || !isSamePage(one, two);
  });
}

function isSamePage(one: string, two: string): boolean {
  return normalOf(one) === normalOf(two);
}

function normalOf(url: string): string {
  return (parseUrl(url)?.href ?? url).replace(/#.*$/s, "");
}

function serverOf(url: string): string {
  return parseUrl(url)?.origin ?? "";
}
