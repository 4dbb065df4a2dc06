// The homepage shows which platform a website uses: the paths of that platform are tried, and few others.
import { expect, test } from "vitest";
import { knownPaths } from "../../src/discover/known-paths.ts";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { type PlatformSite, platformSites, routesOf } from "../support/platform-sites.ts";
import { home, type Route, site, urlset } from "../support/site.ts";

async function visited(routes: Record<string, Route>, options: Options = {}) {
  const { client, hits } = site(routes);
  await using tree = await sitemapTreeForHomepage(home, { client, retries: 0, ...options });
  const found = [...tree.sitemaps()].filter(({ kind }) => kind === "pages").map(({ url }) => new URL(url).pathname);
  return { hits, found: found.sort(), tree };
}

const pagesOf = ({ sitemaps }: PlatformSite) =>
  Object.entries(sitemaps).flatMap(([path, body]) => (body.includes("<urlset") ? [path] : []));

test.each(platformSites.map((each) => [each.name, each] as const))(
  "all sitemaps of %s are found in few requests",
  async (_, made) => {
    const { hits, found } = await visited(routesOf(made, true));
    expect(found).toEqual(pagesOf(made).sort());
    // robots.txt, the homepage, all existing sitemaps, and at most eight guesses that find nothing.
    expect(hits.length).toBeLessThanOrEqual(2 + Object.keys(made.sitemaps).length + 8);
  },
);

test("`extraKnownPaths` are always tried, well-known paths only if requested", async () => {
  const wordpress = { "/": '<html><meta name="generator" content="WordPress 6">', "/own.xml": urlset("a") };
  expect((await visited(wordpress, { extraKnownPaths: ["own.xml"] })).found).toEqual(["/own.xml"]);
  expect((await visited(wordpress, { knownPaths: "never" })).hits).toEqual(["/robots.txt", "/"]);
});

test("recognizing the wrong platform hides no sitemap", async () => {
  const image = '<html><img src="https://blog.example.net/wp-content/a.jpg"><img src="https://cdn.shopify.com/b.png">';
  const { found, tree, hits } = await visited({ "/": image, "/sitemaps.xml": urlset("a") });
  expect([found, tree.complete]).toEqual([["/sitemaps.xml"], true]);
  expect(new Set(hits).size).toBe(hits.length);
});

test("all well-known paths are tried if the platform is unknown", async () => {
  const { hits } = await visited({ "/": "<html>" });
  expect(hits.slice(2).sort()).toEqual(knownPaths.map((path) => `/${path}`).sort());
  expect(hits.some((path) => path.includes("admin"))).toBe(false);
});
