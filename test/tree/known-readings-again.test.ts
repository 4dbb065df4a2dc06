// A tree of a website that builds on earlier archives: documents that did not change are neither parsed nor copied while it is built. What
// the archives say of them counts until their pages are read; where that shows something else, it is a problem.
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { buildTreeWhile, openTree, openTreeWhile, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { changeNotes, notesOf } from "../support/notes.ts";

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
  // Too small for a note.
  put("/small.xml", urlset("small", 3));
  requests.length = 0;
});

const pageCount = 1203;
const options: Options = { useKnownPaths: false, useHomepage: false, retries: 0 };
let count = 0;
const newFile = (name = "site.warc") => path.join(folder, `${count++}-${name}`);

async function saved(name?: string, more: Options = {}): Promise<string> {
  const save = newFile(name);
  await (await sitemapTreeForHomepage(home, { ...options, ...more, save })).close();
  requests.length = 0;
  return save;
}

/** `parsed`: the sitemaps whose pages were read while the tree was built. */
async function again(previous: string | string[], more: Options = {}) {
  const came: Record<string, string> = {};
  const parsed = new Set<string>();
  const events: CrawlEvent[] = [];
  const onEvent = (event: CrawlEvent) => {
    events.push(event);
    if (event.type === "pages") parsed.add(event.url.slice(home.length));
    if (event.type === "response") came[event.url.slice(home.length)] = event.came;
  };
  const tree = await buildTreeWhile(home, { ...options, ...more, previous, onEvent }, { pagesLater: true });
  return { tree, came, events, parsed: [...parsed] };
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

const codesOf = (tree: SitemapTree, name: string) =>
  [...tree.problems()].filter(({ url }) => url === home + name).map(({ problem }) => problem.code);

/** Changes one byte of the first page of a sitemap, in place. */
function edit(file: string, name: string): void {
  const bytes = readFileSync(file);
  bytes.write("/2?y", bytes.indexOf(`${name}/2?x`) + name.length);
  writeFileSync(file, bytes);
}

test.each([["site.warc"], ["site.warc.gz"]])(
  "%s: no large document is parsed, and the tree is the same",
  async (name) => {
    const { tree, came, parsed } = await again(await saved(name));
    expect(parsed).toEqual(["small.xml"]);
    const unchanged = ["robots.txt", "index.xml", "a.xml", "b.xml", "c.xml", "small.xml"];
    expect(came).toEqual({
      "moved.xml": "fetched",
      ...Object.fromEntries(unchanged.map((url) => [url, "not-modified"])),
    });
    const before = tree.toJSON();
    expect(before.pageCount).toBe(pageCount);
    expect(await contentOf(tree)).toEqual(await contentNow());
    expect(tree.toJSON()).toEqual(before);
    await tree.close();
  },
);

test("whoever listens to events gets the pages of every document", async () => {
  const previous = await saved();
  const urls: string[] = [];
  await using tree = await sitemapTreeForHomepage(home, {
    ...options,
    previous,
    onEvent: (event) => event.type === "pages" && urls.push(...event.pages.map(({ url }) => url)),
  });
  expect(urls).toEqual(await pagesOf(tree));
  expect(urls).toHaveLength(pageCount);
});

test.each([["site.warc"], ["site.warc.gz"]])("%s: a run of a run of a run knows as much as the first", async (name) => {
  const first = await saved();
  const second = newFile(name);
  await (await again(first, { save: second })).tree.close();
  rmSync(first);
  const third = newFile(name);
  const run = await again(second, { save: third });
  expect(run.parsed).toEqual(["small.xml"]);
  const now = await contentNow();
  expect(await contentOf(run.tree)).toEqual(now);
  await run.tree.close();
  rmSync(second);
  await using opened = await openTreeWhile(third, {}, { verify: true });
  expect(await contentOf(opened)).toEqual(now);
  const fourth = await again(third);
  expect(fourth.parsed).toEqual(["small.xml"]);
  expect(await contentOf(fourth.tree)).toEqual(now);
  await fourth.tree.close();
});

describe("while the tree is open, the earlier archive", () => {
  test.each([
    ["is deleted", (file: string) => rmSync(file)],
    [
      "is replaced by another file",
      (file: string) => {
        const other = newFile();
        writeFileSync(other, "something else");
        renameSync(other, file);
      },
    ],
  ])("%s: all pages come, and a saved archive stands alone", async (_, change) => {
    const previous = await saved();
    const { tree } = await again(previous);
    change(previous);
    const now = await contentNow();
    const copies = [newFile(), newFile("site.warc.gz")];
    await tree.save(copies[0] as string);
    expect(await contentOf(tree)).toEqual(now);
    await tree.save(copies[1] as string);
    await tree.close();
    for (const copy of copies) {
      await using opened = await openTreeWhile(copy, {}, { verify: true });
      expect(await contentOf(opened)).toEqual(now);
      const next = await again(copy);
      expect(next.parsed).toEqual(["small.xml"]);
      await next.tree.close();
    }
  });

  test("is saved over by the same run", async () => {
    const previous = await saved();
    const save = newFile();
    const { tree } = await again(previous, { save });
    renameSync(save, previous);
    expect(await contentOf(tree)).toEqual(await contentNow());
    await tree.close();
  });

  test.each([["a.xml"], ["small.xml"]])("is changed in place: %s is not what it was", async (name) => {
    const previous = await saved();
    const { tree, events } = await again(previous);
    edit(previous, name.replace(".xml", ""));
    expect(tree.complete).toBe(true);
    const copy = newFile();
    await tree.save(copy);
    for (let round = 0; round < 2; round++) {
      expect(await pagesOf(tree)).toHaveLength(pageCount);
      expect(tree.complete).toBe(false);
      expect(codesOf(tree, name)).toEqual(["archive-digest"]);
    }
    expect(events.filter(({ type }) => type === "problem").at(-1)).toMatchObject({ url: home + name });
    expect(codesOf(tree, "c.xml")).toEqual([]);
    await tree.close();
    // The copy does not say that all is well, either.
    await using opened = await openTreeWhile(copy, {}, { verify: true });
    expect(opened.complete).toBe(false);
    expect(codesOf(opened, name)).toEqual(["archive-digest"]);
  });

  test("is changed after its pages were read once", async () => {
    const previous = await saved();
    const { tree } = await again(previous);
    await pagesOf(tree);
    expect(tree.complete).toBe(true);
    edit(previous, "b");
    await pagesOf(tree);
    expect(codesOf(tree, "b.xml")).toContain("archive-digest");
    await tree.close();
  });

  test("is changed, and only the text of a sitemap is read", async () => {
    const previous = await saved();
    const { tree } = await again(previous);
    edit(previous, "a");
    const [, , , a] = [...tree.sitemaps()];
    let text = "";
    for await (const piece of tree.text(a as never)) text += piece;
    expect(text).toContain("/a/2?y");
    expect(codesOf(tree, "a.xml")).toEqual(["archive-digest"]);
    expect(await pagesOf(tree)).toHaveLength(pageCount);
    expect(codesOf(tree, "a.xml")).toEqual(["archive-digest"]);
    await tree.close();
  });

  test("becomes shorter: what is gone is a problem, and nothing else fails", async () => {
    const previous = await saved();
    const { tree } = await again(previous);
    const kept = readFileSync(previous).indexOf("/c/200?");
    truncateSync(previous, kept);
    const urls = await pagesOf(tree);
    expect(urls.length).toBeLessThan(pageCount);
    expect(tree.pageCount).toBe(urls.length);
    expect(codesOf(tree, "c.xml")).toContain("archive-digest");
    expect(tree.complete).toBe(false);
    await expect(tree.save(newFile())).rejects.toMatchObject({ code: "invalid-archive" });
    await tree.close();
  });

  test("is not needed where documents are to be in memory", async () => {
    const previous = await saved();
    const { tree, parsed } = await again(previous, { store: "memory" });
    expect(parsed).toEqual(["small.xml"]);
    truncateSync(previous, 10);
    expect(await contentOf(tree)).toEqual(await contentNow());
    await tree.close();
  });
});

describe("an earlier archive that is wrong", () => {
  test.each([
    ["too few pages", { pages: 7 }],
    ["too many pages", { pages: 9_000 }],
    ["no problems", { problems: [] }],
    ["another format", { format: "rss" }],
  ])("about a document (%s): its pages come all the same, and it is a problem", async (_, lie) => {
    const file = await changeNotes(await saved(), newFile(), ({ documents }) =>
      Object.assign(documents[1] as object, lie),
    );
    const save = newFile();
    const { tree, parsed } = await again(file, { save });
    expect(parsed).toEqual(["small.xml"]);
    expect(await pagesOf(tree)).toHaveLength(pageCount);
    expect(tree.complete).toBe(false);
    expect(tree.pageCount).toBe(pageCount);
    expect(codesOf(tree, "b.xml")).toContain("archive-counts");
    // What is known to be wrong is not said again.
    const copy = newFile();
    await tree.save(copy);
    await tree.close();
    expect(notesOf(copy)?.documents.map(({ url }) => url)).toEqual([`${home}a.xml`, `${home}c.xml`]);
    await using opened = await openTree(copy);
    expect(await contentOf(opened)).toEqual(await contentNow());
    // What was written before anybody knew is found out by the next reader.
    await using early = await openTree(save);
    expect(await pagesOf(early)).toHaveLength(pageCount);
    expect(codesOf(early, "b.xml")).toContain("archive-counts");
  });

  test("about an index, which it says has no pages: that is a problem as soon as somebody looks for them", async () => {
    put("/index.xml", index("big.xml", "a.xml"));
    put("/big.xml", index("c.xml").replace(">", `>${`<!-- ${filler} -->`.repeat(400)}`));
    const file = await changeNotes(await saved(), newFile(), ({ documents: notes }) => {
      const { length } = documents.get("/big.xml")?.text ?? "";
      notes.push({ ...notes[0], url: `${home}big.xml`, pages: 0, wireBytes: length, decodedBytes: length });
    });
    const { tree } = await again(file);
    expect(await pagesOf(tree)).toHaveLength(400);
    expect(codesOf(tree, "big.xml")).toContain("archive-counts");
    expect(tree.complete).toBe(false);
    await tree.close();
  });

  test("about the size of a document, or in a way that we would not write: everything is parsed", async () => {
    const previous = await saved();
    const lies = [{ wireBytes: 300_000 }, { pages: -1 }, { url: "http://127.0.0.1/other.xml" }];
    for (const lie of lies) {
      const file = await changeNotes(previous, newFile(), ({ documents }) =>
        Object.assign(documents[0] as object, lie),
      );
      const { tree, parsed } = await again(file);
      expect(parsed).toContain("a.xml");
      expect(await contentOf(tree)).toEqual(await contentNow());
      await tree.close();
    }
  });

  test("about one URL twice: it is parsed", async () => {
    const file = await changeNotes(await saved(), newFile(), ({ documents }) => {
      documents.push({ ...documents[0], pages: 5 });
    });
    const { tree, parsed } = await again(file);
    expect(parsed).toEqual(["a.xml", "small.xml"]);
    expect(await contentOf(tree)).toEqual(await contentNow());
    await tree.close();
  });

  test("about who read it, or how: everything is parsed", async () => {
    const file = await changeNotes(await saved(), newFile(), (notes) => Object.assign(notes, { by: "another" }));
    const { tree, parsed } = await again(file);
    expect(parsed).toEqual(["a.xml", "b.xml", "c.xml", "small.xml"]);
    await tree.close();
    const strict = await again(await saved(), { strict: true });
    expect(strict.parsed).toContain("a.xml");
    await strict.tree.close();
  });

  test("in the bytes of a document: it is requested without a condition", async () => {
    const previous = await saved();
    edit(previous, "a");
    const { tree, came, parsed } = await again(previous);
    expect(came).toMatchObject({ "a.xml": "fetched", "b.xml": "not-modified" });
    expect(requests.filter((request) => request.path === "/a.xml").map(({ status }) => status)).toEqual([304, 200]);
    expect(parsed).toEqual(["a.xml", "small.xml"]);
    expect(await contentOf(tree)).toEqual(await contentNow());
    await tree.close();
  });

  test("in what it says of itself, or because it is cut off: everything is parsed", async () => {
    const previous = await saved();
    const text = readFileSync(previous, "latin1");
    // The last record without its digest being right, and without its end.
    writeFileSync(previous, Buffer.from(text.replace(/"pages":400(?!.*"pages":400)/s, '"pages":401'), "latin1"));
    const altered = await again(previous);
    expect(altered.parsed).toEqual(["a.xml", "b.xml", "c.xml", "small.xml"]);
    await altered.tree.close();
    writeFileSync(previous, Buffer.from(text.slice(0, -200), "latin1"));
    const cut = await again(previous);
    expect(cut.parsed).toEqual(["a.xml", "b.xml", "c.xml", "small.xml"]);
    expect(await contentOf(cut.tree)).toEqual(await contentNow());
    await cut.tree.close();
  });
});

describe("a website that changes", () => {
  test("documents and redirects: what is new is parsed", async () => {
    const previous = await saved();
    put("/a.xml", urlset("a", 500));
    put("/d.xml", urlset("d", 401));
    documents.set("/moved.xml", { text: "", etag: "", movedTo: "/d.xml" });
    const save = newFile();
    const { tree, parsed } = await again(previous, { save });
    expect(parsed).toEqual(["a.xml", "d.xml", "small.xml"]);
    const now = await contentNow();
    expect(await contentOf(tree)).toEqual(now);
    await tree.close();
    const next = await again(save);
    expect(next.parsed).toEqual(["small.xml"]);
    expect(await contentOf(next.tree)).toEqual(now);
    await next.tree.close();
  });

  test("of several archives, the one that has the newest document tells of it", async () => {
    const first = await saved();
    put("/a.xml", urlset("a", 401));
    const second = await saved();
    for (const previous of [
      [first, second],
      [second, first],
    ]) {
      const { tree, parsed } = await again(previous);
      expect(parsed).toEqual(["small.xml"]);
      expect(await contentOf(tree)).toEqual(await contentNow());
      await tree.close();
    }
    // Joined into one file, the notes are those of the first.
    const joined = newFile();
    writeFileSync(joined, Buffer.concat([readFileSync(first), readFileSync(second)]));
    const { tree } = await again(joined);
    expect(await contentOf(tree)).toEqual(await contentNow());
    await tree.close();
  });

  test("more pages than allowed: the limit cuts a document that is not parsed where it would cut it otherwise", async () => {
    const limits = { pages: 1000 };
    put("/index.xml", index("first.xml", "a.xml", "b.xml"));
    put("/first.xml", urlset("first", 3));
    const previous = await saved("site.warc", { limits });
    put("/first.xml", urlset("first", 300));
    const { tree, parsed } = await again(previous, { limits });
    expect(parsed).toEqual(["first.xml"]);
    expect(tree.pageCount).toBe(1000);
    expect(codesOf(tree, "b.xml")).toContain("limit-pages");
    const now = await contentNow({ limits });
    expect(now.pages).toHaveLength(1000);
    const content = await contentOf(tree);
    expect(content.pages).toEqual(now.pages);
    expect(content.tree).toMatchObject({ complete: false, pageCount: 1000 });
    expect(codesOf(tree, "b.xml")).not.toContain("archive-counts");
    await tree.close();
  });

  test("documents that are not asked for are not parsed, either", async () => {
    const previous = await saved();
    const { tree, came, parsed } = await again(previous, { trustLastmod: true });
    expect(Object.values(came)).toContain("not-asked");
    expect(parsed).toEqual(["small.xml"]);
    expect(await pagesOf(tree)).toEqual((await contentNow()).pages);
    expect(tree.complete).toBe(true);
    await tree.close();
  });
});

test("a sitemap that is declared twice is compared twice", async () => {
  put("/index.xml", index("a.xml", "copies.xml"));
  put("/copies.xml", index("a.xml"));
  const file = await changeNotes(await saved(), newFile(), ({ documents }) =>
    Object.assign(documents[0] as object, { pages: 7 }),
  );
  const { tree } = await again(file);
  expect(tree.pageCount).toBe(14);
  expect(await pagesOf(tree)).toHaveLength(800);
  expect(tree.pageCount).toBe(800);
  expect(codesOf(tree, "a.xml")).toEqual(["archive-counts", "archive-counts"]);
  expect(await pagesOf(tree)).toHaveLength(800);
  await tree.close();
});

test("archives that nobody saves to are left as they are", async () => {
  const previous = await saved();
  const copy = newFile();
  copyFileSync(previous, copy);
  const { tree } = await again(previous);
  await pagesOf(tree);
  await tree.close();
  expect(readFileSync(previous).equals(readFileSync(copy))).toBe(true);
});
