import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { streamPages } from "../../src/crawl/crawl.ts";
import { readSitemap } from "../../src/crawl/read.ts";
import { knownPaths } from "../../src/discover/known-paths.ts";
import type { Client } from "../../src/model/client.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import type { Options } from "../../src/model/options.ts";
import type { IndexSitemap } from "../../src/model/sitemap.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { codesOf, listOf, urlsOf } from "../support/collected.ts";
import { rss } from "../support/documents.ts";
import { testServer } from "../support/fetching.ts";
import { home, index, outline, type Route, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

async function discover(routes: Parameters<typeof site>[0], options: Options = {}, homepage = home) {
  const { client, hits } = site(routes);
  const tree = await sitemapTreeForHomepage(homepage, { client, retries: 0, ...options });
  const lines = await outline(tree);
  await tree.close();
  return { tree, lines, hits, codes: codesOf(tree) };
}

test.each([
  [404, "absent", true],
  [403, "blocked", true],
  [500, "failed", false],
  [503, "failed", false],
  [429, "blocked", false],
])(
  "robots.txt with status %i is %s, known paths are tried, and the tree is complete: %s",
  async (status, outcome, complete) => {
    const { lines, tree, codes } = await discover({ "/robots.txt": { status }, "/sitemap.xml": urlset("/1") });
    expect(lines.slice(1)).toEqual(["  pages/xml /sitemap.xml", "    /1"]);
    expect(tree.discovery[0]).toMatchObject({ url: `${home}robots.txt`, by: "robots", outcome, status });
    expect([tree.complete, codes]).toEqual([complete, complete ? [] : ["robots-unreachable"]]);
  },
);

test.each([
  [404, true],
  [410, true],
  [500, false],
])("a homepage with status %i may hide links to sitemaps; the tree is complete: %s", async (status, complete) => {
  const routes = { "/": { status }, "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1") };
  const { lines, tree } = await discover(routes);
  expect(lines.slice(1)).toEqual(["  index/robots /robots.txt", "    pages/xml /a.xml", "      /1"]);
  expect(tree).toMatchObject({ complete, reachable: true });
  expect(tree.root.problems).toMatchObject(complete ? [] : [{ code: "homepage-unreachable", status }]);
});

const botCheck = { status: 403, headers: { "cf-mitigated": "challenge" }, body: "Just a moment..." };

describe.each([{ status: 401 }, { status: 403 }, { status: 429 }, botCheck])(
  "a homepage that denies access (%o)",
  (route) => {
    const { status } = route;

    test("is not a loss if robots.txt declares a readable sitemap", async () => {
      const { tree } = await discover({ "/": route, "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1") });
      expect([tree.complete, tree.pageCount]).toEqual([true, 1]);
      expect(tree.root.problems).toMatchObject([{ code: "homepage-blocked", status }]);
    });

    test.each([
      ["declares none", { "/robots.txt": "User-agent: *", "/sitemap.xml": urlset("/1") }],
      ["does not exist", { "/sitemap.xml": urlset("/1") }],
      ["declares only one that cannot be read", { "/robots.txt": robots("/a.xml"), "/sitemap.xml": urlset("/1") }],
    ])("is a loss if robots.txt %s", async (_, routes) => {
      const { tree } = await discover({ "/": route, ...routes });
      expect([tree.complete, tree.pageCount]).toEqual([false, 1]);
      expect(tree.root.problems).toMatchObject([{ code: "homepage-unreachable", status }]);
    });
  },
);

