// A string that somebody keeps must not keep the document alive that it was cut from: whichever field of an entry it is, and whoever
// read it.
// Needs more than a second.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { readSitemap } from "../../src/crawl/read.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import { createDocumentParser } from "../../src/parse/document.ts";
import { noFastPath } from "../../src/parse/fast/fast-path.ts";
import { parseSitemap } from "../../src/parse/parse-sitemap.ts";
import { some } from "../support/long.ts";
import { urlset } from "../support/parsed.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const count = some(800, 600);
const filler = "Everything that an entry says besides, and that nobody keeps. ".repeat(12);

const rich = urlset(
  ...Array.from({ length: count }, (_, n) => {
    const id = `${n}-${(n * 7919) % 10_007}`;
    return `<url>
  <loc>https://www.example.org/articles/alder-and-birch-${id}${n % 2 ? "?a=1&amp;b=2&amp;c=3&amp;d=4" : ""}</loc>
  <lastmod>2024-05-06T07:08:${String(n % 60).padStart(2, "0")}+0${n % 10}:00</lastmod>
  <xhtml:link rel="alternate" hreflang="de" href="https://www.example.org/de/artikel/${id}?a=1&amp;b=2"/>
  <xhtml:link rel="alternate" hreflang="fr" href="https://www.example.org/fr/${n % 3 ? "é" : "e"}-${id}"/>
  <image:image>
    <image:loc>https://images.example.org/${id}.jpg</image:loc>
    <image:caption>${n % 3 ? "Caption" : "Подпись"} ${id}: ${filler}</image:caption>
    <image:title> Title of ${id} &lt;b&gt; &#38; ${n % 5 ? "more" : "&eacute;"}\n</image:title>
  </image:image>
  <news:news><news:title><![CDATA[News & more of ${id}]]></news:title>
    <news:keywords>keyword of ${id}, another keyword of it, ${filler.slice(0, 40)} ${id}</news:keywords></news:news>
</url>`;
  }),
);
// Of a list, little but URLs can be left out: one is kept of many.
const text = Array.from(
  { length: 20 * count },
  (_, n) => `https://www.example.org/articles/${n}?${"x".repeat(100)}`,
).join("\n");
const feed = `<rss version="2.0"><channel>${Array.from(
  { length: 2 * count },
  (_, n) =>
    `<item><title>Title &amp; number ${n} of many</title><link>https://www.example.org/articles/${n}</link><description>${filler}</description></item>`,
).join("\n")}</channel></rss>`;

const fields: Readonly<Record<string, (page: SitemapPage) => string | undefined>> = {
  url: (page) => page.url,
  lastModified: (page) => page.lastModified,
  "an alternate": (page) => page.alternates?.[1]?.url,
  "an image": (page) => page.images?.[0]?.url,
  "a title": (page) => page.images?.[0]?.title,
  "a news title": (page) => page.newsStory?.title,
  "the last keyword": (page) => page.newsStory?.keywords?.at(-1),
  "the url of each tenth page": (page) => (/[^\d]\d*0-/.test(page.url) ? page.url : undefined),
};

async function expectSmall(read: () => Promise<(string | undefined)[]> | (string | undefined)[]): Promise<void> {
  const before = await memoryInUse();
  const kept = (await read()).filter((one) => one !== undefined);
  const grown = (await memoryInUse()) - before;
  const characters = kept.reduce((sum, one) => sum + one.length, 0);
  expect(kept.length).toBeGreaterThan(count / 20);
  // The array itself, and what else happens in the process: code that is compiled, above all. The documents are more than a megabyte.
  expect(grown).toBeLessThan(3 * characters + 64 * kept.length + 8 * count + 512 * 1024);
}

async function memoryInUse(): Promise<number> {
  // Twice, with a turn between: what was let go of asynchronously is garbage only then.
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 1));
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

// Once for what is made once.
beforeAll(async () => {
  await readSitemap(Buffer.from(rich));
  readByScanner(() => undefined);
  for (const document of [rich, text, feed]) parseSitemap(document);
});

test.each(Object.entries(fields))("%s, of bytes that were read", async (_, field) => {
  const bytes = Buffer.from(rich);
  await expectSmall(async () => pagesOf(await readSitemap(bytes)).map(field));
});

describe.each([
  ["url", fields["url"]!],
  ["a title", fields["a title"]!],
])("%s", (_, field) => {
  test("of a text that was parsed", () => expectSmall(() => pagesOf(parseSitemap(rich)).map(field)));

  test("of entries that were read by the scanner alone", () => expectSmall(() => readByScanner(field)));
});

test.each([
  ["a text sitemap", text, (page: SitemapPage) => (/\/\d*00\?/.test(page.url) ? page.url : undefined)],
  ["a feed", feed, (page: SitemapPage) => page.url],
  ["a feed, its titles", feed, (page: SitemapPage) => page.newsStory?.title],
] as const)("%s", (_, document, field) =>
  // A copy: what is alive anyway would not count.
  expectSmall(() => pagesOf(parseSitemap(Buffer.from(document).toString())).map(field)),
);

test("the values of problems", async () => {
  const lines = "https://www.example.org/articles/\n".repeat(5000);
  const documents = [
    (n: number) => `${lines}no URL at all, ${n}\n`,
    (n: number) => `text before the root, ${n} <urlset>${lines}</urlset>`,
    (n: number) => `Sitemap: /relative/${n}.xml\n${lines}`,
  ];
  const url = "https://www.example.org/robots.txt";
  const read = (n: number) =>
    documents.map((document, at) => {
      const parsed = parseSitemap(Buffer.from(document(n)).toString(), at === 2 ? { url } : {});
      if (parsed.kind === "invalid" || parsed.problems.length === 0) throw new Error(parsed.kind);
      return parsed.problems;
    });
  read(0);
  const before = await memoryInUse();
  const kept = Array.from({ length: 20 }, (_, n) => read(n));
  // The documents are ten megabytes.
  expect((await memoryInUse()) - before).toBeLessThan(1024 * 1024);
  expect(kept).toHaveLength(20);
});

function readByScanner(field: (page: SitemapPage) => string | undefined): (string | undefined)[] {
  const parser = createDocumentParser({ problems: new ProblemLog(), fastPath: noFastPath });
  const kept: (string | undefined)[] = [];
  for (let at = 0; at < rich.length; at += 16_384) {
    kept.push(...parser.write(rich.slice(at, at + 16_384)).pages.map(field));
  }
  return [...kept, ...parser.end().pages.map(field)];
}

function pagesOf(parsed: ReturnType<typeof parseSitemap>): readonly SitemapPage[] {
  if (parsed.kind !== "pages") throw new Error(parsed.kind);
  return parsed.pages;
}
