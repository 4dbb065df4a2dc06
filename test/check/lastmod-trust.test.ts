// Tests whether dates can be trusted: each reason against them, and dates that only look suspicious.
import path from "node:path";
import { expect, test } from "vitest";
import type { CheckOptions } from "../../src/check/options.ts";
import { lastmodTrust } from "../../src/check.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { entry, richUrlset } from "../support/documents.ts";
import { home, type Route, robots, site } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const now = "2026-06-15T12:00:00Z";
const day = 24 * 3600 * 1000;
const before = (milliseconds: number) => new Date(Date.parse(now) - milliseconds).toISOString();

const page = (number: number, date: string, more = "") =>
  entry(`/p${number}`, `${date === "" ? "" : `<lastmod>${date}</lastmod>`}${more}`);
const pages = (count: number, dateOf: (number: number) => string, from = 0) =>
  Array.from({ length: count }, (_, number) => page(number + from, dateOf(number)));

async function trust(
  sitemaps: readonly (readonly string[])[],
  more: Record<string, Route> = {},
  options?: CheckOptions,
) {
  const names = sitemaps.map((_, number) => `/${number}.xml`);
  const { client } = site({
    "/robots.txt": robots(...names),
    ...Object.fromEntries(sitemaps.map((entries, number) => [`/${number}.xml`, richUrlset(...entries)])),
    ...more,
  });
  const crawl = { client, retries: 0, knownPaths: "never", useHomepage: false } as const;
  await using tree = await sitemapTreeForHomepage(home, crawl);
  const { verdict, reasons } = await lastmodTrust(tree, { now, ...crawl, ...options });
  return [verdict, ...reasons.map(({ code, pages, of }) => `${code} ${pages}/${of}`)];
}

const spread = (number: number) => before((number + 2) * 3 * day);
const second = (number: number) => (number % 4 === 0 ? before(5 * day) : spread(number));

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
  ["a small part", [pages(300, spread), pages(12, () => before(9 * day), 300)], ["trustworthy", "all-equal 12/312"]],
  [
    "one date in the future",
    [pages(100, (n) => (n < 1 ? before(-9 * day) : spread(n)))],
    ["trustworthy", "in-future 1/100"],
  ],
  ["some dates in the future", [pages(20, (n) => before((n - 2) * 3 * day))], ["partly", "in-future 2/20"]],
  ["all dates in the future", [pages(20, (n) => before((n - 25) * 3 * day))], ["not", "in-future 20/20"]],
  [
    "one second for a quarter of the pages, in all sitemaps",
    [pages(110, second), pages(90, second, 110)],
    ["partly", "common-date 51/200"],
  ],
  ["one day for a few more pages than other days", [pages(600, (n) => spread(n % 9).slice(0, 10))], ["trustworthy"]],
])("the dates of sitemaps are rated by their pattern: %s", async (_, sitemaps, expected) => {
  expect(await trust(sitemaps)).toEqual(expected);
});

test("recent news stories are not held against a sitemap's dates", async () => {
  const story = (date: string) =>
    `<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication><news:publication_date>${date}</news:publication_date><news:title>T</news:title></news:news>`;
  const list = Array.from({ length: 20 }, (_, n) =>
    page(n, before((n + 1) * 3_600_000), story(before((n + 1) * 3_600_000))),
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
])("the dates of sitemaps are compared with those of pages: dates that %s", async (_, count, expected) => {
  const routes = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`/p${n}`, dated(n < count ? before(day) : spread(n))] as const),
  );
  expect(await trust([pages(10, spread)], routes, { pages: "all" })).toEqual(expected);
});

/** The text of a page. All pages have the same header, and usually the same footer. */
interface Text {
  readonly own: string;
  readonly footer?: string;
}
interface Run {
  readonly dateOf: (number: number) => string;
  readonly textOf?: (number: number) => Text;
  readonly count?: number;
}

const nouns = "Anchor Barrel Candle Dolphin Engine Feather Garden Hammer Island Jacket".split(" ");
const story = (number: number, words: string) =>
  `The ${nouns[number % 10]} on our shelf ${words}, and nobody knows who put it there`;
const plain = (number: number): Text => ({ own: story(number, "is old") });
const pageOf = ({ own, footer = "All rights reserved" }: Text): Route => ({
  headers: { "content-type": "text/html" },
  body: `<!doctype html><title>${own}</title><h1>Our shop</h1><p>${own}</p><footer>${footer}</footer>`,
});

function websiteOf({ dateOf, textOf, count = 10 }: Run) {
  const routes: Record<string, Route> = {
    "/robots.txt": `Sitemap: ${home}s.xml`,
    "/s.xml": richUrlset(...pages(count, dateOf)),
  };
  for (let number = 0; textOf !== undefined && number < count; number++) routes[`/p${number}`] = pageOf(textOf(number));
  return { client: site(routes).client, retries: 0, knownPaths: "never", useHomepage: false } as const;
}

