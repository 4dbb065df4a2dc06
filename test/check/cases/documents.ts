import { gzipSync } from "node:zlib";
import { isLong } from "../../support/long.ts";
import {
  atom,
  type Case,
  child,
  dated,
  doc,
  entry,
  files,
  finds,
  home,
  index,
  many,
  rss,
  site,
  sitemap,
} from "./case.ts";

const post = `<entry><link href="${home}a"/><updated>2026-06-01T00:00:00Z</updated></entry>`;
const part = (path: string, date: string) => child(path, `<lastmod>${date}</lastmod>`);
const names = [..."abcdefghkl"].map((letter) => `/${letter}.xml`);
const parts = Object.fromEntries(names.map((name) => [name, sitemap(name)]));

const pictured = entry("/", `<image:image><image:loc>${home}a.jpg</image:loc></image:image>`);
const ruled = (rules: string) =>
  files({ "/robots.txt": `${rules}\nSitemap: ${home}sitemap.xml`, "/sitemap.xml": sitemap("/", "/a/b/c") });
const tooMany = "More than the 50,000 entries that the protocol allows";
const paths = (count: number, different = count) => many(count, (number) => `/${number % different}`);
const far = "https://m.example.net/a.xml";
const elsewhere = (...named: readonly string[]) =>
  files({ "/sitemap.xml": index(far), [far]: sitemap("https://m.example.net/") }, ["/sitemap.xml", ...named]);

