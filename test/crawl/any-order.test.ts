// Websites made up at random, of indexes, pages, redirects, loops, failures and budgets: whatever comes first, and however
// much at a time, the tree, the stream and the archive say the same, and no document is fetched twice.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Client } from "../../src/client.ts";
import { streamPages } from "../../src/crawl/stream-pages.ts";
import type { Limits } from "../../src/options.ts";
import { isLossy } from "../../src/problem.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { Random } from "../support/random.ts";
import { home, index, type Route, robots, site, urlset } from "../support/site.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-any-order-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

// A failure names its seed.
test.each(Array.from({ length: 25 }, (_, at) => at + 1))("website %i", async (seed) => {
  const { routes, limits } = website(new Random(seed));
  const expected = await result(routes, limits, 1, () => 0);
  const random = new Random(seed);
  for (const [concurrency, wait] of [
    [16, () => 0],
    [16, () => random.below(5)],
    [3, () => random.below(4)],
  ] as const) {
    const { tree, hits } = await result(routes, limits, concurrency, wait);
    expect(tree).toEqual(expected.tree);
    // The homepage may be a sitemap, too, and is then asked for as both. So may what robots.txt redirects to, and what lies
    // too many redirects away from one place need not from another.
    const documents = hits.filter((hit) => hit !== "/");
    if (typeof routes["/robots.txt"] === "string" && limits.redirects === undefined) {
      expect(documents.toSorted()).toEqual([...new Set(documents)].sort());
    }
  }
  const streamed: string[] = [];
  const client = slowed(site(routes).client, () => random.below(3));
  for await (const { url } of streamPages(home, { client, retries: 0, limits })) streamed.push(url);
  expect(streamed).toEqual(expected.pagesOnce);
  expect(expected.replayed).toEqual(expected.tree);
  // Whether it is complete can be told from the codes of its problems, and from nothing else.
  expect(expected.tree.complete).toBe(!expected.codes.some(isLossy));
});

async function result(routes: Record<string, Route>, limits: Partial<Limits>, concurrency: number, wait: () => number) {
  const { client, hits } = site(routes);
  const options = { client: slowed(client, wait), retries: 0, concurrency, limits };
  await using tree = await sitemapTreeForHomepage(home, options);
  const archive = path.join(folder, "tree.warc");
  await tree.save(archive);
  await using opened = await openTree(archive);
  const replayed = { ...opened.toJSON(), pages: await pagesOf(opened) };
  rmSync(archive);
  const pagesOnce: string[] = [];
  const seen = new Set<string>();
  for (const sitemap of tree.sitemaps()) {
    if (sitemap.kind !== "pages" || seen.has(sitemap.url)) continue;
    seen.add(sitemap.url);
    for await (const { url } of tree.pages(sitemap)) pagesOnce.push(url);
  }
  const codes = [...tree.problems()].map(({ problem }) => problem.code);
  return { hits, pagesOnce, replayed, codes, tree: { ...tree.toJSON(), pages: await pagesOf(tree) } };
}

async function pagesOf(tree: SitemapTree): Promise<string[]> {
  const urls: string[] = [];
  for await (const { url } of tree.pages()) urls.push(url);
  return urls;
}

function slowed(client: Client, wait: () => number): Client {
  return {
    async request(request) {
      const milliseconds = wait();
      if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
      return client.request(request);
    },
  };
}

function website(random: Random): { routes: Record<string, Route>; limits: Partial<Limits> } {
  const count = 3 + random.below(25);
  const any = () => `/${random.below(count)}.xml`;
  const some = (most: number) => Array.from({ length: random.below(most + 1) }, any);
  const routes: Record<string, Route> = {};
  for (let at = 0; at < count; at += 1) {
    const pages = Array.from({ length: 1 + random.below(4) }, (_, page) => `/${at}/${page}`);
    const kinds: (() => Route)[] = [
      () => index(...some(4)),
      () => index(...some(4)),
      () => urlset(...pages),
      () => urlset(...pages),
      () => urlset(...pages).slice(0, -20),
      () => ({ to: any() }),
      () => ({ to: any() }),
      () => ({ to: random.below(8) === 0 ? "/sitemap.xml" : any() }),
      () => ({ status: random.pick([404, 500, 403, 204]) }),
    ];
    routes[`/${at}.xml`] = random.pick(kinds)();
  }
  const sometimes = (odds: number) => random.below(odds) === 0;
  routes["/robots.txt"] = sometimes(8) ? { to: any() } : robots(any(), ...some(2));
  if (sometimes(2)) routes["/sitemap.xml"] = routes["/0.xml"] as Route;
  if (sometimes(2)) routes["/sitemap_index.xml"] = { to: any() };
  if (sometimes(3)) routes["/sitemap.txt"] = { to: "/" };
  const links = [any(), any(), "/sitemap.xml", "/"].map((href) => `<link rel="sitemap" href="${href}">`);
  if (sometimes(2)) routes["/"] = { headers: { "content-type": "text/html" }, body: links.join("") };
  return {
    routes,
    limits: {
      ...(sometimes(4) ? { documents: 1 + random.below(12) } : {}),
      ...(sometimes(4) ? { pages: random.below(8) } : {}),
      ...(sometimes(5) ? { depth: 1 + random.below(3) } : {}),
      ...(sometimes(6) ? { bytes: random.below(2000) } : {}),
      ...(sometimes(8) ? { redirects: 1 + random.below(2) } : {}),
    },
  };
}