describe("the homepage, if a website redirects unknown paths to it,", () => {
  const html = { headers: { "content-type": "text/html" }, body: "<!doctype html><title>Home</title>" };

  test.each([
    ["with a robots.txt", { "/robots.txt": "User-agent: *\n", "/": html }, "/"],
    ["without a robots.txt", { "/": html }, "/"],
    [
      "on www.",
      { "https://www.example.org/": html, "/": { to: "https://www.example.org/" } },
      "https://www.example.org/",
    ],
    ["that redirects", { "/": { to: "/en/" }, "/en/": html }, "/en/"],
  ])("is requested once, %s", async (_, routes: Record<string, Route>, page) => {
    const { tree, hits } = await discover((path) => routes[path] ?? { to: "/" });
    expect(hits.filter((hit) => hit === page)).toEqual([page]);
    expect(tree.discovery.filter(({ by }) => by !== "robots").map(({ outcome }) => outcome)).not.toContain("found");
    expect(tree.complete).toBe(true);
  });

  test("is read as a sitemap if it is one", async () => {
    const routes: Record<string, Route> = { "/robots.txt": "User-agent: *\n", "/": urlset("/1") };
    expect((await discover((path) => routes[path] ?? { to: "/" })).tree.pageCount).toBe(1);
  });
});

test("no guess is requested if declared sitemaps use up the page limit", async () => {
  const pages = Array.from({ length: 10 }, (_, at) => `/${at}`);
  const routes = { "/robots.txt": robots("/a.xml"), "/a.xml": urlset(...pages) };
  for (const options of [{ limits: { pages: 4 } }, { limit: 4 }]) {
    const { client, hits } = site(routes);
    expect(await listOf(streamPages(home, { client, retries: 0, ...options }))).toHaveLength(4);
    expect(new Set(hits)).toEqual(new Set(["/robots.txt", "/a.xml", "/"]));
  }
});

test.each([
  ["the homepage", "/a.xml"],
  ["a sitemap", "/"],
])(
  "a robots.txt that redirects to another name on www. is read with its sitemaps, even if %s arrives first",
  async (_, late) => {
    const www = "https://www.example.org";
    const html = '<meta name="generator" content="WordPress 6.5"><link rel="sitemap" href="/c.xml">';
    const { client } = site({
      "/robots.txt": { to: `${www}/robots-file.txt` },
      [`${www}/robots-file.txt`]: `User-agent: *\nSitemap: ${www}/a.xml\n`,
      [`${www}/robots.txt`]: `User-agent: *\nSitemap: ${www}/b.xml\n`,
      [`${www}/`]: { headers: { "content-type": "text/html" }, body: html },
      [`${www}/a.xml`]: urlset(`${www}/1`),
      [`${www}/b.xml`]: urlset(`${www}/2`),
      [`${www}/c.xml`]: urlset(`${www}/3`),
    });
    // The late response is sent after the other one was requested, and had plenty of time to arrive.
    let answeredOther = () => {};
    const other = new Promise<void>((resolve) => (answeredOther = resolve));
    const slowed: Client = {
      async request(request) {
        const path = request.url.startsWith(www) ? request.url.slice(www.length) : "";
        if (path === late) await other;
        if (path !== late && (path === "/" || path === "/a.xml")) setTimeout(answeredOther, 20);
        return client.request(request);
      },
    };
    await using tree = await sitemapTreeForHomepage(home, { client: slowed, retries: 0 });
    const found = tree.discovery.filter(({ outcome }) => outcome === "found").map(({ by, url }) => `${by} ${url}`);
    expect(found).toEqual([`robots ${home}robots.txt`, `robots ${www}/robots.txt`, `homepage-link ${www}/c.xml`]);
    expect(tree.pageCount).toBe(3);
  },
);

test("a homepage that redirects to a refused address may hide links to sitemaps", async () => {
  const routes = { "/": { to: "ftp://example.org/" }, "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1") };
  const { tree } = await discover(routes);
  expect(tree.root.problems).toMatchObject([{ code: "homepage-unreachable", status: 301 }]);
});