async function archiveOf(run: Run): Promise<string> {
  const save = path.join(newFolder(), "earlier.warc.gz");
  const crawl = websiteOf(run);
  await using tree = await sitemapTreeForHomepage(home, { ...crawl, save });
  if (run.textOf !== undefined) await lastmodTrust(tree, { ...crawl, pages: "all", resume: save });
  return save;
}

async function trustSince(before: Run, after: Run): Promise<string[]> {
  const previous = await archiveOf(before);
  const crawl = websiteOf(after);
  await using tree = await sitemapTreeForHomepage(home, crawl);
  const pages = after.textOf === undefined ? undefined : "all";
  const { verdict, reasons } = await lastmodTrust(tree, { ...crawl, previous, pages });
  return [verdict, ...reasons.map(({ code, pages, of }) => `${code} ${pages}/${of}`)];
}

const later = (number: number) => before((number + 1) * day);
const changed = (number: number): Text => ({ own: story(number, "was painted green") });
const some = (many: number, one: (n: number) => Text, other: (n: number) => Text) => (number: number) =>
  number < many ? one(number) : other(number);

test.each<[string, Run, Run, string[]]>([
  [
    "pages changed, their dates did not",
    { dateOf: spread, textOf: plain },
    { dateOf: spread, textOf: changed },
    ["not", "never-changes 10/10"],
  ],
  [
    "dates changed, their pages did not",
    { dateOf: spread, textOf: plain },
    { dateOf: later, textOf: plain },
    ["not", "always-changes 10/10"],
  ],
  [
    "two of ten pages changed without their dates",
    { dateOf: spread, textOf: plain },
    { dateOf: spread, textOf: some(2, changed, plain) },
    ["partly", "never-changes 2/10"],
  ],
  ["nothing changed", { dateOf: spread, textOf: plain }, { dateOf: spread, textOf: plain }, ["trustworthy"]],
  [
    "pages and dates changed together",
    { dateOf: spread, textOf: plain },
    { dateOf: (n) => (n < 4 ? later(n) : spread(n)), textOf: some(4, changed, plain) },
    ["trustworthy"],
  ],
  [
    "only the template changed",
    { dateOf: spread, textOf: plain },
    { dateOf: spread, textOf: (n) => ({ ...plain(n), footer: "A new footer with a lot of words about cookies" }) },
    ["trustworthy"],
  ],
  [
    "only a clock changed",
    {
      dateOf: spread,
      textOf: (n) => ({ ...plain(n), footer: `Now ${n}:15 in the ${nouns[n]} time zone of the shop` }),
    },
    {
      dateOf: spread,
      textOf: (n) => ({ ...plain(n), footer: `Now ${n}:45 in the ${nouns[n]} time zone of the shop` }),
    },
    ["trustworthy"],
  ],
  [
    "scripts fill in the pages",
    { dateOf: spread, textOf: () => ({ own: "Please enable scripts to see this page of our shop" }) },
    { dateOf: later, textOf: () => ({ own: "Please enable scripts to see this page of our shop" }) },
    ["trustworthy"],
  ],
  [
    "too few pages were compared",
    { dateOf: spread, textOf: plain, count: 4 },
    { dateOf: spread, textOf: changed, count: 4 },
    ["unknown"],
  ],
  ["dates changed, and pages are not known", { dateOf: spread }, { dateOf: later }, ["trustworthy"]],
])("dates of sitemaps are compared with what changed since an earlier run: %s", async (_, before, after, expected) => {
  expect(await trustSince(before, after)).toEqual(expected);
});

test("a check and a report of an archive compare it with an earlier archive, without the network", async () => {
  const previous = await archiveOf({ dateOf: spread, textOf: plain });
  const archive = await archiveOf({ dateOf: spread, textOf: changed });
  const told = "10 of 10 pages have the same date as in the earlier run, although the page changed";
  const checked = await sitegrove(["check", archive, "--previous", previous, "--fail-on", "never"]);
  expect(checked.stdout).toContain(`Dates (lastmod) are not trustworthy: ${told}`);
  const reported = await sitegrove(["report", archive, "--previous", previous]);
  expect(reported.stdout).toContain(told);
  const unchanged = await sitegrove(["check", archive, "--previous", archive, "--fail-on", "never"]);
  expect(unchanged.stdout).toContain("Dates (lastmod) look trustworthy");
});

test("an earlier archive that does not exist is an error", async () => {
  const archive = await archiveOf({ dateOf: spread });
  const { code, stderr } = await sitegrove(["check", archive, "--previous", `${archive}.none.warc.gz`]);
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining("none.warc.gz")]);
  expect(code).not.toBe(0);
});