export const documentCases: readonly Case[] = [
  finds(
    ["sitemap-is-html", 1, "Got an HTML page, not a sitemap"],
    doc("<!doctype html><html><body>Not found</body></html>"),
    doc({ status: 404, body: "<!doctype html><html></html>" }),
  ),
  finds(["sitemap-unsupported", 1, "Got JSON, not a sitemap"], doc('{"urls":[]}')),
  finds(
    [
      "sitemap-unsupported",
      1,
      "Got XML with the root element htmlmap, not a sitemap",
      { what: "an element whose name has html in it" },
    ],
    doc("<htmlmap><a/></htmlmap>"),
    doc('<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body/></h:html>'),
  ),
  finds(["sitemap-empty", 1, "The document is empty", { what: "no bytes" }], doc("")),
  finds(["sitemap-empty", 1, undefined, { what: "no entries", severity: "warning" }], doc(sitemap())),
  finds(["sitemap-empty", 1, undefined, { what: "an index" }], doc(index())),
  finds(
    ["sitemap-empty", 1, undefined, { what: "a feed", severity: "info" }],
    doc('<rss version="2.0"><channel></channel></rss>'),
  ),
  finds(["sitemap-empty", 1, undefined, { what: "news", severity: "info" }], doc(sitemap(), "/news.xml")),
  finds(
    ["sitemap-not-well-formed", 1, "&c=2"],
    site(`<url><loc>${home}a?b=1&c=2</loc></url>`),
    site(`<url><loc>${home}a?b=1&amp;c=2</loc></url><!-- a & b -->`, `<url><loc><![CDATA[${home}b?a&c]]></loc></url>`),
  ),
  finds(["sitemap-leading-text", 1, "Warning: x"], doc(`Warning: x\n${sitemap("/")}`)),
  finds(
    ["sitemap-leading-text", 1, "white space", { what: "an empty line" }],
    doc(`\n${sitemap("/")}`),
    doc(`\ufeff${sitemap("/")}`),
  ),
  finds(["sitemap-namespace", 1, "none"], doc(`<urlset><url><loc>${home}</loc></url></urlset>`)),
  finds(
    ["sitemap-namespace", 1, "http://www.google.com/schemas/sitemap-image/9.9", { what: "of an extension" }],
    doc(sitemap(pictured).replace("sitemap-image/1.1", "sitemap-image/9.9")),
  ),
  finds(
    ["sitemap-not-utf8", 1, "windows-1252"],
    doc(Buffer.from(sitemap("/k\u00e4se").replace("UTF-8", "ISO-8859-1"), "latin1")),
    doc(sitemap("/k\u00e4se")),
  ),
  finds(
    [
      "sitemap-not-utf8",
      1,
      "Content-Type: iso-8859-1, XML declaration: utf-8; read as utf-8",
      { what: "declared as something else" },
    ],
    doc({ headers: { "content-type": "text/xml; charset=iso-8859-1" }, body: sitemap("/k\u00e4se") }),
    doc({ headers: { "content-type": "text/xml; charset=utf-8" }, body: sitemap("/k\u00e4se") }),
  ),
  finds(
    ["sitemap-not-utf8", 1, "utf-8", { what: "invalid bytes" }],
    doc(
      Buffer.from(sitemap(pictured.replace("</image:loc>", "</image:loc><image:title>\u00e4</image:title>")), "latin1"),
    ),
    doc(sitemap(entry("/a", "<!-- \u00e4 -->"))),
  ),
  finds(
    ["sitemap-too-large", 1, "Larger than the 50 MiB that the protocol allows"],
    doc(packed(52_428_800), "/sitemap.xml.gz"),
    ...(isLong ? [doc(packed(52_427_000), "/sitemap.xml.gz")] : []),
  ),
  finds(["sitemap-too-many-urls", 1, tooMany], doc(sitemap(...paths(50_001))), doc(sitemap(...paths(50_000)))),
  finds(
    ["sitemap-too-many-urls", 1, tooMany, { what: "repeated ones included" }],
    doc(sitemap(...paths(50_001, 100))),
    ...(isLong ? [doc(sitemap(...paths(50_000, 100)))] : []),
  ),
  finds(
    ["index-too-many-sitemaps", 1, tooMany],
    { ...doc(index(...paths(50_001))), crawl: { recurseList: () => [] } },
    { ...doc(index(...paths(50_000))), crawl: { recurseList: () => [] } },
  ),
  finds(
    ["index-nested", 1, `${home}sub.xml`],
    files({ "/sitemap.xml": index("/sub.xml"), "/sub.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
    files(
      { "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/"), "/sub.xml": index("/b.xml"), "/b.xml": sitemap("/b") },
      ["/sitemap.xml", "/sub.xml"],
    ),
  ),
  finds(
    ["index-mixed", 1, "Lists both pages and sitemaps"],
    files({ ...parts, "/sitemap.xml": sitemap("/", `<sitemap><loc>${home}a.xml</loc></sitemap>`) }),
  ),
  finds(
    ["index-mixed", 1, "<url>", { what: "a page in an index" }],
    files({ ...parts, "/sitemap.xml": index("/a.xml").replace("</sitemapindex>", `${entry("/b")}</sitemapindex>`) }),
  ),
  finds(
    ["index-cycle", 1, "The sitemap contains itself"],
    files({ "/sitemap.xml": index("/sitemap.xml", "/a.xml"), "/a.xml": sitemap("/") }),
  ),
  // A sitemap that robots.txt lists passes.
  finds(["index-child-other-site", 1, far], elsewhere(), elsewhere(far)),
  finds(
    ["index-child-outside-directory", 1, `${home}a.xml`],
    files({ "/maps/index.xml": index("/a.xml"), "/a.xml": sitemap("/") }, ["/maps/index.xml"]),
    files({ "/maps/index.xml": index("/maps/b/c.xml"), "/maps/b/c.xml": sitemap("/maps/b/") }, ["/maps/index.xml"]),
  ),
  finds(
    ["index-child-repeated", 1, `${home}a.xml`],
    files({ "/i.xml": index("/a.xml"), "/j.xml": index("/a.xml", "/b.xml"), ...parts }, ["/i.xml", "/j.xml"]),
    files({ "/i.xml": index("/a.xml"), ...parts }, ["/i.xml", "/a.xml"]),
  ),
  finds(
    ["index-child-repeated", 1, `${home}a.xml`, { what: "in one index" }],
    files({ "/sitemap.xml": index("/a.xml", "/a.xml"), ...parts }),
  ),
  finds(
    ["index-lastmod-stale", 1, "2026-06-01T00:00:00Z, but pages changed on 2026-06-02T00:00:01Z"],
    files({
      "/sitemap.xml": index(part("/a.xml", "2026-06-01T00:00:00Z")),
      "/a.xml": sitemap("/", dated("/a", "2026-06-02T00:00:01Z")),
    }),
    files({
      "/sitemap.xml": index(part("/a.xml", "2026-06-01")),
      "/a.xml": sitemap("/", dated("/a", "2026-06-02T23:59:00Z"), dated("/b", "2036-01-01")),
    }),
  ),
  finds(
    ["index-lastmod-identical", 1, "2026-06-01"],
    files({ ...parts, "/sitemap.xml": index(...names.map((name) => part(name, "2026-06-01"))) }),
    files({ ...parts, "/sitemap.xml": index(...names.slice(1).map((name) => part(name, "2026-06-01"))) }),
  ),
  finds(
    ["feed-unsupported", 1, "rss 0.91", { what: "RSS" }],
    doc(rss("/a").replace("2.0", "0.91"), "/feed"),
    doc(rss("/a"), "/feed"),
  ),
  finds(
    ["feed-unsupported", 1, "feed 0.3", { what: "Atom" }],
    doc(`<feed version="0.3" xmlns="http://purl.org/atom/ns#">${post}</feed>`, "/feed"),
    doc(atom(post), "/feed"),
  ),
  finds(
    ["feed-unsupported", 1, "JSON Feed", { what: "JSON" }],
    doc(`{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "${home}a"}]}`, "/feed"),
  ),
  finds(
    ["feed-unsupported", 1, "RDF", { what: "RDF" }],
    doc(
      `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><link>${home}a</link></item></rdf:RDF>`,
      "/feed",
    ),
    doc(`<!-- <rss version="0.9"> -->${rss("/a")}`, "/feed"),
  ),
  finds(
    ["feed-as-only-sitemap", 1, `${home}feed`],
    doc(rss("/a"), "/feed"),
    files({ "/feed": rss("/a"), "/sitemap.xml": sitemap("/") }, ["/feed", "/sitemap.xml"]),
  ),
  finds(["text-sitemap-name", 1, undefined], doc(`${home}\n`, "/urls"), doc(`${home}\n`, "/urls.txt")),
  finds(
    ["text-sitemap-junk", 1, "Hello"],
    doc(`${home}\nHello\n`, "/urls.txt"),
    doc(`${home}\n\n${home}a\n`, "/urls.txt"),
  ),
  finds(["url-repeated", 2, `${home}a`], site("/a", "/a", "/a")),
  finds(
    ["url-tag-repeated", 1, "lastmod", { what: "another tag" }],
    site(entry("/a", "<lastmod>2026-06-01</lastmod><lastmod>2026-06-02</lastmod>")),
  ),
  finds(
    ["url-robots-disallowed", 3, `${home}private/a`, { severity: "error" }],
    site("/private/a", "/private/", "https://EXAMPLE.org:443/private/b"),
    site("/private", "/public/private/", "https://EXAMPLE.net/private/b"),
  ),
  finds(
    ["url-robots-disallowed", 1, `${home}a/b/c`, { what: "the longest rule wins" }],
    ruled("User-agent: *\nAllow: /a\nDisallow: /a/b"),
    ruled("User-agent: *\nDisallow: /a\nAllow: /a/b"),
  ),
  finds(
    ["url-robots-disallowed", 2, home, { what: "for another crawler alone", severity: "warning" }],
    ruled("User-agent: YandexBot\nDisallow: /"),
    ruled("User-agent: OtherBot\nDisallow: /"),
  ),
];

/** Creates a compressed sitemap with a comment of many blanks. Repeating one compressed million is fast. */
function packed(blanks: number): Buffer {
  const million = gzipSync(" ".repeat(1_000_000));
  const [before = ""] = sitemap("/").split("</urlset>");
  return Buffer.concat([
    gzipSync(`${before}<!-- `),
    ...Array.from({ length: Math.floor(blanks / 1_000_000) }, () => million),
    gzipSync(`${" ".repeat(blanks % 1_000_000)} --></urlset>`),
  ]);
}
