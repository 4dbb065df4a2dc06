import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CrawlEvent, SitemapWithPages } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { listOf, urlsOf } from "../support/collected.ts";
import { home, index, outline, type Route, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const routes: Record<string, Route> = {
  "/robots.txt": robots("/i.xml", "/gone.xml"),
  "/i.xml": index("/a.xml", "/b.txt", "/moved.xml", "/c.xml"),
  "/a.xml": urlset("/1", "/2"),
  "/b.txt": "https://example.org/2\nhttps://example.org/3\n",
  "/moved.xml": { to: "/d.xml" },
  "/d.xml": urlset("/4"),
  "/c.xml": `${urlset("/5", "/6").slice(0, -25)}`,
  "/sitemap.xml": { status: 500 },
  "/": { headers: { "content-type": "text/html", link: "</e.xml>; rel=sitemap" }, body: "" },
  "/e.xml": urlset("/7"),
};

let tree: SitemapTree;
const folder = newFolder();
beforeAll(async () => {
  tree = await sitemapTreeForHomepage(home, { client: site(routes).client, retries: 0 });
});
afterAll(async () => {
  await tree.close();
});

async function urls(from?: Parameters<SitemapTree["pages"]>[0], of = tree): Promise<string[]> {
  return (await urlsOf(of.pages(from))).map((url) => url.slice(home.length));
}

test("pages are in declared order, however often they are read", async () => {
  expect(await urls()).toEqual(["1", "2", "2", "3", "4", "5", "7"]);
  expect(await urls()).toEqual(["1", "2", "2", "3", "4", "5", "7"]);
  expect(tree.pageCount).toBe(7);
});

test("toJSON gives the tree as data at once, and withPages adds the pages", async () => {
  const data = JSON.parse(JSON.stringify({ inside: tree })).inside;
  expect(data).toEqual(JSON.parse(JSON.stringify(tree.toJSON())));
  expect(JSON.stringify(data)).not.toContain('"pages":[');
  const whole = await tree.withPages();
  const found: string[] = [];
  const collect = (sitemap: SitemapWithPages) => {
    if (sitemap.kind === "index") sitemap.children.forEach(collect);
    if (sitemap.kind === "pages") found.push(...sitemap.pages.map(({ url }) => url.slice(home.length)));
  };
  collect(whole.root);
  expect(found).toEqual(await urls());
  // The tree itself has not changed.
  expect(JSON.stringify(tree)).toBe(JSON.stringify(data));
  expect({ ...whole, root: undefined }).toEqual({ ...tree.toJSON(), root: undefined });
});

test("every node can be traversed without checking its kind", async () => {
  for (const sitemap of tree.sitemaps()) {
    expect([...tree.sitemaps(sitemap)][0]).toBe(sitemap);
    expect(await urls(sitemap)).toHaveLength(count(sitemap));
    expect(await urls({ from: sitemap })).toEqual(await urls(sitemap));
    expect(await urls({ from: sitemap, unique: true })).toEqual([...new Set(await urls(sitemap))]);
  }
  function count(sitemap: Sitemap): number {
    if (sitemap.kind === "pages") return sitemap.pageCount;
    return sitemap.kind === "index" ? sitemap.children.reduce((sum, child) => sum + count(child), 0) : 0;
  }
});

test("a tree with a loss is not complete, and says what was lost", () => {
  expect(tree.complete).toBe(false);
  expect([...tree.problems()].map(({ url, problem }) => [url.slice(home.length), problem.code])).toEqual([
    ["", "known-path-unreachable"],
    ["c.xml", "xml-truncated"],
    ["gone.xml", "http-404"],
  ]);
});

test("a tree that is saved and opened again, compressed or not, is the same, and can be saved again", async () => {
  const files = ["tree.warc", "tree.warc.gz"].map((name) => path.join(folder, name));
  const trees = [tree];
  for (const file of files) {
    await trees.at(-1)?.save(file);
    const opened = await openTree(file);
    expect(opened.toJSON()).toEqual(tree.toJSON());
    expect(await outline(opened)).toEqual(await outline(tree));
    await expect(tree.save(file)).rejects.toMatchObject({ code: "archive-exists" });
    trees.push(opened);
  }
  for (const opened of trees.slice(1)) await opened.close();
});

test("with `overwrite`, a file is replaced, even the tree's own, but not a folder", async () => {
  const [own, other] = [path.join(folder, "own.warc.gz"), path.join(folder, "other.warc.gz")];
  writeFileSync(other, "something else");
  await tree.save(own);
  await using opened = await openTree(own);
  for (const file of [own, other]) {
    await opened.save(file, { overwrite: true });
    await using again = await openTree(file);
    expect(again.toJSON()).toEqual(tree.toJSON());
  }
  await expect(tree.save(folder, { overwrite: true })).rejects.toMatchObject({ code: "archive-exists" });
});

test("the archive has filters, limits and given sitemaps, so opening it gives the same tree", async () => {
  const { client } = site(routes);
  const made = (options: Options) => sitemapTreeForHomepage(home, { client, retries: 0, ...options });
  for (const [name, making] of Object.entries({
    filtered: made({ recurse: ({ url }) => !url.endsWith("b.txt") }),
    cut: made({ limits: { pages: 3 } }),
    few: made({ limits: { sitemaps: 2 } }),
    late: made({ limits: { time: 0 } }),
    paths: made({ knownPaths: "never", useHomepage: false, extraKnownPaths: ["e.xml"] }),
    given: sitemapTreeForHomepage({ sitemaps: [`${home}a.xml`, `${home}gone.xml`] }, { client }),
  })) {
    const file = path.join(folder, `${name}.warc`);
    await using original = await making;
    await original.save(file);
    await using opened = await openTree(file);
    expect(opened.toJSON(), name).toEqual(original.toJSON());
    expect(await outline(opened), name).toEqual(await outline(original));
  }
});

test("a closed tree still has its nodes, and refuses everything else", async () => {
  const closed = await sitemapTreeForHomepage(home, { client: site(routes).client, retries: 0 });
  await closed.close();
  await closed.close();
  expect(closed.root.children.length).toBeGreaterThan(0);
  expect([...closed.sitemaps()].map(({ url }) => url)).toEqual([...tree.sitemaps()].map(({ url }) => url));
  expect([...closed.problems()]).toEqual([...tree.problems()]);
  for (const read of [() => closed.pages(), () => closed.walk()]) {
    expect(read).toThrow(expect.objectContaining({ code: "tree-closed" }));
  }
  await expect(closed.save(path.join(folder, "no.warc"))).rejects.toMatchObject({ code: "tree-closed" });
  expect(existsSync(path.join(folder, "no.warc"))).toBe(false);
});

test("reading a tree while it is being closed fails with an error that says so", async () => {
  for (const read of [(open: SitemapTree) => open.pages(), (open: SitemapTree) => open.walk()]) {
    const closing = await sitemapTreeForHomepage(home, { client: site(routes).client, retries: 0 });
    const iterator = (read(closing) as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    await iterator.next();
    await closing.close();
    const rest = async () => {
      while (!(await iterator.next()).done);
    };
    await expect(rest()).rejects.toMatchObject({ code: "tree-closed" });
  }
});

test("sitemaps, pages, walk and problems accept a sitemap, or an object that names one", async () => {
  const part = tree.root.children[0] as Sitemap;
  const steps = async (given?: Parameters<SitemapTree["walk"]>[0]) =>
    (await listOf(tree.walk(given))).map(({ type, sitemap }) => `${type} ${sitemap.url}`);
  const [sitemaps, problems] = [tree.sitemaps({ from: part }), tree.problems({ from: part })];
  // Iterables can be read again.
  for (let time = 0; time < 2; time += 1) {
    expect([...sitemaps]).toEqual([...tree.sitemaps(part)]);
    expect([...problems]).toEqual([...tree.problems(part)]);
  }
  expect(await steps({ from: part })).toEqual(await steps(part));
  expect(await steps({ from: part })).not.toEqual(await steps());
  const copy = JSON.parse(JSON.stringify(tree.root)) as Sitemap;
  expect([...tree.problems(copy)]).toEqual([...tree.problems()]);
  const foreign = { kind: "pages", url: "https://other.example/a.xml" } as Sitemap;
  const wrong = [foreign, { from: foreign }, { kind: "pages" }, null, 5, "x", { form: part }, { from: "x" }];
  const refused = expect.objectContaining({ code: "invalid-option" });
  for (const name of ["sitemaps", "pages", "walk", "problems"] as const)
    for (const bad of wrong) expect(() => tree[name](bad as never), `${name}(${JSON.stringify(bad)})`).toThrow(refused);
  expect(() => tree.text(foreign)).toThrow("Expected `sitemap` to be a sitemap of this tree");
  await expect(tree.response({ from: tree.root } as never)).rejects.toThrow("Expected `sitemap` to be a sitemap");
  expect(() => tree.walk({ unique: true } as never)).toThrow("Unknown option `unique`");
});

test.each(["memory", "file", "auto"] as const)("a tree kept in %s has the same pages", async (store) => {
  await using kept = await sitemapTreeForHomepage(home, { client: site(routes).client, retries: 0, store });
  expect(await urls(undefined, kept)).toEqual(await urls());
});

test("an archive without its last records gives a tree that is not complete, and a crawl that says so", async () => {
  const file = path.join(folder, "whole.warc");
  await using saved = await sitemapTreeForHomepage(home, {
    client: site({ "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/1") }).client,
    retries: 0,
    save: file,
  });
  expect(saved.complete).toBe(true);
  const bytes = readFileSync(file);
  const index = bytes.lastIndexOf("WARC/1.1", bytes.lastIndexOf("WARC/1.1") - 1);
  const ends = { lost: index, cut: bytes.length - 10 };
  for (const [name, end] of Object.entries(ends)) {
    const cut = path.join(folder, `${name}.warc`);
    writeFileSync(cut, bytes.subarray(0, end));
    const finished: boolean[] = [];
    const onEvent = (event: CrawlEvent) => void (event.type === "finished" && finished.push(event.complete));
    await using opened = await openTree(cut, { onEvent });
    expect(opened.complete).toBe(false);
    expect(finished).toEqual([false]);
    expect(opened.root.problems.map(({ code }) => code)).toEqual(["archive-truncated"]);
    expect(await outline(opened)).toEqual(["index/website / (archive-truncated)", ...(await outline(saved)).slice(1)]);
  }
});
