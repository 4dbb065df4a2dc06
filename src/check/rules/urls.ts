// Rules about the URLs of pages: whether their sitemap may list them, how they are written, and whether their pages belong in search results.
import { grouped } from "../../model/figures.ts";
import { bareHost, protocolUrlLength } from "../../model/url.ts";
import { type CheckRun, type Origin, readOrigin, type SitemapContext } from "../context.ts";
import type { SitemapFindings } from "../findings/findings.ts";
import { bounds } from "./bounds.ts";
import { FacetPaths } from "./facet-paths.ts";
import { type RuleRows, rule, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";
import { UrlScan } from "./url-scan.ts";

export const urlRules: RuleRows = {
  "url-missing": rule("error", "protocol", sources.protocol("locdef"), {
    sentence: "Missing XML tag: an entry has no `<loc>`.",
    fix: "Give the entry a URL, or remove it.",
    problems: "url-missing",
  }),
  "url-tag-repeated": ruleFor(["google", "yandex"], "error", "engine", sources.searchConsole, {
    sentence: "Invalid XML: too many tags. An entry repeats a tag that may occur once.",
    fix: "Write it once.",
    problems: "url-several element-repeated",
  }),
  "url-not-absolute": rule("error", "protocol", sources.protocol("locdef"), {
    sentence: "Invalid URL: relative; search engines drop it.",
    fix: "Write the full URL, with scheme and host.",
    problems: "url-relative",
  }),
  "url-invalid": rule("error", "protocol", sources.protocol("locdef"), {
    sentence: "Invalid URL: not an http or https URL; search engines drop it.",
    fix: "Correct the URL, or remove the entry.",
    problems: "url-repaired url-invalid url-scheme",
    robotsProblems: "url-invalid url-scheme",
  }),
  "url-too-long": rule("warning", "protocol", sources.protocol("locdef"), {
    sentence: `A URL is longer than ${grouped(protocolUrlLength)} characters.`,
    fix: "Shorten the URL.",
    problems: "protocol-url-length limit-url-length",
  }),
  "url-too-long-yandex": ruleFor(["yandex"], "info", "engine", sources.yandex, {
    sentence: `A URL is longer than the ${grouped(bounds.yandexUrlLength)} characters that Yandex accepts.`,
    fix: "Shorten the URL.",
  }),
  "url-escaped-twice": rule("error", "protocol", sources.protocol("escaping"), {
    sentence: "A URL is escaped twice (`&amp;amp;`); search engines fetch the wrong page.",
    fix: "Escape once: `&amp;`.",
    problems: "url-double-escaped",
  }),
  "url-www-mismatch": rule("error", "protocol", sources.protocol("location"), {
    sentence: "Path mismatch: the sitemap's host has `www.` and its URLs do not, or vice versa.",
    fix: "Use the same host everywhere.",
    needs: ["location"],
  }),
  "url-other-host": rule("error", "protocol", sources.protocol("sitemaps_cross_submits"), {
    sentence:
      "URL not allowed: the URL is on a different host than the sitemap; search engines drop it without cross-submission.",
    fix: "Give that host its own sitemap, or list this one in its robots.txt.",
    needs: ["location"],
  }),
  "url-other-scheme": rule("error", "protocol", sources.protocol("location"), {
    sentence: "URL not allowed: the sitemap uses https and its URLs http, or vice versa.",
    fix: "Use https everywhere.",
    needs: ["location"],
  }),
  "url-outside-directory": rule("warning", "protocol", sources.protocol("location"), {
    sentence: "Path mismatch: a sitemap may only list URLs in its own directory or below.",
    fix: "Move the sitemap to the site's root, list it in robots.txt, or submit it in Search Console.",
    needs: ["location"],
  }),
  "url-private-host": rule("error", "practice", sources.protocol("locdef"), {
    sentence: "A URL is on a private host, or on one that looks like staging.",
    fix: "Set the site's public URL in the generator.",
  }),
  "url-robots-disallowed": rule("error", "engine", sources.robots, {
    sentence: "URL blocked by robots.txt: search engines cannot crawl the page, and may list it without a description.",
    fix: "Remove it from the sitemap, or allow it in robots.txt.",
    needs: ["robots"],
  }),
  "url-forbidden": rule("error", "practice", sources.protocol("locdef"), {
    sentence: "A sitemap lists a page that your configuration forbids.",
    fix: "Exclude the page from the sitemap, or change `forbidden` in sitegrove.json.",
  }),
  "url-credentials": rule("error", "practice", `${sources.uri}#section-3.2.1`, {
    sentence: "A URL contains a user name or password.",
    fix: "Remove both, and change the password.",
  }),
  "url-fragment": ruleFor(["google"], "warning", "engine", sources.urlStructure, {
    sentence: "A URL has a fragment (`#…`), which Google ignores.",
    fix: "Remove the fragment.",
  }),
  "url-session-id": rule("warning", "engine", sources.urlStructure, {
    sentence: "A URL seems to contain a session ID; each visit would create another URL for the same page.",
    fix: "Remove the session ID.",
  }),
  "url-tracking-parameter": rule("warning", "engine", sources.urlStructure, {
    sentence: "A URL contains tracking parameters; search engines see a duplicate page.",
    fix: "Remove the parameters.",
  }),
  "url-not-escaped": rule("warning", "protocol", sources.protocol("escaping"), {
    sentence: "A URL has characters that must be percent-encoded, such as spaces or non-ASCII letters.",
    fix: "Percent-encode the URL as UTF-8.",
  }),
  "url-percent-invalid": rule("error", "protocol", `${sources.uri}#section-2.1`, {
    sentence: "A `%` in a URL is not followed by two hexadecimal digits.",
    fix: "Write `%25` for a percent sign.",
  }),
  "url-percent-twice": rule("warning", "heuristic", `${sources.uri}#section-2.4`, {
    sentence: "A URL looks percent-encoded twice (`%2520`).",
    fix: "Percent-encode once.",
  }),
  "url-not-normal": ruleFor(["google"], "info", "engine", sources.buildSitemap, {
    sentence:
      "A URL is not normalized: an upper-case host, a default port, `.` or `..` in the path, or a trailing dot in the host.",
    fix: "Write it the way the site's own links do.",
  }),
  "url-double-slash": rule("info", "heuristic", sources.urlStructure, {
    sentence: "A URL has `//` in its path, often from joining two parts.",
    fix: "Fix how the URL is built.",
  }),
  "url-asset": rule("info", "heuristic", sources.images, {
    sentence: "A listed URL is not a page but a file, such as an image or a script.",
    fix: "Remove it; list images in `<image:image>` of their page.",
  }),
  "url-utility": rule("info", "engine", sources.urlStructure, {
    sentence: "A listed page looks useless in search results: a cart, a login, or an internal search.",
    fix: "Remove it.",
  }),
  "url-facet": rule("warning", "engine", sources.urlStructure, {
    sentence: `A URL looks like a sorted, filtered or later page of a list; such URLs waste crawl budget. One path with ${bounds.facetSets} or more combinations of parameters is reported, too.`,
    fix: "Keep only the first, unfiltered page of the list.",
  }),
  "url-duplicate": rule("warning", "heuristic", sources.buildSitemap, {
    sentence: "More than one sitemap lists this URL.",
    fix: "List it in one.",
  }),
  "url-repeated": rule("info", "heuristic", sources.buildSitemap, {
    sentence: "One sitemap lists a URL more than once.",
    fix: "List it once.",
    problems: "url-repeated",
  }),
  "url-variants": rule("warning", "engine", sources.urlStructure, {
    sentence:
      "A page is listed under several URLs that differ in scheme, `www.`, case, trailing slash or parameter order.",
    fix: "List only the canonical URL.",
  }),
  "url-lastmod-conflict": rule("warning", "heuristic", sources.protocol("lastmoddef"), {
    sentence: "Sitemaps give different dates for a page.",
    fix: "Use one source for the date.",
  }),
  "homepage-unlisted": rule("info", "heuristic", sources.buildSitemap, {
    sentence: "The homepage is in no sitemap.",
    fix: "Add it.",
    needs: ["complete", "site"],
  }),
};

export class UrlRules {
  readonly #homepage = new UrlScan();
  #isHomepageListed = false;
  #pages = 0;
  // The key is the text before the path. Most websites have one origin, but a hostile one could have any number.
  readonly #origins = new Map<string, Origin | undefined>();
  readonly #sitemapHosts = new Set<string>();
  // Sitemaps that list URLs outside their directory, which is allowed because robots.txt lists them.
  readonly #submittedOutside = new Set<string>();
  readonly #facets = new FacetPaths();

  constructor(homepage: string) {
    this.#homepage.read(homepage);
  }

  begin({ location }: SitemapContext): void {
    if (location !== undefined) this.#sitemapHosts.add(location.origin.host);
  }

  /** Checks a URL. `scan` has read it. */
  check(url: string, scan: UrlScan, context: SitemapContext): void {
    const { findings, run } = context;
    const { pageHigh, pageLow } = this.#homepage;
    this.#pages += 1;
    this.#isHomepageListed ||= scan.pageHigh === pageHigh && scan.pageLow === pageLow;
    const forbiddenBy = run.settings.forbiddenBy(url);
    if (forbiddenBy !== undefined) findings.add("url-forbidden", url, forbiddenBy);
    const origin = this.#originOf(url, scan.hostEnd);
    if (origin !== undefined) {
      if (origin.hasCredentials) findings.add("url-credentials", withoutPassword(url));
      if (this.#checkHost(url, origin, context)) this.#checkDirectory(url, scan.hostEnd, origin, context);
    }
    const path = pathOf(url, scan);
    const parameters = parametersOf(url, scan);
    if (origin?.isOddlyWritten || dotSegment.test(path)) findings.add("url-not-normal", url);
    checkSpelling(url, path, findings);
    checkIdentity(url, path, parameters, scan, findings);
    const blocked = run.robots.blocked(url);
    if (blocked === undefined) this.#checkUsefulness(url, path, parameters, findings);
    else findings.add("url-robots-disallowed", url, blocked.agents, blocked.isFirst ? undefined : "warning");
  }

  /** Whether a sitemap on the host of a URL was read. */
  isKnownHost(url: string, hostEnd: number): boolean {
    const host = this.#originOf(url, hostEnd)?.host;
    return host !== undefined && this.#sitemapHosts.has(host);
  }

  #originOf(url: string, hostEnd: number): Origin | undefined {
    const text = url.slice(0, hostEnd);
    let origin = this.#origins.get(text);
    if (origin === undefined && !this.#origins.has(text)) {
      origin = readOrigin(text);
      if (this.#origins.size >= mostOrigins) this.#origins.clear();
      this.#origins.set(text, origin);
    }
    return origin;
  }

  // Returns whether the URL is on the host of its sitemap and nothing is wrong with that. Reports at most one finding about the host.
  #checkHost(url: string, origin: Origin, context: SitemapContext): boolean {
    const { location, findings, submittedBy, run } = context;
    // The user can reach the host of the website that is checked, even if it is private.
    const isHome = origin.host === run.site.homeHost;
    if (origin.reach === "private" && !isHome) {
      findings.add("url-private-host", url, origin.host);
      return false;
    }
    const isAllowed = run.settings.crossSubmit.has(origin.host) || submittedBy.has(origin.host);
    if (origin.reach === "staging" && !isHome && origin.host !== location?.origin.host) {
      findings.add("url-private-host", url, origin.host, isAllowed ? "warning" : undefined);
      return false;
    }
    if (location !== undefined && origin.host !== location.origin.host && !isAllowed) {
      const isWww = bareHost(origin.host) === bareHost(location.origin.host);
      findings.add(isWww ? "url-www-mismatch" : "url-other-host", url, location.origin.host);
      return false;
    }
    return location?.origin.host === origin.host;
  }

  #checkDirectory(url: string, hostEnd: number, origin: Origin, context: SitemapContext): void {
    const { location, findings, run, submittedBy } = context;
    if (location === undefined) return;
    if (origin.scheme !== location.origin.scheme) findings.add("url-other-scheme", url, location.origin.scheme);
    else if (run.site.isSite && !url.startsWith(location.directory) && location.directory !== `${location.start}/`) {
      if ((location.start + url.slice(hostEnd)).startsWith(location.directory)) return;
      // A sitemap listed in robots.txt may be anywhere.
      if (submittedBy.has(origin.host)) this.#submittedOutside.add(findings.sitemap);
      else findings.add("url-outside-directory", url, location.directory);
    }
  }

  // Finds pages that nobody would search for.
  #checkUsefulness(url: string, path: string, parameters: string, findings: SitemapFindings): void {
    const isSearch = searchQuery.test(parameters) || (searchPage.test(path) && pageSearchQuery.test(parameters));
    if (utility.test(path) || isSearch) findings.add("url-utility", url);
    else if (pagedPath.test(path) || facet.test(parameters)) findings.add("url-facet", url);
    else if (parameters.length > 1) this.#facets.add(url, parameters, findings.sitemap);
  }

  /** Whether there are too many paths with parameters to compare all of them. */
  get areFacetsSpent(): boolean {
    return this.#facets.isSpent;
  }

  /** Checks the rules about the whole website, after all pages. `isComplete` is whether everything declared was read. */
  finish({ findings, tree, site }: CheckRun, isComplete: boolean): void {
    this.#facets.report(findings);
    for (const value of this.#submittedOutside)
      findings.count("url-outside-directory", tree.homepage, 1, { value }, "info");
    if (isComplete && site.isSite && this.#pages >= bounds.homepagePages && !this.#isHomepageListed)
      findings.count("homepage-unlisted", tree.homepage, 1, { url: tree.homepage });
  }
}

const mostOrigins = 10_000;

function checkSpelling(url: string, path: string, findings: SitemapFindings): void {
  if (unusual.test(url)) {
    if (forbidden.test(url)) findings.add("url-not-escaped", url);
    else if (nonAscii.test(url)) findings.add("url-not-escaped", url, undefined, "info");
    if (percentInvalid.test(url)) findings.add("url-percent-invalid", url);
    else if (percentTwice.test(url)) findings.add("url-percent-twice", url);
  }
  if (path.includes("//")) findings.add("url-double-slash", url);
  // A longer URL is `url-too-long`. Yandex counts the characters before percent-encoding, which turns each byte into three.
  const isLong = url.length > bounds.yandexUrlLength && url.length <= protocolUrlLength;
  if (isLong && decodedLength(url) > bounds.yandexUrlLength) findings.add("url-too-long-yandex", url);
}

// Finds URLs that do not simply identify a page: with a fragment, a session ID or tracking parameters, or of a file.
function checkIdentity(url: string, path: string, parameters: string, scan: UrlScan, findings: SitemapFindings): void {
  const { fragment } = scan;
  if (fragment >= 0 && fragment < url.length - 1) findings.add("url-fragment", url);
  if (sessionParameter.test(parameters) || sessionPath.test(path)) findings.add("url-session-id", url);
  if (trackingParameter.test(parameters)) findings.add("url-tracking-parameter", url);
  if (asset.test(path)) findings.add("url-asset", url);
}

function pathOf(url: string, { hostEnd, query, fragment }: UrlScan): string {
  const end = query >= 0 ? query : fragment >= 0 ? fragment : url.length;
  return url.slice(hostEnd, end);
}

// Returns the query, with its question mark.
function parametersOf(url: string, { query, fragment }: UrlScan): string {
  return query < 0 ? "" : url.slice(query, fragment < 0 ? url.length : fragment);
}

function decodedLength(url: string): number {
  // In UTF-8, only the first byte of a character is not 10xxxxxx, so the other bytes (%80 to %BF) do not count.
  return url.replaceAll(/%[89ab][0-9a-f]/gi, "").replaceAll(/%[0-9a-f]{2}/gi, "x").length;
}

// Findings are printed and stored, so they must not contain passwords.
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, "//…@");
}

