// Judges the sitemaps of a tree as documents that refer to one another, and how they were found. Needs no pages.
import { type IndexSitemap, isReadSitemap } from "../model/sitemap.ts";
import { urlKey } from "../model/url.ts";
import { walkNodes } from "../tree/parts.ts";
import type { CheckRun } from "./context.ts";
import { SitemapFindings } from "./findings.ts";
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

export async function judgeTree(run: CheckRun): Promise<void> {
  const { tree, site, findings, settings, time } = run;
  const named = new Set<string>();
  const judged = new Set<string>();
  const parents: IndexSitemap[] = [];
  for (const { type, sitemap } of walkNodes(tree.root)) {
    if (type === "leave") {
      if (sitemap.kind === "index") parents.pop();
      continue;
    }
    await time.turn();
    if (time.isUp) return;
    const parent = parents.at(-1);
    if (sitemap.kind === "index") parents.push(sitemap);
    if (parent !== undefined && isXmlIndex(parent) && sitemap.url !== parent.url) {
      const key = urlKey(site.declared(sitemap));
      judgeChild(sitemap, parent, named.has(key), run);
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
    if (sitemap.kind !== "invalid") await illustrateProblems(run, sitemap, own);
    const response = isReadSitemap(sitemap) ? await tree.response(sitemap) : undefined;
    if (response !== undefined) {
      judgeContent(sitemap, response, own);
      // Files were not sent by a server.
      if (settings.files === undefined) judgeResponse(sitemap, response, own, settings.slow);
    }
    if (sitemap.kind === "pages" && isFeed(sitemap)) await judgeFeed(sitemap, tree.text(sitemap), own);
    if (sitemap.kind === "pages") judgePages(sitemap, own, settings);
    if (isXmlIndex(sitemap)) judgeIndex(sitemap, own);
    judgeAccess(sitemap, run.robots, own);
  }
  judgeDiscovery(run, named);
  judgeFeeds(run);
  if (site.robots?.preferences !== undefined) judgePreferences(site.robots.url, site.robots.preferences, findings);
}
