// Which pages and sitemaps the filters let through: by themselves, and through the program.
import { describe, expect, test } from "vitest";
import { SitemapError } from "../../src/model/errors.ts";
import { lastInstant, since } from "../../src/model/instant.ts";
import { pattern } from "../../src/model/pattern.ts";
import { child, dated, entry, index, urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { sitegrove } from "./program.ts";
import { serve } from "./website.ts";

describe("a pattern", () => {
  const url = "https://example.org/blog/2024/a.pdf?x=1";
  test.each([
    ["blog", true],
    ["Blog", false],
    ["?x=1", true],
    ["https://example.org/*", true],
    ["*/blog/*", true],
    ["*.pdf", false],
    ["*.pdf*", true],
    ["*blog*blog*", false],
    ["https://*/blog/*?x=1", true],
    ["https://example.org/blog/2024/a.pdf?x=1*1", false],
    ["**", true],
    ["/blog\\/\\d{4}/", true],
    ["/BLOG/i", true],
    ["/^http:/", false],
    // Paths whose end could be flags.
    ["/blog/us", false],
    ["/blog/g", false],
    ["/blog/2024/a.pdf", true],
    // A path is matched as it is.
    ["/blog/", true],
    ["/log/", false],
    ["/blog/a", false],
    [/BLOG/gi, true],
    [/^http:/, false],
  ])("%s matches a URL: %s", (text, expected) => {
    const matches = pattern(text);
    expect([matches(url), matches(url)]).toEqual([expected, expected]);
  });

  test("with many stars is matched in one pass over the URL", () => {
    // Backtracking at every star would take forever.
    expect(pattern(`${"*a".repeat(2000)}*b`)("a".repeat(100_000))).toBe(false);
  });

  test("that is empty or an invalid regular expression is refused", () => {
    expect(() => pattern("")).toThrow(SitemapError);
    expect(() => pattern("/(/")).toThrow(SitemapError);
  });
});

describe("the value of --since", () => {
  test.each([
    ["2024-05-01", "2024-05-01T00:00:00.000Z"],
    ["2024", "2024-01-01T00:00:00.000Z"],
    ["2024-05-01T10:00+02:00", "2024-05-01T08:00:00.000Z"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("%s means %s", (given, instant) => {
    expect(new Date(since("since", given)).toISOString()).toBe(instant);
  });

  test.each([
    ["36h", 36],
    ["7d", 7 * 24],
    ["2w", 14 * 24],
  ])("%s means %i hours ago", (text, hours) => {
    const [before, instant, after] = [Date.now(), since("since", text), Date.now()];
    expect(instant).toBeGreaterThanOrEqual(before - hours * 3_600_000);
    expect(instant).toBeLessThanOrEqual(after - hours * 3_600_000);
  });

  test.each(["", "soon", "05/01/2024", "2024-13-01", "7", "-7d", "2024-05-01T10:00", new Date("?"), 7])(
    "%j is refused",
    (given) => expect(() => since("since", given)).toThrow(SitemapError),
  );

  test.each([
    ["2024", "2024-12-31T23:59:59.999Z"],
    ["2024-02", "2024-02-29T23:59:59.999Z"],
    ["2024-02-28", "2024-02-28T23:59:59.999Z"],
    ["2024-02-28T10:00:00+01:00", "2024-02-28T09:00:00.000Z"],
  ])("compares a page's date %s by its last instant, %s", (date, instant) => {
    expect(new Date(lastInstant(date)).toISOString()).toBe(instant);
  });
});

describe("in the program", async () => {
  const page = (path: string, date: string) => dated(`{base}/${path}`, date);
  const part = (path: string, date: string) => child(`{base}/${path}`, `<lastmod>${date}</lastmod>`);
  const site = await serve({
    "/robots.txt": "Sitemap: {base}/index.xml\nSitemap: {base}/direct.xml\n",
    "/index.xml": index(
      part("old.xml", "2020-01-01"),
      part("new.xml", "2024-06-01"),
      part("moved-new.xml", "2024-06-01"),
    ),
    "/old.xml": urlset(page("old/a", "2020-01-01"), page("shared", "2024-06-01")),
    "/new.xml": urlset(page("new/a", "2024-06-01"), page("new/b", "2020-01-01"), "{base}/new/undated"),
    "/moved-new.xml": (request, response) => {
      response.writeHead(302, { location: `http://${request.headers.host}/elsewhere.xml` }).end();
    },
    "/elsewhere.xml": urlset(page("elsewhere/a", "2024-06-01")),
    "/direct.xml": urlset(page("shared", "2024-06-01"), page("direct/a", "2024-06-01")),
  });
  const pages = async (...words: string[]) => {
    site.requests.length = 0;
    const { stdout, stderr, code } = await sitegrove(
      `ls ${site.homepage} -k --no-homepage -u -f pages ${words.join(" ")}`,
    );
    return { paths: stdout.trimEnd().split("\n"), stderr, code, requests: [...site.requests] };
  };

  test("--since keeps new pages, and says how many it skipped because they have no date", async () => {
    const chosen = await pages("--since", "2024-01");
    expect(chosen.paths).toEqual(["/shared", "/new/a", "/elsewhere/a", "/shared", "/direct/a"]);
    expect(chosen.stderr).toBe(`sitegrove: ${said.undatedSkipped}\n`);
    expect(chosen.requests).toContain("/old.xml");
  });

  test("--since uses the date of a news story or feed item if the page has no other", async () => {
    const feed = `<rss version="2.0"><channel><item><link>http://e.example/fresh</link>
      <pubDate>Sat, 01 Jun 2024 10:00:00 GMT</pubDate></item><item><link>http://e.example/stale</link>
      <pubDate>Wed, 01 Jan 2020 10:00:00 GMT</pubDate></item></channel></rss>`;
    const { stdout, stderr } = await sitegrove(["parse", "-", "-f", "pages", "--since", "2024-01"], { input: feed });
    expect(stdout).toBe("http://e.example/fresh\n");
    expect(stderr).toBe("");
  });

  test("sitemap filters match the URL given in the index, and never exclude the index", async () => {
    const chosen = await pages("--include-sitemap", "new");
    expect(chosen.paths).toEqual(["/new/a", "/new/b", "/new/undated", "/elsewhere/a"]);
    expect(chosen.requests).not.toContain("/old.xml");
    const others = await pages("--exclude-sitemap", "new", "--exclude-sitemap", "direct");
    expect(others.paths).toEqual(["/old/a", "/shared"]);
    expect(others.code).toBe(0);
  });

  test("--limit ends the crawl when it is reached, and the run counts as complete", async () => {
    const chosen = await pages("--limit", "1");
    expect(chosen).toMatchObject({ paths: ["/old/a"], code: 0, stderr: `sitegrove: ${said.stoppedAtLimit}\n` });
    const tree = await sitegrove(["ls", site.homepage, "-k", "--no-homepage", "-f", "json", "--limit", "2"]);
    expect(tree.code).toBe(0);
    expect(JSON.parse(tree.stdout)).toMatchObject({
      pageCount: 2,
      root: { children: [{ children: [{ children: [{ pages: [{}, {}] }] }] }] },
    });
    const outline = await sitegrove(["ls", site.homepage, "-k", "--no-homepage", "--limit", "1"]);
    expect(outline.code).toBe(0);
    expect(outline.stdout).toContain(` (${said.stoppedAtLimit})\n`);
    expect(outline.stdout).not.toContain("incomplete");
  });

  test("a tree is filtered like a list of pages", async () => {
    const { stdout } = await sitegrove(`ls ${site.homepage} -k --no-homepage -u --include-sitemap old --include old`);
    expect(stdout).toBe(
      `${site.homepage}\n\t/robots.txt\n\t\t/index.xml\n\t\t\t/old.xml\n\t\t\t\t/old/a\n\t\t/direct.xml\n`,
    );
  });
});

test.each(["/en/us", "/en/g", "/en/dim", "/v1.0/us"])("--include %s is a path, not a regular expression", (text) => {
  const matches = pattern(text);
  expect(matches(`https://example.org${text}/page`)).toBe(true);
  expect(matches("https://example.org/en/de/v1.0/")).toBe(false);
});

test("a period that matches nothing is reported with its beginning, because 3m are minutes", async () => {
  const site = await serve({ "/sitemap.xml": urlset(entry("{base}/a", "<lastmod>2020-01-01</lastmod>")) });
  const before = Date.now();
  const { stderr } = await sitegrove(["ls", site.homepage, "-f", "pages", "--since", "3m"]);
  const [, from = ""] = /match --since 3m \((.*)\)\n/.exec(stderr) ?? [];
  // It is rounded down to a minute.
  expect(Date.parse(from)).toBeGreaterThan(before - 4 * 60_000);
  expect(Date.parse(from)).toBeLessThanOrEqual(Date.now() - 3 * 60_000);
});
