// Compares one website of two runs, for `fleet diff` and `-f changes`.
import { Scratch } from "../../archive/scratch.ts";
import { compareSides } from "../../diff/compare-sides.ts";
import type { Side } from "../../diff/diff-side.ts";
import { type DiffSettings, resolveDiffOptions } from "../../diff/diff-trees.ts";
import { NdjsonSide } from "../../diff/ndjson-side.ts";
import { openSide } from "../../diff/open-side.ts";
import type { DiffTotals, TreeChange } from "../../model/change.ts";
import { changeNdjsonWriter } from "../../write/changes.ts";

/** A side: an archive, or a file of pages. */
export type SiteSide = string | NdjsonSide;

/** The changes of one website. */
export async function* siteChanges(
  before: SiteSide,
  after: SiteSide,
  settings: DiffSettings,
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  const scratch = new Scratch();
  const sides: Side[] = [];
  try {
    for (const side of [before, after])
      sides.push(typeof side === "string" ? await openSide(side, scratch, { signal: settings.signal }) : side);
    return yield* compareSides(sides[0]!, sides[1]!, scratch, settings);
  } finally {
    for (const side of sides) await side.close();
    await scratch.close();
  }
}

/**
 * The pages of a file that are new or changed since an earlier archive, as lines of JSON. `unknown`: the earlier archive is not complete, and
 * does not have the page.
 */
export async function* changedPages(archive: string | undefined, file: string): AsyncGenerator<string, void> {
  const { write } = changeNdjsonWriter();
  const settings = resolveDiffOptions({ only: ["added", "changed", "unknown"] });
  const before = archive ?? new NdjsonSide(undefined);
  for await (const changes of siteChanges(before, new NdjsonSide(file), settings)) yield write(changes);
}
