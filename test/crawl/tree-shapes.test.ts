// Cycles, diamonds, depth and budgets: what a website can do with the shape of its tree.
// Needs more than a second.
import { expect, test } from "vitest";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeFrom } from "../../src/tree/build.ts";
import { some } from "../support/long.ts";
import { home, index, outline, type Route, robots, site, urlset } from "../support/site.ts";

async function treeOf(routes: Parameters<typeof site>[0], options: Options = {}, start: string[] = ["/i.xml"]) {
  const { client, hits } = site(routes);
  const urls = start.map((path) => home + path.slice(1));
  const tree = await sitemapTreeFrom(urls, { client, retries: 0, ...options });
  const lines = (await outline(tree)).slice(1).map((line) => line.slice(2));
  await tree.close();
  return { tree, lines, hits };
}

test("an index that lists itself is read once, its siblings stay, and nothing is missing", async () => {
  const { lines, hits, tree } = await treeOf({ "/i.xml": index("/i.xml", "/a.xml"), "/a.xml": urlset("/1") });
  expect(lines).toEqual(["index/xml /i.xml", "  invalid /i.xml (cycle)", "  pages/xml /a.xml", "    /1"]);
  expect(hits.toSorted()).toEqual(["/a.xml", "/i.xml"]);
  expect(tree.complete).toBe(true);
});

test("the same URL in another spelling is the same sitemap", async () => {
  const spellings = [
    "https://EXAMPLE.org/i.xml",
    "https://example.org:443/i.xml",
    "https://example.org/%69.xml",
    "https://example.org/i.xml#x",
  ];
  const { lines, hits } = await treeOf({ "/i.xml": index(...spellings) });
  expect(lines.slice(1)).toEqual(
    spellings.map((url) => `  invalid ${url.startsWith(home) ? url.slice(home.length - 1) : url} (cycle)`),
  );
  expect(hits).toEqual(["/i.xml"]);
});

test("cycles of two and three, by URL and through redirects, fetch each document once", async () => {
  const { lines, hits } = await treeOf({
    "/i.xml": index("/a.xml", "/r.xml"),
    "/a.xml": index("/b.xml"),
    "/b.xml": index("/i.xml", "/a.xml"),
    "/r.xml": { to: "/i.xml" },
  });
  expect(lines).toEqual([
    "index/xml /i.xml",
    "  index/xml /a.xml",
    "    index/xml /b.xml",
    "      invalid /i.xml (cycle)",
    "      invalid /a.xml (cycle)",
    "  invalid /r.xml (cycle)",
  ]);
  expect(hits.toSorted()).toEqual(["/a.xml", "/b.xml", "/i.xml", "/r.xml"]);
});

test("a document that was cut off inside a cycle is whole where it stands outside of it", async () => {
  const { lines, hits } = await treeOf(
    { "/x.xml": index("/y.xml"), "/y.xml": index("/x.xml", "/p.xml"), "/p.xml": urlset("/1") },
    {},
    ["/x.xml", "/y.xml"],
  );
  expect(lines).toEqual([
    "index/xml /x.xml",
    "  index/xml /y.xml",
    "    invalid /x.xml (cycle)",
    "    pages/xml /p.xml",
    "      /1",
    "index/xml /y.xml",
    "  index/xml /x.xml",
    "    invalid /y.xml (cycle)",
    "  pages/xml /p.xml",
    "    /1",
  ]);
  expect(hits.toSorted()).toEqual(["/p.xml", "/x.xml", "/y.xml"]);
});

test("robots.txt named by an index is no sitemap, and is not fetched", async () => {
  const { lines, hits } = await treeOf({
    "/i.xml": index("/robots.txt", "https://other.example/robots.txt"),
    "/robots.txt": robots("/i.xml"),
  });
  expect(lines).toEqual([
    "index/xml /i.xml",
    "  invalid /robots.txt (not-a-sitemap)",
    "  invalid https://other.example/robots.txt (not-a-sitemap)",
  ]);
  expect(hits).toEqual(["/i.xml"]);
});

test("a diamond of 6 levels with 3 documents each is 19 requests, and every path through it is shown", async () => {
  const name = (level: number, at: number) => `/l${level}-${at}.xml`;
  const routes: Record<string, Route> = { "/i.xml": index(name(1, 0), name(1, 1), name(1, 2)) };
  for (let level = 1; level <= 6; level += 1) {
    for (let at = 0; at < 3; at += 1) {
      routes[name(level, at)] =
        level === 6 ? urlset(`/${at}`) : index(name(level + 1, 0), name(level + 1, 1), name(level + 1, 2));
    }
  }
  const { tree, hits } = await treeOf(routes);
  expect(hits).toHaveLength(19);
  expect(tree.pageCount).toBe(3 ** 6);
  expect(tree.complete).toBe(true);
});

