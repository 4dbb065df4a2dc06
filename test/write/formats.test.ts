// The formats of trees and pages as data: what a writer forgets, cuts or leaves open. What people see is in ../cli/formats.test.ts, csv in csv.test.ts.
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { TreeStep } from "../../src/model/event.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { PageLines } from "../../src/model/page-list.ts";
import { problem } from "../../src/model/problem.ts";
import type { IndexSitemap, InvalidSitemap, PagesSitemap } from "../../src/model/sitemap.ts";
import { ndjsonWriter, pagesJsonWriter, pagesWriter, stripUrl, writeBatches } from "../../src/write/pages.ts";
import { type ParsedEnd, ParsedJsonWriter, writeJson } from "../../src/write/trees.ts";
import { some } from "../support/long.ts";
import { hostileText, steering } from "./hostile.ts";

const plain: SitemapPage = { url: "https://example.org/a" };
// With text that needs escaping. Every field is in ../diff/page-line.test.ts.
const rich: SitemapPage = {
  url: "https://example.org/b?x=1&y=é",
  priority: 0.8,
  lastModified: "2024-05-06T07:08:09+02:00",
  changeFrequency: "daily",
  newsStory: { title: 'He said "no",\nthen left', keywords: ["a", "b"], genres: ["Blog"] },
  images: [{ url: "https://example.org/i.png", caption: "=1+1" }],
  videos: [{ title: "v", prices: [{ amount: 1.5, currency: "EUR" }] }],
  alternates: [{ language: "de", url: "https://example.org/de/b" }],
};
const whole = { complete: true, problems: [] };
const pages: PagesSitemap = { kind: "pages", format: "xml", url: "https://example.org/s.xml", ...whole, pageCount: 2 };
const invalid: InvalidSitemap = { kind: "invalid", url: "https://example.org/gone.xml", reason: problem("http-404") };
const cut: PagesSitemap = { ...pages, complete: false, problems: [problem("xml-truncated")], pageCount: 0 };
const children = [pages, invalid, cut];
const root: IndexSitemap = { kind: "index", format: "website", url: "https://example.org/", ...whole, children };
const steps: TreeStep[] = [
  { type: "enter", sitemap: root, depth: 0 },
  { type: "enter", sitemap: pages, depth: 1 },
  { type: "pages", sitemap: pages, pages: [plain] },
  { type: "pages", sitemap: pages, pages: [] },
  { type: "pages", sitemap: pages, pages: [rich] },
  { type: "leave", sitemap: pages, depth: 1 },
  { type: "enter", sitemap: invalid, depth: 1 },
  { type: "leave", sitemap: invalid, depth: 1 },
  { type: "enter", sitemap: cut, depth: 1 },
  { type: "leave", sitemap: cut, depth: 1 },
  { type: "leave", sitemap: root, depth: 0 },
];
const head = { homepage: root.url, complete: false, pageCount: 2, reachable: true, discovery: [] };

test("only URLs below the homepage are shown as paths", () => {
  const show = stripUrl("https://example.org/en");
  const urls = ["https://example.org/en/", "https://example.org/en/a", "https://example.org/english"];
  expect(urls.map(show)).toEqual(["/", "/a", "https://example.org/english"]);
});

test("pages is one URL per line, whatever the URL contains, in chunks of complete lines", async () => {
  const many = Array.from({ length: 2500 }, (_, index) => ({ url: `https://e/${index}\n\u001b[2J` }));
  const pieces = await Readable.from(writeBatches([{ sitemap: "s", pages: many }], pagesWriter())).toArray();
  expect(pieces).toHaveLength(3);
  expect(pieces.join("")).toBe(many.map((_, index) => `https://e/${index}\\u000a\\u001b[2J\n`).join(""));
});

test("ndjson has every field of a page, and its sitemap's URL", () => {
  const lines = ndjsonWriter()
    .write({ sitemap: pages.url, pages: [plain, rich] })
    .split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.map((line) => JSON.parse(line))).toEqual([plain, rich].map((page) => ({ ...page, sitemap: pages.url })));
});

test("ndjson keeps hostile text, on one line and without terminal control characters", () => {
  fc.assert(
    fc.property(hostileText, hostileText, (url, title) => {
      const page = { url, newsStory: { title } };
      const line = ndjsonWriter().write({ sitemap: title, pages: [page] });
      expect(line.slice(0, -1)).not.toMatch(steering);
      expect(JSON.parse(line)).toEqual({ ...page, sitemap: title });
    }),
    { numRuns: some(500) },
  );
});

