// How documents were obtained: in events, in the tree, and in an archive.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { crawl } from "../../src/crawl/crawl.ts";
import type { SitemapEvent } from "../../src/model/event.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { serve } from "../cli/website.ts";
import { urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();
let failures = 1;
const { homepage: home } = await serve({
  "/robots.txt": ["old.xml", "gone.xml", "shaky.xml"].map((name) => `Sitemap: {base}/${name}\n`).join(""),
  "/old.xml": (_, response) => response.writeHead(301, { location: "/new.xml" }).end(),
  "/new.xml": (_, response) => {
    response.writeHead(200, { "content-type": "text/xml; charset=iso-8859-1", "x-test": "yes" });
    response.write(urlset("/k").slice(0, 60), () => response.end(urlset("/k").slice(60)));
  },
  "/shaky.xml": (_, response) => (failures-- > 0 ? response.writeHead(503).end() : response.end(urlset("/s"))),
  "/gone.xml": (_, response) => response.writeHead(404, { "x-test": "no" }).end(),
});
const options = { knownPaths: "never", useHomepage: false } as const;

test("events, the tree and an archive have status, headers, redirects, attempts, character set, sizes and times", async () => {
  const file = path.join(folder, "site.warc");
  const before = Date.now();
  const events: SitemapEvent[] = [];
  await using tree = await sitemapTreeForHomepage(home, {
    ...options,
    save: file,
    onEvent: (event) => void (event.type === "sitemap" && events.push(event)),
  });
  const found = await responseOf(tree, "/new.xml");
  expect(found).toMatchObject({
    status: 200,
    hops: [{ url: `${home}old.xml`, status: 301 }],
    attempts: 1,
    charset: "windows-1252",
  });
  expect(found?.headers).toContainEqual(["x-test", "yes"]);
  expect(found?.duration).toBeGreaterThanOrEqual(found?.firstByte ?? Number.NaN);
  expect(Date.parse(found?.receivedAt ?? "")).toBeGreaterThanOrEqual(before);
  expect(found?.wireBytes).toBe(found?.decodedBytes);
  expect(events.find(({ sitemap }) => sitemap.url.endsWith("/new.xml"))?.response).toMatchObject({
    headers: found?.headers,
    receivedAt: found?.receivedAt,
    duration: found?.duration,
  });
  expect(await responseOf(tree, "/gone.xml")).toMatchObject({ status: 404, attempts: 1, wireBytes: 0 });
  expect((await responseOf(tree, "/gone.xml"))?.headers).toContainEqual(["x-test", "no"]);
  expect(await responseOf(tree, "/shaky.xml")).toMatchObject({ attempts: 2 });
  expect(await tree.response(tree.root)).toBeUndefined();

  await using again = await openTree(file);
  for (const name of ["/new.xml", "/gone.xml", "/shaky.xml", "/robots.txt"]) {
    expect(await responseOf(again, name), name).toEqual(await responseOf(tree, name));
  }
  expect(readFileSync(file, "latin1")).toContain(`WARC-Date: ${found?.receivedAt}`);
});

test("a stream of pages has the same facts", async () => {
  const responses = [];
  for await (const event of crawl(home, options))
    if (event.type === "sitemap" && event.sitemap.kind === "pages") responses.push(event.response);
  expect(responses[0]).toMatchObject({ status: 200, charset: "windows-1252", duration: expect.any(Number) });
});

test("the text of a document can be read again", async () => {
  await using tree = await sitemapTreeForHomepage(home, options);
  const text = async (name: string) => {
    let all = "";
    for await (const piece of tree.text(sitemapAt(tree, name))) all += piece;
    return all;
  };
  expect(await text("/new.xml")).toBe(urlset("/k"));
  expect(await text("/robots.txt")).toContain("Sitemap: ");
  expect(await text("/gone.xml")).toBe("");
});

function sitemapAt(tree: SitemapTree, name: string) {
  return [...tree.sitemaps()].find(({ url }) => url.endsWith(name))!;
}

const responseOf = (tree: SitemapTree, name: string) => tree.response(sitemapAt(tree, name));
