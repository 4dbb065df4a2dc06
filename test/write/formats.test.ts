// The formats of trees and pages against what reads them; csv is in csv.test.ts.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TreeStep } from "../../src/model/event.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { problem } from "../../src/model/problem.ts";
import type { IndexSitemap, InvalidSitemap, PagesSitemap } from "../../src/model/sitemap.ts";
import { ndjsonWriter, type PageBatch, pagesWriter, stripUrl, writeBatches } from "../../src/write/pages.ts";
import { writeJson, writeTabtree } from "../../src/write/trees.ts";
import { some } from "../support/long.ts";
import { hostileText, steering } from "./hostile.ts";

const plain: SitemapPage = { url: "https://example.org/a", priority: 0.5 };
// Every field: what a writer forgets fails here.
const rich: Required<SitemapPage> = {
  url: "https://example.org/b?x=1&y=é",
  priority: 0.8,
  priorityGiven: true,
  lastModified: "2024-05-06T07:08:09+02:00",
  changeFrequency: "daily",
  newsStory: { title: 'He said "no",\nthen left', keywords: ["a", "b"], genres: ["Blog"] },
  images: [{ url: "https://example.org/i.png", caption: "=1+1" }],
  videos: [{ title: "v", prices: [{ amount: 1.5, currency: "EUR" }] }],
  alternates: [{ language: "de", url: "https://example.org/de/b" }],
};
const batch: PageBatch = { sitemap: "https://example.org/sitemap.xml", pages: [plain, rich] };

const pagesSitemap: PagesSitemap = {
  kind: "pages",
  format: "xml",
  url: "https://example.org/sitemap.xml",
  complete: true,
  problems: [],
  pageCount: 2,
};
const invalid: InvalidSitemap = { kind: "invalid", url: "https://example.org/gone.xml", reason: problem("http-404") };
const cut: PagesSitemap = {
  ...pagesSitemap,
  url: "https://cdn.example.net/cut.xml",
  complete: false,
  problems: [problem("xml-namespace", { value: "x" }), problem("xml-truncated")],
  pageCount: 0,
};
const root: IndexSitemap = {
  kind: "index",
  format: "website",
  url: "https://example.org/",
  complete: true,
  problems: [],
  children: [pagesSitemap, invalid, cut],
};
const steps: TreeStep[] = [
  { type: "enter", sitemap: root, depth: 0 },
  { type: "enter", sitemap: pagesSitemap, depth: 1 },
  { type: "pages", sitemap: pagesSitemap, pages: [plain] },
  { type: "pages", sitemap: pagesSitemap, pages: [] },
  { type: "pages", sitemap: pagesSitemap, pages: [rich] },
  { type: "leave", sitemap: pagesSitemap, depth: 1 },
  { type: "enter", sitemap: invalid, depth: 1 },
  { type: "leave", sitemap: invalid, depth: 1 },
  { type: "enter", sitemap: cut, depth: 1 },
  { type: "leave", sitemap: cut, depth: 1 },
  { type: "leave", sitemap: root, depth: 0 },
];
const head = { homepage: root.url, complete: false, pageCount: 2, reachable: true, discovery: [] };

describe("tabtree", () => {
  test("is an outline: sitemaps by depth, what they hold one level deeper, and why one could not be read", async () => {
    expect(await text(writeTabtree(each(steps)))).toBe(
      [
        "https://example.org/",
        "\thttps://example.org/sitemap.xml",
        "\t\thttps://example.org/a",
        "\t\thttps://example.org/b?x=1&y=é",
        "\thttps://example.org/gone.xml (not read: Not found (404))",
        "\thttps://cdn.example.net/cut.xml (incomplete: The file is cut off)",
        "",
      ].join("\n"),
    );
  });

  test("with URLs stripped, shows what lies below the homepage as a path", async () => {
    expect(await text(writeTabtree(each(steps.slice(0, 3)), stripUrl(root.url)))).toBe(
      "https://example.org/\n\t/sitemap.xml\n\t\t/a\n",
    );
  });
});

