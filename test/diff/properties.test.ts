// Properties of the diff of any two trees.
import { rm } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { DiffSide } from "../../src/diff/diff-side.ts";
import { diffBatches, diffTrees } from "../../src/diff/diff-trees.ts";
import { resolveDiffOptions } from "../../src/diff/settings.ts";
import { SpillFile } from "../../src/join/spill-file.ts";
import type { PageChange, TreeChange } from "../../src/model/change.ts";
import { listOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { pairOfWebsites } from "../support/random-website.ts";
import { home } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import { clientOf, crawlOptions, plainDiff, treeOf } from "./plain-diff.ts";

const { SITEGROVE_TEST_RUNS = some(100, 10) } = process.env;
const runs = Number(SITEGROVE_TEST_RUNS);
const folder = newFolder();

const pagesOf = (changes: readonly TreeChange[]) => changes.filter((change) => change.kind !== "sitemap");

describe.each([
  ["complete", false],
  ["with sitemaps that cannot be fully read", true],
])("websites: %s", (_, faults) => {
  test("a diff equals that of the simplest algorithm, in both directions, with each URL once; a tree does not differ from itself", async () => {
    for (let seed = 0; seed < runs; seed++) {
      const [one, other] = pairOfWebsites(new Random(seed), faults);
      await using before = await treeOf(one);
      await using after = await treeOf(other);
      const there = await listOf(diffTrees(before, after));
      expect(pagesOf(there), `websites ${seed}`).toEqual(await plainDiff(before, after));
      const urls = pagesOf(there).map((change) => (change as PageChange).page.url);
      expect(new Set(urls).size).toBe(urls.length);
      const back = await listOf(diffTrees(after, before));
      expect(pagesOf(back), `websites ${seed}`).toEqual(await plainDiff(after, before));
      expect(sitemapsOf(there, (side) => opposites[side]).sort()).toEqual(sitemapsOf(back).sort());
      await using again = await treeOf(one);
      for (const same of [before, again]) expect(await listOf(diffTrees(before, same))).toEqual([]);
    }
  });
});

const opposites: Readonly<Record<string, string>> = {
  added: "gone",
  gone: "added",
  "now-invalid": "now-readable",
  "now-readable": "now-invalid",
  unknown: "unknown",
  before: "after",
  after: "before",
  "": "",
};

/** Describes changes of sitemaps in words that can be reversed. */
function sitemapsOf(changes: readonly TreeChange[], turned: (word: string) => string | undefined = (word) => word) {
  return changes.flatMap((change) =>
    change.kind === "sitemap" ? [`${turned(change.change)} ${change.sitemap} ${turned(change.missing ?? "")}`] : [],
  );
}

test("archives, websites and trees give the same diff, on disk and in memory, with any chunk size and concurrency", async () => {
  for (let seed = 0; seed < some(40, 3); seed++) {
    const random = new Random(seed);
    const [one, other] = pairOfWebsites(random, true);
    const [chunk, concurrency] = [1 + random.below(64), 1 + random.below(8)];
    const name = path.join(folder, String(Math.random()).slice(2));
    await using before = await treeOf(one, { save: `${name}-before.warc` });
    await using after = await treeOf(other);
    await after.save(`${name}-after.warc.gz`);
    const expected = await listOf(diffTrees(before, after));
    const sides: [DiffSide, DiffSide][] = [
      [`${name}-before.warc`, `${name}-after.warc.gz`],
      [before, `${name}-after.warc.gz`],
      [`${name}-before.warc`, after],
      [`${name}-before.warc`, home],
      [`${name}-before.warc`, { homepage: home }],
    ];
    const crawl = { ...crawlOptions, client: clientOf(other, chunk), concurrency };
    for (const [left, right] of sides) {
      const batches = diffBatches(
        left,
        right,
        resolveDiffOptions(crawl),
        undefined,
        new SpillFile({ memory: 0, blockLength: 64 }),
      );
      expect((await listOf(batches)).flat(), `websites ${seed}`).toEqual(expected);
    }
    await rm(`${name}-before.warc`);
    await rm(`${name}-after.warc.gz`);
  }
});
