// Page filters: the same pages by streamPages, crawl, tree.pages() and `ls`.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { crawl, streamPages } from "../../src/crawl/crawl.ts";
import type { Options, PageFilters, StreamOptions } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { serve, type Website } from "../cli/website.ts";
import { listOf, urlsOf } from "../support/collected.ts";
import { dated, index, urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";

const open = await serve({});
const failing = await serve({ "/robots.txt": (_, response) => response.writeHead(503).end() });
const site = await serve({
  "/robots.txt": "User-agent: Examplebot\nDisallow: /new/\nSitemap: {base}/index.xml\n",
  "/index.xml": index(`<sitemap><loc>{base}/old.xml</loc><lastmod>2020</lastmod></sitemap>`, "{base}/new.xml"),
  "/old.xml": urlset(dated("{base}/old/a", "2020-01-01"), dated("{base}/shared", "2024-06-01")),
  "/new.xml": urlset(
    dated("{base}/new/a", "2024-06-01"),
    "{base}/undated",
    dated("{base}/shared", "2024-06-01"),
    `${open.homepage}new/b`,
    `${failing.homepage}c`,
  ),
});

const plain: StreamOptions = { knownPaths: "never", useHomepage: false, retries: 0, network: "allow-private" };
const plainFlags = ["-k", "--no-homepage", "--retries", "0", "--allow-private"];
const show = (url: string) =>
  url.replace(site.homepage, "/").replace(open.homepage, "open/").replace(failing.homepage, "failing/");

async function pathsOf(pages: AsyncIterable<{ readonly url: string }>): Promise<string[]> {
  return (await urlsOf(pages)).map(show);
}

async function crawled(options: StreamOptions) {
  const events = await listOf(crawl(site.homepage, { ...plain, ...options }));
  return {
    paths: events.flatMap((event) => (event.type === "pages" ? event.pages.map(({ url }) => show(url)) : [])),
    problems: events.flatMap((event) => (event.type === "problem" ? event.problem.code : [])),
    finished: events.find((event) => event.type === "finished"),
  };
}

const cases: [PageFilters, string[], string[]][] = [
  [{ include: "new" }, ["--include", "new"], ["/new/a", "open/new/b"]],
  [{ include: ["*/old/*", /UNDATED/i] }, ["--include", "*/old/*", "--include", "/UNDATED/i"], ["/old/a", "/undated"]],
  [{ exclude: ["new", "shared"] }, ["--exclude", "new", "--exclude", "shared"], ["/old/a", "/undated", "failing/c"]],
  [{ since: "2024" }, ["--since", "2024"], ["/shared", "/new/a", "/shared"]],
  [
    { since: new Date("2024-01-01"), undated: "keep", unique: true },
    ["--since", "2024-01-01", "--undated", "keep", "--unique"],
    ["/shared", "/new/a", "/undated", "open/new/b", "failing/c"],
  ],
  [{ scope: "host", unique: true }, ["--same-host", "--unique"], ["/old/a", "/shared", "/new/a", "/undated"]],
  [{ scope: "site", limit: 3 }, ["--same-site", "--limit", "3"], ["/old/a", "/shared", "/new/a"]],
  [
    { includeSitemap: "new" },
    ["--include-sitemap", "new"],
    ["/new/a", "/undated", "/shared", "open/new/b", "failing/c"],
  ],
  [{ excludeSitemap: "new" }, ["--exclude-sitemap", "new"], ["/old/a", "/shared"]],
  [
    { allowedFor: "Examplebot/2.1", unique: true },
    ["--allowed-for", "Examplebot/2.1", "--unique"],
    ["/old/a", "/shared", "/undated", "open/new/b"],
  ],
  [{ limit: 0 }, ["--limit", "0"], []],
];

test.each(cases)("filters list the right pages: %j", async (filters, flags, expected) => {
  expect(await pathsOf(streamPages(site.homepage, { ...plain, ...filters }))).toEqual(expected);
  expect((await crawled(filters)).paths).toEqual(expected);
  await using tree = await sitemapTreeForHomepage(site.homepage, plain);
  expect(await pathsOf(tree.pages(filters))).toEqual(expected);
  const { stdout, code } = await sitegrove(["ls", site.homepage, "-f", "pages", ...plainFlags, ...flags]);
  expect(stdout.split("\n").slice(0, -1).map(show)).toEqual(expected);
  expect(code).toBe(0);
});

test("filters change what is listed, but not what is complete or counted", async () => {
  const { finished } = await crawled({ since: "2024", include: "shared" });
  expect(finished).toMatchObject({ complete: true, totals: { pages: 7 }, filtered: { listed: 2, undated: 0 } });
  expect((await crawled({ since: "2024" })).finished?.filtered).toEqual({ listed: 3, undated: 3, robotsUnknown: 0 });
  expect((await crawled({})).finished).not.toHaveProperty("filtered");
});

test.each([1, 2, 7, 8])("a limit of %i is not a loss; the crawl says that it ended there", async (limit) => {
  const { finished, problems, paths } = await crawled({ limit, concurrency: 1 });
  expect(paths).toHaveLength(Math.min(limit, 7));
  expect(finished).toMatchObject({ end: limit < 8 ? "limit" : "end", complete: true });
  expect(problems).toEqual([]);
});

test("the archive of a crawl that a limit ended is not complete", async () => {
  const archive = path.join(newFolder(), "site.warc");
  await crawled({ limit: 1, save: archive, concurrency: 1 });
  await using tree = await openTree(archive);
  expect(tree.complete).toBe(false);
});

describe("allowedFor", () => {
  const robotsRequests = (...websites: Website[]) =>
    websites.map(({ requests }) => requests.filter((url) => url === "/robots.txt").length);

  test("requests the robots.txt of each host once; an unreachable one is reported, and allows nothing", async () => {
    for (const each of [site, open, failing]) each.requests.length = 0;
    const { problems, finished } = await crawled({ allowedFor: "Examplebot" });
    expect(robotsRequests(site, open, failing)).toEqual([1, 1, 1]);
    expect(problems).toEqual(["robots-unknown"]);
    expect(finished).toMatchObject({ complete: true, filtered: { robotsUnknown: 1 } });
  });

  test("makes the program say which robots.txt could not be read", async () => {
    const { stderr } = await sitegrove(["ls", site.homepage, "-f", "pages", ...plainFlags, "--allowed-for", "x"]);
    const host = failing.homepage.slice(0, -1);
    expect(stderr).toBe(`sitegrove: ${said.robotsUnknown(host)}\n`);
  });

  test("respects the address policy", async () => {
    open.requests.length = 0;
    const { paths, problems } = await crawled({ allowedFor: "Examplebot", unique: true, network: "default" });
    expect(paths).toEqual(["/old/a", "/shared", "/undated"]);
    expect(problems).toEqual(["robots-unknown", "robots-unknown"]);
    expect(open.requests).toEqual([]);
  });

  test("uses the robots.txt files of an archive", async () => {
    const archive = path.join(newFolder(), "site.warc");
    await pathsOf(streamPages(site.homepage, { ...plain, save: archive }));
    const events: string[] = [];
    const onEvent: Options["onEvent"] = (event) => void (event.type === "problem" && events.push(event.url));
    await using tree = await openTree(archive, { onEvent });
    const paths = await pathsOf(tree.pages({ allowedFor: "Examplebot", unique: true }));
    expect(paths).toEqual(["/old/a", "/shared", "/undated"]);
    expect(events).toEqual([`${open.homepage}robots.txt`, `${failing.homepage}robots.txt`]);
  });
});

test.each([
  ["www.example.co.uk", "", "https://example.co.uk/a https://WWW.EXAMPLE.co.uk:443/d"],
  ["www.example.co.uk", "site", "https://shop.example.co.uk/b https://example.co.uk:8080/e"],
  ["localhost", "", "https://localhost/a https://www.localhost/b"],
  ["intranet:8080", "site", "https://intranet:8080/a https://www.intranet:8080/b"],
])(
  "www. makes no difference to a host (%s), and the Public Suffix List says what a website is",
  async (host, kind, same) => {
    async function* body() {
      yield Buffer.from(`https://other.co.uk/c\n${same.replace(" ", "\n")}\nhttps://other.example/c\n`);
    }
    const client = { request: async () => ({ status: 200, headers: [], body: body() }) };
    for (const scope of kind === "site" ? (["site"] as const) : (["host", "site"] as const)) {
      const pages = streamPages({ sitemaps: [`https://${host}/s.txt`] }, { client, scope });
      expect(await pathsOf(pages)).toEqual(same.split(" "));
    }
    const hosts = streamPages({ sitemaps: [`https://${host}/s.txt`] }, { client, scope: "host" });
    if (host.startsWith("www")) expect(await pathsOf(hosts)).toEqual(kind === "site" ? [] : same.split(" "));
  },
);

test("filters are options of `tree.pages()`, not of the function that builds the tree", async () => {
  await expect(sitemapTreeForHomepage(site.homepage, { include: "a" } as object)).rejects.toThrow(
    "`include` is not an option of a tree; pass it to `tree.pages()`",
  );
  await using tree = await sitemapTreeForHomepage(site.homepage, plain);
  expect(() => tree.pages({ includes: "a" } as object)).toThrow("did you mean `include`?");
});

test.each([
  [["--include", "/Nowhere/"], "--include '/Nowhere/'"],
  [["--include", "'*/new/*'"], `--include ''*/new/*''; ${said.containsQuotes}`],
  [["--include", "NEW", "--include", "x"], `--include 'NEW' or 'x'; ${said.caseSensitive}`],
  [["--include", "/new/*"], `--include '/new/*'; ${said.wholeUrl("*/new/*")}`],
  [["--include", "new/*"], `--include 'new/*'; ${said.wholeUrl("*/new/*")}`],
  [["--include", "*/zzz/*"], "--include '*/zzz/*'"],
  [["--include", "^.*new"], `--include '^.*new'; ${said.needsSlashes}`],
  [["--include", "old", "--exclude", "a"], `--include 'old' and ${said.remainAfter("a")}`],
  [["--since", "2050"], "--since 2050"],
  [["--include", "failing", "--allowed-for", "x"], "--include 'failing'"],
  [["--include", "/c$/", "--allowed-for", "x"], `--include '/c$/' and ${said.areAllowedFor("x")}`],
  [
    ["--include", "new", "--exclude", "/new/a", "--same-host"],
    `--include 'new' and ${said.remainAfter("/new/a")} and ${said.areOnSameHost}`,
  ],
])("the program says that %j matches nothing", async (flags, filters) => {
  for (const format of ["pages", "json"]) {
    const { stderr, code } = await sitegrove(["ls", site.homepage, "-f", format, ...plainFlags, ...flags]);
    expect(stderr.split("\n")).toContain(`sitegrove: ${said.noneMatch(filters)}`);
    expect(code).toBe(0);
  }
});