describe("a robots.txt whose content is refused does not count as empty", () => {
  const sitemaps = robots("/a.xml").replaceAll("{home}", home);
  const packed = gzipSync(gzipSync(gzipSync(gzipSync(sitemaps))));
  const utf32 = Buffer.concat([
    Buffer.from([0xff, 0xfe, 0, 0]),
    Buffer.from(new Uint32Array([...sitemaps].map((c) => c.codePointAt(0)!)).buffer),
  ]);
  const refused: [string, Route, string][] = [
    ["four layers of gzip", packed, "limit-encoding-layers"],
    [
      "an unknown coding",
      { headers: { "content-encoding": "compress" }, body: Buffer.from([0x1f, 0x9d, 0x90, 0x55, 1, 2, 3]) },
      "coding-unknown",
    ],
    ["UTF-32", utf32, "charset-unsupported"],
  ];

  test.each(refused)("%s", async (_, route, code) => {
    const routes = { "/robots.txt": route, "/a.xml": urlset("/1"), "/sitemap.xml": urlset("/2") };
    const { tree, lines } = await discover(routes);
    expect(lines).toEqual([
      "index/website / (robots-unreachable)",
      `  invalid /robots.txt (${code})`,
      "  pages/xml /sitemap.xml",
      "    /2",
    ]);
    expect(tree).toMatchObject({ complete: false, reachable: true });
    expect(tree.discovery[0]).toMatchObject({ by: "robots", outcome: "failed", status: 200, reason: { code } });
    // It is unknown what the robots.txt disallows.
    const { lines: strict } = await discover(routes, { strictRobots: true, concurrency: 1 });
    expect(strict).toEqual(["index/website / (robots-unreachable)", `  invalid /robots.txt (${code})`]);
    // The website still counts as reachable if it sends nothing else.
    const { tree: alone } = await discover({ "/robots.txt": route }, { knownPaths: "never", useHomepage: false });
    expect([alone.reachable, alone.complete]).toEqual([true, false]);
    const invalid = { kind: "invalid", reason: { code } };
    if (route instanceof Uint8Array)
      expect(await readSitemap(route, { url: `${home}robots.txt` })).toMatchObject(invalid);
  });
});

test("blocked and failed known paths are told apart from absent ones, and are not a loss", async () => {
  const failing = { "/sitemap.xml": { status: 403 }, "/sitemap_index.xml": { status: 500 } };
  const { tree, codes } = await discover({ ...failing, "/robots.txt": robots() });
  expect(tree.discovery.slice(1, 4).map(({ outcome }) => outcome)).toEqual(["blocked", "failed", "absent"]);
  expect([tree.complete, codes]).toEqual([true, ["known-path-unreachable"]]);
});

test("each source can be switched off, and more paths can be added", async () => {
  const routes = {
    "/robots.txt": robots("/a.xml"),
    "/a.xml": urlset("/a"),
    "/sitemap.xml": urlset("/s"),
    "/own/map.xml": urlset("/o"),
    "/": "",
  };
  const none = { knownPaths: "never", useHomepage: false } as const;
  expect((await discover(routes, none)).hits).toEqual(["/robots.txt", "/a.xml"]);
  const extra = await discover(routes, { ...none, useRobots: false, extraKnownPaths: ["/own/map.xml", "no.xml"] });
  expect(extra.hits.toSorted()).toEqual(["/no.xml", "/own/map.xml"]);
  expect(extra.lines).toEqual(["index/website /", "  pages/xml /own/map.xml", "    /o"]);
});

test("the path of the homepage is ignored unless `path` says otherwise", async () => {
  const routes = { "/sitemap.xml": urlset("/root"), "/docs/sitemap.xml": urlset("/docs") };
  const stripped = await discover(routes, {}, `${home}docs/page?x=1#y`);
  expect(stripped.lines).toEqual(["index/website /", "  pages/xml /sitemap.xml", "    /root"]);
  const only = await discover(routes, { path: "only" }, `${home}docs`);
  expect(only.lines).toEqual(["index/website /docs/", "  pages/xml /docs/sitemap.xml", "    /docs"]);
  const named = { ...routes, "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/a") };
  const kept = await discover(named, { path: "keep" }, `${home}docs`);
  expect(kept.lines).toEqual([
    "index/website /docs/",
    "  index/robots /robots.txt",
    "    pages/xml /a.xml",
    "      /a",
    "  pages/xml /docs/sitemap.xml",
    "    /docs",
    "  pages/xml /sitemap.xml",
    "    /root",
  ]);
  expect(kept.hits.filter((path) => path === "/docs/")).toHaveLength(1);
});

