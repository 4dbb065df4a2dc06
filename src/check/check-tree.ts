// Checks a tree. The implementation is imported on first use, to keep `import "sitegrove"` fast.
import { unexpected } from "../model/option-checks.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";
import { type CheckOptions, resolveCheckOptions } from "./options.ts";
import type { PageWatcher } from "./page-watcher.ts";
import type { CheckResult } from "./result.ts";

/**
 * What search engines would say about the sitemaps of a website.
 *
 * @example
 * await using tree = await sitemapTreeForHomepage("https://example.org/");
 * const { findings } = await checkTree(tree);
 * for (const { rule, severity, sitemap, count } of findings) console.log(severity, rule, sitemap, count);
 */
export async function checkTree(tree: SitemapTree, options?: CheckOptions): Promise<CheckResult> {
  return checkTreeWhile(tree, options);
}

/** The same; `watcherFor` creates a watcher that receives all pages in the same pass, given the time of receipt. */
export async function checkTreeWhile(
  tree: SitemapTree,
  options?: CheckOptions,
  watcherFor?: (receivedAt: number) => PageWatcher,
): Promise<CheckResult> {
  if (!isTree(tree)) throw unexpected("tree", "a tree", tree);
  const settings = resolveCheckOptions(options);
  settings.signal?.throwIfAborted();
  const [{ Check }, { Receipt }] = await Promise.all([import("./check-run.ts"), import("./receipt.ts")]);
  const receipt = new Receipt(tree, settings.now);
  const received = await receipt.ofWebsite();
  const check = new Check(tree, settings, receipt, received, watcherFor?.(received));
  try {
    return await check.run();
  } finally {
    await check.close();
  }
}
