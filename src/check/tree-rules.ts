// Judges the sitemaps of a tree as documents that refer to one another, and how they were found. Needs no pages.
import { type IndexSitemap, isReadSitemap, type Sitemap } from "../model/sitemap.ts";
import { urlKey } from "../model/url.ts";
import { walkNodes } from "../tree/parts.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { CheckTime } from "./check-run.ts";
import type { RobotsAccess, SiteContext } from "./context.ts";
import { type Findings, SitemapFindings } from "./findings.ts";
import type { CheckSettings } from "./options.ts";
import { illustrateProblems, judgeProblems } from "./problems.ts";
import { judgePreferences } from "./rules/ai.ts";
import {
  isFeed,
  isXmlIndex,
  judgeChild,
  judgeContent,
  judgeFeed,
  judgeFeeds,
  judgeIndex,
  judgePages,
} from "./rules/documents.ts";
import { judgeAccess, judgeDiscovery, judgeRedirect, judgeResponse } from "./rules/fetching.ts";

export async function judgeTree(
  tree: SitemapTree,
  site: SiteContext,
  findings: Findings,
  settings: CheckSettings,
  robots: RobotsAccess,
  time: CheckTime,
): Promise<void> {
  const named = new Set<string>();
  const judged = new Set<string>();
  for (const { sitemap, parent } of withParents(tree.root)) {
    await time.turn();
    if (time.isUp) return;
    if (parent !== undefined && isXmlIndex(parent) && sitemap.url !== parent.url) {
      const key = urlKey(site.declared(sitemap));
      judgeChild(sitemap, parent, named.has(key), site, new SitemapFindings(findings, parent.url), settings);
      named.add(key);
    }
    if (!site.isForSearch(sitemap)) continue;
    const own = new SitemapFindings(findings, sitemap.url);
    judgeRedirect(sitemap, parent, site, own);
    // A sitemap in two indexes is in the tree twice; it is judged once.
    const identity = `${sitemap.kind} ${sitemap.url}`;
    if (judged.has(identity)) continue;
    judged.add(identity);
    judgeProblems(sitemap, own);
    if (sitemap === tree.root) continue;
    if (sitemap.kind !== "invalid") await illustrateProblems(tree, sitemap, own, settings.signal);
    const response = isReadSitemap(sitemap) ? await tree.response(sitemap) : undefined;
    if (response !== undefined) {
      judgeContent(sitemap, response, own);
      // Files were not sent by a server.
      if (settings.files === undefined) judgeResponse(sitemap, response, own, settings);
    }
    if (sitemap.kind === "pages" && isFeed(sitemap)) await judgeFeed(sitemap, tree.text(sitemap), own);
    if (sitemap.kind === "pages") judgePages(sitemap, own, settings);
    if (isXmlIndex(sitemap)) judgeIndex(sitemap, own);
    judgeAccess(sitemap, robots, own);
  }
  judgeDiscovery(tree, site, findings, named, robots.isKnown);
  judgeFeeds(tree, site, findings);
  if (site.robots?.preferences !== undefined) judgePreferences(site.robots.url, site.robots.preferences, findings);
}

function* withParents(
  root: Sitemap,
): Generator<{ readonly sitemap: Sitemap; readonly parent: IndexSitemap | undefined }, void> {
  const path: IndexSitemap[] = [];
  for (const { type, sitemap } of walkNodes(root)) {
    if (type === "leave" && sitemap.kind === "index") path.pop();
    if (type === "leave") continue;
    yield { sitemap, parent: path.at(-1) };
    if (sitemap.kind === "index") path.push(sitemap);
  }
}
