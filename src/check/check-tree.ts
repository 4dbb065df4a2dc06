// Checks a tree. The implementation is imported on first use, to keep `import "sitegrove/check"` fast.
import { unexpected } from "../model/option-checks.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";
import type { LastmodTrust } from "./dates/lastmod-trust.ts";
import type { CheckResult } from "./findings/result.ts";
import type { CheckOptions } from "./options.ts";
import { resolveCheckOptions } from "./settings.ts";
import type { CheckExtras } from "./watcher.ts";

/**
 * Finds what search engines would flag in the sitemaps of a website.
 *
 * @example
 * await using tree = await sitemapTreeForHomepage("https://example.org/");
 * const { findings } = await checkTree(tree);
 * for (const { rule, severity, sitemap, count } of findings) console.log(severity, rule, sitemap, count);
 */
export async function checkTree(tree: SitemapTree, options?: CheckOptions): Promise<CheckResult> {
  return checkTreeWhile(tree, options);
}

/**
 * Tells whether the dates of a website can be trusted. Runs `checkTree` with the same options, and returns its `lastmodTrust`.
 *
 * @example
 * const { verdict, reasons } = await lastmodTrust(tree, { pages: 50 });
 */
export async function lastmodTrust(tree: SitemapTree, options?: CheckOptions): Promise<LastmodTrust> {
  return (await checkTree(tree, options)).lastmodTrust;
}

/** Checks a tree, and does the extras in the same pass. If `known` is a baseline, the caller still has to apply it to the result. */
export async function checkTreeWhile(
  tree: SitemapTree,
  options?: CheckOptions,
  extras: CheckExtras = {},
): Promise<CheckResult> {
  if (!isTree(tree)) throw unexpected("tree", "a tree", tree);
  const settings = resolveCheckOptions(options);
  settings.signal?.throwIfAborted();
  const { runCheck } = await import("./check-run.ts");
  const { baseline } = settings;
  if (baseline === undefined) return runCheck(tree, settings, extras);
  return baseline.apply(await runCheck(tree, settings, { ...extras, known: baseline }), tree).result;
}
