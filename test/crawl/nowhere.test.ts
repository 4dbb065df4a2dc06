// URLs without a sitemap, and everything that leads to them, are requested once.
import { describe, expect, test } from "vitest";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { codesOf } from "../support/collected.ts";
import { home, index, outline, type Route, robots, site, urlset } from "../support/site.ts";

const html: Route = { headers: { "content-type": "text/html" }, body: "<html><body>Welcome</body></html>" };

async function discover(routes: Parameters<typeof site>[0], concurrency: number) {
  const { client, hits } = site(routes);
  await using tree = await sitemapTreeForHomepage(home, { client, retries: 0, concurrency });
  return { tree, hits, lines: await outline(tree) };
}

const links = ["/sitemap.xml", "/sitemap.txt", "/to-sitemap", "/"].map((href) => `<link rel="sitemap" href="${href}">`);

describe.each([1, 16])("with %i requests at a time", (concurrency) => {
  test.each<[string, (path: string) => Route, string]>([
    ["one missing page", (path) => (path === "/404" ? { status: 404 } : { to: "/404" }), `absent ${home}404`],
    ["its homepage", (path) => (path === "/" ? html : { to: "/" }), `not-a-sitemap ${home}`],
  ])("a website that redirects everything to %s has no sitemaps", async (_, routes, expected) => {
    const { tree, lines, hits } = await discover(routes, concurrency);
    expect(lines).toEqual(["index/website /"]);
    expect(tree.complete).toBe(true);
    const outcomes = new Set(tree.discovery.map(({ outcome, finalUrl }) => `${outcome} ${finalUrl}`));
    expect(outcomes).toEqual(new Set([expected]));
    // Once as robots.txt, once as the homepage, once for all the others.
    expect(hits.filter((path) => path === "/404").length).toBeLessThanOrEqual(3);
  });

  test("a declared sitemap that was guessed before, but not found, is invalid without another request", async () => {
    const page = { headers: { "content-type": "text/html" }, body: links.join("") };
    const routes = { "/": page, "/sitemap.txt": "Sorry", "/to-sitemap": { to: "/sitemap.xml" } };
    const { lines, hits } = await discover(routes, concurrency);
    const invalid = ["  invalid /sitemap.xml (http-404)", "  invalid /sitemap.txt (not-a-sitemap)"];
    expect(lines).toEqual(["index/website /", ...invalid]);
    for (const path of ["/sitemap.xml", "/sitemap.txt"]) expect(hits.filter((each) => each === path)).toHaveLength(1);
  });

  test("a declared sitemap that redirects to a missing well-known path requests that path once", async () => {
    const { lines, hits, tree } = await discover(
      { "/robots.txt": robots("/old.xml", "/a.xml"), "/old.xml": { to: "/sitemap.xml" }, "/a.xml": urlset("/1") },
      concurrency,
    );
    expect(lines.slice(2)).toEqual(["    invalid /old.xml (http-404)", "    pages/xml /a.xml", "      /1"]);
    expect(hits.filter((path) => path === "/sitemap.xml")).toHaveLength(1);
    expect(tree.discovery[1]).toMatchObject({ url: `${home}sitemap.xml`, outcome: "duplicate" });
  });
});

const xml = (body: string): Route => ({ headers: { "content-type": "application/xml" }, body });

describe("a sitemap in place of robots.txt or the homepage", () => {
  test.each<[string, Record<string, Route>]>([
    ["robots.txt", { "/robots.txt": urlset("/1") }],
    ["robots.txt", { "/robots.txt": index("/1.xml") }],
    ["robots.txt", { "/robots.txt": urlset("/1"), "/sitemap.xml": urlset("/2") }],
    ["", { "/": xml(urlset("/1")) }],
    [
      "",
      {
        "/": xml(`<?xml version="1.0"?>\n<?xml-stylesheet href="/s.xsl"?><!-- made -->\n${index("/1.xml").slice(21)}`),
      },
    ],
    ["", { "/": { headers: { "content-type": "text/html" }, body: urlset("/1") } }],
    ["home.xml", { "/": { to: "/home.xml" }, "/home.xml": xml(urlset("/1")) }],
  ])("is not read, which is a loss: /%s", async (path, routes) => {
    const { tree } = await discover(routes, 4);
    expect(tree.root.problems).toMatchObject([{ code: "sitemap-ignored", value: home + path }]);
    expect(tree.complete).toBe(false);
  });

  test.each<[string, Record<string, Route>]>([
    ["robots.txt redirects to it", { "/robots.txt": { to: "/sitemap.xml" }, "/sitemap.xml": urlset("/1") }],
    ["the homepage redirects to it", { "/": { to: "/sitemap.xml" }, "/sitemap.xml": xml(urlset("/1")) }],
    ["another sitemap lists the same", { "/robots.txt": urlset("/1"), "/sitemap.xml": urlset("/1") }],
  ])("is no loss if it is read elsewhere: %s", async (_, routes) => {
    const { tree, lines } = await discover(routes, 4);
    expect(lines).toEqual(["index/website /", "  pages/xml /sitemap.xml", "    /1"]);
    expect(tree.complete).toBe(true);
  });
});

describe("a sitemap link that leads to an HTML page", () => {
  const page = (body: string): Route => ({ headers: { "content-type": "text/html" }, body });

  test.each([
    '<link rel="sitemap" href="/s.xml">',
    '<link rel="sitemap" href="/s.xml.gz?v=1">',
    '<link rel="sitemap" href="/s.txt">',
    '<link rel="sitemap" type="application/xml" href="/s">',
    '<link rel="sitemap" type="text/xml; charset=utf-8" href="/s">',
  ])("is a loss if the link declares a sitemap for programs: %s", async (link) => {
    const [, path = ""] = /href="([^"]*)"/.exec(link) ?? [];
    for (const routes of [{ [path]: html }, { [path]: { to: "/" } }]) {
      const { tree, lines } = await discover({ "/": page(link), ...routes }, 4);
      expect(lines.some((line) => line.includes("invalid"))).toBe(true);
      expect(tree.complete).toBe(false);
    }
  });

  test.each(['<link rel="sitemap" href="/s">', '<link rel="sitemap" href="/s.html?from=a.xml">'])(
    "is no loss if it may be a sitemap for people: %s",
    async (link) => {
      const { tree, lines } = await discover({ "/": page(link), "/s": html, "/s.html?from=a.xml": html }, 4);
      expect([lines, tree.complete]).toEqual([["index/website /"], true]);
    },
  );

  test("in a Link header is judged in the same way", async () => {
    const headers = { "content-type": "text/html", link: '</s>; rel="sitemap"; type="application/xml"' };
    const { tree } = await discover({ "/": { headers, body: "<html>" }, "/s": html }, 4);
    expect(tree.complete).toBe(false);
  });
});

test.each<[string, Record<string, Route>, number, boolean, string[]]>([
  ["nothing was found before the limit", { "/robots.txt": "User-agent: *\nDisallow:" }, 10, true, ["limit-bytes"]],
  ["a sitemap was found before the limit", { "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1") }, 200, true, []],
  ["the limit was not reached", { "/robots.txt": "User-agent: *" }, 10_000, false, []],
])("a search is complete unless a limit ends it with nothing found: %s", async (_, routes, bytes, isCut, problems) => {
  await using tree = await sitemapTreeForHomepage(home, { client: site(routes).client, retries: 0, limits: { bytes } });
  expect(tree.discovery.some(({ reason }) => reason?.code === "limit-bytes")).toBe(isCut);
  expect(tree.complete).toBe(problems.length === 0);
  expect(codesOf(tree)).toEqual(problems);
});
