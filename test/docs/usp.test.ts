// What the migration guide claims about Ultimate Sitemap Parser, against Ultimate Sitemap Parser itself, where it is installed
// (`pip install ultimate-sitemap-parser==1.8.1`), on the same websites as this.
// Needs processes, more than a second.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { type Answer, serve, sitemapIndex, urlset, type Website } from "../cli/website.ts";
import { orInCi } from "../support/installed.ts";

const version = spawnSync(
  "python3",
  ["-c", "import importlib.metadata as m; print(m.version('ultimate-sitemap-parser'))"],
  {
    encoding: "utf8",
  },
).stdout?.trim();

// A line for each website, answered by a line of JSON: what the tree of USP looks like. The first line says what it offers. Nobody has to
// wait for its pauses between retries.
const script = `
import sys, json, logging, inspect, time
logging.disable(logging.CRITICAL)
time.sleep = lambda seconds: None
from usp.web_client.requests_client import RequestsWebClient as client
from usp.tree import sitemap_tree_for_homepage
from usp.objects.page import SITEMAP_PAGE_DEFAULT_PRIORITY as priority
def say(value):
    print(json.dumps(value), flush=True)
say({
    "client": list(inspect.signature(client.__init__).parameters),
    "setters": [name for name in dir(client) if name.startswith("set_")],
    "options": list(inspect.signature(sitemap_tree_for_homepage).parameters),
    "priority": repr(priority),
})
for line in sys.stdin:
    homepage, known = line.split()
    calls = []
    def recurse(*words):
        calls.append([type(word).__name__ for word in words])
        return True
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=known == "known", recurse_callback=recurse)
    pages = list(tree.all_pages())
    say({
        "sitemaps": [[type(s).__name__, s.url] for s in tree.all_sitemaps()],
        "pages": [page.url for page in pages],
        "dates": [page.last_modified and page.last_modified.isoformat() for page in pages],
        "priority": type(pages[0].priority).__name__ if pages else None,
        "frequency": [page.change_frequency and page.change_frequency.value for page in pages],
        "dict": json.dumps(tree.to_dict(), default=str),
        "calls": calls,
    })`;

interface UspOffer {
  client: string[];
  setters: string[];
  options: string[];
  priority: string;
}

interface UspTree {
  sitemaps: [string, string][];
  pages: string[];
  dates: (string | null)[];
  priority: string | null;
  frequency: (string | null)[];
  dict: string;
  calls: string[][];
}

let site: Website;
let python: ChildProcessWithoutNullStreams;
let answers: AsyncIterator<string>;
let offer: UspOffer;
afterEach(() => site?.close());

async function both(routes: Record<string, Answer>, known = false) {
  site = await serve(routes);
  const usp = await run(site.homepage, known);
  const asked = site.requests.splice(0);
  const tree = await sitemapTreeForHomepage(site.homepage, { useKnownPaths: known, useHomepage: false, retries: 0 });
  const pages: string[] = [];
  for await (const { url } of tree.pages()) pages.push(url);
  const whole = await tree.toJSON({ pages: true });
  await tree.close();
  const path = (url: string) => url.replace(site.homepage, "/");
  return {
    usp: { ...usp, pages: usp.pages.map(path), sitemaps: usp.sitemaps.map(([kind, url]) => `${kind} ${path(url)}`) },
    asked,
    tree,
    whole,
    ours: {
      pages: pages.map(path),
      sitemaps: [...tree.sitemaps()].slice(1).map((sitemap) => `${className(sitemap)} ${path(sitemap.url)}`),
    },
    oursAsked: [...site.requests],
  };
}

async function run(homepage: string, known: boolean): Promise<UspTree> {
  python.stdin.write(`${homepage} ${known ? "known" : "-"}\n`);
  return await answer();
}

async function answer<Value>(): Promise<Value> {
  const { value, done } = await answers.next();
  if (done === true) throw new Error("USP ended");
  return JSON.parse(value);
}

// The guide's table of classes.
function className(sitemap: Sitemap): string {
  if (sitemap.kind === "invalid") return "InvalidSitemap";
  const names = {
    website: "Website",
    robots: "RobotsTxt",
    xml: "XML",
    text: "Text",
    rss: "RSS",
    atom: "Atom",
    json: "JSON Feed",
    llms: "llms.txt",
  } as const;
  return `${sitemap.kind === "index" ? "Index" : "Pages"}${names[sitemap.format]}Sitemap`;
}