// Characters that most URLs do not have. Without them, none of the next four patterns matches.
const unusual = /[^\w.~:/?#[\]@!$&'()*+,=-]/;
// Characters that neither RFC 3986 (URIs) nor RFC 3987 (IRIs) allows.
const forbidden = /[ "<>\\^`{|}]/;
const nonAscii = /[^\x00-\x7f]/;
const percentInvalid = /%(?![0-9a-f]{2})/i;
const percentTwice = /%25[0-9a-f]{2}/i;
const dotSegment = /\/\.\.?(?:\/|$)/;
// `session` may be the session of a conference, so its value must look like an ID.
const sessionParameter =
  /[?&](?:(?:PHPSESSID|sid|sess(?:ion)?_?(?:id|key)|jsessionid|ASPSESSIONID[a-z]*|zenid|osCsid|cfid|cftoken|_?s_?id|PHPSESSION)=|sess(?:ion)?=[\w-]{16})/i;
// Without cookies, Java and ASP.NET write the session ID into the path.
const sessionPath = /;(?:jsessionid|JSESSIONID)=|\/\((?:[A-Z]\([\w-]+\))+\)\//;
const trackingParameter = /[?&](?:utm_[a-z]+|gclid|fbclid|msclkid|yclid|_ga|_gl|mc_eid|ref)=/i;
const asset = /\.(?:css|js|mjs|json|map|png|jpe?g|gif|svg|webp|avif|woff2?|ico)$/i;
const utility =
  /^\/(?:[a-z]{2}(?:-[a-z]{2})?\/)?(?:cart|basket|checkout|log-?in|sign-?in|sign-?up|register|account|my-account|wp-admin|wp-login\.php|search(?:-results)?|catalogsearch|wishlist|compare|password|logout|customer\/account)(?:\/|$)/i;
// Parameters that sort, filter or page through a list. `?page=2` is part of a list, but `?page=about` is a page.
const facet =
  /[?&](?:(?:sort|order|filter|facet|refine|layered|price|min|max|min_price|max_price|per_?page|items_?per_?page|product_list_\w+|prefn\d|orderby|sort_?by|sort_?order|pmin|pmax|srule)(?:\[[^=]*\]|[_.-]\w+)?=|(?:page|p|pg|paged|page_?no|pagenum|start|offset)=\d+(?:&|#|$))/i;
const pagedPath = /\/page\/\d+\/?$/i;
const searchQuery = /[?&](?:q|query|search|search_?query|searchterm|keywords?)=/i;
// The front page of a directory. WordPress searches there with `s`; elsewhere `s` may be a size.
const searchPage = /^(?:\/|\/(?:.*\/)?(?:index\.php)?)?$/i;
const pageSearchQuery = /[?&]s=/i;
