// Tests the options of a check, and custom rules.
import { expect, test } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import type { CheckResult } from "../../src/check/findings/result.ts";
import type { CheckOptions, CustomRule } from "../../src/check/options.ts";
import { resolveCheckOptions } from "../../src/check/settings.ts";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { rss } from "../support/documents.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";

const routes = {
  "/robots.txt": robots("/s.xml", "/gone.xml"),
  "/s.xml": urlset("/", "/a#b", "https://other.org/", "/private/x"),
};

async function checked(
  options: CheckOptions,
  given: Record<string, string> = routes,
  crawl: Options = {},
): Promise<CheckResult> {
  await using tree = await sitemapTreeForHomepage(home, {
    client: site(given).client,
    retries: 0,
    knownPaths: "never",
    ...crawl,
  });
  return await checkTree(tree, { now: "2026-06-15", ...options });
}

const rulesOf = ({ findings }: CheckResult) => findings.map(({ rule, severity }) => `${severity} ${rule}`);

test("severities can be changed, rules turned off, and search engines chosen", async () => {
  const whole = { ...routes, "/robots.txt": robots("/s.xml") };
  const all = rulesOf(await checked({}, whole));
  expect(all).toEqual(expect.arrayContaining(["warning url-fragment", "error url-other-host", "info lastmod-missing"]));
  const changed = rulesOf(await checked({ rules: { "url-fragment": "error", "url-other-host": "off" } }));
  expect(changed).toContain("error url-fragment");
  expect(changed).not.toContain("error url-other-host");
  expect(rulesOf(await checked({ engines: ["google"] }, whole))).not.toContain("info lastmod-missing");
  for (const host of ["OTHER.org", "https://other.org/", "other.org."]) {
    expect(rulesOf(await checked({ crossSubmit: [host] }))).not.toContain("error url-other-host");
  }
});

test("a page blocked for the first crawler of the list is an error, for others a warning", async () => {
  const bing = "User-agent: bingbot\nDisallow: /private\n";
  const given = { ...routes, "/robots.txt": `${bing}${robots("/s.xml")}` };
  const open = { ...given, "/robots.txt": `${bing}Sitemap: ${home}s.xml` };
  expect(rulesOf(await checked({}, given))).toContain("error url-robots-disallowed");
  expect(rulesOf(await checked({}, open))).toContain("warning url-robots-disallowed");
  expect(rulesOf(await checked({ agents: ["bingbot"] }, open))).toContain("error url-robots-disallowed");
  expect(rulesOf(await checked({ agents: ["Googlebot"] }, open)).join()).not.toContain("url-robots-disallowed");
});

test("an ignored finding is hidden until the date that its `until` gives", async () => {
  const ignore = (more: object) => ({ ignore: [{ rule: "url-fragment", reason: "known", ...more }] });
  const isShown = async (more: object) => rulesOf(await checked(ignore(more))).includes("warning url-fragment");
  expect(await isShown({})).toBe(false);
  expect(await isShown({ sitemap: "https://example.org/*.xml" })).toBe(false);
  expect(await isShown({ sitemap: "https://example.org/other*" })).toBe(true);
  expect(await isShown({ until: "2026-06-16" })).toBe(false);
  expect(await isShown({ until: "2026-06-15" })).toBe(true);
});

test.each<[CheckOptions, RegExp]>([
  [{ rule: {} } as CheckOptions, /Unknown option `rule`; did you mean `rules`/],
  [{ rules: { "url-fragmnt": "off" } }, /did you mean `url-fragment`/],
  [{ rules: { "url-fragment": "fatal" as "error" } }, /rules\.url-fragment/],
  [{ engines: ["altavista" as "bing"] }, /engines/],
  // Empty lists would silently turn rules off.
  [{ engines: [] }, /`engines` to have at least one entry/],
  [{ agents: [] }, /`agents` to have at least one entry/],
  [{ agents: ["a b"] }, /`agents` to be names of crawlers/],
  [{ agents: ["Googlebot/2.1"] }, /`agents` to be names of crawlers/],
  [{ crossSubmit: ["https://other.org/shop"] }, /crossSubmit/],
  [{ crossSubmit: [""] }, /crossSubmit/],
  [{ now: "yesterday" }, /`now`/],
  [{ slow: -1 }, /slow/],
  [{ pages: 1.5 }, /pages/],
  [{ pages: "some" as never }, /pages/],
  [{ ignore: [{ rule: "url-fragment", reason: " " }] }, /reason/],
  [{ rules: [{ id: "a b", check() {} }] }, /`id`/],
  [{ rules: [{ id: "url-fragment", check() {} }] }, /two rules/],
])("%j is refused", (options, message) => {
  expect(() => resolveCheckOptions(options)).toThrow(message);
});

test("a custom rule receives the events in order, and reports findings like the built-in rules", async () => {
  const told: string[] = [];
  const rule: CustomRule = {
    id: "no-gone",
    severity: "error",
    sentence: "Gone.",
    async check(event, { report, homepage, receivedAt, complete }) {
      told.push(event.type === "sitemap" ? `sitemap ${event.sitemap.kind}` : event.type);
      if (event.type !== "pages") return;
      expect([homepage, complete, receivedAt]).toEqual([home, false, Date.parse("2026-06-15")]);
      await Promise.resolve();
      for (const { url } of event.pages) report({ url });
      report({ severity: "info", count: 5, value: "v" });
    },
  };
  const { findings, rules } = await checked({ rules: [{ "lastmod-missing": "off" }, rule] });
  expect(findings.filter((finding) => finding.rule === "no-gone")).toMatchObject([
    { severity: "error", sitemap: `${home}s.xml`, count: 4, examples: [{ url: home, line: 1 }, {}, {}, {}] },
    { severity: "info", count: 5, examples: [{ value: "v" }] },
  ]);
  expect(rules.at(-1)).toMatchObject({ id: "no-gone", sentence: "Gone." });
  expect(told.filter((type) => type === "pages" || type === "finished")).toEqual(["pages", "finished"]);
  expect(told).toContain("sitemap invalid");
});

test("a custom rule receives the pages of feeds, too, and those of a repeated sitemap once", async () => {
  const given = {
    "/": `<link rel="alternate" type="application/rss+xml" href="/feed">`,
    "/feed": rss(home),
    "/robots.txt": robots("/1.xml", "/2.xml"),
    "/1.xml": index("/s.xml"),
    "/2.xml": index("/s.xml"),
    "/s.xml": urlset("/a"),
  };
  const pages: [string, number][] = [];
  const rule: CustomRule = {
    id: "counts",
    check: (event) => void (event.type === "pages" && pages.push([event.url, event.pages.length])),
  };
  await checked({ rules: [rule] }, given, { useFeeds: true });
  expect(pages).toEqual([
    [`${home}s.xml`, 1],
    [`${home}feed`, 1],
  ]);
});

test("an error in a custom rule rejects the check, and aborting the signal stops it", async () => {
  const failing = { id: "failing", check: () => Promise.reject(new Error("my own")) };
  await expect(checked({ rules: [failing] })).rejects.toThrow("my own");
  await expect(checked({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  const controller = new AbortController();
  const stopping: CustomRule = { id: "stopping", check: () => controller.abort(new Error("stop")) };
  await expect(checked({ rules: [stopping], signal: controller.signal })).rejects.toThrow("stop");
});