test("a sitemap on another host is read, and marked as such", async () => {
  const { tree } = await discover(
    {
      "/robots.txt": robots("https://cdn.example.net/a.xml", "https://www.example.org/b.xml"),
      "https://cdn.example.net/a.xml": urlset("/1"),
      "https://www.example.org/b.xml": urlset("/2"),
    },
    { knownPaths: "never" },
  );
  expect([...tree.sitemaps()].map(({ url, offHost }) => [url, offHost])).toEqual([
    [home, undefined],
    [`${home}robots.txt`, undefined],
    ["https://cdn.example.net/a.xml", true],
    ["https://www.example.org/b.xml", undefined],
  ]);
});

test("a website that fails everywhere has one problem for all of its known paths", async () => {
  const { tree } = await discover(() => ({ status: 500 }));
  expect(tree.root.problems).toMatchObject([
    { code: "robots-unreachable", status: 500 },
    { code: "homepage-unreachable" },
    { code: "known-path-unreachable", value: `${home}sitemap.xml`, count: knownPaths.length },
  ]);
  expect(tree.discovery.filter(({ outcome }) => outcome === "failed")).toHaveLength(knownPaths.length + 1);
});

describe('knownPaths: "if-needed"', () => {
  const ifNeeded = { knownPaths: "if-needed", useHomepage: false } as const;

  test("guesses nothing if robots.txt lists a readable sitemap, and the tree says so", async () => {
    const { lines, hits, tree } = await discover(
      { "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1"), "/sitemap.xml": urlset("/forgotten") },
      { ...ifNeeded, extraKnownPaths: ["own.xml"] },
    );
    expect(lines).toEqual(["index/website /", "  index/robots /robots.txt", "    pages/xml /a.xml", "      /1"]);
    // Paths that the caller gives are requested in any case.
    expect(hits.sort()).toEqual(["/a.xml", "/own.xml", "/robots.txt"]);
    const skipped = tree.discovery.filter(({ outcome }) => outcome === "skipped");
    expect(skipped).toHaveLength(knownPaths.length);
    expect(skipped[0]).toEqual({ url: `${home}sitemap.xml`, by: "known-path", outcome: "skipped" });
    expect(tree.complete).toBe(true);
  });

  test("a path that the caller gives is requested even if it is well known", async () => {
    const { lines } = await discover(
      { "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1"), "/sitemap.xml": urlset("/2") },
      { ...ifNeeded, extraKnownPaths: ["/sitemap.xml"] },
    );
    expect(lines.slice(-2)).toEqual(["  pages/xml /sitemap.xml", "    /2"]);
  });

  test.each([
    ["there is no robots.txt", {}],
    ["robots.txt names no sitemap", { "/robots.txt": "User-agent: *\nDisallow:\n" }],
    ["the sitemap that robots.txt names is gone", { "/robots.txt": robots("/gone.xml") }],
    ["it is not a sitemap", { "/robots.txt": robots("/page.html"), "/page.html": "<html></html>" }],
  ])("guesses if %s", async (_, routes) => {
    const { lines } = await discover({ ...routes, "/sitemap.xml": urlset("/1") }, ifNeeded);
    expect(lines.slice(-2)).toEqual(["  pages/xml /sitemap.xml", "    /1"]);
  });
});

