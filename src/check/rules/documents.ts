// Rules about sitemaps and indexes as documents: their size, character set and format, and what indexes list.

import { grouped, size } from "../../model/figures.ts";
import {
  type IndexSitemap,
  type PagesSitemap,
  problemsOf,
  protocolBytes,
  protocolEntries,
  type Sitemap,
} from "../../model/sitemap.ts";
import { urlKey } from "../../model/url.ts";
import { type CheckRun, type DocumentContext, locationOf } from "../context.ts";
import { SitemapFindings } from "../findings/findings.ts";
import { bounds } from "./bounds.ts";
import { type RuleRows, rule, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";

const entries = grouped(protocolEntries);
const megabytes = protocolBytes / 1024 ** 2;

export const documentRules: RuleRows = {
  "sitemap-is-html": rule("error", "engine", sources.searchConsole, {
    sentence: "Sitemap is HTML: the server sends a web page, often an error page with status 200.",
    fix: "Serve the sitemap, or answer 404 and remove it from the index or robots.txt.",
  }),
  "sitemap-unsupported": rule("error", "engine", sources.searchConsole, {
    sentence: "Unsupported file format: search engines cannot read it.",
    fix: "Serve an XML or text sitemap, or remove it from the index or robots.txt.",
  }),
  "sitemap-empty": rule("warning", "engine", sources.searchConsole, {
    sentence: "Empty sitemap.",
    fix: "Fix the generator, or delete the file.",
    reasons: "empty",
  }),
  "sitemap-not-well-formed": rule("error", "protocol", sources.protocol("escaping"), {
    sentence: "Parsing error: not well-formed XML; search engines stop reading there.",
    fix: "Escape `&`, `<`, `>`, `\"` and `'`, or better, use an XML library.",
    problems:
      "xml-mismatched-tag xml-malformed-tag xml-stray-text xml-unclosed-instruction xml-comment-end " +
      "xml-bare-ampersand xml-html-entity xml-unknown-entity xml-char-reference xml-junk-after-root " +
      "xml-not-well-formed",
    reasons: "xml-dtd-refused",
  }),
  "sitemap-leading-text": rule("error", "engine", sources.searchConsole, {
    sentence: "Leading whitespace or text before the XML declaration.",
    fix: "Remove what comes before `<?xml`, often a blank line in a template or a PHP warning.",
    problems: "xml-junk-before-root",
  }),
  "sitemap-namespace": rule("error", "protocol", sources.protocol("validating"), {
    sentence: "Incorrect namespace: wrong namespace, element name or position.",
    fix: 'Declare namespaces on the root element: `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`.',
    problems: "xml-entry-skipped xml-namespace xml-root-name xml-element-name xml-misplaced",
  }),
  "sitemap-not-utf8": rule("error", "protocol", sources.protocol("escaping"), {
    sentence: "The file is not valid UTF-8, or is declared as something else.",
    fix: "Write it in UTF-8, and name no other character set in the Content-Type header or the XML declaration.",
    problems: "charset-unsupported charset-conflict charset-invalid",
  }),
  "sitemap-too-large": rule("error", "protocol", sources.protocol("index"), {
    sentence: `Sitemap file size error: larger than ${megabytes} MB uncompressed.`,
    fix: "Split it, and list the parts in an index.",
    problems: "protocol-size",
  }),
  "sitemap-too-many-urls": rule("error", "protocol", sources.protocol("index"), {
    sentence: `Too many URLs in sitemap: more than ${entries}; search engines may ignore the rest.`,
    fix: "Split it, and list the parts in an index.",
    problems: "protocol-entries",
  }),
  "sitemap-near-limit": rule("info", "heuristic", sources.protocol("index"), {
    sentence: `A sitemap is close to the limit of ${entries} URLs or ${megabytes} MB.`,
    fix: "Split it before it reaches the limit.",
  }),
  "index-too-many-sitemaps": rule("error", "protocol", sources.protocol("index"), {
    sentence: `Too many sitemaps in the index: more than ${entries}.`,
    fix: "Use a second index, and list it in robots.txt.",
  }),
  "index-nested": ruleFor(["google", "yandex"], "error", "engine", sources.searchConsole, {
    sentence: "Incorrect sitemap index format: nested sitemap indexes. Google ignores what a nested index lists.",
    fix: "List the sitemaps themselves, or list each index in robots.txt.",
  }),
  "index-mixed": rule("error", "protocol", sources.protocol("index"), {
    sentence: "A file lists both pages and sitemaps.",
    fix: "Use two files.",
    problems: "xml-mixed",
  }),
  "index-cycle": rule("error", "practice", sources.protocol("index"), {
    sentence: "A sitemap index lists itself, directly or through another index.",
    fix: "Remove the entry.",
    reasons: "cycle",
  }),
  "index-child-other-site": rule("warning", "protocol", sources.protocol("index"), {
    sentence: "An index lists a sitemap on another host; search engines ignore it without cross-submission.",
    fix: "Host it on the same site as the index, or list it in this site's robots.txt.",
    needs: ["location"],
  }),
  "index-child-outside-directory": ruleFor(["google"], "info", "engine", sources.largeSitemaps, {
    sentence: "A sitemap is outside its index's directory; Google requires it there or below.",
    fix: "Move the index to the site's root.",
    needs: ["location"],
  }),
  "index-child-repeated": rule("warning", "heuristic", sources.protocol("index"), {
    sentence: "A sitemap is listed more than once, in one index or in several.",
    fix: "List it once.",
  }),
  "index-lastmod-stale": rule("warning", "protocol", sources.protocol("sitemapIndexTagDefinitions"), {
    sentence:
      "The index's date for a sitemap is older than its newest page; search engines that trust it will not fetch the sitemap again.",
    fix: "Update the index whenever a sitemap changes.",
  }),
  "index-lastmod-identical": ruleFor(["bing"], "info", "engine", sources.bingLastmod, {
    sentence: "All sitemaps of an index have the same date.",
    fix: "Give each sitemap the time of its own last change.",
  }),
  "feed-unsupported": ruleFor(["google"], "warning", "engine", sources.buildSitemap, {
    sentence: "Google accepts only RSS 2.0 and Atom 1.0 feeds as sitemaps.",
    fix: "Publish an XML sitemap, RSS 2.0 or Atom 1.0.",
  }),
  "feed-as-only-sitemap": ruleFor(["google", "yandex"], "info", "engine", sources.buildSitemap, {
    sentence: "All sitemaps are feeds, which list recent pages only; Yandex does not read them.",
    fix: "Add an XML sitemap that lists all pages.",
    needs: ["complete", "site"],
  }),
  "text-sitemap-name": ruleFor(["google"], "info", "engine", sources.buildSitemap, {
    sentence: "A text sitemap's name does not end in .txt, which Google requires.",
    fix: "Rename the file.",
    needs: ["location"],
  }),
  "text-sitemap-junk": rule("warning", "protocol", sources.protocol("otherformats"), {
    sentence: "A text sitemap has lines with something other than a single URL.",
    fix: "Write one URL per line, and nothing else.",
    problems: "text-junk text-extra limit-line-length",
  }),
};

/** Checks the size, the character set and the format of a sitemap. */
export async function checkDocument({ sitemap, response, findings, run }: DocumentContext): Promise<void> {
  const hasProblem = (prefix: string) => problemsOf(sitemap).some(({ code }) => code.startsWith(prefix));
  const { decodedBytes = 0, charset = "utf-8" } = response ?? {};
  if (decodedBytes > bounds.nearBytes && decodedBytes <= protocolBytes && !hasProblem("protocol-")) {
    findings.add("sitemap-near-limit", undefined, size(decodedBytes));
  }
  if (!/^utf-8$/i.test(charset) && !hasProblem("charset-")) findings.add("sitemap-not-utf8", undefined, charset);
  if (isXmlIndex(sitemap)) checkIndex(sitemap, findings);
  if (sitemap.kind !== "pages") return;
  const { url, pageCount, complete, format } = sitemap;
  if (isFeed(sitemap)) await checkFeed(sitemap, run.tree.text(sitemap), findings);
  if (pageCount === 0 && complete) reportEmpty(sitemap, findings);
  if (pageCount > bounds.nearEntries && !hasProblem("protocol-entries"))
    findings.add("sitemap-near-limit", undefined, `${pageCount} URLs`);
  if (format === "text" && run.settings.hasLocation && !/\.txt(?:\.gz)?(?:[?#]|$)/i.test(url))
    findings.add("text-sitemap-name");
}

// The root element has the version of the feed.
async function checkFeed(
  { format }: PagesSitemap,
  text: AsyncIterable<string>,
  findings: SitemapFindings,
): Promise<void> {
  if (format === "json") return findings.add("feed-unsupported", undefined, "JSON Feed");
  let start = "";
  for await (const piece of text) {
    start += piece;
    if (start.length >= startLength) break;
  }
  const markup = start.slice(0, startLength).replaceAll(/<!--[\s\S]*?-->/g, "");
  const [root, name] = /<(?:[\w-]+:)?(rss|feed|rdf)(?:\s[^>]*)?>/i.exec(markup) ?? [];
  if (root === undefined || name === undefined) return;
  const version = /\sversion\s*=\s*["']([^"']*)["']/i.exec(root)?.[1];
  const isOld = { rss: /^0|^1/.test(version ?? ""), feed: /^0/.test(version ?? ""), rdf: true }[name.toLowerCase()];
  if (isOld) findings.add("feed-unsupported", undefined, `${name}${version === undefined ? "" : ` ${version}`}`);
}

// How much of a feed is searched for its root element. Comments and processing instructions may come before it.
const startLength = 8192;

function checkIndex(index: IndexSitemap, findings: SitemapFindings): void {
  const { children } = index;
  if (children.length === 0 && index.complete) reportEmpty(index, findings);
  const date = children[0]?.lastModified;
  const isSame = children.every(({ lastModified }) => lastModified === date);
  if (children.length >= bounds.indexDates && date !== undefined && isSame && index.complete)
    findings.add("index-lastmod-identical", undefined, date);
}

/** Checks how an index lists a sitemap. Adds the key of its URL to `listedUrls`, the keys of the URLs that XML indexes list. */
export function checkChild(sitemap: Sitemap, parent: IndexSitemap, listedUrls: Set<string>, run: CheckRun): void {
  if (!isXmlIndex(parent) || sitemap.url === parent.url) return;
  const { site, settings } = run;
  const findings = new SitemapFindings(run.findings, parent.url);
  const url = site.declared(sitemap);
  const key = urlKey(url);
  if (listedUrls.has(key)) findings.add("index-child-repeated", undefined, url);
  listedUrls.add(key);
  if (isXmlIndex(sitemap)) findings.add("index-nested", undefined, sitemap.url);
  const own = locationOf(url);
  const above = locationOf(parent.url);
  if (!settings.hasLocation || own === undefined || above === undefined) return;
  if (own.origin.host !== above.origin.host) {
    const isSubmitted = site.isListedInRobots(sitemap) || settings.crossSubmit.has(own.origin.host);
    if (!isSubmitted) findings.add("index-child-other-site", undefined, url);
  } else if (!own.directory.startsWith(above.directory)) {
    findings.add("index-child-outside-directory", undefined, url);
  }
}

// A news sitemap or a feed may be empty on a quiet day. Google says that this is fine.
function reportEmpty(sitemap: Sitemap, findings: SitemapFindings): void {
  const isFine = /news/i.test(sitemap.url) || (sitemap.kind === "pages" && isFeed(sitemap));
  findings.add("sitemap-empty", undefined, undefined, isFine ? "info" : undefined);
}

export function checkForOnlyFeeds({ tree, site, findings }: CheckRun): void {
  const pages = [...tree.sitemaps()].filter((each) => each.kind === "pages").filter((each) => site.isForSearch(each));
  if (site.isSite && tree.complete && pages.length > 0 && pages.every(isFeed)) {
    findings.count("feed-as-only-sitemap", tree.homepage, 1, { value: pages[0]?.url });
  }
}

function isFeed({ format }: PagesSitemap): boolean {
  return format === "rss" || format === "atom" || format === "json";
}

function isXmlIndex(sitemap: Sitemap): sitemap is IndexSitemap {
  return sitemap.kind === "index" && sitemap.format === "xml";
}
