// The format csv against csv-parse: columns, lists spread over rows, separators, and cells that are harmless.
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SitemapPage } from "../../src/model/page.ts";
import { allCsvColumns, type CsvOptions, csvWriter } from "../../src/write/csv.ts";
import { page, section, tableRows } from "../docs/pages.ts";
import { some } from "../support/long.ts";
import { hostileText, steering } from "./hostile.ts";

const pages: SitemapPage[] = [
  {
    url: "https://e.example/a?x=1&y=é",
    priority: 0.7,
    lastModified: "2024-05-06T07:08:09+02:00",
    changeFrequency: "daily",
    newsStory: { title: 'He said "no",\nthen left', keywords: ["a", "b"], genres: ["Blog"] },
    images: [{ url: "https://e.example/1.png", caption: "one" }, { url: "https://e.example/2.png" }],
    videos: [{ title: "film", duration: 5, isLive: false, tags: ["x", "-y"], restriction: { values: ["DE"] } }],
    alternates: [{ language: "de", url: "https://e.example/de" }],
  },
  { url: "https://e.example/b", lastModified: "2024-05" },
];
const sitemap = "https://e.example/s.xml";
const written = (options: CsvOptions, list = pages) => csvWriter(options).write({ sitemap, pages: list });
const table = (options: CsvOptions, list = pages) =>
  parse(csvWriter(options).header + written(options, list), {
    columns: true,
    delimiter: options.separator ?? ",",
  }) as Record<string, string>[];

const usual = "url,lastModified,changeFrequency,priority,sitemap";
// The documentation lists them (below).
const all = csvWriter({ columns: ["all"] }).header.trimEnd();
const images = allCsvColumns()
  .filter((name) => name.startsWith("images."))
  .join(",");

test.each<[CsvOptions, string]>([
  [{}, usual],
  [{ columns: ["news.title", "url"] }, "news.title,url"],
  [{ explode: "alternates" }, `${usual},alternates.language,alternates.url`],
  [{ explode: "images", columns: ["url"] }, `url,${images}`],
  [{ explode: "images", columns: ["images.url", "url"] }, "images.url,url"],
  [{ explode: "images", columns: ["all"] }, `${all.replace("images,", "")},${images}`],
  [{ separator: "\t" }, usual.replaceAll(",", "\t")],
])("the header has the columns for the options %o", (options, header) => {
  expect(csvWriter(options).header).toBe(`${header}\n`);
});

test("every column can be requested, and a row for a sitemap has its own columns", () => {
  for (const name of all.split(",")) expect(csvWriter({ columns: [name] }).header).toBe(`${name}\n`);
  const writer = csvWriter({ columns: ["sitemap", "lastModified", "priority", "url"] });
  expect(writer.writeReferences("s", [{ url: "u", lastModified: "2024" }])).toBe("s,2024,,u\n");
});

test.each([",", ";", "\t"] as const)("every field of a page is written, separated by %o", (separator) => {
  const [first, second] = table({ columns: ["all"], separator, safe: false });
  expect(first).toMatchObject({
    url: pages[0]?.url,
    lastModified: "2024-05-06T07:08:09+02:00",
    changeFrequency: "daily",
    priority: "0.7",
    sitemap,
    "news.title": 'He said "no",\nthen left',
    "news.keywords": "a, b",
    "news.genres": "Blog",
  });
  for (const list of ["images", "videos", "alternates"] as const) {
    expect(JSON.parse(first?.[list] ?? "")).toEqual(pages[0]?.[list]);
  }
  expect(second).toMatchObject({
    url: pages[1]?.url,
    lastModified: "2024-05",
    priority: "",
    "news.title": "",
    images: "",
  });
});

