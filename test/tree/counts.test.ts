// A tree from an archive that says what was read in its documents: the same as one that reads them, at once; and where the archive is wrong
// about them, that is a problem.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import type { Client } from "../../src/model/client.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import { openTree, openTreeWhile, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { sitegrove } from "../cli/program.ts";
import { urlsOf } from "../support/collected.ts";
import { changeIndex, changeNotes, type Notes, notesOf } from "../support/notes.ts";
import { newFolder } from "../support/test-folder.ts";

const homepage = "https://example.org/";
const filler = "x".repeat(300);
const urlset = (name: string, count: number, more = "") =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${Array.from(
    { length: count },
    (_, at) => `<url><loc>${homepage}${name}/${at}?${filler}</loc></url>`,
  ).join("\n")}${more}</urlset>`;
const texts: Record<string, string> = {
  "/robots.txt": `Sitemap: ${homepage}index.xml\n`,
  "/index.xml": `<sitemapindex><sitemap><loc>${homepage}a.xml</loc></sitemap><sitemap><loc>${homepage}b.xml</loc></sitemap><sitemap><loc>${homepage}c.xml</loc></sitemap></sitemapindex>`,
  "/a.xml": urlset("a", 1000),
  // With an entry that is skipped, which is a problem.
  "/b.xml": urlset("b", 1000, "<url><lastmod>2024-01-01</lastmod></url>"),
  "/c.xml": urlset("c", 3),
};
const client: Client = {
  request: async ({ url }) => {
    const text = texts[new URL(url).pathname];
    const body = (async function* () {
      yield Buffer.from(text ?? "");
    })();
    return { status: text === undefined ? 404 : 200, headers: [["content-type", "application/xml"]], body };
  },
};

const folder = newFolder();
let archive: string;
let whole: SitemapTree;

beforeAll(async () => {
  archive = path.join(folder, "whole.warc");
  whole = await sitemapTreeForHomepage(homepage, { client, save: archive });
  await whole.close();
});

const walked = (tree: SitemapTree) => urlsOf(tree.pages());

/** How many bytes of each document were parsed: the events tell of pages that were read. */
async function opened(file: string, options = {}) {
  const events: CrawlEvent[] = [];
  const onEvent = (event: CrawlEvent) => events.push(event);
  const tree = await openTreeWhile(file, { ...options, onEvent }, { pagesLater: true });
  const read = new Set(events.flatMap((event) => (event.type === "pages" ? event.url : [])));
  return { tree, events, read: [...read].map((url) => url.slice(homepage.length)) };
}

const withNote = (change: (notes: Notes) => void) =>
  changeNotes(archive, path.join(folder, `changed-${Math.random()}.warc`), change);

test("the tree is the same, and no document is read for it, nor for a compressed copy", async () => {
  const { tree, read } = await opened(archive);
  expect(read).toEqual([]);
  expect(tree.toJSON()).toEqual(whole.toJSON());
  const copy = path.join(folder, "copy.warc.gz");
  await tree.save(copy);
  const copied = await opened(copy);
  expect([copied.read, copied.tree.toJSON()]).toEqual([[], whole.toJSON()]);
  await copied.tree.close();
  const urls = await walked(tree);
  expect(urls).toHaveLength(2003);
  expect(new Set(urls).size).toBe(2003);
  expect(tree.complete).toBe(true);
  const [, a] = tree.sitemaps();
  expect(await tree.response(a as never)).toMatchObject({ status: 200 });
  await tree.close();
});

test("whoever listens to events gets the pages of every document, in the order of the website", async () => {
  const urls: string[] = [];
  const onEvent = (event: CrawlEvent) => event.type === "pages" && urls.push(...event.pages.map(({ url }) => url));
  await using tree = await openTree(archive, { onEvent });
  expect(urls).toEqual(await walked(tree));
});

test("other limits, or another version, have everything read", async () => {
  const limited = await opened(archive, { limits: { pages: 1500 } });
  expect(limited.read).toEqual(["a.xml", "b.xml"]);
  expect(limited.tree.pageCount).toBe(1500);
  await limited.tree.close();
  const other = await opened(await withNote((note) => Object.assign(note, { by: "another" })));
  expect(other.read).toEqual(["a.xml", "b.xml", "c.xml"]);
  await other.tree.close();
});

describe("a document whose bytes were changed", () => {
  let file: string;

  beforeAll(() => {
    file = path.join(folder, "damaged.warc");
    const bytes = readFileSync(archive);
    bytes.write("https://example.org/a/777?y", bytes.indexOf("https://example.org/a/777?x"));
    writeFileSync(file, bytes);
  });

  test("all its pages come, and then it is a problem and the tree is not complete", async () => {
    const { tree, events, read } = await opened(file);
    expect(read).toEqual([]);
    const urls = await walked(tree);
    expect(urls).toHaveLength(2003);
    expect(urls[777]).toContain("/a/777?y");
    expect(tree.complete).toBe(false);
    const codes = [...tree.problems()].filter(({ url }) => url.endsWith("a.xml")).map(({ problem }) => problem.code);
    expect(codes).toEqual(["archive-digest"]);
    expect(events.at(-1)).toMatchObject({ type: "problem", url: `${homepage}a.xml`, problem: { code: codes[0] } });
    await tree.close();
  });

  test("where the tree is shown before its pages, it is read at once", async () => {
    const tree = await openTreeWhile(file, {}, { verify: true });
    expect(tree.complete).toBe(false);
    expect([...tree.problems()].map(({ problem }) => problem.code)).toContain("archive-digest");
    await tree.close();
  });

  test.each([["json"], ["sitemaps"], ["tabtree"], ["pages"], ["ndjson"], ["csv"]])(
    "the program ends with the exit code of an incomplete listing: -f %s",
    async (format) => {
      const { code, stdout } = await sitegrove(["ls", file, "-f", format]);
      expect(code).toBe(exitCodes.incomplete);
      if (format === "json") expect(JSON.parse(stdout)).toMatchObject({ complete: false, pageCount: 2003 });
    },
  );
});

test.each([
  ["too few pages", { pages: 7 }],
  ["too many pages", { pages: 9_000 }],
  ["no problems", { problems: [] }],
  ["another format", { format: "rss" }],
])("an archive that lies about a document (%s): its pages come all the same, and it is a problem", async (_, lie) => {
  const file = await withNote(({ documents }) => Object.assign(documents[1] as object, lie));
  const { tree, events } = await opened(file);
  expect(tree.complete).toBe(true);
  expect(await walked(tree)).toHaveLength(2003);
  expect(tree.complete).toBe(false);
  expect(tree.pageCount).toBe(2003);
  expect([...tree.problems()].filter(({ problem }) => problem.code === "archive-counts")).toMatchObject([
    { url: `${homepage}b.xml` },
  ]);
  expect(events.filter(({ type }) => type === "problem").at(-1)).toMatchObject({ problem: { code: "archive-counts" } });
  expect(await walked(tree)).toHaveLength(2003);
  expect([...tree.problems()].filter(({ problem }) => problem.code === "archive-counts")).toHaveLength(1);
  await tree.close();
});

test("what was shown to be wrong is not in an archive that is saved then", async () => {
  const file = await withNote(({ documents }) => Object.assign(documents[1] as object, { pages: 7 }));
  const copies = ["before.warc", "after.warc"].map((name) => path.join(folder, name)) as [string, string];
  const tree = await openTree(file);
  await tree.save(copies[0]);
  await walked(tree);
  await tree.save(copies[1]);
  await tree.close();
  expect(notesOf(copies[0])).toEqual(notesOf(file));
  const [a, , c] = notesOf(file)?.documents ?? [];
  expect(notesOf(copies[1])?.documents).toEqual([a, c]);
  const again = await opened(copies[1]);
  expect(again.read).toEqual(["b.xml"]);
  expect(again.tree.toJSON()).toEqual(whole.toJSON());
  await again.tree.close();
});

test.each([
  { pages: -1 },
  { pages: 1.5 },
  { decodedBytes: "1" },
  { format: "__proto__" },
  { problems: [{ code: 5 }] },
  { problems: [{ code: "xml-truncated" }] },
  { problems: [{ code: "url-missing", count: 0.5 }] },
  { charset: "\u001b[31m" },
])("what we would not have written of a document counts for nothing: %j", async (field) => {
  const { tree, read } = await opened(await withNote(({ documents }) => Object.assign(documents[0] as object, field)));
  expect(read).toEqual(["a.xml"]);
  expect(tree.toJSON()).toEqual(whole.toJSON());
  await tree.close();
});

test("an archive that says that an index is a list without pages: that is a problem as soon as somebody looks for them", async () => {
  const file = await changeIndex(archive, path.join(folder, "index-lie.warc"), (lines) => {
    for (const line of lines) if (line[0] === `${homepage}index.xml`) line[4] = ["xml", 0, line[3], "utf-8", null];
  });
  await using tree = await openTree(file);
  expect([await walked(tree), tree.complete]).toEqual([[], false]);
  expect([...tree.problems()].at(-1)).toMatchObject({
    url: `${homepage}index.xml`,
    problem: { code: "archive-counts" },
  });
});
