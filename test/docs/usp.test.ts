// Compares what the migration guide says about Ultimate Sitemap Parser with USP itself, on the same websites, if it is installed
// (`pip install ultimate-sitemap-parser==1.8.1`).
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { type Answer, serve } from "../cli/website.ts";
import { urlsOf } from "../support/collected.ts";
import { index, urlset } from "../support/documents.ts";
import { orInCi } from "../support/installed.ts";

const lookUp = "import importlib.metadata as m; print(m.version('ultimate-sitemap-parser'))";
const version = spawnSync("python3", ["-c", lookUp], { encoding: "utf8" }).stdout?.trim();

// Each website is one line of input, answered with the tree of USP as one line of JSON. Its pauses between retries are skipped.
const script = `
import sys, json, logging, time
logging.disable(logging.CRITICAL)
time.sleep = lambda seconds: None
from usp.tree import sitemap_tree_for_homepage
for line in sys.stdin:
    homepage, known = line.split()
    levels = []
    def recurse(url, level, parents):
        levels.append([url, level, len(parents)])
        return True
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=known == "known", recurse_callback=recurse)
    pages = list(tree.all_pages())
    print(json.dumps({
        "sitemaps": [[type(s).__name__, s.url] for s in tree.all_sitemaps()],
        "pages": [page.url for page in pages],
        "dates": [page.last_modified and page.last_modified.isoformat() for page in pages],
        "levels": levels,
        "stories": [page.news_story and [page.news_story.genres, page.news_story.keywords] for page in pages],
        "frequency": [page.change_frequency and page.change_frequency.value for page in pages],
    }), flush=True)`;

interface UspTree {
  sitemaps: [string, string][];
  pages: string[];
  dates: (string | null)[];
  frequency: (string | null)[];
  levels: [string, number, number][];
  stories: ([string[], string[]] | null)[];
}

let python: ChildProcessWithoutNullStreams;
let answers: AsyncIterator<string>;

async function both(routes: Record<string, Answer>, known = false) {
  const site = await serve(routes);
  python.stdin.write(`${site.homepage} ${known ? "known" : "-"}\n`);
  const { value, done } = await answers.next();
  if (done === true) throw new Error("USP ended");
  const usp: UspTree = JSON.parse(value);
  const asked = site.requests.splice(0);
  const levels: [string, number, number][] = [];
  const tree = await sitemapTreeForHomepage(site.homepage, {
    recurse(child, { depth, ancestors }) {
      levels.push([child.url, depth - 2, ancestors.slice(1).length]);
      return true;
    },
    knownPaths: known ? "always" : "never",
    useHomepage: false,
    retries: 0,
  });
  const pages = await urlsOf(tree.pages());
  const whole = JSON.stringify(await tree.withPages());
  await tree.close();
  const path = (url: string) => url.replace(site.homepage, "/");
  return {
    usp: { ...usp, pages: usp.pages.map(path), sitemaps: usp.sitemaps.map(([kind, url]) => `${kind} ${path(url)}`) },
    asked,
    complete: tree.complete,
    levels,
    whole,
    ours: {
      pages: pages.map(path),
      sitemaps: [...tree.sitemaps()].slice(1).map((sitemap) => `${className(sitemap)} ${path(sitemap.url)}`),
    },
    oursAsked: [...site.requests],
  };
}

// The guide's table of classes.
function className(sitemap: Sitemap): string {
  if (sitemap.kind === "invalid") return "InvalidSitemap";
  const names: Partial<Record<string, string>> = { robots: "RobotsTxt", xml: "XML", text: "Text", rss: "RSS" };
  return `${sitemap.kind === "index" ? "Index" : "Pages"}${names[sitemap.format]}Sitemap`;
}

