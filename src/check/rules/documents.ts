// Rules about sitemaps and indexes as documents: their size, character set and format, and what indexes list.

import type { DocumentResponse } from "../../model/exchange.ts";
import { grouped, size } from "../../model/figures.ts";
import {
  type IndexSitemap,
  type PagesSitemap,
  problemsOf,
  protocolBytes,
  protocolEntries,
  type Sitemap,
} from "../../model/sitemap.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { bounds } from "../bounds.ts";
import { locationOf, type SiteContext } from "../context.ts";
import type { Findings, SitemapFindings } from "../findings.ts";
import type { CheckSettings } from "../options.ts";
import { type RuleRow, rule } from "../rule.ts";
import * as sources from "../sources.ts";

const entries = grouped(protocolEntries);
const megabytes = protocolBytes / 1024 ** 2;

export const documentRules = {
  "sitemap-is-html": rule("error", "engine", sources.searchConsole, {
    sentence:
      "Sitemap is HTML: the server sends a web page instead of the sitemap, often its error page with status 200.",
    fix: "Serve the file, or answer with 404 and take its URL out of the index or robots.txt that names it.",
  }) as RuleRow,
  "sitemap-unsupported": rule("error", "engine", sources.searchConsole, {
    sentence: "Unsupported file format: the document is no sitemap that search engines read.",
    fix: "Serve an XML or text sitemap, or take its URL out of the index or robots.txt that names it.",
  }) as RuleRow,
  "sitemap-empty": rule("warning", "engine", sources.searchConsole, {
    sentence: "Empty sitemap: it lists nothing.",
    fix: "Repair the program that writes it, or remove the file.",
    reasons: "empty",
  }) as RuleRow,
  "sitemap-not-well-formed": rule("error", "protocol", sources.protocol("escaping"), {
    sentence: "Parsing error: a sitemap is not well-formed XML; search engines stop reading there.",
    fix: "Escape `&`, `<`, `>`, `\"` and `'`; better, write the file with an XML library.",
    problems:
      "xml-mismatched-tag xml-malformed-tag xml-stray-text xml-unclosed-instruction xml-comment-end " +
      "xml-bare-ampersand xml-html-entity xml-unknown-entity xml-char-reference xml-junk-after-root " +
      "xml-not-well-formed",
    reasons: "xml-dtd-refused",
  }) as RuleRow,
  "sitemap-leading-text": rule("error", "engine", sources.searchConsole, {
    sentence: "Leading whitespace or text: something comes before the XML declaration.",
    fix: "Remove what comes before `<?xml`: often an empty line in a template, or a warning of PHP.",
    problems: "xml-junk-before-root",
  }) as RuleRow,
  "sitemap-namespace": rule("error", "protocol", sources.protocol("validating"), {
    sentence: "Incorrect namespace: wrong namespace, element name or position.",
    fix: 'Declare the namespaces on the root element, as `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`.',
    problems: "xml-namespace xml-root-name xml-element-name xml-misplaced",
  }) as RuleRow,
  "sitemap-not-utf8": rule("error", "protocol", sources.protocol("escaping"), {
    sentence: "The file is not UTF-8, or has bytes that are not valid in UTF-8.",
    fix: "Write the file in UTF-8.",
    problems: "charset-unsupported charset-conflict charset-invalid",
  }) as RuleRow,
  "sitemap-too-large": rule("error", "protocol", sources.protocol("index"), {
    sentence: `Sitemap file size error: the file is larger than ${megabytes} MB uncompressed.`,
    fix: "Split the sitemap, and list its parts in an index.",
    problems: "protocol-size",
  }) as RuleRow,
  "sitemap-too-many-urls": rule("error", "protocol", sources.protocol("index"), {
    sentence: `Too many URLs in sitemap: more than ${entries}; search engines may ignore the rest.`,
    fix: "Split the sitemap, and list its parts in an index.",
    problems: "protocol-entries",
  }) as RuleRow,
  "sitemap-near-limit": rule("info", "heuristic", sources.protocol("index"), {
    sentence: `A sitemap is close to the limit of ${entries} URLs or ${megabytes} MB.`,
    fix: "Split it before it reaches the limit.",
  }) as RuleRow,
  "index-too-many-sitemaps": rule("error", "protocol", sources.protocol("index"), {
    sentence: `Too many sitemaps in the index: more than ${entries}.`,
    fix: "Use a second index, and name it in robots.txt.",
  }) as RuleRow,
  "index-nested": rule("error", "engine", sources.searchConsole, {
    engines: ["google", "yandex"],
    sentence: "Incorrect sitemap index format: nested sitemap indexes. Google reads nothing that a nested index lists.",
    fix: "List the sitemaps themselves, or name each index in robots.txt.",
  }) as RuleRow,
  "index-mixed": rule("error", "protocol", sources.protocol("index"), {
    sentence: "One file lists both pages and sitemaps.",
    fix: "Put pages and sitemaps into two files.",
    problems: "xml-mixed",
  }) as RuleRow,
  "index-cycle": rule("error", "practice", sources.protocol("index"), {
    sentence: "A sitemap index lists itself, directly or through another index.",
    fix: "Remove the entry.",
    reasons: "cycle",
  }) as RuleRow,
  "index-child-other-site": rule("warning", "protocol", sources.protocol("index"), {
    sentence: "An index lists a sitemap on another host; search engines use it only where cross-submission is set up.",
    fix: "Host the sitemap on the site of the index, or name it in this site's robots.txt.",
    needs: ["location"],
  }) as RuleRow,
  "index-child-outside-directory": rule("info", "engine", sources.largeSitemaps, {
    engines: ["google"],
    sentence: "An index lists a sitemap outside of its own directory; Google wants them in or below it.",
    fix: "Put the index at the root of the site.",
    needs: ["location"],
  }) as RuleRow,
  "index-child-repeated": rule("warning", "heuristic", sources.protocol("index"), {
    sentence: "A sitemap is listed more than once.",
    fix: "List it once.",
    firedOn: 1,
  }) as RuleRow,
  "index-lastmod-stale": rule("warning", "protocol", sources.protocol("sitemapIndexTagDefinitions"), {
    sentence:
      "The index gives a sitemap an older date than its pages have; a search engine that trusts the index does not fetch it.",
    fix: "Update the date in the index whenever a sitemap is written.",
  }) as RuleRow,
  "index-lastmod-identical": rule("info", "engine", sources.bingLastmod, {
    engines: ["bing"],
    sentence: "All sitemaps of an index carry the same date.",
    fix: "Give each sitemap the time at which it changed.",
  }) as RuleRow,
  "feed-unsupported": rule("warning", "engine", sources.buildSitemap, {
    engines: ["google"],
    sentence: "Google does not accept this kind of feed as a sitemap: it reads RSS 2.0 and Atom 1.0.",
    fix: "Publish an XML sitemap, RSS 2.0 or Atom 1.0.",
  }) as RuleRow,
  "feed-as-only-sitemap": rule("info", "engine", sources.buildSitemap, {
    engines: ["google", "yandex"],
    sentence: "All sitemaps are feeds: they name recent pages only, and Yandex reads none of them.",
    fix: "Add an XML sitemap that lists all pages.",
    needs: ["complete", "site"],
  }) as RuleRow,
  "text-sitemap-name": rule("info", "engine", sources.buildSitemap, {
    engines: ["google"],
    sentence: "The name of a text sitemap does not end in .txt, as Google asks.",
    fix: "Rename the file.",
    needs: ["location"],
  }) as RuleRow,
  "text-sitemap-junk": rule("warning", "protocol", sources.protocol("otherformats"), {
    sentence: "A text sitemap has lines with something other than one URL.",
    fix: "Write one URL a line, and nothing else.",
    problems: "text-junk text-extra limit-line-length",
  }) as RuleRow,
};

