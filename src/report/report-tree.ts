// The public functions for reports. They import the implementation on first use.
import { resolveCheckOptions } from "../check/settings.ts";
import { checkSide } from "../diff/diff-side.ts";
import { signal as expectSignal, optionsIn, unexpected } from "../model/option-checks.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";
import type { ReportFacts, ReportOptions } from "./facts.ts";

/**
 * Creates a report about a website's sitemaps as one HTML page: the verdict, what search engines would flag, where the pages are and when
 * they changed, and how everything was fetched.
 *
 * @example
 * await using tree = await sitemapTreeForHomepage("https://example.org/");
 * await writeFile("report.html", await reportHtml(tree));
 */
export async function reportHtml(tree: SitemapTree, options?: ReportOptions): Promise<string> {
  const facts = await reportFacts(tree, options);
  const { pageOf } = await import("./html-page.ts");
  return pageOf(facts);
}

/**
 * Collects the data of a report: what its page shows.
 *
 * @example
 * await using tree = await openTree("site.warc.gz");
 * const { figures, timeline } = await reportFacts(tree);
 */
export async function reportFacts(tree: SitemapTree, options: ReportOptions = {}): Promise<ReportFacts> {
  if (!isTree(tree)) throw unexpected("tree", "a tree", tree);
  optionsIn("options", options, knownOptions);
  const { check, previous, signal } = options;
  resolveCheckOptions(check);
  if (signal !== undefined) expectSignal("signal", signal);
  if (previous !== undefined) checkSide(previous);
  const { collectFacts } = await import("./collect.ts");
  return collectFacts(tree, options);
}

const knownOptions = ["check", "previous", "signal"] as const satisfies readonly (keyof ReportOptions)[];