describe("a robots.txt that is binary data", () => {
  const high = Buffer.from(Array.from({ length: 3000 }, (_, at) => 0x80 + ((at * 37) % 128)));
  const brotli = brotliCompressSync(
    Array.from({ length: 99 }, (_, at) => `Sitemap: ${home}${at * 7919}.xml`).join("\n"),
  );
  const utf32 = Buffer.from(Array.from(robots("/a.xml"), (each) => [each.charCodeAt(0), 0, 0, 0]).flat());

  test.each<[string, Route]>([
    ["is announced as gzip", { headers: { "content-encoding": "gzip" }, body: high }],
    ["is announced as Zstandard", { headers: { "content-encoding": "zstd" }, body: high }],
    ["is brotli that was not announced", brotli],
    ["is in UTF-32", utf32],
    ["is only zeros", new Uint8Array(500)],
    ["is compressed with bzip2", "BZh91AY&SY"],
    [
      "is text that was announced as gzip",
      { headers: { "content-encoding": "gzip" }, body: "~~ part of something ~~" },
    ],
  ])("may list sitemaps if it %s, so something may be missing", async (_, body) => {
    const { tree } = await discover({ "/robots.txt": body, "/sitemap.xml": urlset("/1") });
    expect([tree.pageCount, tree.complete]).toEqual([1, false]);
    expect([...tree.problems()].map(({ url }) => url)).toContain(`${home}robots.txt`);
  });

  test.each([
    [
      "an old character set",
      { headers: { "content-encoding": "gzip" }, body: Buffer.from("Disallow: /caf\u00e9\n", "latin1") },
    ],
    ["an image", Buffer.from("\u0089PNG\r\n\u001a\n\0\0\0\rIHDR", "latin1")],
  ])("counts as missing if it is %s", async (_, body) => {
    const { tree } = await discover({ "/robots.txt": body, "/sitemap.xml": urlset("/1") });
    expect(tree.complete).toBe(true);
  });
});