test("two documents that name each other by fragments do not become a forest", async () => {
  const most = some(5000, 1500);
  const fragments = (path: string) => index(...Array.from({ length: 100 }, (_, at) => `${path}#${at}`));
  const { tree, hits } = await treeOf(
    { "/a.xml": fragments("/b.xml"), "/b.xml": fragments("/a.xml") },
    { limits: { documents: most } },
    ["/a.xml"],
  );
  expect(hits).toEqual(["/a.xml", "/b.xml"]);
  expect([...tree.sitemaps()].length).toBeLessThanOrEqual(most + 20);
  expect([...tree.problems()].map(({ problem }) => problem.code)).toContain("limit-documents");
});

test("one document that is shown a thousand times is fetched once, read once, and complete", async () => {
  const shown = Array.from({ length: 1000 }, (_, at) => `/a.xml#${at}`);
  const { tree, hits } = await treeOf({ "/i.xml": index(...shown), "/a.xml": index("/p.xml"), "/p.xml": urlset("/1") });
  expect(hits.toSorted()).toEqual(["/a.xml", "/i.xml", "/p.xml"]);
  expect(tree.pageCount).toBe(1000);
  expect(tree.complete).toBe(true);
  // They share what lies below them.
  const top = tree.root.children[0];
  const children = top?.kind === "index" ? top.children : [];
  expect(new Set(children.map((child) => (child.kind === "index" ? child.children : undefined))).size).toBe(1);
});

test("a few documents that name each other do not become an endless tree", async () => {
  const names = Array.from({ length: 8 }, (_, at) => `/${at}.xml`);
  const { tree, hits } = await treeOf(
    (path) => (names.includes(path) ? index(...names) : undefined),
    { limits: { documents: 1000 } },
    ["/0.xml"],
  );
  expect(hits.toSorted()).toEqual(names);
  expect([...tree.sitemaps()].filter(({ kind }) => kind === "index").length).toBeLessThan(1010);
  expect(tree.complete).toBe(false);
});

test("a child that redirects to another document is shown there too, from the one fetch", async () => {
  const { lines, hits } = await treeOf({
    "/i.xml": index("/a.xml", "/moved.xml"),
    "/a.xml": urlset("/1"),
    "/moved.xml": { to: "/a.xml" },
  });
  expect(lines).toEqual(["index/xml /i.xml", "  pages/xml /a.xml", "    /1", "  pages/xml /moved.xml", "    /1"]);
  expect(hits.filter((path) => path === "/a.xml")).toHaveLength(1);
});

test("two documents that redirect to each other are invalid", async () => {
  const { lines } = await treeOf({
    "/i.xml": index("/a.xml", "/b.xml"),
    "/a.xml": { to: "/b.xml" },
    "/b.xml": { to: "/a.xml" },
  });
  expect(lines).toEqual(["index/xml /i.xml", "  invalid /a.xml (redirect-loop)", "  invalid /b.xml (redirect-loop)"]);
});

test("a child that is declared twice in one index counts once; in two indexes it is shown in both", async () => {
  const { lines, hits } = await treeOf({
    "/i.xml": index("/a.xml", "/j.xml", "/a.xml"),
    "/j.xml": index("/a.xml"),
    "/a.xml": urlset("/1"),
  });
  expect(lines).toEqual([
    "index/xml /i.xml",
    "  pages/xml /a.xml",
    "    /1",
    "  index/xml /j.xml",
    "    pages/xml /a.xml",
    "      /1",
  ]);
  expect(hits.toSorted()).toEqual(["/a.xml", "/i.xml", "/j.xml"]);
});

test("an endless tree ends at its depth, and says so", async () => {
  const { tree, hits, lines } = await treeOf(
    (path) => (path.endsWith(".xml") ? index(`${path.slice(0, -4)}1.xml`) : undefined),
    { limits: { depth: 3 } },
  );
  expect(lines).toEqual([
    "index/xml /i.xml",
    "  index/xml /i1.xml",
    "    index/xml /i11.xml",
    "      index/xml /i111.xml",
    "        invalid /i1111.xml (limit-depth)",
  ]);
  expect(hits).toHaveLength(4);
  expect(tree.complete).toBe(false);
});

test("an endless tree ends at its number of documents; what is cut off is named", async () => {
  const endless = (path: string) =>
    path.endsWith(".xml") ? index(`${path.slice(0, -4)}0.xml`, `${path.slice(0, -4)}1.xml`) : undefined;
  const { tree, hits } = await treeOf(endless, { limits: { documents: 20, depth: 100 }, concurrency: 4 });
  const reasons = [...tree.sitemaps()].flatMap((sitemap) => (sitemap.kind === "invalid" ? [sitemap.reason.code] : []));
  expect(new Set(reasons)).toEqual(new Set(["limit-documents"]));
  expect([...tree.sitemaps()].filter(({ kind }) => kind === "index")).toHaveLength(20 + 1);
  // Asked ahead, a few more than the budget may have been fetched.
  expect(hits.length).toBeLessThanOrEqual(28);
});