describe.runIf(orInCi(version === "1.8.1"))("USP 1.8.1 and this", () => {
  beforeAll(async () => {
    python = spawn("python3", ["-c", script]);
    python.stderr.resume();
    answers = createInterface(python.stdout)[Symbol.asyncIterator]();
    offer = await answer();
  });
  afterAll(async () => {
    const isOver = once(python, "exit");
    python.stdin.end();
    await isOver;
  });

  test("agree on the tree of a website without faults, class by class", async () => {
    const { usp, ours } = await both({
      "/robots.txt": "Sitemap: {base}/index.xml\nSitemap: {base}/feed.rss\nSitemap: {base}/list.txt\n",
      "/index.xml": sitemapIndex("{base}/a.xml", "{base}/gone.xml"),
      "/a.xml": urlset("{base}/1", "{base}/2"),
      "/feed.rss": `<rss version="2.0"><channel><item><title>t</title><link>{base}/3</link></item></channel></rss>`,
      "/list.txt": "{base}/4\n",
    });
    expect(ours.pages).toEqual(usp.pages);
    expect(ours.sitemaps).toEqual(usp.sitemaps);
  });

  test("a sitemap in two indexes is in both trees twice; USP fetches it twice, this once", async () => {
    const { usp, ours, asked, oursAsked } = await both({
      "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/b.xml\n",
      "/a.xml": sitemapIndex("{base}/s.xml"),
      "/b.xml": sitemapIndex("{base}/s.xml"),
      "/s.xml": urlset("{base}/1"),
    });
    expect(ours).toEqual({ pages: usp.pages, sitemaps: usp.sitemaps });
    expect(usp.pages).toEqual(["/1", "/1"]);
    expect(asked.filter((path) => path === "/s.xml")).toHaveLength(2);
    expect(oursAsked.filter((path) => path === "/s.xml")).toHaveLength(1);
  });

  test("to_dict has the pages, as toJSON({ pages: true }) does; priority is a Decimal there", async () => {
    const { usp, whole } = await both({ "/robots.txt": "Sitemap: {base}/a.xml\n", "/a.xml": urlset("{base}/1") });
    expect(usp.dict).toContain(`${site.homepage}1`);
    expect(JSON.stringify(whole)).toContain(`${site.homepage}1`);
    expect(usp.priority).toBe("Decimal");
  });

  test("callbacks get a URL, a number and a set in USP", async () => {
    const { usp } = await both({ "/robots.txt": "Sitemap: {base}/a.xml\n", "/a.xml": urlset("{base}/1") });
    expect(usp.calls).toEqual([["str", "int", "set"]]);
  });

  test("what is read differently: partial dates, bad frequencies, relative URLs, two URLs in an entry", async () => {
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
    expect(JSON.stringify(whole)).toContain('"lastModified":"2024-05"');
    expect(JSON.stringify(whole)).not.toContain("always");
  });

  test("what USP loses without a word: everything after a bare ampersand, an unknown element, a cut", async () => {
    const { usp, ours, tree } = await both({
      "/robots.txt": "Sitemap: {base}/ampersand.xml\nSitemap: {base}/unknown.xml\nSitemap: {base}/cut.xml\n",
      "/ampersand.xml": urlset("{base}/1", "{base}/2?a=1&b=2", "{base}/3"),
      "/unknown.xml": urlset("<extra/>", "{base}/4"),
      "/cut.xml": urlset("{base}/5", "{base}/6").slice(0, -30),
    });
    expect(usp.pages).toEqual(["/1", "/5"]);
    expect(ours.pages).toEqual(["/1", "/2?a=1&b=2", "/3", "/4", "/5"]);
    expect(tree.complete).toBe(false);
  });

  test("a text page at a well-known path is an empty sitemap for USP, and none here", async () => {
    const { usp, ours } = await both({ "/robots.txt": "User-agent: *\n", "/sitemap": "Sorry, not found" }, true);
    expect(usp.sitemaps).toContain("PagesTextSitemap /sitemap");
    expect(ours.sitemaps).toEqual(["IndexRobotsTxtSitemap /robots.txt"]);
  });

  test("an HTML page in place of a sitemap is an invalid one in both trees, and not complete here", async () => {
    const { usp, ours, tree } = await both({
      "/robots.txt": "Sitemap: {base}/a.xml\n",
      "/a.xml": (_, response) =>
        void response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Sorry</title><p>Gone"),
    });
    expect(usp.pages).toEqual([]);
    expect(ours).toEqual({ pages: [], sitemaps: ["IndexRobotsTxtSitemap /robots.txt", "InvalidSitemap /a.xml"] });
    expect(usp.sitemaps).toContain("InvalidSitemap /a.xml");
    expect(tree.complete).toBe(false);
  });

  test("its client and its defaults are what the tables of names say", () => {
    const { client, setters, options, priority } = offer;
    expect(client).toEqual(expect.arrayContaining(["wait", "random_wait", "verify", "session"]));
    expect(setters).toEqual(expect.arrayContaining(["set_timeout", "set_proxies"]));
    expect(options).toEqual(
      expect.arrayContaining([
        ...["web_client", "use_robots", "use_known_paths", "extra_known_paths"],
        ...["recurse_callback", "recurse_list_callback", "normalize_homepage_url"],
      ]),
    );
    expect(priority).toBe("Decimal('0.5')");
  });

  test("a robots.txt that fails is no word in USP, and makes the tree incomplete here", async () => {
    const { usp, ours, tree } = await both({
      "/robots.txt": (_, response) => void response.writeHead(500).end(),
    });
    expect(usp.pages).toEqual([]);
    expect(ours.pages).toEqual([]);
    expect(tree.complete).toBe(false);
  });
});
