// The report of a tree, as one HTML page and as facts. The implementation is imported on first use.
import { resolveCheckOptions } from "../check/settings.ts";
import { checkSide } from "../diff/diff-side.ts";
import { signal as expectSignal, optionsIn, unexpected } from "../model/option-checks.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";
import type { ReportFacts } from "./facts.ts";
import type { ReportOptions } from "./options.ts";

/**
 * A report of a website's sitemaps as one HTML page, for people: the verdict, what search engines would flag, where the pages are and
 * when they changed, languages, and how everything was fetched.
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
 * The data of a report: what its page shows.
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