/** The size and the character set of a sitemap. */
export function judgeContent(
  sitemap: Sitemap,
  { decodedBytes, charset }: DocumentResponse,
  findings: SitemapFindings,
): void {
  const hasProblem = (prefix: string) => problemsOf(sitemap).some(({ code }) => code.startsWith(prefix));
  if (decodedBytes > bounds.nearBytes && decodedBytes <= protocolBytes && !hasProblem("protocol-")) {
    findings.add("sitemap-near-limit", undefined, size(decodedBytes));
  }
  if (charset !== undefined && !/^utf-8$/i.test(charset) && !hasProblem("charset-")) {
    findings.add("sitemap-not-utf8", undefined, charset);
  }
}

/** Judges the version of a feed by the beginning of its text. */
export async function judgeFeed(
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

// Comments and style sheets may come before the root.
const startLength = 8192;

export function judgePages(sitemap: PagesSitemap, findings: SitemapFindings, { hasLocation }: CheckSettings): void {
  const { url, pageCount, problems, format } = sitemap;
  if (pageCount === 0 && sitemap.complete) reportEmpty(sitemap, findings);
  const isOver = problems.some(({ code }) => code === "protocol-entries");
  if (pageCount > bounds.nearEntries && !isOver) findings.add("sitemap-near-limit", undefined, `${pageCount} URLs`);
  if (format === "text" && hasLocation && !/\.txt(?:\.gz)?(?:[?#]|$)/i.test(url)) findings.add("text-sitemap-name");
}

export function judgeIndex(index: IndexSitemap, findings: SitemapFindings): void {
  const { children } = index;
  if (children.length === 0 && index.complete) reportEmpty(index, findings);
  const [first] = children;
  const isSame = (child: Sitemap) => child.lastModified === first?.lastModified;
  if (children.length >= bounds.indexDates && first?.lastModified !== undefined && children.every(isSame)) {
    findings.add("index-lastmod-identical", undefined, first.lastModified);
  }
}

/** A sitemap, as its index lists it. */
export function judgeChild(
  sitemap: Sitemap,
  parent: IndexSitemap,
  isRepeated: boolean,
  site: SiteContext,
  findings: SitemapFindings,
  settings: CheckSettings,
): void {
  const url = site.declared(sitemap);
  if (isRepeated) findings.add("index-child-repeated", undefined, url);
  if (isXmlIndex(sitemap)) findings.add("index-nested", undefined, sitemap.url);
  const own = locationOf(url);
  const above = locationOf(parent.url);
  if (!settings.hasLocation || own === undefined || above === undefined) return;
  if (own.origin.host !== above.origin.host) {
    const isSubmitted = site.isNamedByRobots(sitemap) || settings.crossSubmit.has(own.origin.host);
    if (!isSubmitted) findings.add("index-child-other-site", undefined, url);
  } else if (!own.directory.startsWith(above.directory)) {
    findings.add("index-child-outside-directory", undefined, url);
  }
}

// A news sitemap may be empty on a quiet day, and Google says that this is fine; so may a feed.
function reportEmpty(sitemap: Sitemap, findings: SitemapFindings): void {
  const isFine = /news/i.test(sitemap.url) || (sitemap.kind === "pages" && isFeed(sitemap));
  findings.add("sitemap-empty", undefined, undefined, isFine ? "info" : undefined);
}

/** All sitemaps are feeds. */
export function judgeFeeds(tree: SitemapTree, site: SiteContext, findings: Findings): void {
  const { isSite, homepage } = site;
  const pages = [...tree.sitemaps()]
    .filter((sitemap) => sitemap.kind === "pages")
    .filter((each) => site.isForSearch(each));
  if (isSite && tree.complete && pages.length > 0 && pages.every(isFeed)) {
    findings.count("feed-as-only-sitemap", homepage, pages.length, { value: pages[0]?.url ?? "" });
  }
}

export function isFeed({ format }: PagesSitemap): boolean {
  return format === "rss" || format === "atom" || format === "json";
}

export function isXmlIndex(sitemap: Sitemap): sitemap is IndexSitemap {
  return sitemap.kind === "index" && sitemap.format === "xml";
}
