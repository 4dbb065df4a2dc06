// Streams the occurrences of findings while the check runs. The findings themselves keep only some as examples, unless all are wanted.
import { streamed } from "../crawl/streamed.ts";
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
export function occurrenceBatches(
  tree: SitemapTree,
  options: CheckOptions = {},
  more: Pick<CheckExtras, "isUncapped" | "known"> = {},
): AsyncGenerator<readonly Occurrence[], CheckResult> {
  return streamed(options.signal, async (signal, emit) => {
    const rows = new OccurrenceRows(tree, resolveCheckOptions(options).rules, emit);
    const result = await checkTreeWhile(tree, { ...options, signal }, { ...more, rows });
    await rows.flush();
    return result;
  });
}