describe("json", () => {
  const written = async (given: AsyncIterable<TreeStep>, signal?: AbortSignal) =>
    JSON.parse((await Readable.from(writeJson(head, given, signal)).toArray()).join(""));
  const stop = new AbortController();
  async function* until(at: number, end: () => void): AsyncGenerator<TreeStep> {
    for (const [index, step] of steps.entries()) {
      if (index === at) end();
      yield step;
    }
  }

  test("is the whole tree with its pages, as one document", async () => {
    const all = [{ ...pages, pages: [plain, rich] }, invalid, { ...cut, pages: [] }];
    expect(await written(until(-1, () => {}))).toEqual({ ...head, root: { ...root, children: all } });
  });

  test.each(steps.map((_, index) => index))("is still a document if a signal ends it before step %i", async (at) => {
    const stop = new AbortController();
    const tree = await written(
      until(at, () => stop.abort()),
      stop.signal,
    );
    expect(tree.interrupted).toBe(true);
    if (at === 0) expect(tree.root).toBeNull();
    else expect(tree.root.children.length).toBe(steps.slice(1, at).filter(({ type }) => type === "enter").length);
  });

  test("is still closed if the signal ends the walk with an error; other errors are thrown", async () => {
    const fail = () => {
      throw new Error("no more");
    };
    await expect(written(until(1, fail), stop.signal)).rejects.toThrow("no more");
    stop.abort();
    expect(await written(until(1, fail), stop.signal)).toMatchObject({ interrupted: true });
  });
});

test.each<ParsedEnd>([
  { kind: "pages", format: "xml", ...whole },
  { kind: "index", format: "xml", ...whole },
  { kind: "invalid", reason: problem("not-a-sitemap") },
])("json of one document is one object with all its pages and sitemaps: %o", (end) => {
  const [one, two] = ["1", "2"].map((name) => ({ url: `https://example.org/${name}.xml` })) as [object, object];
  const both = new ParsedJsonWriter();
  const text =
    both.write([], [one as never]) + both.write([plain], []) + both.write([rich], [two as never]) + both.end(end);
  expect(JSON.parse(text)).toEqual({ pages: [plain, rich], sitemaps: [one, two], ...end });
  const empty = { pages: { pages: [] }, index: { sitemaps: [] }, invalid: {} }[end.kind];
  expect(JSON.parse(new ParsedJsonWriter().end(end))).toEqual({ ...empty, ...end });
});

describe("ready-made lines instead of pages", () => {
  const bidirectional = "https://example.org/\u202eb";
  const command = "https://example.org/##[error]";
  const linesOf = (...urls: string[]) =>
    new PageLines(urls.map((url) => `${url}\n`).join(""), urls.length, !urls.includes(bidirectional));
  const texts = [
    ["https://example.org/a", "https://example.org/b"],
    [bidirectional, "https://example.org/b"],
    [command],
  ];

  test("are written like pages, in every format that needs only URLs", () => {
    for (const GITHUB_ACTIONS of ["", "true"]) {
      vi.stubEnv("GITHUB_ACTIONS", GITHUB_ACTIONS);
      for (const urls of texts) {
        const pages = urls.map((url) => ({ url }));
        for (const writer of [
          () => pagesWriter(),
          () => pagesWriter(stripUrl("https://example.org/")),
          pagesJsonWriter,
        ])
          expect(writer().write({ sitemap: "s", pages: linesOf(...urls) })).toBe(
            writer().write({ sitemap: "s", pages }),
          );
      }
    }
    vi.unstubAllEnvs();
  });

  test("become a list of pages", () => {
    const lines = linesOf("https://example.org/a", "https://example.org/b").with(linesOf("https://example.org/c"));
    lines.sitemap = "https://example.org/sitemap.xml";
    const [first, ...others] = lines;
    expect(first).toEqual({ url: "https://example.org/a", sitemap: "https://example.org/sitemap.xml" });
    expect(others).toEqual(lines.slice(1));
    expect(lines.length).toBe(3);
    expect(lines.filter(({ url }) => url.endsWith("c")).map(({ url }) => url)).toEqual(["https://example.org/c"]);
  });
});
