// Streams the occurrences of findings while the check runs. The findings themselves keep only some as examples, unless all are wanted.
import { mapped } from "../model/generators.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { checkTreeWhile } from "./check-tree.ts";
import { type Occurrence, OccurrenceRows } from "./findings/occurrence-rows.ts";
import type { CheckResult } from "./findings/result.ts";
import type { CheckOptions } from "./options.ts";
import { resolveCheckOptions } from "./settings.ts";
import type { CheckExtras } from "./watcher.ts";

/**
 * Checks a tree, and meanwhile yields each occurrence that is not in the `baseline`. Returns the result, which has examples only.
 *
 * @example
 * for await (const { rule, url, line } of streamOccurrences(tree)) console.log(rule, url, line);
 */
export async function* streamOccurrences(
  tree: SitemapTree,
  options?: CheckOptions,
): AsyncGenerator<Occurrence, CheckResult> {
  return yield* mapped(occurrenceBatches(tree, options), (batch) => batch);
}

/** Does the same as `streamOccurrences` in batches. With `isUncapped`, the result has all these occurrences as examples. */
export async function* occurrenceBatches(
  tree: SitemapTree,
  options: CheckOptions = {},
  more: Pick<CheckExtras, "isUncapped" | "known"> = {},
): AsyncGenerator<readonly Occurrence[], CheckResult> {
  const rows = new OccurrenceRows(tree, resolveCheckOptions(options).rules);
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const checking = checkTreeWhile(tree, { ...options, signal }, { ...more, rows }).finally(() => rows.end());
  // The check is awaited below. If the caller stops early, it does not matter that the check fails.
  checking.catch(() => undefined);
  try {
    for (let batch = await rows.next(); batch !== undefined; batch = await rows.next()) yield batch;
    return await checking;
  } finally {
    stop.abort();
    rows.end();
    await checking.catch(() => undefined);
  }
}