describe("stripUrl", () => {
  test("takes the homepage away only from what is below it", () => {
    const show = stripUrl("https://example.org/en");
    expect(show("https://example.org/en/")).toBe("/");
    expect(show("https://example.org/en/a")).toBe("/a");
    expect(show("https://example.org/english")).toBe("https://example.org/english");
  });
});

describe("pages", () => {
  test("is one URL a line, whatever the URL holds", async () => {
    const hostile = { sitemap: "", pages: [{ url: "https://e/\nERROR all good\u001b[2J", priority: 1 }, plain] };
    expect(await text(writeBatches([hostile], pagesWriter()))).toBe(
      "https://e/\\u000aERROR all good\\u001b[2J\nhttps://example.org/a\n",
    );
  });

  test("cuts a large batch into pieces of whole lines", async () => {
    const pages = Array.from({ length: 2500 }, (_, index) => ({ url: `https://e/${index}`, priority: 0.5 }));
    const pieces = await collect(writeBatches([{ sitemap: "s", pages }], pagesWriter()));
    expect(pieces).toHaveLength(3);
    expect(pieces.every((piece) => piece.endsWith("\n"))).toBe(true);
    expect(pieces.join("").split("\n")).toHaveLength(2501);
  });
});

describe("ndjson", () => {
  test("is one page a line with the URL of its sitemap", async () => {
    const lines = (await text(writeBatches([batch], ndjsonWriter()))).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...plain, sitemap: batch.sitemap },
      { ...rich, sitemap: batch.sitemap },
    ]);
  });

  test("keeps hostile text, in one line and without anything that steers a terminal", () => {
    fc.assert(
      fc.property(hostileText, hostileText, (url, title) => {
        const page = { url, priority: 0.5, newsStory: { title } };
        const line = ndjsonWriter().write({ sitemap: title, pages: [page] });
        expect(line.slice(0, -1)).not.toMatch(steering);
        expect(JSON.parse(line)).toEqual({ ...page, sitemap: title });
      }),
      { numRuns: some(500) },
    );
  });
});

describe("json", () => {
  test("is the whole tree with its pages, as one document", async () => {
    expect(JSON.parse(await text(writeJson(head, each(steps))))).toEqual({
      ...head,
      root: { ...root, children: [{ ...pagesSitemap, pages: [plain, rich] }, invalid, { ...cut, pages: [] }] },
    });
  });

  test.each(steps.map((_, index) => index))("closed by a signal before step %i, it is still a document", async (at) => {
    const stop = new AbortController();
    async function* interrupted(): AsyncGenerator<TreeStep> {
      for (const [index, step] of steps.entries()) {
        if (index === at) stop.abort();
        yield step;
      }
    }
    const tree = JSON.parse(await text(writeJson(head, interrupted(), stop.signal)));
    expect(tree.interrupted).toBe(true);
    if (at === 0) expect(tree.root).toBeNull();
    else expect(tree.root.children.length).toBe(steps.slice(1, at).filter(({ type }) => type === "enter").length);
  });

  test("a walk that the signal ends with an error leaves a document too; any other error is thrown", async () => {
    const stop = new AbortController();
    async function* failing(): AsyncGenerator<TreeStep> {
      yield steps[0]!;
      throw new Error("no more");
    }
    await expect(text(writeJson(head, failing(), stop.signal))).rejects.toThrow("no more");
    stop.abort();
    expect(JSON.parse(await text(writeJson(head, failing(), stop.signal)))).toMatchObject({ interrupted: true });
  });
});

async function* each(list: readonly TreeStep[]): AsyncGenerator<TreeStep> {
  yield* list;
}

async function collect(pieces: AsyncIterable<string | Uint8Array>): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece).toString());
  return all;
}

async function text(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  return (await collect(pieces)).join("");
}
