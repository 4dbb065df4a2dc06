// Judges the sitemaps of a tree as documents that refer to one another, and how they were found. Needs no pages.
import type { IndexSitemap, PagesSitemap, Sitemap } from "../model/sitemap.ts";
import { urlKey } from "../model/url.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { walkNodes } from "../tree/walk.ts";
import { bounds } from "./bounds.ts";
import type { CheckTime } from "./check-time.ts";
import { judgeDocument, judgeFeed } from "./document-rules.ts";
import { type Findings, SitemapFindings } from "./findings.ts";
import type { CheckSettings } from "./options.ts";
import { illustrateProblems, judgeProblems } from "./problem-rules.ts";
import type { RobotsAccess } from "./robots-access.ts";
import { isRobots, locationOf, type SiteContext } from "./site-context.ts";

export async function judgeTree(
  tree: SitemapTree,
  site: SiteContext,
  findings: Findings,
  settings: CheckSettings,
  robots: RobotsAccess,
  time: CheckTime,
): Promise<void> {
  const named = new Map<string, number>();
  const judged = new Set<string>();
  for (const { type, sitemap, parent } of walkWithParents(tree.root)) {
    if (type === "leave") continue;
    await time.turn();
    if (time.isUp) return;
    if (parent !== undefined && isXmlIndex(parent) && sitemap.url !== parent.url) {
      const key = urlKey(sitemap.declaredUrl ?? sitemap.url);
      const count = (named.get(key) ?? 0) + 1;
      named.set(key, count);
      const own = new SitemapFindings(findings, parent.url);
      if (count > 1) own.add("index-child-repeated", undefined, sitemap.declaredUrl ?? sitemap.url);
      judgeChild(sitemap, parent, site, own, settings);
    }
    const own = new SitemapFindings(findings, sitemap.url);
    if (isNamed(sitemap, parent, site)) judgeRedirect(sitemap, own);
    // A sitemap in two indexes is in the tree twice; it is judged once.
    const identity = `${sitemap.kind} ${sitemap.url}`;
    if (judged.has(identity)) continue;
    judged.add(identity);
    judgeProblems(sitemap, own);
    if (sitemap !== tree.root && sitemap.kind !== "invalid") {
      await illustrateProblems(tree, sitemap, own, settings.signal);
    }
    if (sitemap !== tree.root) judgeDocument(sitemap, await tree.response(sitemap), own, settings);
    if (sitemap.kind === "pages" && isFeed(sitemap)) await judgeFeed(tree.text(sitemap), own);
    if (sitemap.kind === "pages") judgePages(sitemap, own, settings);
    if (sitemap.kind === "index") judgeIndex(sitemap, own);
    const blocked = sitemap === tree.root || isRobots(sitemap) ? undefined : robots.blocked(sitemap.url);
    if (blocked !== undefined) {
      own.add("sitemap-robots-disallowed", undefined, blocked.agents, blocked.isFirst ? undefined : "warning");
    }
  }
  judgeDiscovery(tree, site, findings, named, robots.isKnown);
}

function judgeChild(
  sitemap: Sitemap,
  parent: IndexSitemap,
  site: SiteContext,
  findings: SitemapFindings,
  settings: CheckSettings,
): void {
  if (isXmlIndex(sitemap)) findings.add("index-nested", undefined, sitemap.url);
  const own = locationOf(sitemap.declaredUrl ?? sitemap.url);
  const above = locationOf(parent.url);
  if (!settings.hasLocation || own === undefined || above === undefined) return;
  if (own.origin.host !== above.origin.host) {
    const isSubmitted = site.isNamedByRobots(sitemap) || settings.crossSubmit.has(own.origin.host);
    if (!isSubmitted) findings.add("index-child-other-site", undefined, sitemap.declaredUrl ?? sitemap.url);
  } else if (!own.directory.startsWith(above.directory)) {
    findings.add("index-child-outside-directory", undefined, sitemap.declaredUrl ?? sitemap.url);
  }
}

