// Rules about finding and fetching sitemaps.
import { type DocumentResponse, header } from "../../model/exchange.ts";
import { size } from "../../model/figures.ts";
import { type IndexSitemap, robotsTxtBytes, type Sitemap } from "../../model/sitemap.ts";
import { urlKey } from "../../model/url.ts";
import { type CheckRun, type DocumentContext, isRobots } from "../context.ts";
import type { SitemapFindings } from "../findings/findings.ts";
import { bounds } from "./bounds.ts";
import { type RuleRows, rule, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";

export const fetchingRules: RuleRows = {
  "address-wrong": rule("error", "practice", sources.protocol("location"), {
    sentence: "The files of a static site contain the wrong address for the website.",
    fix: "Set the website's address in the generator. The other rules were checked as if it were right.",
    needs: ["files"],
  }),
  "sitemap-none": rule("error", "protocol", sources.protocol("informing"), {
    sentence: "No sitemap found in robots.txt, the homepage's links or the well-known paths.",
    fix: "Publish a sitemap and list it in robots.txt: `Sitemap: https://example.org/sitemap.xml`.",
    needs: ["site", "robots"],
  }),
  "robots-unreachable": ruleFor(["google"], "error", "engine", sources.robots, {
    sentence: "robots.txt cannot be reached; Google stops crawling the site for up to 12 hours.",
    fix: "Serve robots.txt with status 200, or 404 if there is none.",
    websiteProblems: "robots-unreachable",
  }),
  "robots-too-large": ruleFor(["google"], "warning", "engine", sources.robots, {
    sentence: `robots.txt is larger than ${robotsTxtBytes / 1024} KiB; Google ignores the rest, including Sitemap lines.`,
    fix: "Shorten robots.txt; put Sitemap lines first.",
    robotsProblems: "limit-robots-bytes",
  }),
  "robots-sitemap-spelling": rule("warning", "engine", sources.robots, {
    sentence: "robots.txt has a misspelled Sitemap line; search engines may skip it.",
    fix: "Write `Sitemap: https://example.org/sitemap.xml`, without quotes.",
    robotsProblems: "robots-spelling",
  }),
  "robots-sitemap-relative": ruleFor(["google", "yandex"], "error", "engine", sources.robots, {
    sentence: "robots.txt lists a sitemap with a relative URL; search engines require absolute URLs.",
    fix: "Add scheme and host.",
    robotsProblems: "url-relative",
  }),
  "robots-no-sitemap": rule("info", "protocol", sources.protocol("submit_robots"), {
    sentence: "robots.txt lists no sitemap; search engines may not find it unless you submit it.",
    fix: "Add a Sitemap line to robots.txt.",
    needs: ["site"],
  }),
  "sitemap-undeclared": rule("info", "heuristic", sources.protocol("informing"), {
    sentence: "Neither robots.txt nor an index lists this sitemap.",
    fix: "List it in robots.txt, or delete it.",
    needs: ["complete", "site", "robots"],
  }),
  "sitemap-robots-disallowed": ruleFor(["google", "yandex"], "error", "engine", sources.robots, {
    sentence: "robots.txt disallows a sitemap, so search engines do not fetch it.",
    fix: "Allow it in robots.txt.",
    needs: ["robots"],
  }),
  "sitemap-unreachable": rule("error", "engine", sources.searchConsole, {
    sentence: "A sitemap could not be fetched.",
    fix: "Publish it, or remove it from the index or robots.txt.",
    reasons:
      "dns-not-found dns-temporary timeout-connect timeout-tls timeout-first-byte timeout-idle " +
      "timeout-total connection-refused connection-reset connection-failed connection-no-socket " +
      "tls-certificate tls-failed http-protocol rate-limited address-blocked port-refused",
  }),
  "sitemap-challenge": rule("warning", "practice", sources.httpStatus, {
    sentence: "A sitemap is blocked (bot check, 401 or 403); the filter may block search engines, too.",
    fix: "Exempt sitemaps and robots.txt from the bot filter.",
    websiteProblems: "website-unreachable",
  }),
  "sitemap-redirect": ruleFor(["yandex"], "warning", "engine", sources.yandex, {
    sentence: "A sitemap URL redirects; Yandex requires status 200.",
    fix: "Use the final URL.",
    problems: "redirect-encoding",
  }),
  "sitemap-redirect-broken": rule("error", "practice", sources.httpStatus, {
    sentence:
      "Redirect error: a sitemap has a redirect loop, too many redirects, an invalid redirect, or one from https to http.",
    fix: "Fix the redirect, or use the final URL.",
    problems: "redirect-downgrade",
    reasons: "redirect-loop limit-redirects redirect-invalid scheme-refused",
  }),
  "sitemap-slow": rule("info", "heuristic", sources.searchConsole, {
    sentence: `A sitemap takes longer than ${bounds.slow / 1000} s to respond; search engines may give up.`,
    fix: "Generate the sitemap in advance, not on request.",
    needs: ["response"],
  }),
  "sitemap-served-as-html": rule("info", "heuristic", sources.buildSitemap, {
    sentence: "An XML sitemap is served with the content type text/html.",
    fix: "Serve it as application/xml.",
    needs: ["response"],
  }),
  "sitemap-cut-off": rule("error", "engine", sources.searchConsole, {
    sentence: "A sitemap is cut off; search engines do not see the rest.",
    fix: "Fix the server or the generator.",
    problems:
      "body-short body-reset timeout-idle timeout-total connection-reset connection-failed " +
      "connection-no-socket http-protocol coding-truncated xml-truncated json-not-well-formed",
  }),
  "sitemap-compression": rule("error", "engine", sources.searchConsole, {
    sentence: "Compression error: a sitemap cannot be decompressed without errors.",
    fix: "Compress the file once, with gzip, and send a matching Content-Encoding.",
    problems: "coding-trailing coding-checksum coding-damaged coding-unknown coding-mismatch limit-encoding-layers",
  }),
  "sitemap-not-compressed": rule("info", "protocol", sources.protocol("index"), {
    sentence: "A large sitemap is sent uncompressed.",
    fix: "Compress it with gzip.",
    needs: ["response"],
  }),
};

/** Checks how a document was served, and whether robots.txt allows it. */
export function checkFetch({ sitemap, response, findings, run }: DocumentContext): void {
  // Local files have no real response.
  if (response !== undefined && run.settings.files === undefined) checkResponse(sitemap, response, findings, run);
  const blocked = isRobots(sitemap) ? undefined : run.robots.blocked(sitemap.url);
  if (blocked === undefined) return;
  findings.add("sitemap-robots-disallowed", undefined, blocked.agents, blocked.isFirst ? undefined : "warning");
}

function checkResponse(sitemap: Sitemap, response: DocumentResponse, findings: SitemapFindings, run: CheckRun): void {
  const { wireBytes, decodedBytes, firstByte, headers } = response;
  if (headers.length === 0 && response.receivedAt === undefined) return;
  if (wireBytes > bounds.uncompressedBytes && wireBytes === decodedBytes) {
    findings.add("sitemap-not-compressed", undefined, size(wireBytes));
  }
  if (firstByte !== undefined && firstByte > run.settings.slow) {
    findings.add("sitemap-slow", undefined, `${(firstByte / 1000).toFixed(1)} s`);
  }
  const isXml = sitemap.kind === "index" || (sitemap.kind === "pages" && /^(?:xml|rss|atom)$/.test(sitemap.format));
  const type = header(headers, "content-type") ?? "";
  if (isXml && /^\s*text\/html\b/i.test(type)) findings.add("sitemap-served-as-html", undefined, type);
}

export function checkRedirect({ sitemap, parent, findings, run: { site } }: DocumentContext): void {
  const { declaredUrl, url } = sitemap;
  if (declaredUrl === undefined || sitemap.kind === "invalid" || parent === undefined || isRobots(sitemap)) return;
  if (site.declared(sitemap) === url) return;
  // Nobody declares a well-known path, so it may redirect.
  const isDeclared = parent.format !== "website" || site.foundBy(sitemap) !== "known-path";
  if (isDeclared) findings.add("sitemap-redirect", undefined, `${declaredUrl} leads to ${url}`);
}

/** Checks how sitemaps were found. `listedUrls` has the keys of the URLs that XML indexes list. */
export function checkDiscovery({ tree, site, findings, robots }: CheckRun, listedUrls: ReadonlySet<string>): void {
  if (!site.isSite) return;
  const isOwn = (sitemap: Sitemap) => sitemap !== tree.root && !isRobots(sitemap) && site.isForSearch(sitemap);
  const found = [...tree.sitemaps()].filter(isOwn);
  // If robots.txt or a well-known path could not be read, there may be a sitemap.
  if (found.length === 0 && tree.complete && robots.isKnown) findings.count("sitemap-none", tree.homepage, 1);
  if (site.robots !== undefined && listsNoSitemap(site.robots) && found.some(({ kind }) => kind !== "invalid"))
    findings.count("robots-no-sitemap", site.robots.url, 1);
  if (!tree.complete || !robots.isKnown) return;
  for (const child of tree.root.children.filter(isOwn)) {
    const isFound = child.kind !== "invalid" && site.foundBy(child) !== undefined;
    if (isFound && !listedUrls.has(urlKey(child.url))) findings.count("sitemap-undeclared", child.url, 1);
  }
}

// A Sitemap line with an invalid URL is a different finding. If robots.txt was not fully read, the rest may have Sitemap lines.
function listsNoSitemap({ children, complete, problems }: IndexSitemap): boolean {
  return children.length === 0 && complete && !problems.some(({ code }) => code.startsWith("url-"));
}