test("a list becomes one row per item, and a page without items keeps a row", () => {
  expect(table({ explode: "images", columns: ["url", "images.url", "images.caption"] })).toEqual([
    { url: pages[0]?.url, "images.url": "https://e.example/1.png", "images.caption": "one" },
    { url: pages[0]?.url, "images.url": "https://e.example/2.png", "images.caption": "" },
    { url: pages[1]?.url, "images.url": "", "images.caption": "" },
  ]);
  expect(table({ explode: "videos" })[0]).toMatchObject({
    "videos.title": "film",
    "videos.duration": "5",
    "videos.isLive": "false",
    "videos.tags": "x, -y",
    "videos.restriction": '{"values":["DE"]}',
    "videos.category": "",
  });
});

test.each([
  [["URL"], undefined, "Unknown column URL; did you mean `url`?"],
  [["newsTitle"], undefined, "Unknown column newsTitle; did you mean `news.title`?"],
  [["images.url"], undefined, "The column images.url needs --explode images"],
  [["images.url"], "videos", "The column images.url needs --explode images"],
  [[""], undefined, "Unknown column ; choose from url, lastModified"],
  [["__proto__"], undefined, "Unknown column __proto__"],
] as const)("the columns %o are refused with explode: %s", (columns, explode, message) => {
  expect(() => csvWriter({ columns, explode })).toThrow(message);
});

describe("texts of a website", () => {
  const hostile = (url: string, text: string): SitemapPage => ({
    url,
    newsStory: { title: text, keywords: [text, url] },
    images: [{ url: text, caption: url }],
    videos: [{ tags: ["a", text] }],
    alternates: [{ language: text, url }],
  });
  const separators = fc.constantFrom(",", ";", "\t");

  test("are one line per page, and never a formula, however a spreadsheet splits cells", () => {
    fc.assert(
      fc.property(hostileText, hostileText, separators, (url, text, separator) => {
        const csv = written({ columns: ["all"], separator }, [hostile(url, text)]);
        expect(csv.slice(0, -1).replaceAll(separator, "")).not.toMatch(steering);
        const cells = (parse(csv, { delimiter: separator }) as string[][])[0] ?? [];
        expect(cells).toHaveLength(all.split(",").length);
        for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        for (const other of [",", ";", "|", "\t"].filter((character) => character !== separator)) {
          // Most spreadsheets take quotes away, and some the spaces before a formula.
          for (const cell of csv.split(other)) expect(cell).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/);
        }
        const { images } = hostile(url, text);
        expect(JSON.parse(cells.at(-3) ?? "")).toEqual(JSON.parse(JSON.stringify(images)));
      }),
      { numRuns: some(2000) },
    );
  });

  test("are restored when the apostrophes before formulas are removed", () => {
    const texts = [
      '=HYPERLINK("http://x")',
      "@SUM(1)",
      "-2+3",
      "+1",
      "'=1",
      "''",
      "'tis",
      "plain",
      "x;@SUM(1)",
      "a|-b;'+c",
    ];
    for (const title of [...texts, "; =1", ';"=1"', "＝1", "a;b|c", "a - b", "a, -b"]) {
      const [row] = table({ columns: ["news.title"] }, [hostile("u", title)]);
      expect(row?.["news.title"]?.replaceAll(/(^|[;|])'([\s"']*[=+\-@＝＋－＠])/g, "$1$2")).toBe(title);
    }
  });

  test("are unchanged with `safe: false`", () => {
    fc.assert(
      fc.property(hostileText, separators, (title, separator) => {
        const csv = written({ columns: ["news.title", "url"], separator, safe: false }, [hostile("u", title)]);
        // Half a surrogate pair cannot be written as UTF-8.
        expect((parse(csv, { delimiter: separator }) as string[][])[0]?.[0]).toBe(Buffer.from(title).toString());
      }),
      { numRuns: some(500) },
    );
  });
});

test("the docs list every column: those of a page in order, and those of an image and an alternate", () => {
  const docs = page("docs/output.md");
  const columns = tableRows(section(docs, "## csv")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`([\w.]+)`/g)].map((match) => match[1]),
  );
  expect(columns).toEqual(all.split(","));
  const names = allCsvColumns().filter((name) => !name.startsWith("videos."));
  expect(names.filter((name) => !docs.text.includes(`\`${name}\``))).toEqual([]);
});