function judgeRedirect(sitemap: Sitemap, findings: SitemapFindings): void {
  const { declaredUrl, url } = sitemap;
  if (declaredUrl === undefined || sitemap.kind === "invalid") return;
  findings.add("sitemap-redirect", undefined, `${declaredUrl} leads to ${url}`);
}

function judgePages(sitemap: PagesSitemap, findings: SitemapFindings, { hasLocation }: CheckSettings): void {
  const { url, pageCount, problems, format } = sitemap;
  if (pageCount === 0 && sitemap.complete) reportEmpty(sitemap, findings);
  const isOver = problems.some(({ code }) => code === "protocol-entries");
  if (pageCount > bounds.nearEntries && !isOver) findings.add("sitemap-near-limit", undefined, `${pageCount} URLs`);
  if (format === "text" && hasLocation && !/\.txt(?:\.gz)?(?:[?#]|$)/i.test(url)) findings.add("text-sitemap-name");
}

function judgeIndex(index: IndexSitemap, findings: SitemapFindings): void {
  if (index.format !== "xml") return;
  const { children } = index;
  if (children.length === 0 && index.complete) reportEmpty(index, findings);
  const [first] = children;
  const isSame = (child: Sitemap) => child.lastModified === first?.lastModified;
  if (children.length >= bounds.indexDates && first?.lastModified !== undefined && children.every(isSame)) {
    findings.add("index-lastmod-identical", undefined, first.lastModified);
  }
}

// A news sitemap may be empty on a quiet day, and Google says that this is fine.
function reportEmpty(sitemap: Sitemap, findings: SitemapFindings): void {
  findings.add("sitemap-empty", undefined, undefined, /news/i.test(sitemap.url) ? "info" : undefined);
}

function judgeDiscovery(
  tree: SitemapTree,
  site: SiteContext,
  findings: Findings,
  named: ReadonlyMap<string, number>,
  isRobotsKnown: boolean,
): void {
  if (!site.isSite) return;
  const { robots } = site;
  const found = [...tree.sitemaps()].filter((sitemap) => sitemap !== tree.root && !isRobots(sitemap));
  // If robots.txt or a well-known path could not be read, this is unknown.
  if (found.length === 0 && tree.complete && isRobotsKnown) findings.count("sitemap-none", site.homepage, 1);
  const readable = found.filter(({ kind }) => kind !== "invalid");
  if (robots !== undefined && robots.children.length === 0 && readable.length > 0) {
    findings.count("robots-no-sitemap", robots.url, 1);
  }
  for (const child of tree.root.children) {
    const by = site.foundBy(child);
    if (isRobots(child) || child.kind === "invalid" || by === undefined || by === "given") continue;
    if (tree.complete && isRobotsKnown && !named.has(urlKey(child.url)))
      findings.count("sitemap-undeclared", child.url, 1);
  }
  const pages = readable.filter((sitemap) => sitemap.kind === "pages");
  if (tree.complete && pages.length > 0 && pages.every(isFeed)) {
    findings.count("feed-as-only-sitemap", site.homepage, pages.length, { value: pages[0]?.url ?? "" });
  }
}

function isFeed({ format }: PagesSitemap): boolean {
  return format === "rss" || format === "atom";
}

// Whether the URL of a sitemap was given, as opposed to a well-known path that was tried.
function isNamed(sitemap: Sitemap, parent: IndexSitemap | undefined, site: SiteContext): boolean {
  if (parent === undefined || isRobots(sitemap)) return false;
  return parent.format !== "website" || site.foundBy(sitemap) !== "known-path";
}

function isXmlIndex(sitemap: Sitemap): sitemap is IndexSitemap {
  return sitemap.kind === "index" && sitemap.format === "xml";
}

function* walkWithParents(
  root: Sitemap,
): Generator<{ type: "enter" | "leave"; sitemap: Sitemap; parent: IndexSitemap | undefined }, void> {
  const path: IndexSitemap[] = [];
  for (const { type, sitemap } of walkNodes(root)) {
    if (type === "leave" && sitemap.kind === "index") path.pop();
    yield { type, sitemap, parent: path.at(-1) };
    if (type === "enter" && sitemap.kind === "index") path.push(sitemap);
  }
}
