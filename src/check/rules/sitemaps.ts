// Checks how the sitemaps of a tree were found, how they refer to one another, and each as a document. These rules need no pages.
import { type IndexSitemap, isReadSitemap, type Sitemap } from "../../model/sitemap.ts";
import { walkNodes } from "../../tree/parts.ts";
import { type CheckRun, type DocumentContext, isRobots } from "../context.ts";
import { SitemapFindings } from "../findings/findings.ts";
import { checkProblems } from "../findings/problems.ts";
import { checkPreferences } from "./ai.ts";
import { checkChild, checkDocument, checkForOnlyFeeds } from "./documents.ts";
import { checkDiscovery, checkFetch, checkRedirect } from "./fetching.ts";

export async function checkSitemaps(run: CheckRun): Promise<void> {
  const { tree, site, findings: all, time } = run;
  const listedUrls = new Set<string>();
  const checked = new Set<string>();
  const parents: IndexSitemap[] = [];
  // If robots.txt names a sitemap that cannot be read, it may mean the one at a well-known path.
  const isFound = (each: Sitemap) => isReadSitemap(each) && site.foundBy(each) === "known-path";
  const undeclared = tree.root.children.find(isFound)?.url;
  for (const { type, sitemap } of walkNodes(tree.root)) {
    if (type === "leave") {
      if (sitemap.kind === "index") parents.pop();
      continue;
    }
    if (await time.isOver()) return;
    const parent = parents.at(-1);
    if (sitemap.kind === "index") parents.push(sitemap);
    if (parent !== undefined) checkChild(sitemap, parent, listedUrls, run);
    if (!site.isForSearch(sitemap)) continue;
    const response = isReadSitemap(sitemap) ? await tree.response(sitemap) : undefined;
    const findings = new SitemapFindings(all, sitemap.url);
    const context: DocumentContext = { sitemap, parent, response, findings, run };
    checkRedirect(context);
    // A sitemap in two indexes is in the tree twice, but its document is checked once.
    const identity = `${sitemap.kind} ${sitemap.url}`;
    if (checked.has(identity)) continue;
    checked.add(identity);
    const isLost = sitemap.kind === "invalid" && parent !== undefined && isRobots(parent);
    await checkProblems(run, sitemap, isLost ? undeclared : undefined);
    if (sitemap === tree.root) continue;
    await checkDocument(context);
    checkFetch(context);
  }
  checkDiscovery(run, listedUrls);
  checkForOnlyFeeds(run);
  if (site.robots?.preferences !== undefined) checkPreferences(site.robots.url, site.robots.preferences, all);
}
