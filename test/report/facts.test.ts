// Compares the facts of a report, which are counted in one pass and in bounded tables, with a plain loop over all pages.
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { UrlScan } from "../../src/check/rules/url-scan.ts";
import type { Client } from "../../src/model/client.ts";
import type { ReportFacts, ReportSection } from "../../src/report/facts.ts";
import { pageOf } from "../../src/report/html-page.ts";
import { divided, largestSections, type Rectangle } from "../../src/report/map.ts";
import { reportFacts } from "../../src/report/report-tree.ts";
import { Sections } from "../../src/report/sections.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { partsOf } from "../../src/tree/tree.ts";
import { listOf } from "../support/collected.ts";
import { isLong, some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { index, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import { shop, shopHome } from "./shop.ts";
import { chineseAndArabic, everyListFull, everythingFails, fullListSitemaps, home, threePages } from "./websites.ts";
import { worstFacts } from "./worst.ts";

const now = "2026-10-05T06:12:00Z";

async function factsOf(client: Client, homepage: string = home): Promise<ReportFacts> {
  await using tree = await sitemapTreeForHomepage(homepage, { client, retries: 0, knownPaths: "if-needed" });
  return await reportFacts(tree, { check: { now } });
}

function* leaves(section: ReportSection): Generator<ReportSection> {
  if (section.sections === undefined) yield section;
  for (const child of section.sections ?? []) yield* leaves(child);
}

describe("the report on a shop in six languages", async () => {
  await using tree = await sitemapTreeForHomepage(shopHome, { client: shop(1000), retries: 0, knownPaths: "never" });
  const pages = await listOf(tree.pages());
  const facts = await reportFacts(tree, { check: { now } });

  test("has every page in one tile of the map, with its age", () => {
    const all = [...leaves(facts.sections)];
    const sum = (value: (section: ReportSection) => number) => all.reduce((total, each) => total + value(each), 0);
    expect(sum((each) => each.pages)).toBe(pages.length);
    expect(sum((each) => each.ages.reduce((total, count) => total + count, 0))).toBe(pages.length);
    const garden = facts.sections.sections
      ?.find(({ name }) => name === "en")
      ?.sections?.find(({ name }) => name === "p");
    expect(garden?.sections?.find(({ name }) => name === "garden")?.pages).toBe(
      pages.filter(({ url }) => url.startsWith(`${shopHome}en/p/garden/`)).length,
    );
    const limit = Date.parse(now) - 30 * 86_400_000;
    const recent = pages.filter(({ lastModified }) => lastModified !== undefined && Date.parse(lastModified) >= limit);
    expect(facts.sections.ages[0]).toBe(recent.length);
    expect(facts.sections.ages.at(-1)).toBe(pages.filter(({ lastModified }) => lastModified === undefined).length);
  });

  test("has every dated page on the timeline, and says whether the dates can be trusted", () => {
    const { bars, before, future, undated, common } = facts.timeline;
    expect(bars.reduce((sum, each) => sum + each.pages, before + future + undated)).toBe(pages.length);
    const same = pages.filter(({ lastModified }) => lastModified === "2026-03-14T02:00:07Z").length;
    expect(common).toEqual({ at: "2026-03-14T02:00:07Z", pages: same });
    expect(pageOf(facts)).toMatch(/When they last changed<.*?<strong>Dates \(lastmod\) are only partly trustworthy: /);
    const march = bars.find(({ from }) => from === "2026-03-01")?.pages;
    expect(march).toBe(pages.filter(({ lastModified }) => lastModified?.startsWith("2026-03")).length);
  });

  test("counts the pages with images and alternate pages", () => {
    const withValue = (name: "alternates" | "images") => pages.filter((page) => page[name] !== undefined).length;
    expect(facts.extensions).toMatchObject({ alternates: withValue("alternates"), images: withValue("images") });
    expect(facts.extensions.images).toBeGreaterThan(100);
  });

  test("has every sitemap in the tree, with sizes and times", () => {
    expect(facts.sitemaps.rows).toHaveLength([...tree.sitemaps()].length - 1);
    const total = facts.sitemaps.rows.reduce((sum, { wireBytes = 0 }) => sum + wireBytes, 0);
    expect(total).toBe(facts.figures.wireBytes);
    const { medianFirstByte = -1, slowest = -1 } = facts.figures;
    expect(Math.max(...facts.sitemaps.rows.map(({ duration = 0 }) => duration))).toBe(slowest);
    expect(medianFirstByte).toBeLessThanOrEqual(slowest);
  });
});

test("pages with errors or warnings are counted once, even if only a comparison of all sitemaps finds them", async () => {
  const link = '<xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang';
  const linked = urlset("/en").replace("</loc>", `</loc>${link}="en" href="{home}en"/>${link}="de" href="{home}de"/>`);
  const routes = {
    "/robots.txt": robots("/a.xml", "/b.xml", "/c.xml"),
    "/a.xml": urlset("/x#a", "/x/ b#c", "/de", "/ok"),
    "/b.xml": urlset("/x#a", "/OK"),
    "/c.xml": linked,
  };
  const { figures, sections } = await factsOf(site(routes).client);
  // One has a fragment, one a fragment and a space, one is listed again, one is a variant of another, and one has no return link.
  expect([figures.flawedPages, sections.flawed, figures.pages]).toEqual([5, 5, 7]);
});

test("a report about documents that did not change since an earlier run has the time of this run", async () => {
  const routes: Record<string, string> = { "/robots.txt": robots("/a.xml"), "/a.xml": urlset("/a") };
  const client = (status: number) =>
    site((path) => {
      const body = routes[path];
      return body === undefined ? undefined : { status, headers: { etag: '"1"' }, body: status === 304 ? "" : body };
    }).client;
  const folder = newFolder();
  const options = { retries: 0, knownPaths: "never" } as const;
  const [previous, save] = [path.join(folder, "1.warc"), path.join(folder, "2.warc")];
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-10-01T08:00:00Z") });
  try {
    await (await sitemapTreeForHomepage(home, { ...options, client: client(200), save: previous })).close();
    vi.setSystemTime("2026-10-08T08:00:00Z");
    await using tree = await sitemapTreeForHomepage(home, { ...options, client: client(304), previous, save });
    await using opened = await openTree(save);
    for (const each of [tree, opened]) {
      expect([...partsOf(each).responses.values()].map(({ obtained }) => obtained)).toEqual([
        "not-modified",
        "not-modified",
      ]);
      expect((await reportFacts(each)).receivedAt).toMatch(/^2026-10-08/);
    }
  } finally {
    vi.useRealTimers();
  }
});

test("a website with three pages is not divided into sections", async () => {
  const { sections, verdict, timeline } = await factsOf(threePages());
  expect(sections).toEqual({ name: "example.org", pages: 3, ages: [2, 0, 0, 0, 0, 1, 0], flawed: 0 });
  expect(verdict).toBe("3 pages in 1 sitemap. 1 note.");
  expect(timeline.sentence).toBe(
    "Half of the dated pages changed in the last 23 days. The newest change is from 2026-10-01.",
  );
});

test("the sitemaps of a finding are listed by their occurrences", async () => {
  const [one, two] = [urlset("/a#x"), urlset("/b#x", "/c#x")];
  const routes = { "/robots.txt": robots("/1.xml", "/2.xml"), "/1.xml": one, "/2.xml": two };
  const { findings } = await factsOf(site(routes).client);
  expect(findings.find(({ rule }) => rule === "url-fragment")?.occurrences).toEqual([
    { sitemap: `${home}2.xml`, count: 2 },
    { sitemap: `${home}1.xml`, count: 1 },
  ]);
});

test("a sitemap in two indexes counts once as unreadable or incomplete, and so do its pages", async () => {
  const list = index(...["gone.xml", "cut.xml", "a.xml"].map((path) => `${home}${path}`));
  const routes = {
    "/robots.txt": robots("/1.xml", "/2.xml", "/a.xml"),
    ...{ "/1.xml": list, "/2.xml": list },
    "/cut.xml": urlset("/a").replace("</urlset>", "<url><loc>"),
    "/a.xml": urlset("/b", "/c"),
  };
  const { figures, sections, verdict } = await factsOf(site(routes).client);
  expect(figures).toMatchObject({ pages: 3, unreadable: 1, incomplete: 1 });
  expect(sections.pages).toBe(3);
  expect(verdict).toContain("1 declared sitemap could not be read. 1 sitemap could only be partly read.");
});

test("well-known paths that were not needed do not count as tried", async () => {
  const facts = await factsOf(threePages());
  expect(facts.discovery).toMatchObject({ rows: [{ outcome: "found" }], found: 1, others: 0 });
  expect(facts.discovery.skipped).toBeGreaterThan(10);
  expect(pageOf(facts)).toContain("1 URL tried; 1 had a sitemap or a robots.txt.");
});

test("a check that could not see everything does not praise the website", async () => {
  await using tree = await sitemapTreeForHomepage(home, { client: threePages(), retries: 0, knownPaths: "never" });
  const off = { "lastmod-date-only": "off" } as const;
  const whole = await reportFacts(tree, { check: { now, rules: off } });
  expect([whole.verdict, pageOf(whole)]).toEqual([
    "3 pages in 1 sitemap. Nothing that search engines would reject.",
    expect.stringContaining("Nothing that search engines would reject or ignore."),
  ]);
  const late = await reportFacts(tree, { check: { now, rules: off, time: 0 } });
  expect(late.verdict).toBe("3 pages in 1 sitemap. No findings in what could be read.");
  expect(pageOf(late)).not.toContain("Nothing that search engines");
});

test("a report lists pages that only left a feed as a change", async () => {
  const facts = await factsOf(threePages());
  const side = { pages: 3, sitemaps: 1, complete: true };
  const none = { added: 0, removed: 0, changed: 0, moved: 0, unknown: 0, sitemaps: 0, changedOnlyLastModified: 0 };
  const page = (expired: number) => {
    const totals = { ...none, expired, before: side, after: side };
    return pageOf({
      ...facts,
      changes: { totals, sections: [], otherSections: 0, fields: {}, sitemaps: [], examples: [] },
    });
  };
  expect(page(0)).toContain("No changes.");
  expect(page(2)).toContain("2 pages dropped out of a feed or a news sitemap");
  expect(page(2)).not.toContain("No changes.");
});

test("the report says why if everything on a website fails", async () => {
  const facts = await factsOf(everythingFails());
  expect(facts.verdict).toBe("Nothing could be read from this website.");
  expect(facts.unreachable).toMatch(/503/);
  expect(facts.discovery.rows.length).toBeGreaterThan(10);
});

test("section names in other alphabets are shown decoded", async () => {
  const html = pageOf(await factsOf(chineseAndArabic()));
  for (const name of ["产品", "新闻", "منتجات", "أخبار"]) expect(html).toContain(`<b>${name}</b>`);
});

test("a report is bounded: at most 300 tiles, each with a row, and 200 sitemaps, the rest as other (n), below 300 kB", async () => {
  const facts = await factsOf(everyListFull());
  // The index and robots.txt count, too.
  const sitemaps = fullListSitemaps + 2;
  const html = pageOf(facts);
  expect(Buffer.byteLength(html)).toBeLessThan(300_000);
  const tiles = Array.from(html.matchAll(/ id="t(\d+)"/g), ([, number]) => number);
  expect(tiles.length).toBeGreaterThan(250);
  expect(tiles.length).toBeLessThanOrEqual(300);
  expect(new Set(Array.from(html.matchAll(/<tr id="s(\d+)"/g), ([, number]) => number))).toEqual(new Set(tiles));
  expect(facts.sitemaps.rows).toHaveLength(200);
  expect(html).toContain(`other (${sitemaps - 200})`);
  for (const { examples } of facts.findings) expect(examples.length).toBeLessThanOrEqual(10);
  expect(facts.sitemaps.others).toBe(sitemaps - facts.sitemaps.rows.length);
});

test.each([
  ["Chinese", 60, (number: number) => String.fromCodePoint(0x4e00 + number)],
  ["characters of four bytes", 40, (number: number) => String.fromCodePoint(0x20000 + number)],
  ["quotes", 20, () => '"'],
  ["control characters", 20, () => "\u001b"],
])("no website can cause a page of a megabyte: every list full, all texts in %s", (_, worst, character) => {
  for (const length of isLong ? [20, 40, 60, 1000] : [worst]) {
    expect(Buffer.byteLength(pageOf(worstFacts(character, length)))).toBeLessThan(1_000_000);
  }
});

test("a long name in another alphabet is shown decoded, however it was written", async () => {
  const [section, news] = ["关于我们公司的历史和未来", "Новости-нашего-города"].map(encodeURIComponent);
  const pages = (name: string | undefined) => Array.from({ length: 9 }, (_, at) => `${home}${name}/${at}`);
  const long = `https://other.example/${"长".repeat(50)}`;
  const sitemap = urlset(...pages(section), ...pages(news), encodeURI(long));
  const html = pageOf(await factsOf(site({ "/robots.txt": robots("/s.xml"), "/s.xml": sitemap }).client));
  expect(html).toContain("<b>关于我们公司的历史和未来</b>");
  expect(html).toContain("<b>Новости-нашего-города</b>");
  expect(html).toContain(`href="${long}"`);
  expect(html).not.toMatch(/%[89a-f][0-9a-f]…/i);
});

test("links to URLs with characters that change the direction of writing lead to these URLs", async () => {
  const urls = ["\u202egpj.exe", "a\u009bb", "\ufeffc", "d##[e]"].map((name) => `${home}${name}`);
  const sitemap = urlset(...urls.map((url) => `${url}?utm_source=x`));
  const html = pageOf(await factsOf(site({ "/robots.txt": robots("/s.xml"), "/s.xml": sitemap }).client));
  const links = Array.from(html.matchAll(/<a class="url" href="([^"]+)">/g), ([, link]) => new URL(link ?? "").href);
  for (const url of urls) expect(links).toContain(new URL(`${url}?utm_source=x`).href.replace("##[", "##%5B"));
  expect(html).not.toMatch(/[\u202e\u009b\ufeff]/);
});

test("a day is suspicious only if it stands out, and a median is never made up", async () => {
  const dated = (day: (number: number) => string) =>
    website(Array.from({ length: 500 }, (_, number) => ({ path: `p${number}`, day: day(number) })));
  const even = await factsOf(dated((number) => `2026-09-0${1 + (number % 9)}`));
  expect([even.timeline.common, even.lastmodTrust.verdict]).toEqual([undefined, "trustworthy"]);
  const released = await factsOf(
    dated((number) => (number < 200 ? "2026-09-01" : `20${10 + (number % 16)}-0${1 + (number % 9)}-03`)),
  );
  expect(released.timeline.common).toEqual({ at: "2026-09-01", pages: 200 });
  const old = await factsOf(dated((number) => (number === 0 ? "2026-09-01" : "1970-01-01")));
  expect(old.figures.medianAge).toBeUndefined();
  expect(old.timeline.sentence).not.toContain("Half of the dated pages");
  const one = await factsOf(website([{ path: "a", day: "2999-01-01" }]));
  expect(one.timeline.sentence).toBe("1 date in the future.");
  // The page may be from today, in another time zone.
  const ahead = await factsOf(website(["2026-10-06", "2026-10-04"].map((day) => ({ path: day, day }))));
  expect(ahead.timeline.sentence).toContain("The newest change is from 2026-10-04.");
});

function website(pages: readonly { readonly path: string; readonly day: string }[]): Client {
  const entries = pages.map(({ path, day }) => `<url><loc>{home}${path}</loc><lastmod>${day}</lastmod></url>`);
  return site({
    "/robots.txt": "Sitemap: {home}s.xml",
    "/s.xml": urlset().replace("</urlset>", `${entries.join("")}</urlset>`),
  }).client;
}

test("an archive that claims to be from the year 275760 takes no more memory", async () => {
  await using tree = await sitemapTreeForHomepage(home, { client: threePages(), retries: 0 });
  const before = process.memoryUsage().arrayBuffers;
  const facts = await reportFacts(tree, { check: { now: new Date(8.64e15) } });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
  expect(facts.timeline.bars.length).toBeLessThanOrEqual(150);
});

test("a website with endless directories does not fill the memory, and no page is lost", () => {
  const sections = new Sections();
  const scan = new UrlScan();
  const numbers: number[] = [];
  const count = some(250_000, 20_000);
  for (let page = 0; page < count; page++) {
    // There is one real section; all other pages have their own sections and hosts.
    const url =
      page % 5 === 0
        ? `https://example.org/real/${page}`
        : `https://h${page % 3000}.example.org/a${page}/b${page}/c/${page}`;
    scan.read(url);
    numbers.push(sections.add(url, scan, page % 7));
  }
  for (const number of numbers) sections.addFlaw(number);
  const tree = sections.toTree();
  expect([tree.pages, tree.flawed]).toEqual([count, count]);
  let nodes = 0;
  const visit = (section: typeof tree) => {
    nodes += 1;
    section.sections?.forEach(visit);
  };
  visit(tree);
  expect(nodes).toBeLessThan(40_000);
  const example = tree.sections?.find(({ name }) => name === "example.org");
  expect(example?.sections?.find(({ name }) => name === "real")?.pages ?? example?.pages).toBe(count / 5);
});

test("a map does not say how many sections it left out if it does not know", () => {
  const sections = new Sections();
  const scan = new UrlScan();
  const add = (url: string) => {
    scan.read(url);
    sections.add(url, scan, 0);
  };
  for (let page = 0; page < 20_000; page++) add(`https://example.org/${page}/a`);
  // Two sections with three pages each do not fit.
  for (let page = 0; page < 6; page++) add(`https://example.org/late-${page % 2}/${page}`);
  for (let page = 0; page < 20_000; page++) add(`https://example.org/0/${page}`);
  const [host] = sections.toTree().sections ?? [];
  const { sections: drawn = [] } = largestSections(host!);
  expect(drawn.map(({ name, kind, pages, count }) => [name, kind, pages, count])).toEqual([
    ["0", undefined, 20_001, undefined],
    ["", "other", 20_005, undefined],
  ]);
});

test("endless deep directories leave room for a top-level directory that comes late", () => {
  const sections = new Sections();
  const scan = new UrlScan();
  for (let page = 0; page < 40_000; page++) {
    const url =
      page < 39_000 ? `https://example.org/${page % 90}/${page}/${page}/a` : `https://example.org/late/${page}`;
    scan.read(url);
    sections.add(url, scan, 0);
  }
  const [host] = sections.toTree().sections ?? [];
  expect(host?.pages).toBe(40_000);
  expect(host?.sections?.[0]).toMatchObject({ name: "late", pages: 1000 });
});

test("numbered directories with one page each are one section, not thousands", async () => {
  const locations = Array.from({ length: 3000 }, (_, number) => `/product/${number}/name`);
  const routes = {
    "/robots.txt": robots("/s.xml"),
    "/s.xml": urlset(...locations, "/list.php?id=1", "/list.php?id=2"),
  };
  expect((await factsOf(site(routes).client)).sections.sections).toMatchObject([
    { name: "product", pages: 3000 },
    { name: "list.php?", pages: 2 },
  ]);
});

test("options are checked before anything is read", async () => {
  await using tree = await sitemapTreeForHomepage(home, { client: threePages(), retries: 0 });
  await expect(reportFacts({} as typeof tree)).rejects.toThrow(/`tree`/);
  await expect(reportFacts(tree, { previos: "x" } as object)).rejects.toThrow(/Unknown option `previos`.*previous/);
  await expect(reportFacts(tree, { check: { now: "someday" } })).rejects.toThrow(/`now`/);
  await expect(reportFacts(tree, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});

const lots = new Random(7);
const area = () => 1 + lots.below(lots.below(2) === 0 ? 10 : 100_000);
const lists: readonly (readonly number[])[] = [
  ...[[1], [1, 1], [6, 6, 4, 3, 2, 2, 1], [1000, 1], Array.from({ length: 100 }, () => 1)],
  Array.from({ length: 600 }, (_, index) => Math.ceil(1e6 / (index + 1) ** 1.3)),
  ...Array.from({ length: 40 }, () => Array.from({ length: 1 + lots.below(60) }, area).sort((one, two) => two - one)),
];

test.each([
  [1120, 600],
  [358, 760],
  [50, 50],
])("rectangles fill the map (%d × %d): each has its share, and none overlaps another", (width, height) => {
  for (const areas of lists) {
    const unit = (width * height) / areas.reduce((sum, each) => sum + each, 0);
    const placed = divided(areas, { left: 0, top: 0, width, height });
    expect(placed).toHaveLength(areas.length);
    const right = ({ left, width }: Rectangle) => left + width;
    const bottom = ({ top, height }: Rectangle) => top + height;
    const close = 1e-6 * width * height;
    for (const [at, one] of placed.entries()) {
      expect(Math.abs(one.width * one.height - unit * (areas[at] ?? 0))).toBeLessThan(close);
      expect(Math.min(one.left, one.top, width - right(one), height - bottom(one))).toBeGreaterThan(-1e-6);
      for (const other of placed.slice(0, at)) {
        const wide = Math.min(right(one), right(other)) - Math.max(one.left, other.left);
        const high = Math.min(bottom(one), bottom(other)) - Math.max(one.top, other.top);
        if (wide > 1e-6 && high > 1e-6) expect.fail(`${areas}: ${JSON.stringify([one, other])} overlap`);
      }
    }
  }
});

test("no rectangle is three times as long as wide, unless a few areas make up nearly everything", () => {
  const falling = Array.from({ length: 100 }, (_, index) => 1e6 / (index + 1) ** 1.3);
  for (const areas of [[6, 6, 4, 3, 2, 2, 1], Array.from({ length: 30 }, () => 1), falling]) {
    const placed = divided(areas, { left: 0, top: 0, width: 1120, height: 600 });
    expect(Math.max(...placed.map(({ width, height }) => Math.max(width / height, height / width)))).toBeLessThan(3);
  }
});
