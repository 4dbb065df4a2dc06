// A local server whose documents name the production host, which must not get a request.
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { CheckResult } from "../../src/check/findings/result.ts";
import { crawl, streamPages } from "../../src/crawl/crawl.ts";
import { isBelow, rewrite, rewritten } from "../../src/model/rewrite.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { urlsOf } from "../support/collected.ts";
import { index, urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";

const production = await serve({});
const from = production.homepage;
const local = await serve({
  "/robots.txt": `Sitemap: ${from}index.xml\n`,
  "/index.xml": index(`${from}moved.xml`, `${from}gone.xml`, "<sitemap><loc>/own.xml</loc></sitemap>"),
  "/moved.xml": (_, response) => response.writeHead(302, { location: `${from}pages.xml` }).end(),
  "/pages.xml": urlset(
    `<url><loc>${from}a</loc><xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="de" href="${from}de/a"/>
     <i:image xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><i:loc>${from}i.png</i:loc></i:image></url>`,
    "http://other.example/b",
  ),
  "/own.xml": urlset("<url><loc>/c</loc></url>", `${from}nowhere:/`),
});
afterAll(() => expect(production.requests).toEqual([]));

const pairs = () => [[from, local.homepage]] as const;
const listed = () => [
  `${local.homepage}a`,
  "http://other.example/b",
  `${local.homepage}c`,
  `${local.homepage}nowhere:/`,
];

test("sitemaps are fetched, and pages and alternates listed, under the new prefix; image URLs do not change", async () => {
  expect(await urlsOf(streamPages(local.homepage, { rewrite: pairs(), knownPaths: "never" }))).toEqual(listed());
  for await (const event of crawl(local.homepage, { rewrite: pairs() })) {
    if (event.type === "request") expect(event.url.startsWith(local.homepage)).toBe(true);
    if (event.type === "pages" && event.url.endsWith("pages.xml"))
      expect(event.pages[0]).toMatchObject({
        url: `${local.homepage}a`,
        alternates: [{ language: "de", url: `${local.homepage}de/a` }],
        images: [{ url: `${from}i.png` }],
      });
  }
});

test("a tree, its archive, and an archive opened with another prefix have the same pages", async () => {
  const archive = path.join(newFolder(), "site.warc");
  const options = { rewrite: pairs(), knownPaths: "never", save: archive } as const;
  await using tree = await sitemapTreeForHomepage(local.homepage, options);
  expect(await urlsOf(tree.pages())).toEqual(listed());
  const [, , index, moved] = tree.sitemaps();
  expect(index).toMatchObject({ url: `${local.homepage}index.xml`, declaredUrl: `${from}index.xml` });
  expect(moved).toMatchObject({ url: `${local.homepage}pages.xml`, declaredUrl: `${from}moved.xml` });
  await using again = await openTree(archive);
  expect(again.root).toEqual(tree.root);
  expect(await urlsOf(again.pages())).toEqual(listed());
  await using elsewhere = await openTree(archive, { rewrite: [[new URL(from), "http://staging.example"]] });
  expect((await urlsOf(elsewhere.pages()))[0]).toBe("http://staging.example/a");
});

test.each([{ depth: 1 }, { sitemaps: 1 }, { depth: 0 }])(
  "sitemaps that a limit leaves unread are named at the new prefix: %o",
  async (limits) => {
    await using tree = await sitemapTreeForHomepage(local.homepage, { rewrite: pairs(), knownPaths: "never", limits });
    const unread = [...tree.sitemaps()].filter(({ kind }) => kind === "invalid");
    expect(unread.length).toBeGreaterThan(0);
    for (const { url, declaredUrl } of unread) {
      expect(url.startsWith(local.homepage)).toBe(true);
      if (!url.endsWith("own.xml")) expect(declaredUrl).toBe(url.replace(local.homepage, from));
    }
  },
);

test("if the crawl starts elsewhere, only the URLs of pages are rewritten", async () => {
  const staging = "http://staging.example/x";
  const pages = streamPages({ sitemaps: [`${local.homepage}own.xml`] }, { rewrite: [[local.homepage, staging]] });
  expect(await urlsOf(pages)).toEqual([`${staging}/c`, `${from}nowhere:/`]);
});

test.each(["ls", "check", "report"])(
  "%s --rewrite sends requests to the local server alone, and reports the declared URLs",
  async (command) => {
    const place = `${from}=${local.homepage}`;
    const format = command === "ls" ? ["-f", "pages", "-k", "--no-homepage"] : [];
    const { stdout, stderr, code } = await sitegrove([command, local.homepage, "--rewrite", place, ...format]);
    expect(code).toBe(command === "check" ? 6 : 3);
    if (command !== "ls") return;
    expect(stdout).toBe(`${listed().join("\n")}\n`);
    const gone = said.declaredAs(`${local.homepage}gone.xml`, `${from}gone.xml`);
    expect(stderr).toContain(said.notRead(gone, said.notFound));
  },
);

test("check reports rewritten URLs neither as redirects nor as pages of another website", async () => {
  const html = (path: string) =>
    `<!doctype html><link rel="canonical" href="${from}${path}"><link rel="alternate" hreflang="de" href="${from}de">`;
  const alternate = `<xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="de" href="${from}de"/>`;
  const copy = await serve({
    "/robots.txt": `Sitemap: ${from}sitemap.xml\n`,
    "/sitemap.xml": index(`${from}a.xml`, `${from}old.xml`),
    "/a.xml": urlset(`<url><loc>${from}a</loc>${alternate}</url>`, `${from}de`),
    "/old.xml": (_, response) => response.writeHead(301, { location: `${from}b.xml` }).end(),
    "/b.xml": urlset(`${from}b`),
    "/a": html("a"),
    "/b": html("a"),
    "/de": html("de"),
  });
  const place = `${from}=${copy.homepage}`;
  const words = ["check", copy.homepage, "--rewrite", place, "--pages", "9", "-f", "json"];
  const { findings } = JSON.parse((await sitegrove(words)).stdout) as CheckResult;
  const found = findings.flatMap(({ rule, examples }) => examples.map(({ url, value }) => [rule, url, value]));
  const rules = /^(?:sitemap-|index-|page-(?!lastmod))/;
  expect(found.filter(([rule]) => rules.test(String(rule)))).toEqual([
    ["sitemap-redirect", undefined, `${from}old.xml leads to ${copy.homepage}b.xml`],
    ["page-canonical-other", `${copy.homepage}b`, `${copy.homepage}a`],
  ]);
});

describe("a prefix", () => {
  test.each([
    ["https://a.example", true],
    ["https://a.example/x", true],
    ["https://a.example?x", true],
    ["https://a.example.evil/x", false],
    ["https://a.example:8080/", false],
    ["HTTPS://A.example:443/x", true],
    ["https:///user@a.example./x", true],
    ["https://a.example\\x", true],
  ])("https://a.example holds %s: %s", (url, expected) => expect(isBelow(url, "https://a.example")).toBe(expected));

  test.each([
    ["https://a.EXAMPLE/X/%7e", "http://localhost/%7e"],
    ["https://a.example/X/1", "http://localhost/1"],
    ["https://a.example/Xy", "http://y.example/z/Xy"],
    ["https://b.EXAMPLE/x", "https://b.EXAMPLE/x"],
  ])("is the first that matches when normalized; the rest is unchanged: %s", (url, expected) => {
    const pairs = rewrite("rewrite", [
      ["HTTPS://A.example:443/X/", "http://LOCALHOST:80"],
      ["https://a.example", "http://y.example/z"],
    ]);
    expect(rewritten(url, pairs)).toBe(expected);
  });

  test.each(["https://a.example", "https://a.example=b", "a=https://b.example/"])("%j is refused", async (text) => {
    expect((await sitegrove(["ls", local.homepage, "--rewrite", text])).code).toBe(2);
  });
});
