// Sitemaps that are refused without a request cost a website next to nothing: they must not cost us more.
import { expect, test } from "vitest";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { home, index, robots, site } from "../support/site.ts";

test("thousands of sitemaps that are refused alike share a node with their number", async () => {
  const refused = Array.from({ length: 5000 }, (_, at) => `http://127.0.0.1:1/${"a".repeat(1000)}${at}`);
  const { client } = site({ "/robots.txt": robots("/i.xml"), "/i.xml": index(...refused) });
  await using tree = await sitemapTreeForHomepage(home, { client, knownPaths: "never", useHomepage: false });
  const invalid = [...tree.sitemaps()].flatMap((each) => (each.kind === "invalid" ? [each.reason] : []));
  expect(invalid.length).toBeLessThanOrEqual(1001);
  expect(invalid.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(5000);
  expect(tree.complete).toBe(false);
});
