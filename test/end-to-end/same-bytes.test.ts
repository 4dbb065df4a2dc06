// One website with every format and many faults: the program prints the same bytes however fast the website answers, however
// many documents are fetched at a time, and from the archive of it.
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sitegrove } from "../cli/program.ts";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";
import { type SlowSite, serveSlowly } from "./slow-site.ts";

const namespaces =
  'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml"';
const pages = (from: number, count: number) =>
  Array.from(
    { length: count },
    (_, at) => `<url><loc>{base}/p${from + at}</loc><lastmod>2024-05-0${1 + (at % 9)}</lastmod></url>`,
  );
const urlset = (...entries: string[]) => `<urlset ${namespaces}>${entries.join("\n")}</urlset>`;
const index = (...names: string[]) =>
  `<sitemapindex ${namespaces}>${names.map((name) => `<sitemap><loc>{base}/${name}</loc></sitemap>`).join("")}</sitemapindex>`;
const rich = `<url><loc>{base}/rich?a=1&amp;b=2</loc><lastmod>2024-05-31T12:00:00+02:00</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
<image:image><image:loc>{base}/i.png</image:loc><image:caption>=1+1, "quoted"</image:caption></image:image>
<news:news><news:publication><news:name>Ü</news:name><news:language>de</news:language></news:publication><news:publication_date>2024-05-31</news:publication_date><news:title>A\u001b[31m title</news:title></news:news>
<video:video><video:title>V</video:title><video:duration>12</video:duration></video:video>
<xhtml:link rel="alternate" hreflang="fr" href="{base}/fr"/></url>`;

const routes = {
  "/robots.txt":
    "User-agent: *\nSitemap: {base}/index.xml\nsite-map: /text.txt # here\nSitemap: {base}/gone.xml\nSitemap: {base}/moved\n",
  "/index.xml": index(
    "deep.xml",
    "rich.xml",
    "rss",
    "atom",
    "rdf",
    "index.xml",
    "page.html",
    "broken.xml",
    "large.xml.gz",
  ),
  "/deep.xml": index("a.xml", "text.txt", "empty.xml", "a.xml", "error.xml"),
  "/a.xml": urlset(...pages(0, 300)),
  "/rich.xml": urlset(rich, ...pages(300, 10), "<url><loc>javascript:void(0)</loc></url>"),
  "/rss":
    "<rss version='2.0'><channel><item><title>One</title><link>{base}/rss/1</link><pubDate>Fri, 31 May 2024 12:00:00 GMT</pubDate></item></channel></rss>",
  "/atom":
    "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>Two</title><link href='/atom/1'/><updated>2024-05-31T00:00:00Z</updated></entry></feed>",
  "/rdf":
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'><item><link>{base}/rdf/1</link></item></rdf:RDF>",
  "/page.html": "<!doctype html><title>No</title>",
  // The same bytes for every run: where a body breaks is part of what was sent.
  "/broken.xml": { body: urlset(...pages(400, 50)), breaksAt: 2000 },
  "/large.xml.gz": {
    body: gzipSync(urlset(...pages(500, 800)).replaceAll("{base}", "https://example.org")).subarray(0, -9),
  },
  "/text.txt": "\ufeff{base}/t1\r\n\r\n{base}/t2\r\nnothing\r\n",
  "/empty.xml": "",
  "/error.xml": { status: 500 },
  "/moved": { status: 301, headers: { location: "/a.xml" } },
  "/sitemap.xml": { status: 302, headers: { location: "/deep.xml" } },
  "/sitemap_news.xml": urlset(...pages(6000, 3)),
  "/": {
    headers: { "content-type": "text/html" },
    body: "<link rel=sitemap href=/late.txt><link rel=sitemap href=/error.xml>",
  },
  "/late.txt": "{base}/late",
};

const formats = isLong ? ["json", "ndjson", "csv", "tabtree"] : ["json", "csv"];
const folder = newFolder();
let site: SlowSite;
beforeAll(async () => {
  site = await serveSlowly(routes);
});
afterAll(() => site.close());

const quick = () => 0;
// What is declared first comes last.
const uneven = (path: string) => (path.length < 10 ? 20 : (path.length * 7) % 13);

async function listed(format: string, pace: SlowSite["pace"], ...flags: string[]): Promise<string> {
  site.pace = pace;
  const { code, stdout } = await sitegrove(["ls", site.homepage, "-f", format, "--retries", "0", ...flags]);
  expect(code).toBe(3);
  return stdout;
}

test.each(formats)(
  "%s is the same from a quick and a slow website, by one and by sixteen, and from the archive",
  async (format) => {
    const archive = path.join(folder, `${format}.warc${format === "csv" ? ".gz" : ""}`);
    const first = await listed(format, quick, "--concurrency", "1", "--save", archive);
    expect(first.split("\n").length).toBeGreaterThan(300);
    expect(await listed(format, uneven, "--concurrency", "16")).toBe(first);
    const asked = site.requests;
    expect((await sitegrove(["ls", archive, "-f", format])).stdout).toBe(first);
    expect(site.requests).toBe(asked);
    // The one that shows everything.
    if (format !== "json") return;
    expect(await listed(format, uneven, "--concurrency", "1")).toBe(first);
    expect(await listed(format, quick, "--concurrency", "16")).toBe(first);
  },
);