test("a limit of 0 means zero", async () => {
  const routes = { "/i.xml": index("/a.xml"), "/a.xml": urlset("/1") };
  expect((await treeOf(routes, { limits: { documents: 0 } })).lines).toEqual(["invalid /i.xml (limit-documents)"]);
  expect((await treeOf(routes, { limits: { depth: 0 } })).lines).toEqual([
    "index/xml /i.xml",
    "  invalid /a.xml (limit-depth)",
  ]);
  expect((await treeOf(routes, { limits: { pages: 0 } })).lines).toEqual(["invalid /i.xml (limit-pages)"]);
  expect((await treeOf(routes, { limits: { bytes: 0 } })).lines).toEqual(["invalid /i.xml (limit-bytes)"]);
  expect((await treeOf(routes, { limits: { time: 0 } })).lines).toEqual(["invalid /i.xml (limit-time)"]);
});

test("the budget for pages ends in the middle of a sitemap; what follows is cut off", async () => {
  const routes = {
    "/i.xml": index("/a.xml", "/b.xml", "/c.xml"),
    "/a.xml": urlset("/1", "/2"),
    "/b.xml": urlset("/3", "/4"),
    "/c.xml": urlset("/5"),
  };
  const { lines, tree } = await treeOf(routes, { limits: { pages: 3 } });
  expect(lines).toEqual([
    "index/xml /i.xml",
    "  pages/xml /a.xml",
    "    /1",
    "    /2",
    "  pages/xml /b.xml (limit-pages)",
    "    /3",
    "  invalid /c.xml (limit-pages)",
  ]);
  expect(tree.pageCount).toBe(3);
});

test("the budget for bytes ends between two documents", async () => {
  const routes = { "/i.xml": index("/a.xml", "/b.xml"), "/a.xml": urlset("/1"), "/b.xml": urlset("/2") };
  const { lines } = await treeOf(routes, { limits: { bytes: Buffer.byteLength(index("/a.xml", "/b.xml")) + 1 } });
  expect(lines).toEqual(["index/xml /i.xml", "  pages/xml /a.xml", "    /1", "  invalid /b.xml (limit-bytes)"]);
});

test("the budget for time ends what is still being waited for; what was fetched is read", async () => {
  const routes = {
    "/i.xml": index("/a.xml", "/slow.xml", "/b.xml"),
    "/a.xml": urlset("/1"),
    "/slow.xml": { wait: 60_000, body: urlset("/2") },
    "/b.xml": urlset("/3"),
  };
  const expected = [
    "index/xml /i.xml",
    "  pages/xml /a.xml",
    "    /1",
    "  invalid /slow.xml (limit-time)",
    "  pages/xml /b.xml",
    "    /3",
  ];
  let lines: readonly string[] = [];
  // More of it where a busy machine fetches nothing in that time.
  for (let time = 300; lines.length < expected.length && time < 60_000; time *= 5)
    ({ lines } = await treeOf(routes, { limits: { time } }));
  expect(lines).toEqual(expected);
});

test("a sitemap that lists sitemaps too becomes an index; its pages stand in a child of their own", async () => {
  const mixed = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${home}own</loc></url><sitemap><loc>${home}a.xml</loc></sitemap></urlset>`;
  const { tree } = await treeOf({ "/i.xml": mixed, "/a.xml": urlset("/1") });
  const top = tree.root.children[0];
  expect(top).toMatchObject({
    kind: "index",
    problems: [{ code: "xml-mixed" }],
    children: [
      { kind: "pages", pageCount: 1, url: `${home}i.xml` },
      { kind: "pages", url: `${home}a.xml` },
    ],
  });
  expect(tree.pageCount).toBe(2);
});

test("filters see the children of each index before anything is fetched", async () => {
  const asked: unknown[] = [];
  const dated = `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>${home}a.xml</loc><lastmod>2024-02-03</lastmod></sitemap><sitemap><loc>${home}b.xml</loc></sitemap><sitemap><loc>${home}c.xml</loc></sitemap></sitemapindex>`;
  const { lines, hits } = await treeOf(
    { "/i.xml": dated, "/a.xml": urlset("/1"), "/c.xml": urlset("/3") },
    {
      recurseList: (children, context) => {
        asked.push(children, context);
        return children.toReversed();
      },
      recurse: ({ url }) => !url.endsWith("/b.xml"),
    },
  );
  expect(asked).toEqual([
    [{ url: `${home}a.xml`, lastModified: "2024-02-03" }, { url: `${home}b.xml` }, { url: `${home}c.xml` }],
    { parent: `${home}i.xml`, ancestors: [home, `${home}i.xml`], depth: 2 },
  ]);
  expect(lines).toEqual(["index/xml /i.xml", "  pages/xml /c.xml", "    /3", "  pages/xml /a.xml", "    /1"]);
  expect(hits).not.toContain("/b.xml");
});

test("what a filter throws is thrown to the caller", async () => {
  const failure = new Error("no");
  const recurse = () => {
    throw failure;
  };
  await expect(treeOf({ "/i.xml": index("/a.xml") }, { recurse })).rejects.toBe(failure);
});
