// Tables with columns of the caller's choice, and lists spread over rows.
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import type { SitemapPage } from "../../src/model/page.ts";
import { allCsvColumns } from "../../src/write/csv-columns.ts";
import { csvTableWriter } from "../../src/write/csv-table.ts";
import { page } from "../docs/pages.ts";

const pages: SitemapPage[] = [
  {
    url: "https://e.example/a",
    priority: 0.7,
    priorityGiven: true,
    newsStory: { title: 'He said "no", and left', keywords: ["a", "b"] },
    images: [{ url: "https://e.example/1.png", caption: "one" }, { url: "https://e.example/2.png" }],
    videos: [{ title: "film", duration: 5, isLive: false, tags: ["x", "y"], restriction: { values: ["DE"] } }],
  },
  { url: "https://e.example/b", priority: 0.5, lastModified: "2024-05" },
];
const table = (options: Parameters<typeof csvTableWriter>[0], list = pages) => {
  const writer = csvTableWriter(options);
  return parse(writer.header + writer.write({ sitemap: "https://e.example/s.xml", pages: list }), {
    columns: true,
  }) as Record<string, string>[];
};

test("the columns are those that were named, in that order", () => {
  const writer = csvTableWriter({ columns: ["news.title", "url", "sitemap"] });
  expect(writer.header).toBe("news.title,url,sitemap\n");
  expect(table({ columns: ["news.title", "url", "sitemap"] })).toEqual([
    { "news.title": 'He said "no", and left', url: "https://e.example/a", sitemap: "https://e.example/s.xml" },
    { "news.title": "", url: "https://e.example/b", sitemap: "https://e.example/s.xml" },
  ]);
});

test("a list is spread over rows, and a page without one keeps a row", () => {
  expect(table({ explode: "images", columns: ["url", "images.url", "images.caption"] })).toEqual([
    { url: "https://e.example/a", "images.url": "https://e.example/1.png", "images.caption": "one" },
    { url: "https://e.example/a", "images.url": "https://e.example/2.png", "images.caption": "" },
    { url: "https://e.example/b", "images.url": "", "images.caption": "" },
  ]);
});

test("without names, an exploded list brings its own columns", () => {
  const [film] = table({ explode: "videos" });
  expect(film).toMatchObject({
    url: "https://e.example/a",
    "videos.title": "film",
    "videos.duration": "5",
    "videos.isLive": "false",
    "videos.tags": "x, y",
    "videos.restriction": '{"values":["DE"]}',
    "videos.category": "",
  });
});

describe("columns that there are not", () => {
  test.each([
    [["URL"], undefined, "Unknown column URL; did you mean `url`?"],
    [["images.url"], undefined, "The column images.url needs --explode images"],
    [["images.url"], "videos", "The column images.url needs --explode images"],
    [[""], undefined, "Unknown column ; there are url, lastModified"],
    [["__proto__"], undefined, "Unknown column __proto__"],
  ] as const)("%o with %s", (columns, explode, message) => {
    expect(() => csvTableWriter({ columns, explode })).toThrow(message);
  });
});

test("a cell is no formula and no steering of a terminal, whatever its column", () => {
  const hostile: SitemapPage = {
    url: "=1+1",
    priority: 0.5,
    images: [{ url: "@SUM(A1)", caption: "\u001b[2J" }],
    alternates: [{ language: "+1", url: "-2" }],
  };
  expect(table({ explode: "images", columns: ["url", "images.url", "images.caption"] }, [hostile])).toEqual([
    { url: "'=1+1", "images.url": "'@SUM(A1)", "images.caption": "\\u001b[2J" },
  ]);
  expect(table({ explode: "alternates" }, [hostile])[0]).toMatchObject({
    "alternates.language": "'+1",
    "alternates.url": "'-2",
  });
});

test("the docs name every column of a page, an image and an alternate", () => {
  const names = allCsvColumns().filter((name) => !name.startsWith("videos."));
  const { text } = page("docs/output.md");
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
