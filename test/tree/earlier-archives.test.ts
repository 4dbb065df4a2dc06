// A tree of a website that builds on earlier archives: it has its own copies of their documents, and is the same as one without them.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { buildTreeWhile, openTreeWhile, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";

interface Document {
  readonly text: string;
  /** Sent, and expected from whoever asks whether it changed. */
  readonly etag: string;
  readonly movedTo?: string;
}

const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-again-"));
const documents = new Map<string, Document>();
const requests: { readonly path: string; readonly status: number }[] = [];
let server: Server;
let home: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const document = documents.get(request.url ?? "");
    const isSame = document !== undefined && request.headers["if-none-match"] === document.etag;
    const status = document === undefined ? 404 : document.movedTo !== undefined ? 302 : isSame ? 304 : 200;
    requests.push({ path: request.url ?? "", status });
    const { movedTo: location, etag = "" } = document ?? {};
    response.writeHead(status, { ...(etag && { etag }), ...(location && { location }) });
    response.end(status === 200 ? document?.text : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const filler = "x".repeat(800);
const urlset = (name: string, count: number, more = "") =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${Array.from(
    { length: count },
    (_, at) => `<url><loc>${home}${name}/${at}?${filler}</loc></url>\n`,
  ).join("")}${more}</urlset>`;
let version = 0;
const put = (name: string, text: string) => documents.set(name, { text, etag: `"${version++}"` });
const index = (...names: string[]) =>
  `<sitemapindex>${names.map((name) => `<sitemap><loc>${home}${name}</loc><lastmod>2024-05-01</lastmod></sitemap>`).join("")}</sitemapindex>`;

beforeEach(() => {
  documents.clear();
  put("/robots.txt", `Sitemap: ${home}index.xml\n`);
  put("/index.xml", index("a.xml", "b.xml", "moved.xml", "small.xml"));
  put("/a.xml", urlset("a", 400));
  // With an entry that is skipped, which is a problem.
  put("/b.xml", urlset("b", 400, "<url><lastmod>2024-01-01</lastmod></url>"));
  documents.set("/moved.xml", { text: "", etag: "", movedTo: "/c.xml" });
  put("/c.xml", urlset("c", 400));
  put("/small.xml", urlset("small", 3));
  requests.length = 0;
});

const options: Options = { useKnownPaths: false, useHomepage: false, retries: 0 };
let count = 0;
const newFile = (name = "site.warc") => path.join(folder, `${count++}-${name}`);

async function saved(name?: string, more: Options = {}): Promise<string> {
  const save = newFile(name);
  await (await sitemapTreeForHomepage(home, { ...options, ...more, save })).close();
  requests.length = 0;
  return save;
}

async function again(previous: string | string[], more: Options = {}) {
  const came: Record<string, string> = {};
  const onEvent = (event: CrawlEvent) => {
    if (event.type === "response") came[event.url.slice(home.length)] = event.came;
  };
  const tree = await buildTreeWhile(home, { ...options, ...more, previous, onEvent }, { pagesLater: true });
  return { tree, came };
}

async function pagesOf(tree: SitemapTree): Promise<string[]> {
  const urls: string[] = [];
  for await (const { url } of tree.pages()) urls.push(url);
  return urls;
}

async function contentOf(tree: SitemapTree) {
  return { pages: await pagesOf(tree), tree: tree.toJSON(), problems: [...tree.problems()] };
}

/** What a run without an earlier one gives. */
async function contentNow(more: Options = {}) {
  await using tree = await sitemapTreeForHomepage(home, { ...options, ...more });
  return await contentOf(tree);
}

/** Changes one byte of the first page of a sitemap, in place. */
function edit(file: string, name: string): void {
  const bytes = readFileSync(file);
  bytes.write("/2?y", bytes.indexOf(`${name}/2?x`) + name.length);
  writeFileSync(file, bytes);
}

test.each([["site.warc"], ["site.warc.gz"]])(
  "%s: the tree is the same, also in a run of a run of a run",
  async (name) => {
    const now = await contentNow();
    const unchanged = ["robots.txt", "index.xml", "a.xml", "b.xml", "c.xml", "small.xml"];
    let previous = await saved(name);
    for (let round = 0; round < 3; round++) {
      const save = newFile(name);
      const { tree, came } = await again(previous, { save });
      expect(came).toEqual({
        "moved.xml": "fetched",
        ...Object.fromEntries(unchanged.map((url) => [url, "not-modified"])),
      });
      expect(await contentOf(tree)).toEqual(now);
      await tree.close();
      rmSync(previous);
      previous = save;
      await using opened = await openTreeWhile(save, {}, { verify: true });
      expect(await contentOf(opened)).toEqual(now);
    }
  },
);

test("a compressed record is copied as it is", async () => {
  const previous = await saved("site.warc.gz");
  const save = newFile("site.warc.gz");
  await (await again(previous, { save })).tree.close();
  const before = readFileSync(previous);
  const [first, second] = [...before.toString("latin1").matchAll(/\x1f\x8b\x08/g)].slice(1).map(({ index }) => index);
  expect(readFileSync(save).includes(before.subarray(first, second))).toBe(true);
});

test.each([
  ["is deleted", (file: string) => rmSync(file)],
  ["is replaced by another file", (file: string) => writeFileSync(file, "something else")],
  ["is changed in place", (file: string) => edit(file, "a")],
  ["becomes shorter", (file: string) => truncateSync(file, 1000)],
])(
  "while the tree is open, the earlier archive %s: all pages come, and a saved archive stands alone",
  async (_, change) => {
    const previous = await saved();
    const { tree } = await again(previous);
    const written = newFile();
    const other = await again(previous, { save: written });
    change(previous);
    const now = await contentNow();
    expect(await contentOf(tree)).toEqual(now);
    expect(await contentOf(other.tree)).toEqual(now);
    const copy = newFile("site.warc.gz");
    await tree.save(copy);
    await tree.close();
    await other.tree.close();
    for (const file of [copy, written]) {
      await using opened = await openTreeWhile(file, {}, { verify: true });
      expect(await contentOf(opened)).toEqual(now);
    }
  },
);

test("a document that is damaged in the earlier archive is requested without a condition", async () => {
  const previous = await saved();
  edit(previous, "a");
  const { tree, came } = await again(previous);
  expect(came).toMatchObject({ "a.xml": "fetched", "b.xml": "not-modified" });
  expect(requests.filter((request) => request.path === "/a.xml").map(({ status }) => status)).toEqual([304, 200]);
  expect(await contentOf(tree)).toEqual(await contentNow());
  await tree.close();
});

test("an earlier archive without its index is used up to where it is cut off", async () => {
  const previous = await saved();
  truncateSync(previous, readFileSync(previous).lastIndexOf("WARC/1.1") - 200);
  const { tree, came } = await again(previous);
  expect(came).toMatchObject({ "a.xml": "not-modified", "b.xml": "not-modified" });
  expect(await contentOf(tree)).toEqual(await contentNow());
  await tree.close();
});

test("of several archives, the one that has the newest document counts, also if they are joined", async () => {
  const first = await saved();
  put("/a.xml", urlset("a", 401));
  const second = await saved();
  const joined = newFile();
  writeFileSync(joined, Buffer.concat([readFileSync(first), readFileSync(second)]));
  for (const previous of [[first, second], [second, first], [joined]]) {
    const { tree, came } = await again(previous);
    expect(came).toMatchObject({ "a.xml": "not-modified" });
    expect(await contentOf(tree)).toEqual(await contentNow());
    await tree.close();
  }
});

test("documents that are not asked for are in the next archive, too", async () => {
  const save = newFile();
  const { tree, came } = await again(await saved(), { trustLastmod: true, save });
  expect(Object.values(came)).toContain("not-asked");
  const { pages } = await contentNow();
  expect(await pagesOf(tree)).toEqual(pages);
  await tree.close();
  await using opened = await openTreeWhile(save, {}, { verify: true });
  expect([opened.complete, await pagesOf(opened)]).toEqual([true, pages]);
});