describe("links on the homepage", () => {
  const link = (path: string) => `<link rel="sitemap" href="${path}">`;
  const page = (body: string | Uint8Array, headers = {}): Route => ({
    headers: { "content-type": "text/html", ...headers },
    body,
  });
  const only = { useRobots: false, knownPaths: "never" } as const;

  test("beyond the tenth megabyte or the hundredth link are ignored, and that is reported", async () => {
    const routes = { "/a.xml": urlset("/1"), "/b.xml": urlset("/2") };
    const long = `<html>${link("/a.xml")}<!--${"x".repeat(10_600_000)}-->${link("/b.xml")}`;
    const { tree, codes } = await discover({ ...routes, "/": page(long) }, only);
    expect([tree.pageCount, tree.complete, codes]).toEqual([1, false, ["homepage-cut"]]);
    const links = Array.from({ length: 101 }, (_, number) => link(`/a.xml?${number}`)).join("");
    const many = await discover((path) => (path === "/" ? page(links) : urlset(path)), only);
    expect(many).toMatchObject({ tree: { pageCount: 100, complete: false }, codes: ["homepage-too-many-links"] });
  });

  test.each<[string, Route]>([
    ["compressed data is cut off", page(gzipSync(link("/a.xml") + "<p>".repeat(999)).subarray(0, -30))],
    ["its bytes are refused", page("\u0000\u0001\u0002\u00ff binary", { "content-encoding": "x-own" })],
    ["it is not the gzip that was announced", page("~~ part of something ~~", { "content-encoding": "gzip" })],
    ["it is binary data", page(Uint8Array.from({ length: 2000 }, (_, at) => (at * 37) % 256))],
    ["the charset is not read", page("+ADw-link+AD4-", { "content-type": "text/html; charset=utf-7" })],
  ])("may be missing if %s", async (_, homepage) => {
    const { tree, codes } = await discover({ "/": homepage, "/a.xml": urlset("/1") }, only);
    expect([tree.complete, tree.reachable, codes]).toEqual([false, true, ["homepage-cut"]]);
  });

  test("may be missing if the connection breaks, and a link that is cut off is not used", async () => {
    const server = await testServer({
      "/": ({ socket }) => {
        const html = `${link("/a.xml")}<p><link rel="sitemap" href="/sitemap-`;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5000\r\n\r\n${html}`, () =>
          socket.end(),
        );
      },
      "/a.xml": ({ respond }) => respond(200, {}, urlset("/1")),
    });
    await using tree = await sitemapTreeForHomepage(server.origin, { ...only, retries: 0 });
    expect([tree.pageCount, tree.complete, codesOf(tree)]).toEqual([1, false, ["homepage-cut"]]);
    expect(server.requests.map(({ path }) => path).sort()).toEqual(["/", "/a.xml"]);
  });

  test("are a loss if they lead to an unreadable sitemap served as HTML, but not if they lead to an ordinary page", async () => {
    const refused = '<!DOCTYPE urlset [<!ENTITY x "y">]><urlset><url><loc>&x;</loc></url></urlset>';
    for (const [body, complete] of [
      [refused, false],
      [gzipSync(urlset("/1")).subarray(0, 40), false],
      ["<html>", true],
      ["", true],
    ] as const) {
      const { tree } = await discover({ "/": page(link("/s")), "/s": page(body) }, only);
      expect([body, tree.complete]).toEqual([body, complete]);
    }
  });

  test("are reported if they are not URLs, and nothing is missing", async () => {
    const { tree, codes } = await discover({ "/": page(link("mailto:x@example.org") + link("https://[")) }, only);
    expect([tree.complete, codes]).toEqual([true, ["homepage-link-invalid"]]);
  });
});

test("a large guess that repeats a sitemap of the tree adds nothing to a crawl, its archive, or a run with `previous`", async () => {
  const pages = Array.from({ length: 3000 }, (_, at) => `/a-page-with-a-long-name/${at}`);
  const other = [...pages.slice(0, -1), "/a-page-with-a-long-name/0000"];
  const routes = {
    "/robots.txt": robots("/sitemap.xml?v=3"),
    "/sitemap.xml?v=3": urlset(...pages),
    "/sitemap.xml": urlset(...pages),
    // This one has the same length, but differs at its end.
    "/sitemap_index.xml": urlset(...other),
  };
  const first = path.join(newFolder(), "first.warc.gz");
  const options = { client: site(routes).client, useHomepage: false };
  await using tree = await sitemapTreeForHomepage(home, { ...options, save: first });
  await using again = await sitemapTreeForHomepage(home, { ...options, previous: first });
  await using opened = await openTree(first);
  for (const each of [tree, again, opened]) {
    expect(each.pageCount).toBe(6000);
    expect(each.discovery[1]).toMatchObject({ outcome: "duplicate", sameAs: `${home}sitemap.xml?v=3` });
    expect(each.discovery[2]).toMatchObject({ outcome: "found" });
  }
  expect(await listOf(streamPages(home, options))).toHaveLength(6000);
});

describe("a guess counts as a repetition of a sitemap if it lists the same URLs", () => {
  const pages = ["/1", "/2", "/3"];
  const text = (...paths: string[]) => paths.map((each) => `${home}${each.slice(1)}\n`).join("");

  test.each([
    ["as text", text(...pages)],
    ["in another order", urlset(...pages.toReversed())],
    [
      "with comments and dates",
      urlset(...pages).replaceAll("</loc>", "</loc><!-- new --><lastmod>2024-01-01</lastmod>"),
    ],
    ["relative to its own URL", urlset(...pages).replaceAll(home, "/")],
  ])("%s", async (_, body) => {
    const routes = { "/robots.txt": robots("/a.xml"), "/a.xml": urlset(...pages), "/sitemap.xml": body };
    const { lines, tree } = await discover(routes, { limits: { pages: 4 } });
    const listed = pages.map((page) => `      ${page}`);
    expect(lines.slice(1)).toEqual(["  index/robots /robots.txt", "    pages/xml /a.xml", ...listed]);
    const record = tree.discovery.find(({ url }) => url === `${home}sitemap.xml`);
    expect(record).toMatchObject({ outcome: "duplicate", sameAs: `${home}a.xml` });
    expect(tree.complete).toBe(true);
  });

  test.each([
    ["one URL more", urlset(...pages, "/4")],
    ["one URL less", urlset("/1", "/2")],
    ["another URL", urlset("/1", "/2", "/4")],
    ["the same URLs as sitemaps", index(...pages)],
    ["the same, and is cut off", urlset(...pages).replace("</urlset>", "<url><loc>ht")],
  ])("but not if it lists %s", async (_, body) => {
    const routes = { "/robots.txt": robots("/a.xml"), "/a.xml": urlset(...pages), "/sitemap.xml": body };
    const { tree } = await discover(routes);
    expect(tree.discovery.find(({ url }) => url === `${home}sitemap.xml`)).toMatchObject({ outcome: "found" });
  });

  test("two linked sitemaps that differ only near their end are both read", async () => {
    // More than a megabyte each.
    const many = Array.from({ length: 14_000 }, (_, at) => `/a-page-with-quite-a-long-name-and-the-number/${at}`);
    const links = ["/a.xml", "/b.xml"].map((each) => `<link rel="sitemap" href="${each}">`).join("");
    const { tree } = await discover({
      "/": { headers: { "content-type": "text/html" }, body: links },
      "/a.xml": urlset(...many, "/last-of-a"),
      "/b.xml": urlset(...many, "/last-of-b"),
    });
    expect([tree.pageCount, tree.complete]).toEqual([28_002, true]);
  });

  test("but not if the pages of that sitemap are filtered out", async () => {
    const routes = { "/robots.txt": robots("/a.xml"), "/a.xml": urlset(...pages), "/sitemap.xml": text(...pages) };
    const listed = streamPages(home, { client: site(routes).client, excludeSitemap: "/a.xml" });
    expect(await urlsOf(listed)).toEqual(pages.map((each) => home + each.slice(1)));
  });

  test("but not if it is a feed with a next page", async () => {
    const next = `<link xmlns="http://www.w3.org/2005/Atom" rel="next" href="${home}feed?page=2"/>`;
    const feeds = { "/feed": rss(next, "/1"), "/feed?page=2": rss("/2") };
    const routes = { "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1"), ...feeds };
    expect((await discover(routes, { useFeeds: true })).tree.pageCount).toBe(3);
  });
});

describe("feeds and llms.txt are only requested on demand", () => {
  const page = `<html><link rel="alternate" type="application/rss+xml" href="/blog.rss">
    <link rel="alternate" type="application/rss+xml" href="/comments/feed/"><link rel="alternate" hreflang="de" href="/de">
    <link rel="alternate" type="application/atom+xml" href="/gone.atom">`;
  const routes = {
    "/": page,
    "/sitemap.xml": urlset("a"),
    "/blog.rss": rss("/b"),
    "/comments/feed/": rss("/comment"),
    "/feed.json": `{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "${home}c"}]}`,
    "/llms.txt": "# T\n## S\n- [D](/d)",
  };
  // Links on the homepage come before guesses, and are a loss if their targets are missing.
  const linked = ["homepage-link found /blog.rss rss", "homepage-link absent /gone.atom "];
  test.each<[options: Options, found: string[], asked: number]>([
    [{}, [], 0],
    [{ useFeeds: true }, [...linked, "feed found /feed.json json"], 8],
    [{ useLlms: true }, ["llms found /llms.txt llms"], 1],
    [{ useFeeds: true, useHomepage: false }, ["feed found /feed.json json"], 6],
  ])("with the options %j", async (options, found, asked) => {
    const { tree, hits } = await discover(routes, {
      knownPaths: "never",
      extraKnownPaths: ["sitemap.xml"],
      ...options,
    });
    const sources = tree.discovery.filter(({ by }) => by !== "robots" && by !== "known-path");
    expect(sources).toHaveLength(asked);
    const nodes = new Map([...tree.sitemaps()].map((each) => [each.url, "format" in each ? each.format : ""]));
    const shown = sources.filter(({ url }) => nodes.has(url));
    expect(shown.map(({ url, by, outcome }) => `${by} ${outcome} ${url.replace(home, "/")} ${nodes.get(url)}`)).toEqual(
      found,
    );
    expect(tree.complete).toBe(!found.includes(linked[1] as string));
    expect(hits).not.toContain("/comments/feed/");
  });
});

describe("a compressed robots.txt is read up to `robotsBytes` after decompression", () => {
  const filler = `# ${"x".repeat(100)}\n`.repeat(100);
  const body = (start: string, end: string) => gzipSync(`User-agent: *\n${start}\n${filler}${end}\n`);
  const limits = withFixedLimits({ robotsBytes: 5000 });

  test("for its sitemaps, and the rest is a loss", async () => {
    const routes = { "/robots.txt": body(`Sitemap: ${home}a.xml`, `Sitemap: ${home}b.xml`), "/a.xml": urlset("/1") };
    const { tree } = await discover(routes, { limits });
    const [file] = tree.root.children as IndexSitemap[];
    expect(file?.children.map(({ url }) => url)).toEqual([`${home}a.xml`]);
    expect(file?.problems).toMatchObject([{ code: "limit-robots-bytes", limit: 5000 }]);
    expect(tree.complete).toBe(false);
  });

  test("for the rules of `allowedFor`, on any host", async () => {
    const other = "https://other.example/";
    const routes = {
      "/s.xml": urlset("/1", `${other}a`, `${other}b`),
      [`${other}robots.txt`]: body("Disallow: /a", "Disallow: /b"),
    };
    const options = { client: site(routes).client, limits, allowedFor: "Examplebot" };
    expect(await urlsOf(streamPages({ sitemaps: [`${home}s.xml`] }, options))).toEqual([`${home}1`, `${other}b`]);
  });
});

test("a robots.txt that is cut off or cannot be read allows no page, on any host", async () => {
  const other = "https://other.example/";
  const rules = gzipSync(`User-agent: *\nDisallow: /a\n${"# filler\n".repeat(50)}Disallow: /b\n`);
  for (const robots of [rules.subarray(0, -20), [1, 2, 3, 4].reduce((bytes) => gzipSync(bytes), rules)]) {
    const routes = {
      "/robots.txt": robots,
      [`${other}robots.txt`]: robots,
      "/s.xml": urlset("/b", `${other}b`, "https://third.example/b"),
    };
    for (const target of [{ sitemaps: [`${home}s.xml`] }, home]) {
      const options = { client: site(routes).client, allowedFor: "Examplebot", extraKnownPaths: ["s.xml"] };
      const stream = streamPages(target, options);
      expect(await urlsOf(stream)).toEqual(["https://third.example/b"]);
      expect((await stream.finished).filtered).toMatchObject({ robotsUnknown: 2 });
    }
  }
});

test("a linked sitemap that is cut off is a loss, even if it is served as HTML", async () => {
  const headers = { "content-type": "text/html" };
  const link = '<link rel="sitemap" href="/a.xml">';
  for (const cut of ['<urlset xmlns="http://www.sitemaps', "<!-- made"]) {
    const body = `<?xml version="1.0"?>\n${cut}`;
    const { tree, codes } = await discover({ "/": link, "/a.xml": { headers, body } });
    expect(tree.complete).toBe(false);
    expect(codes).toContain("xml-truncated");
  }
  const body = "<!DOCTYPE html><html><body>Our pages";
  const toPage = link.replace(".xml", ".html");
  expect((await discover({ "/": toPage, "/a.html": { headers, body } })).tree.complete).toBe(true);
});
