// Cycles, diamonds, depth and budgets: what a website can do with the shape of its tree.
import { expect, test } from "vitest";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { codesOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { home, index, outline, type Route, robots, site, urlset } from "../support/site.ts";

async function treeOf(routes: Parameters<typeof site>[0], options: Options = {}, start: string[] = ["/i.xml"]) {
  const { client, hits } = site(routes);
  const urls = start.map((path) => home + path.slice(1));
  const tree = await sitemapTreeForHomepage({ sitemaps: urls }, { client, retries: 0, ...options });
  const lines = (await outline(tree)).slice(1).map((line) => line.slice(2));
  await tree.close();
  return { tree, lines, hits };
}

interface Case {
  readonly routes: Parameters<typeof site>[0];
  readonly options?: Options;
  readonly start?: string[];
  readonly lines: readonly string[];
  /** If absent, every document of the routes is declared. */
  readonly hits?: readonly string[];
  readonly complete?: boolean;
}

const spellings = [
  "https://EXAMPLE.org/i.xml",
  "https://example.org:443/i.xml",
  "https://example.org/%69.xml",
  "https://example.org/i.xml#x",
];
const two = { "/i.xml": index("/a.xml", "/b.xml"), "/a.xml": urlset("/1"), "/b.xml": urlset("/2") };
const one = { "/i.xml": index("/a.xml"), "/a.xml": urlset("/1") };
const longer = (path: string) => (path.endsWith(".xml") ? index(`${path.slice(0, -4)}1.xml`) : undefined);

const cases: Record<string, Case> = {
  "the same URL in another spelling is the same sitemap": {
    routes: { "/i.xml": index(...spellings) },
    lines: ["index/xml /i.xml", ...spellings.map((url) => `  invalid ${url.replace(home, "/")} (cycle)`)],
  },
  "cycles of two and three, by URL and through redirects, fetch each document once": {
    routes: {
      "/i.xml": index("/a.xml", "/r.xml"),
      "/a.xml": index("/b.xml"),
      "/b.xml": index("/i.xml", "/a.xml"),
      "/r.xml": { to: "/i.xml" },
    },
    lines: [
      "index/xml /i.xml",
      "  index/xml /a.xml",
      "    index/xml /b.xml",
      "      invalid /i.xml (cycle)",
      "      invalid /a.xml (cycle)",
      "  invalid /r.xml (cycle)",
    ],
  },
  "a document that is declared again is shown as it was read": {
    routes: { "/x.xml": index("/y.xml"), "/y.xml": index("/x.xml", "/p.xml"), "/p.xml": urlset("/1") },
    start: ["/x.xml", "/y.xml"],
    lines: [
      "index/xml /x.xml",
      "  index/xml /y.xml",
      "    invalid /x.xml (cycle)",
      "    pages/xml /p.xml",
      "      /1",
      "index/xml /y.xml",
      "  invalid /x.xml (cycle)",
      "  pages/xml /p.xml",
      "    /1",
    ],
  },
  "a robots.txt listed in an index is not a sitemap, and is not fetched": {
    routes: { "/i.xml": index("/robots.txt", "https://other.example/robots.txt"), "/robots.txt": robots("/i.xml") },
    lines: [
      "index/xml /i.xml",
      "  invalid /robots.txt (not-a-sitemap)",
      "  invalid https://other.example/robots.txt (not-a-sitemap)",
    ],
    hits: ["/i.xml"],
  },
  "an endless tree ends at the depth limit, and says so": {
    routes: longer,
    options: { limits: { depth: 3 } },
    lines: [
      "index/xml /i.xml",
      "  index/xml /i1.xml",
      "    index/xml /i11.xml",
      "      index/xml /i111.xml",
      "        invalid /i1111.xml (limit-depth)",
    ],
    hits: ["/i.xml", "/i1.xml", "/i11.xml", "/i111.xml"],
    complete: false,
  },
  "a depth of 0 means zero": {
    routes: one,
    options: { limits: { depth: 0 } },
    lines: ["index/xml /i.xml", "  invalid /a.xml (limit-depth)"],
    hits: ["/i.xml"],
  },
  "a document declared too deep is not a loss if it was already read": {
    routes: { "/a.xml": urlset("/1"), "/i.xml": index("/a.xml", "/gone.xml", "/b.xml"), "/b.xml": urlset("/2") },
    options: { limits: { depth: 0 } },
    start: ["/a.xml", "/gone.xml", "/i.xml"],
    lines: [
      "pages/xml /a.xml",
      "  /1",
      "invalid /gone.xml (http-404)",
      "index/xml /i.xml",
      "  pages/xml /a.xml",
      "    /1",
      "  invalid /gone.xml (http-404)",
      "  invalid /b.xml (limit-depth)",
    ],
    hits: ["/a.xml", "/gone.xml", "/i.xml"],
    complete: false,
  },
  ...Object.fromEntries(
    (["sitemaps", "pages", "bytes", "time"] as const).map((limit) => [
      `a limit of 0 ${limit} means zero`,
      { routes: one, options: { limits: { [limit]: 0 } }, lines: [`invalid /i.xml (limit-${limit})`], hits: [] },
    ]),
  ),
  "the budget for pages ends in the middle of a sitemap; what follows is cut off": {
    routes: {
      "/i.xml": index("/a.xml", "/b.xml", "/c.xml"),
      "/a.xml": urlset("/1", "/2"),
      "/b.xml": urlset("/3", "/4"),
      "/c.xml": urlset("/5"),
    },
    options: { limits: { pages: 3 } },
    lines: [
      "index/xml /i.xml",
      "  pages/xml /a.xml",
      "    /1",
      "    /2",
      "  pages/xml /b.xml (limit-pages)",
      "    /3",
      "  invalid /c.xml (limit-pages)",
    ],
    complete: false,
  },
  "the budget for bytes ends between two documents": {
    routes: two,
    options: { limits: { bytes: Buffer.byteLength(two["/i.xml"]) + 1 } },
    lines: ["index/xml /i.xml", "  pages/xml /a.xml", "    /1", "  invalid /b.xml (limit-bytes)"],
  },
};

test.each(Object.entries(cases))("%s", async (_, { routes, options, start, lines, hits, complete }) => {
  const result = await treeOf(routes, options, start);
  expect(result.lines).toEqual(lines);
  expect(result.hits.toSorted()).toEqual(hits ?? Object.keys(routes).toSorted());
  if (complete !== undefined) expect(result.tree.complete).toBe(complete);
});

test("a diamond of 5 levels with 3 documents each takes 16 requests, and every path through it is shown", async () => {
  const name = (level: number, at: number) => `/l${level}-${at}.xml`;
  const below = (level: number) => index(...[0, 1, 2].map((at) => name(level + 1, at)));
  const routes: Record<string, Route> = { "/i.xml": below(0) };
  for (let level = 1; level <= 5; level += 1)
    for (let at = 0; at < 3; at += 1) routes[name(level, at)] = level === 5 ? urlset(`/${at}`) : below(level);
  const { tree, hits } = await treeOf(routes);
  expect(hits).toHaveLength(16);
  expect(tree.pageCount).toBe(3 ** 5);
  expect(tree.complete).toBe(true);
});

test("URLs that differ only in their fragment count as one child of an index, and one Sitemap line", async () => {
  const fragments = (path: string) => [`${path}#1`, path, `${path}#`, `${path}#2`];
  const routes = {
    "/robots.txt": robots(...fragments("/a.xml")),
    "/a.xml": index(...fragments("/b.xml")),
    "/b.xml": index("/a.xml#3", "/a.xml#4", ...fragments("/p.xml"), "/moved.xml#1", "/moved.xml#2"),
    "/p.xml": urlset("/1", "/1#1"),
    "/moved.xml": { to: "/p.xml#5" },
  };
  const { client, hits } = site(routes);
  await using tree = await sitemapTreeForHomepage(home, { client, knownPaths: "never", useHomepage: false });
  expect((await outline(tree)).slice(1)).toEqual([
    "  index/robots /robots.txt",
    "    index/xml /a.xml#1",
    "      index/xml /b.xml#1",
    "        invalid /a.xml#3 (cycle)",
    "        pages/xml /p.xml#1",
    "          /1",
    "          /1#1",
    "        pages/xml /moved.xml#1",
    "          /1",
    "          /1#1",
  ]);
  expect(hits.toSorted()).toEqual(Object.keys(routes).toSorted());
  expect(tree.complete).toBe(true);
  expect([...tree.problems()].map(({ url, problem: { code, count } }) => [url, code, count])).toEqual([
    [`${home}robots.txt`, "url-repeated", 3],
    [`${home}a.xml`, "url-repeated", 3],
    [`${home}b.xml`, "url-repeated", 5],
    [`${home}a.xml#3`, "cycle", undefined],
  ]);
});

// These spellings of a host lead to the same document, but are separate declarations.
function spelled(path: string, count: number): string[] {
  const letters = [..."example"];
  const host = (at: number) => letters.map((letter, bit) => (at & (1 << bit) ? letter.toUpperCase() : letter)).join("");
  return Array.from({ length: count }, (_, at) => `https://${host(at)}.org${path}`);
}

test("two documents that list each other in many spellings give a small tree", async () => {
  const most = some(5000, 500);
  const { tree, hits } = await treeOf(
    { "/a.xml": index(...spelled("/b.xml", 100)), "/b.xml": index(...spelled("/a.xml", 100)) },
    { limits: { sitemaps: most } },
    ["/a.xml"],
  );
  expect(hits).toEqual(["/a.xml", "/b.xml"]);
  expect([...tree.sitemaps()].length).toBeLessThanOrEqual(most + 20);
  expect(codesOf(tree)).toContain("limit-sitemaps");
});

test("a document that is shown many times is fetched once, read once, and complete", async () => {
  const shown = spelled("/a.xml", 100);
  const { tree, hits } = await treeOf({ "/i.xml": index(...shown), "/a.xml": index("/p.xml"), "/p.xml": urlset("/1") });
  expect(hits.toSorted()).toEqual(["/a.xml", "/i.xml", "/p.xml"]);
  expect(tree.pageCount).toBe(100);
  expect(tree.complete).toBe(true);
  // The copies share their children.
  const top = tree.root.children[0];
  const children = top?.kind === "index" ? top.children : [];
  expect(new Set(children.map((child) => (child.kind === "index" ? child.children : undefined))).size).toBe(1);
});

test("an endless tree ends at the limit of documents, and names what was cut off", async () => {
  const endless = (path: string) =>
    path.endsWith(".xml") ? index(`${path.slice(0, -4)}0.xml`, `${path.slice(0, -4)}1.xml`) : undefined;
  const { tree, hits } = await treeOf(endless, { limits: { sitemaps: 20, depth: 100 }, concurrency: 4 });
  const reasons = [...tree.sitemaps()].flatMap((sitemap) => (sitemap.kind === "invalid" ? [sitemap.reason.code] : []));
  expect(new Set(reasons)).toEqual(new Set(["limit-sitemaps"]));
  expect([...tree.sitemaps()].filter(({ kind }) => kind === "index")).toHaveLength(20 + 1);
  // Prefetching may request a few more than the limit.
  expect(hits.length).toBeLessThanOrEqual(28);
});

test("the time limit ends pending requests, and documents already fetched are read", async () => {
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
  // Tries a longer time if a busy machine fetches nothing.
  for (let time = 300; lines.length < expected.length && time < 60_000; time *= 5)
    ({ lines } = await treeOf(routes, { limits: { time } }));
  expect(lines).toEqual(expected);
});

test("filters get the children of each index before any of them is fetched", async () => {
  const asked: unknown[] = [];
  const dated = index("/a.xml", "/b.xml", "/c.xml").replace("</loc>", "</loc><lastmod>2024-02-03</lastmod>");
  const { lines, hits } = await treeOf(
    { "/i.xml": dated, "/a.xml": urlset("/1"), "/c.xml": urlset("/3") },
    {
      recurseList(children, context) {
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
  const failure = new Error("thrown to the caller");
  const recurse = () => {
    throw failure;
  };
  await expect(treeOf({ "/i.xml": dated }, { recurse })).rejects.toBe(failure);
});
