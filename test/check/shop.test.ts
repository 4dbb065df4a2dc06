// An audit of a whole shop finds every defect once, and nothing else.
import { beforeAll, expect, test } from "vitest";
import type { Occurrence } from "../../src/check/findings/occurrence-rows.ts";
import { streamOccurrences } from "../../src/check/occurrences.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { home, site } from "../support/site.ts";
import { type Defect, defects, shop, shopPages } from "./shop.ts";

async function audited(chosen: readonly Defect[]): Promise<Occurrence[]> {
  await using tree = await sitemapTreeForHomepage(home, {
    client: site(shop(chosen)).client,
    retries: 0,
    knownPaths: "never",
  });
  expect(tree.pageCount).toBeGreaterThanOrEqual(shopPages);
  const found: Occurrence[] = [];
  for await (const row of streamOccurrences(tree, { now: "2026-06-15T12:00:00Z" })) found.push(row);
  return found;
}

const inWords = ({ rule, url, value, sitemap }: Occurrence) => `${rule} ${url} ${value} ${sitemap}`;
let rows: readonly Occurrence[];

beforeAll(async () => {
  rows = await audited(defects);
});

test("a clean shop has no findings", async () => {
  expect((await audited([])).map(inWords)).toEqual([]);
});

test.each(defects)("$rule is found exactly once, at $shown", ({ rule, shown }) => {
  const own = rows.filter((row) => row.rule === rule);
  expect(own.map(inWords)).toHaveLength(1);
  expect(inWords(own[0]!)).toContain(shown);
});

test("only the planted defects are found", () => {
  const known = new Set<string>(defects.map(({ rule }) => rule));
  expect(rows.filter(({ rule }) => !known.has(rule)).map(inWords)).toEqual([]);
  expect(defects.length).toBeGreaterThan(31);
});