describe.runIf(orInCi(version === "1.8.1", "Python's ultimate-sitemap-parser 1.8.1"))("compared with USP 1.8.1", () => {
  beforeAll(() => {
    python = spawn("python3", ["-c", script]);
    python.stderr.resume();
    answers = createInterface(python.stdout)[Symbol.asyncIterator]();
  });
  afterAll(async () => {
    const isOver = once(python, "exit");
    python.stdin.end();
    await isOver;
  });

  test("the tree of a website without faults is the same, class by class", async () => {
    const { usp, ours } = await both({
      "/robots.txt": "Sitemap: {base}/index.xml\nSitemap: {base}/feed.rss\nSitemap: {base}/list.txt\n",
      "/index.xml": index("{base}/a.xml", "{base}/gone.xml"),
      "/a.xml": urlset("{base}/1", "{base}/2"),
      "/feed.rss": `<rss version="2.0"><channel><item><title>t</title><link>{base}/3</link></item></channel></rss>`,
      "/list.txt": "{base}/4\n",
    });
    expect(ours).toEqual({ pages: usp.pages, sitemaps: usp.sitemaps });
  });

  test("a sitemap in two indexes is in both trees twice, but only USP fetches it twice", async () => {
    const { usp, ours, asked, oursAsked } = await both({
      "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/b.xml\n",
      "/a.xml": index("{base}/s.xml"),
      "/b.xml": index("{base}/s.xml"),
      "/s.xml": urlset("{base}/1"),
    });
    expect(ours).toEqual({ pages: usp.pages, sitemaps: usp.sitemaps });
    expect(usp.pages).toEqual(["/1", "/1"]);
    expect(asked.filter((path) => path === "/s.xml")).toHaveLength(2);
    expect(oursAsked.filter((path) => path === "/s.xml")).toHaveLength(1);
  });

  test("partial dates, bad frequencies, relative URLs and two URLs in one entry are read differently", async () => {
    const { usp, ours, whole } = await both({
      "/robots.txt": "Sitemap: {base}/a.xml\n",
      "/a.xml": urlset(
        "<url><loc>{base}/1</loc><lastmod>2024-05</lastmod><changefreq>nope</changefreq></url>",
        "<url><loc>/relative</loc></url>",
        "<url><loc>{base}/2</loc><loc>{base}/3</loc></url>",
      ),
    });
    expect(usp.pages).toEqual(["/1", "/relative", "/3"]);
    expect(usp.dates[0]).toMatch(/^2024-05-\d\dT/);
    expect(usp.frequency[0]).toBe("always");
    expect(ours.pages).toEqual(["/1", "/relative", "/2", "/3"]);
    expect(whole).toContain('"lastModified":"2024-05"');
    expect(whole).not.toContain("always");
  });

  test("levels in USP are two less than our depths, and its parents are our ancestors without the root", async () => {
    const routes = {
      "/robots.txt": "Sitemap: {base}/1.xml\n",
      ...{ "/1.xml": index("{base}/2.xml"), "/2.xml": index("{base}/3.xml"), "/3.xml": urlset("{base}/page") },
    };
    const { usp, levels } = await both(routes, true);
    expect(usp.levels.map(([, level, parents]) => `${level} ${parents}`)).toEqual(["0 1", "1 2", "2 3"]);
    expect(levels).toEqual(usp.levels);
  });

  test("only USP tries a path for Drupal administrators", async () => {
    const { usp, ours } = await both({ "/admin/config/search/xmlsitemap": urlset("{base}/1") }, true);
    expect([usp.pages, ours.pages]).toEqual([["/1"], []]);
  });

  test("a sitemap listed in robots.txt and in a well-known index is invalid the second time in USP, but read twice here", async () => {
    const robots = "Sitemap: {base}/a.xml\n";
    const found = { "/a.xml": urlset("{base}/1"), "/sitemap_index.xml": index("{base}/a.xml") };
    const { usp, ours } = await both({ "/robots.txt": robots, ...found }, true);
    expect(usp.sitemaps).toContain("InvalidSitemap /a.xml");
    expect(ours.sitemaps.filter((sitemap) => sitemap === "PagesXMLSitemap /a.xml")).toHaveLength(2);
  });

  test("genres, empty items and time zones are kept here, and lost in USP", async () => {
    const news = "http://www.google.com/schemas/sitemap-news/0.9";
    const story = `<news xmlns="${news}"><title>t</title><publication_date>2024-05-31</publication_date><genres>Blog, Opinion</genres><keywords>a,,b</keywords></news>`;
    const { usp, ours, whole } = await both({
      "/robots.txt": "Sitemap: {base}/gone.xml # a comment\nSitemap: {base}/a.xml\n",
      "/a.xml": urlset(
        `<url><loc>{base}/1</loc>${story}</url>`,
        "<url><loc>{base}/2</loc><lastmod>Fri, 31 May 2024 10:00:00 EST</lastmod></url>",
        "<url><loc>{base}/3</loc><lastmod>05/06/2024</lastmod></url>",
      ),
    });
    expect(usp.sitemaps).toEqual(["IndexRobotsTxtSitemap /robots.txt", "PagesXMLSitemap /a.xml"]);
    expect(usp.pages).toEqual(["/1", "/2", "/3"]);
    expect(usp.stories[0]).toEqual([[], ["a", "", "b"]]);
    expect(usp.dates.slice(1)).toEqual(["2024-05-31T10:00:00", "2024-05-06T00:00:00"]);
    expect(ours.sitemaps).toContain("InvalidSitemap /gone.xml");
    expect(ours.pages).toEqual(usp.pages);
    expect(whole).toContain('"genres":["Blog","Opinion"],"keywords":["a","b"]');
    expect(whole).toContain('"lastModified":"2024-05-31T10:00:00-05:00"');
    expect(whole).not.toContain("2024-05-06");
  });

  test("USP silently drops everything after a bare ampersand or truncation, and unknown elements", async () => {
    const { usp, ours, complete } = await both({
      "/robots.txt": "Sitemap: {base}/ampersand.xml\nSitemap: {base}/unknown.xml\nSitemap: {base}/cut.xml\n",
      "/ampersand.xml": urlset("{base}/1", "{base}/2?a=1&b=2", "{base}/3"),
      "/unknown.xml": urlset("<extra/>", "{base}/4"),
      "/cut.xml": urlset("{base}/5", "{base}/6").slice(0, -30),
    });
    expect(usp.pages).toEqual(["/1", "/5"]);
    expect(ours.pages).toEqual(["/1", "/2?a=1&b=2", "/3", "/4", "/5"]);
    expect(complete).toBe(false);
  });

  test("only USP takes text at a well-known path for an empty sitemap", async () => {
    const html: Answer = (_, response) =>
      void response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Sorry</title><p>Gone");
    const routes = { "/robots.txt": "Sitemap: {base}/a.xml\n", "/a.xml": html, "/sitemap": "Sorry, not found" };
    const { usp, ours, complete } = await both(routes, true);
    expect(usp.sitemaps).toEqual(expect.arrayContaining(["PagesTextSitemap /sitemap", "InvalidSitemap /a.xml"]));
    expect(ours.sitemaps).toEqual(["IndexRobotsTxtSitemap /robots.txt", "InvalidSitemap /a.xml"]);
    expect(complete).toBe(false);
  });

  test("a robots.txt that fails makes our tree incomplete; USP does not report it", async () => {
    const { usp, complete } = await both({ "/robots.txt": (_, response) => void response.writeHead(500).end() });
    expect([usp.pages, complete]).toEqual([[], false]);
  });
});
