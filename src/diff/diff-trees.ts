// Compares two trees, in declared order, without keeping all URLs in memory. Both are read once, and each page becomes a record of 20
// bytes. The records are joined on disk, partition by partition, to mark the pages that differ. Documents with marked pages are then read
// again, to report these pages.

import { flatten } from "../crawl/crawl.ts";
import { SpillFile } from "../join/spill-file.ts";
import type { DiffTotals, TreeChange } from "../model/change.ts";
import { compareSides } from "./compare-sides.ts";
import { checkSide, type DiffSide, type OpenSideOptions, type Side } from "./diff-side.ts";
import { openSide } from "./open-side.ts";
import { type DiffOptions, type DiffSettings, resolveDiffOptions } from "./settings.ts";

/**
 * Lists the differences between two trees: first the sitemaps, then the pages that are missing now, in the order of the old side,
 * then those that are new, changed or moved, in the order of the new side. Each URL comes once; if a side declares it twice, the first
 * declaration counts. Leaving the loop ends the diff.
 *
 * @example
 * for await (const change of diffTrees("monday.warc.gz", "tuesday.warc.gz")) {
 *   if (change.kind === "added") console.log(change.page.url);
 * }
 */
export function diffTrees(before: DiffSide, after: DiffSide, options?: DiffOptions): AsyncIterable<TreeChange> {
  const settings = resolveDiffOptions(options);
  for (const side of [before, after]) checkSide(side);
  const reported = async function* () {
    const totals = yield* diffBatches(before, after, settings);
    settings.onFinished?.(totals);
  };
  return { [Symbol.asyncIterator]: () => flatten(reported()) };
}

/** Returns the listeners for the events and problems of a side. */
export type OnSide = (side: "before" | "after") => Pick<OpenSideOptions, "onEvent" | "onProblems">;

/** Like `diffTrees`, but yields batches of changes, and returns the totals. */
export async function* diffBatches(
  before: DiffSide | Side,
  after: DiffSide | Side,
  settings: DiffSettings,
  onSide: OnSide = () => ({}),
  spill: SpillFile = new SpillFile(),
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  const { crawl, column, signal } = settings;
  signal?.throwIfAborted();
  // Opens both sides before anything is read, so that mistakes are reported immediately.
  const was = openSide(before, { crawl, column, signal, ...onSide("before") });
  const is = openSide(after, { crawl, column, signal, ...onSide("after") });
  try {
    return yield* compareSides(was, is, settings, spill);
  } catch (error) {
    // If the caller's signal caused the failure, throws the signal's reason.
    signal?.throwIfAborted();
    throw error;
  } finally {
    await was.close?.();
    await is.close?.();
  }
}
