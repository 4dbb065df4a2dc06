// A tree from an archive: its documents are read once, so everything about it is final when it is returned.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { sitegrove } from "../cli/program.ts";
import { codesOf, urlsOf } from "../support/collected.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const homepage = home;
const filler = "x".repeat(300);
const paths = (name: string, count: number) => Array.from({ length: count }, (_, at) => `/${name}/${at}?${filler}`);
const texts: Record<string, string> = {
  "/robots.txt": robots("/index.xml"),
  "/index.xml": index("/a.xml", "/b.xml", "/c.xml"),
  "/a.xml": urlset(...paths("a", 1000)),
  // Has an entry that is skipped, which is a problem.
  "/b.xml": urlset(...paths("b", 1000), "<url><lastmod>2024-01-01</lastmod></url>"),
  "/c.xml": urlset(...paths("c", 3)),
};
const { client } = site(texts);

const folder = newFolder();
let archive: string;
let whole: SitemapTree;

beforeAll(async () => {
  archive = path.join(folder, "whole.warc");
  whole = await sitemapTreeForHomepage(homepage, { client, save: archive });
  await whole.close();
});

const walked = (tree: SitemapTree) => urlsOf(tree.pages());

test("the tree of a compressed copy is the same", async () => {
  await using tree = await openTree(archive);
  const copy = path.join(folder, "copy.warc.gz");
  await tree.save(copy);
  await using copied = await openTree(copy);
  expect(copied.toJSON()).toEqual(tree.toJSON());
});

test("a tree is final when it is returned: reading its pages and texts changes nothing", async () => {
  await using tree = await openTree(archive);
  expect(tree.toJSON()).toEqual(whole.toJSON());
  const before = JSON.stringify(tree);
  expect(await walked(tree)).toHaveLength(2003);
  for (const sitemap of tree.sitemaps()) for await (const _ of tree.text(sitemap));
  expect(JSON.stringify(tree)).toBe(before);
});

test("events give the pages of every document, in declared order", async () => {
  const urls: string[] = [];
  const onEvent = (event: CrawlEvent) => event.type === "pages" && urls.push(...event.pages.map(({ url }) => url));
  await using tree = await openTree(archive, { onEvent });
  expect(urls).toEqual(await walked(tree));
});

/** Writes the archive with another letter in one of its documents. */
function writeChanged(file: string): void {
  const bytes = readFileSync(archive);
  bytes.write("https://example.org/a/777?y", bytes.indexOf("https://example.org/a/777?x"));
  writeFileSync(file, bytes);
}

describe("a document whose bytes were changed", () => {
  const file = path.join(folder, "damaged.warc");
  beforeAll(() => writeChanged(file));

  test("is reported when the tree is returned, and its pages are still listed", async () => {
    const events: CrawlEvent[] = [];
    await using tree = await openTree(file, { onEvent: (event) => events.push(event) });
    expect(tree.complete).toBe(false);
    const damaged = { url: `${homepage}a.xml`, problem: { code: "archive-digest" } };
    expect([...tree.problems()].filter(({ url }) => url.endsWith("a.xml"))).toMatchObject([damaged]);
    expect(events).toContainEqual(expect.objectContaining({ type: "problem", url: damaged.url }));
    const before = JSON.stringify(tree);
    const urls = await walked(tree);
    expect(urls).toHaveLength(2003);
    expect(urls[777]).toContain("/a/777?y");
    expect(JSON.stringify(tree)).toBe(before);
  });

  test.each([["json"], ["sitemaps"], ["tabtree"], ["pages"], ["ndjson"], ["csv"]])(
    "makes the program exit as for an incomplete listing: -f %s",
    async (format) => {
      const { code, stdout } = await sitegrove(["ls", file, "-f", format]);
      expect(code).toBe(exitCodes.incomplete);
      if (format === "json") expect(JSON.parse(stdout)).toMatchObject({ complete: false, pageCount: 2003 });
    },
  );
});

test("a document that changes while the tree is open is an error, and does not change the tree", async () => {
  const file = path.join(folder, "changing.warc");
  writeFileSync(file, readFileSync(archive));
  await using tree = await openTree(file);
  const before = JSON.stringify(tree);
  writeChanged(file);
  await expect(walked(tree)).rejects.toMatchObject({
    code: "invalid-archive",
    message: `The archive was changed while its tree was open: ${homepage}a.xml`,
  });
  expect(JSON.stringify(tree)).toBe(before);
});

test.each([["pages"], ["ndjson"], ["csv"]])(
  "the pages of an archive are listed as they are read: -f %s",
  async (format) => {
    const lines = (await sitegrove(["ls", archive, "-f", format, "--limit", "5"])).stdout.trimEnd().split("\n");
    const all = (await sitegrove(["ls", archive, "-f", format])).stdout.trimEnd().split("\n");
    expect(all).toHaveLength(format === "csv" ? 2004 : 2003);
    expect(lines).toEqual(all.slice(0, format === "csv" ? 6 : 5));
  },
);

test("a tree reports lost details before its pages are read", async () => {
  const image = (name: string) => `<image:image><image:loc>${homepage}${name}</image:loc></image:image>`;
  const entry = (name: string) => `<url><loc>${homepage}repeated</loc>${image(name)}</url>`;
  const xmlns = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"';
  const between = Array.from({ length: 4000 }, (_, at) => `<url><loc>${homepage}${at}?${filler}</loc></url>`).join("");
  const text = `<urlset ${xmlns}>${entry("1.png")}${between}${entry("2.png")}</urlset>`;
  const file = path.join(folder, "repeated.warc");
  const given = { sitemaps: [`${homepage}repeated.xml`] };
  const { client } = site({ "/repeated.xml": text });
  await using tree = await sitemapTreeForHomepage(given, { client, save: file });
  expect(tree).toMatchObject({ complete: false, pageCount: 4001 });
  expect(codesOf(tree)).toContain("limit-repeats");
  await using opened = await openTree(file);
  expect(opened.toJSON()).toEqual(tree.toJSON());
});
