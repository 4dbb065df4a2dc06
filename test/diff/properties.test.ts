// What is true of the diff of any two trees.
// Needs more than a second.
import { rm } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { Scratch } from "../../src/archive/scratch.ts";
import type { DiffSide } from "../../src/diff/diff-side.ts";
import { diffBatches, diffTrees, resolveDiffOptions } from "../../src/diff/diff-trees.ts";
import type { ChangedPage, PageChange, TreeChange } from "../../src/model/change.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { listOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { home } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import {
  clientOf,
  crawlOptions,
  type Declared,
  declaredBy,
  pairOfWebsites,
  plainDiff,
  treeOf,
  website,
} from "./random-website.ts";

const { SITEGROVE_TEST_RUNS = some(100, 10) } = process.env;
const runs = { numRuns: Number(SITEGROVE_TEST_RUNS) };
let folder: string;
beforeAll(async () => {
  folder = newFolder();
});

const pagesOf = (changes: readonly TreeChange[]) => changes.filter((change) => change.kind !== "sitemap");

describe.each([
  ["complete", false],
  ["with sitemaps that cannot be fully read", true],
])("websites: %s", (_, faults) => {
  test("the changes are those of the plainest diff and lead from one to the other, each URL comes once, and from B to A is the mirror of from A to B", async () => {
    await fc.assert(
      fc.asyncProperty(pairOfWebsites(faults), async ([one, other]) => {
        await using before = await treeOf(one);
        await using after = await treeOf(other);
        const there = await listOf(diffTrees(before, after));
        expect(pagesOf(there)).toEqual(await plainDiff(before, after));
        const urls = pagesOf(there).map((change) => (change as PageChange).page.url);
        expect(new Set(urls).size).toBe(urls.length);
        const back = await listOf(diffTrees(after, before));
        expect(sorted(there.map(mirrored).map(withoutGiven))).toEqual(
          sorted(back.map(withoutReason).map(withoutGiven)),
        );
        if (!faults) await expectApplied(there, before, after);
      }),
      runs,
    );
  });

  test("a tree and itself do not differ", async () => {
    await fc.assert(
      fc.asyncProperty(website(faults), async (one) => {
        await using before = await treeOf(one);
        await using after = await treeOf(one);
        expect(await listOf(diffTrees(before, after))).toEqual([]);
        expect(await listOf(diffTrees(before, before))).toEqual([]);
      }),
      { numRuns: some(50, 5) },
    );
  });
});

/** Applied to the pages before, the changes give the pages after. */
async function expectApplied(changes: readonly TreeChange[], before: SitemapTree, after: SitemapTree): Promise<void> {
  const pages = await declaredBy(before);
  for (const change of changes) apply(pages, change);
  const expected = await declaredBy(after);
  // A priority of 0.5 means the same whether it is written or not.
  const [given, wanted] = [pages, expected].map((each) =>
    [...each]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { page, sitemap }]) => {
        const { priorityGiven: _, ...rest } = page;
        return { ...rest, sitemap };
      }),
  );
  expect(given).toEqual(wanted);
}

test("archives, websites and trees give the same, on disk as in memory, in pieces of any size and at any concurrency", async () => {
  await fc.assert(
    fc.asyncProperty(
      pairOfWebsites(true),
      fc.integer({ min: 1, max: 64 }),
      fc.integer({ min: 1, max: 8 }),
      async ([one, other], chunk, concurrency) => {
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
          const batches = diffBatches(left, right, resolveDiffOptions({ crawl }), undefined, new Scratch(0));
          expect((await listOf(batches)).flat()).toEqual(expected);
        }
        await rm(`${name}-before.warc`);
        await rm(`${name}-after.warc.gz`);
      },
    ),
    { numRuns: some(40, 3) },
  );
});

function apply(pages: Map<string, Declared>, change: TreeChange): void {
  if (change.kind === "removed") pages.delete(change.page.url);
  else if ("page" in change && change.kind !== "unknown") pages.set(change.page.url, change);
}

function mirrored(change: TreeChange): TreeChange {
  const otherSide = (side: "before" | "after") => (side === "before" ? "after" : "before");
  switch (change.kind) {
    case "added":
      return { ...change, kind: "removed" };
    case "removed":
      return { ...change, kind: "added" };
    case "unknown":
      return { ...change, missing: otherSide(change.missing) };
    case "moved":
      return { ...change, sitemap: change.from, from: change.sitemap };
    case "changed": {
      const { page, before, sitemap, from, fields } = change;
      const swapped: ChangedPage = { kind: "changed", page: before, before: page, sitemap: from ?? sitemap, fields };
      return from === undefined ? swapped : { ...swapped, from: sitemap };
    }
    case "sitemap": {
      const { reason: _, missing, ...rest } = change;
      const opposite = {
        added: "gone",
        gone: "added",
        "now-invalid": "now-readable",
        "now-readable": "now-invalid",
        unknown: "unknown",
      } as const;
      return { ...rest, change: opposite[change.change], ...(missing && { missing: otherSide(missing) }) };
    }
  }
}

// A page that only moved is told as it is on the newer side, and a priority of 0.5 means the same whether it is written or not.
function withoutGiven(change: TreeChange): TreeChange {
  if (change.kind !== "moved") return change;
  const { priorityGiven: _, ...page } = change.page;
  return { ...change, page };
}

// Why a sitemap cannot be read is told by the side that cannot read it.
function withoutReason(change: TreeChange): TreeChange {
  if (change.kind !== "sitemap") return change;
  const { reason: _, ...rest } = change;
  return rest;
}

// The order of fields means nothing.
function sorted(changes: readonly TreeChange[]): string[] {
  return changes.map((change) => JSON.stringify(Object.entries(change).sort())).sort();
}
