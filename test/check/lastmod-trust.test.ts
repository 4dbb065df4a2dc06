// Whether dates can be trusted: each reason, and what only looks like it.
import path from "node:path";
import { expect, test } from "vitest";
import type { CheckOptions } from "../../src/check/options.ts";
import { lastmodTrust } from "../../src/check.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { home, type Route, site } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const now = "2026-06-15T12:00:00Z";
const day = 24 * 3600 * 1000;
const before = (milliseconds: number) => new Date(Date.parse(now) - milliseconds).toISOString();

const entry = (number: number, date: string, more = "") =>
  `<url><loc>${home}p${number}</loc>${date === "" ? "" : `<lastmod>${date}</lastmod>`}${more}</url>`;
const urlset = (entries: readonly string[]) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">${entries.join("")}</urlset>`;
const pages = (count: number, dateOf: (number: number) => string, from = 0) =>
  Array.from({ length: count }, (_, number) => entry(number + from, dateOf(number)));

async function trust(
  sitemaps: readonly (readonly string[])[],
  more: Record<string, Route> = {},
  options?: CheckOptions,
) {
  const names = sitemaps.map((_, number) => `/${number}.xml`);
  const { client } = site({
    "/robots.txt": names.map((name) => `Sitemap: ${home.slice(0, -1)}${name}`).join("\n"),
    ...Object.fromEntries(sitemaps.map((entries, number) => [`/${number}.xml`, urlset(entries)])),
    ...more,
  });
  const crawl = { client, retries: 0, knownPaths: "never", useHomepage: false } as const;
  await using tree = await sitemapTreeForHomepage(home, crawl);
  const { verdict, reasons } = await lastmodTrust(tree, { now, ...crawl, ...options });
  return [verdict, ...reasons.map(({ code, pages, of }) => `${code} ${pages}/${of}`)];
}

const spread = (number: number) => before((number + 2) * 3 * day);

test.each([
  ["dates that differ", [pages(20, spread)], ["trustworthy"]],
  ["too few dates to tell", [pages(9, () => before(5 * day))], ["unknown"]],
  ["no dates", [pages(20, () => "")], ["unknown"]],
  ["one date for all", [pages(20, () => before(5 * day))], ["not", "all-equal 20/20"]],
  [
    "one date in sitemaps of a page each",
    pages(20, () => before(5 * day)).map((each) => [each]),
    ["not", "all-equal 20/20"],
  ],
  ["one date for most pages only", [pages(20, (n) => (n < 15 ? before(5 * day) : spread(n)))], ["trustworthy"]],
  ["the time of the request", [pages(20, (n) => before(n * 1000))], ["not", "request-time 20/20"]],
  ["all today", [pages(20, (n) => before((n + 1) * 3_600_000))], ["not", "all-today 20/20"]],
  ["all within a week", [pages(20, (n) => before((n + 1) * 8 * 3_600_000))], ["trustworthy"]],
  ["one sitemap of two", [pages(20, spread), pages(20, () => before(9 * day), 20)], ["partly", "all-equal 20/40"]],
  ["a small part", [pages(300, spread), pages(12, () => before(9 * day), 300)], ["trustworthy"]],
])("%s", async (_, sitemaps, expected) => {
  expect(await trust(sitemaps)).toEqual(expected);
});

test("news are new", async () => {
  const story = (date: string) =>
    `<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication><news:publication_date>${date}</news:publication_date><news:title>T</news:title></news:news>`;
  const list = Array.from({ length: 20 }, (_, n) =>
    entry(n, before((n + 1) * 3_600_000), story(before((n + 1) * 3_600_000))),
  );
  expect(await trust([list])).toEqual(["trustworthy"]);
});

const dated = (date: string): Route => ({
  status: 200,
  headers: { "content-type": "text/html" },
  body: `<meta property="article:modified_time" content="${date}">`,
});

test.each([
  ["agree with the pages", 0, ["trustworthy"]],
  ["are older than most pages", 8, ["not", "older-than-page 8/10"]],
  ["are older than some pages", 2, ["partly", "older-than-page 2/10"]],
])("dates that %s", async (_, count, expected) => {
  const routes = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`/p${n}`, dated(n < count ? before(day) : spread(n))] as const),
  );
  expect(await trust([pages(10, spread)], routes, { pages: "all" })).toEqual(expected);
});

test.each([
  ["all alike", () => "2026-06-01T10:00:00Z", true],
  ["different", (number: number) => `2026-06-01T10:00:${10 + number}Z`, false],
])("changes tells if only dates changed, and the new ones are %s", async (_, dateOf, isTold) => {
  const routes: Record<string, string> = { "/robots.txt": "Sitemap: {base}/s.xml\n" };
  const website = await serve(routes);
  const list = (date: (number: number) => string) =>
    urlset(Array.from({ length: 20 }, (_, n) => entry(n, date(n)).replace(home, website.homepage)));
  const state = path.join(newFolder(), "state.warc.gz");
  const run = () => sitegrove(`changes ${website.homepage} --state ${state} --no-known --no-homepage`);
  routes["/s.xml"] = list((number) => `2026-05-01T10:00:${10 + number}Z`);
  expect((await run()).stderr).not.toContain("trustworthy");
  routes["/s.xml"] = list(dateOf);
  const { stderr } = await run();
  if (isTold) expect(stderr).toContain("only the dates of 20 pages changed, and they are not trustworthy");
  else expect(stderr).not.toContain("trustworthy");
});
