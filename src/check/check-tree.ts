// Checks a tree. The implementation is imported on first use, to keep `import "sitegrove"` fast.
import { unexpected } from "../model/option-checks.ts";
import type { SitemapPage } from "../model/page.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";
import type { FindingsOptions } from "./findings.ts";
import { type CheckOptions, resolveCheckOptions } from "./options.ts";
import type { CheckResult } from "./result.ts";
import type { AlternateSet } from "./rules/languages.ts";
import type { UrlScan } from "./url-scan.ts";

/**
 * What search engines would flag in the sitemaps of a website.
 *
 * @example
 * await using tree = await sitemapTreeForHomepage("https://example.org/");
 * const { findings } = await checkTree(tree);
 * for (const { rule, severity, sitemap, count } of findings) console.log(severity, rule, sitemap, count);
 */
export async function checkTree(tree: SitemapTree, options?: CheckOptions): Promise<CheckResult> {
  return checkTreeWhile(tree, options);
}

/** What else a check does in the same pass. */
export interface CheckExtras extends Omit<FindingsOptions, "sentenceOf"> {
  /** Creates a watcher that receives all pages, given the time of receipt in milliseconds. */
  readonly watcherFor?: ((receivedAt: number) => PageWatcher) | undefined;
}

/** The same, with more. `known` is a baseline, which the caller applies to the result. */
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

/**
 * Receives the pages of a website during a check, so that they are read once for both the check and the report. Pages
 * come by number, in declared order; those of a repeated sitemap once.
 */
export interface PageWatcher {
  /**
   * The next page. `scan` has read its URL; `lastModified` is in milliseconds, NaN for none; `isFlawed`: a rule found an error or
   * a warning in it.
   */
  page(
    page: SitemapPage,
    scan: UrlScan,
    lastModified: number,
    alternates: AlternateSet | undefined,
    isFlawed: boolean,
  ): void;
  /** After the last page: a rule across sitemaps found an error or a warning in the page with this number. In no order. */
  addFlaw(ordinal: number): void;
}
