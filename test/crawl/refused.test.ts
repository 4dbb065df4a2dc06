// Listing sitemaps that we refuse costs a website next to nothing, so it must not cost us more.
import { expect, test } from "vitest";
import { Budget } from "../../src/crawl/budget.ts";
import { childrenOf } from "../../src/crawl/children.ts";
import { frameOf } from "../../src/crawl/frame.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";

test("thousands of sitemaps refused for the same reason share one node with their count", async () => {
  const refused = Array.from({ length: 1200 }, (_, at) => `http://127.0.0.1:1/${"a".repeat(1000)}${at}`);
  const { client } = site({ "/robots.txt": robots("/i.xml"), "/i.xml": index(...refused) });
  await using tree = await sitemapTreeForHomepage(home, { client, knownPaths: "never", useHomepage: false });
  const invalid = [...tree.sitemaps()].flatMap((each) => (each.kind === "invalid" ? [each.reason] : []));
  expect(invalid.length).toBeLessThanOrEqual(1001);
  expect(invalid.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(1200);
  expect(tree.complete).toBe(false);
});

test("the URLs of sitemaps are kept up to a number of characters over all indexes, and the rest are counted", async () => {
  const long = (name: string) =>
    Array.from({ length: 50 }, (_, at) => `http://127.0.0.1:1/${name}${"a".repeat(1000)}${at}`);
  const { client, hits } = site({
    "/robots.txt": robots("/a.xml", "/c.xml"),
    "/a.xml": index("/b.xml", ...long("a")),
    "/b.xml": index(...long("b")),
    "/c.xml": index("/d.xml", ...long("c")),
    "/d.xml": urlset("/p"),
  });
  // For 80 URLs of 1,000 characters.
  const limits = { ...withFixedLimits({ sitemapUrlLength: 82_000 / 50_000 }) };
  await using tree = await sitemapTreeForHomepage(home, { client, limits, knownPaths: "never", useHomepage: false });
  const invalid = [...tree.sitemaps()].flatMap((each) => (each.kind === "invalid" ? [each.reason] : []));
  const beyond = invalid.filter(({ code }) => code === "limit-sitemap-urls").map(({ count = 1 }) => count);
  expect(invalid.filter(({ code }) => code === "port-refused")).toHaveLength(80);
  expect(beyond).toEqual([20, 51]);
  expect(tree.complete).toBe(false);
  expect(hits).not.toContain("/d.xml");
});

test("an index with 50,000 ordinary URLs is within the limit", () => {
  const budget = new Budget(resolveOptions().limits);
  const references = Array.from({ length: 50_000 }, (_, at) => ({ url: `${home}${"a".repeat(150)}${at}` }));
  expect(references.every((reference) => budget.spendUrl(reference))).toBe(true);
});

// 1,000 characters when it is requested.
const long = `http://127.0.0.1/${"é".repeat(163)}aaaaa`;

function collectors(characters: number, count: number) {
  const settings = resolveOptions({ limits: { ...withFixedLimits({ sitemapUrlLength: characters / 50_000 }) } });
  const parent = frameOf({ kind: "index", format: "robots", url: home, complete: true, problems: [] });
  const budget = new Budget(settings.limits);
  const context = { budget, settings, filter: undefined };
  return Array.from({ length: count }, () => childrenOf(context, home, { parent }));
}

test.each([
  [0, 1],
  [5000, 6],
])("an index keeps only the references that %i characters allow, and one that counts the rest", async (most, kept) => {
  const [children] = collectors(most, 1);
  for (let at = 0; at < 100; at++) await children?.add([{ url: long }]);
  expect(await children?.end()).toMatchObject({ withinBudget: kept - 1, unlisted: 100 - kept });
});

test("indexes that are read at the same time share the character limit", async () => {
  const indexes = collectors(5000, 3);
  for (let at = 0; at < 100; at++) for (const children of indexes) await children.add([{ url: long }]);
  const listed = await Promise.all(indexes.map((children) => children.end()));
  expect(listed.map(({ withinBudget }) => withinBudget)).toEqual([2, 2, 1]);
  expect(listed.map(({ references }) => references.length)).toEqual([3, 3, 2]);
});
