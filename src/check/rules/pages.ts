// Rules about the pages themselves, which are requested from the website (pages/requested-pages.ts) or read from the files of a static site
// (folder/file-rules.ts): whether they can be opened, redirect, have `noindex`, or declare another canonical URL.

import { header } from "../../model/exchange.ts";
import { lastInstant } from "../../model/instant.ts";
import type { AlternatePage, SitemapPage } from "../../model/page.ts";
import { rewriteUnlessTarget } from "../../model/rewrite.ts";
import { parseUrl } from "../../model/url.ts";
import type { PageAnswer } from "../../pages/fetch-pages.ts";
import type { CheckRun } from "../context.ts";
import type { LastmodEvidence } from "../dates/lastmod-trust.ts";
import { SitemapFindings } from "../findings/findings.ts";
import type { PageHead } from "../pages/page-head.ts";
import { bounds } from "./bounds.ts";
import { type RuleRows, rule, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";

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
    sentence: "A listed page has no file, so visitors usually get a 404.",
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
    sentence: "A listed image does not exist (404, 410, or no file).",
    fix: "Restore the image, or remove it from the sitemap.",
    needs: ["pages"],
  }),
};

/** A page that was requested: the response, and what its HTML says about it. */
export interface RequestedPage extends ListedPage {
  readonly answer: Omit<PageAnswer, "html">;
  readonly head?: PageHead;
  readonly isError?: boolean;
}

/** A page, and the sitemap that lists it. */
export interface ListedPage {
  readonly page: SitemapPage;
  readonly sitemap: string;
}

/** Checks a requested page. Returns whether it should not be listed as it is. `isListed` tells whether a sitemap lists a URL. */
export function checkPage(
  { page, sitemap, answer, head, isError }: RequestedPage,
  isListed: (url: string) => boolean,
  run: CheckRun,
  trust: LastmodEvidence,
): boolean {
  const own = new SitemapFindings(run.findings, sitemap);
  const { url, lastModified } = page;
  const { outcome, target, status, reason, headers } = answer;
  if (outcome === "redirect") {
    const isTargetListed = target !== undefined && isListed(rewriteUnlessTarget(target, run.site.rewrite));
    // A sitemap that could not be read may list the target.
    const listed = isTargetListed ? " (listed)" : run.tree.complete ? " (not listed)" : "";
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

/** Checks what a page says about itself. Returns whether it should not be listed as it is. `file` is its file in a static site. */
export function checkHead(
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

export function isExcluded(agent: string, noindex: PageHead["noindex"]): boolean {
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
