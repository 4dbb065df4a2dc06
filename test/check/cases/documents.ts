import { gzipSync } from "node:zlib";
import { type Case, entry, files, finds, home, index, many, robots, site, sitemap } from "./case.ts";

const rss = (version: string) =>
  `<rss version="${version}"><channel><item><link>${home}a</link></item></channel></rss>`;
const atom = (rest: string) =>
  `<feed ${rest}><entry><link href="${home}a"/><updated>2026-06-01T00:00:00Z</updated></entry></feed>`;
const child = (path: string, date: string) =>
  `<sitemap><loc>${home}${path.slice(1)}</loc><lastmod>${date}</lastmod></sitemap>`;
const datedIndex = (...children: readonly string[]) =>
  `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${children.join("")}</sitemapindex>`;
const parts = Object.fromEntries(many(10, (number) => `/${number}.xml`).map((name) => [name, sitemap(name)]));

export const documentCases: readonly Case[] = [
  finds(
    ["sitemap-is-html", 1, "html"],
    files({ "/sitemap.xml": "<!doctype html><html><body>Not found</body></html>" }),
    files({ "/sitemap.xml": { status: 404, body: "<!doctype html><html></html>" } }),
  ),
  finds(
    ["sitemap-unsupported", 1, "json"],
    files({ "/sitemap.xml": '{"urls":[]}' }),
    files({ "/sitemap.xml": "<!doctype html><html><body>Not found</body></html>" }),
  ),
  finds(
    ["sitemap-unsupported", 1, "htmlmap", { what: "an element whose name has html in it" }],
    files({ "/sitemap.xml": "<htmlmap><a/></htmlmap>" }),
    files({ "/sitemap.xml": '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body/></h:html>' }),
  ),
  finds(["sitemap-empty", 1, "The document is empty", { what: "no bytes" }], files({ "/sitemap.xml": "" }), site()),
  finds(
    ["sitemap-empty", 1, undefined, { what: "no entries", severity: "warning" }],
    files({ "/sitemap.xml": sitemap() }),
    site(),
  ),
  finds(
    ["sitemap-empty", 1, undefined, { what: "an index" }],
    files({ "/sitemap.xml": index() }),
    files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
  ),
  finds(
    ["sitemap-empty", 1, undefined, { what: "a feed", severity: "info" }],
    files({ "/sitemap.xml": '<rss version="2.0"><channel></channel></rss>' }),
    site(),
  ),
  finds(
    ["sitemap-empty", 1, undefined, { what: "news", severity: "info" }],
    files({ "/news.xml": sitemap() }, ["/news.xml"]),
    files({ "/news.xml": sitemap("/") }, ["/news.xml"]),
  ),
  finds(
    ["sitemap-not-well-formed", 1, "&c=2"],
    site(`<url><loc>${home}a?b=1&c=2</loc></url>`),
    site(`<url><loc>${home}a?b=1&amp;c=2</loc></url><!-- a & b -->`, `<url><loc><![CDATA[${home}b?a&c]]></loc></url>`),
  ),
  finds(["sitemap-leading-text", 1, "Warning: x"], files({ "/sitemap.xml": `Warning: x\n${sitemap("/")}` }), site()),
  finds(
    ["sitemap-leading-text", 1, "white space", { what: "an empty line" }],
    files({ "/sitemap.xml": `\n${sitemap("/")}` }),
    files({ "/sitemap.xml": `\ufeff${sitemap("/")}` }),
  ),
  finds(
    ["sitemap-namespace", 1, "none"],
    files({ "/sitemap.xml": `<urlset><url><loc>${home}</loc></url></urlset>` }),
    site(),
  ),
  finds(
    ["sitemap-namespace", 1, "http://www.google.com/schemas/sitemap-image/9.9", { what: "of an extension" }],
    files({
      "/sitemap.xml": sitemap(entry("/", `<image:image><image:loc>${home}a.jpg</image:loc></image:image>`)).replace(
        "sitemap-image/1.1",
        "sitemap-image/9.9",
      ),
    }),
    files({
      "/sitemap.xml": sitemap(entry("/", `<image:image><image:loc>${home}a.jpg</image:loc></image:image>`)),
    }),
  ),
  finds(
    ["sitemap-not-utf8", 1, "windows-1252"],
    files({ "/sitemap.xml": Buffer.from(sitemap("/k\u00e4se").replace("UTF-8", "ISO-8859-1"), "latin1") }),
    files({ "/sitemap.xml": sitemap("/k\u00e4se") }),
  ),
  finds(
    ["sitemap-not-utf8", 1, "utf-8", { what: "invalid bytes" }],
    files({
      "/sitemap.xml": Buffer.from(
        sitemap(
          entry("/a", `<image:image><image:loc>${home}a</image:loc><image:title>\u00e4</image:title></image:image>`),
        ),
        "latin1",
      ),
    }),
    files({ "/sitemap.xml": sitemap(entry("/a", "<!-- \u00e4 -->")) }),
  ),
  finds(
    ["sitemap-too-large", 1, "Larger than the 50 MiB that the protocol allows"],
    files({ "/sitemap.xml.gz": packed(52_428_800) }, ["/sitemap.xml.gz"]),
    files({ "/sitemap.xml.gz": packed(52_427_000) }, ["/sitemap.xml.gz"]),
  ),
  finds(
    ["sitemap-too-many-urls", 1, "More than the 50,000 entries that the protocol allows"],
    files({ "/sitemap.xml": sitemap(...many(50_001, (number) => `/${number}`)) }),
    files({ "/sitemap.xml": sitemap(...many(50_000, (number) => `/${number}`)) }),
  ),
  finds(
    [
      "sitemap-too-many-urls",
      1,
      "More than the 50,000 entries that the protocol allows",
      { what: "repeated ones included" },
    ],
    files({ "/sitemap.xml": sitemap(...many(50_001, (number) => `/${number % 100}`)) }),
    files({ "/sitemap.xml": sitemap(...many(50_000, (number) => `/${number % 100}`)) }),
  ),
  finds(
    ["index-too-many-sitemaps", 1, "More than the 50,000 entries that the protocol allows"],
    {
      ...files({ "/sitemap.xml": index(...many(50_001, (number) => `/${number}.xml`)) }),
      crawl: { recurseList: () => [] },
    },
    {
      ...files({ "/sitemap.xml": index(...many(50_000, (number) => `/${number}.xml`)) }),
      crawl: { recurseList: () => [] },
    },
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
    files({
      "/sitemap.xml": sitemap("/").replace("</urlset>", `<sitemap><loc>${home}a.xml</loc></sitemap></urlset>`),
      "/a.xml": sitemap("/a"),
    }),
    site(),
  ),
  finds(
    ["index-mixed", 1, "<url>", { what: "a page in an index" }],
    files({
      "/sitemap.xml": index("/a.xml").replace("</sitemapindex>", `<url><loc>${home}b</loc></url></sitemapindex>`),
      "/a.xml": sitemap("/a"),
    }),
    files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/a") }),
  ),
  finds(
    ["index-cycle", 1, "The sitemap contains itself"],
    files({ "/sitemap.xml": index("/sitemap.xml", "/a.xml"), "/a.xml": sitemap("/") }),
    files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
  ),
  finds(
    ["index-child-other-site", 1, "https://maps.example.net/a.xml"],
    files({
      "/sitemap.xml": index("https://maps.example.net/a.xml"),
      "https://maps.example.net/a.xml": sitemap("https://maps.example.net/"),
    }),
    files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
  ),
  finds(
    ["index-child-other-site", 1, "https://m.example.net/a.xml", { what: "named by robots.txt" }],
    files({
      "/sitemap.xml": index("https://m.example.net/a.xml"),
      "https://m.example.net/a.xml": sitemap("https://m.example.net/"),
    }),
    files(
      {
        "/sitemap.xml": index("https://m.example.net/a.xml"),
        "https://m.example.net/a.xml": sitemap("https://m.example.net/"),
      },
      ["/sitemap.xml", "https://m.example.net/a.xml"],
    ),
  ),
  finds(
    ["index-child-outside-directory", 1, `${home}a.xml`],
    files({ "/maps/index.xml": index("/a.xml"), "/a.xml": sitemap("/") }, ["/maps/index.xml"]),
    files(
      {
        "/maps/index.xml": index("/maps/a.xml", "/maps/b/c.xml"),
        "/maps/a.xml": sitemap("/maps/"),
        "/maps/b/c.xml": sitemap("/maps/b/"),
      },
      ["/maps/index.xml"],
    ),
  ),
  finds(
    ["index-child-repeated", 1, `${home}a.xml`],
    files(
      {
        "/i.xml": index("/a.xml"),
        "/j.xml": index("/a.xml", "/b.xml"),
        "/a.xml": sitemap("/"),
        "/b.xml": sitemap("/b"),
      },
      ["/i.xml", "/j.xml"],
    ),
    files({ "/i.xml": index("/a.xml"), "/a.xml": sitemap("/") }, ["/i.xml", "/a.xml"]),
  ),
  finds(
    ["index-child-repeated", 1, `${home}a.xml`, { what: "in one index" }],
    files({ "/sitemap.xml": index("/a.xml", "/a.xml"), "/a.xml": sitemap("/") }),
    files({ "/sitemap.xml": index("/a.xml", "/b.xml"), "/a.xml": sitemap("/"), "/b.xml": sitemap("/b") }),
  ),
  finds(
    ["index-lastmod-stale", 1, "2026-06-01T00:00:00Z, but pages changed on 2026-06-02T00:00:01Z"],
    files({
      "/sitemap.xml": datedIndex(child("/a.xml", "2026-06-01T00:00:00Z")),
      "/a.xml": sitemap("/", entry("/a", "<lastmod>2026-06-02T00:00:01Z</lastmod>")),
    }),
    files({
      "/sitemap.xml": datedIndex(child("/a.xml", "2026-06-01")),
      "/a.xml": sitemap(
        "/",
        entry("/a", "<lastmod>2026-06-02T23:59:00Z</lastmod>"),
        entry("/b", "<lastmod>2036-01-01</lastmod>"),
      ),
    }),
  ),
  finds(
    ["index-lastmod-identical", 1, "2026-06-01"],
    files({
      ...parts,
      "/sitemap.xml": datedIndex(...Object.keys(parts).map((name) => child(name, "2026-06-01"))),
    }),
    files({
      ...parts,
      "/sitemap.xml": datedIndex(
        ...Object.keys(parts)
          .slice(1)
          .map((name) => child(name, "2026-06-01")),
      ),
    }),
  ),
  finds(
    ["feed-unsupported", 1, "rss 0.91", { what: "RSS" }],
    files({ "/feed": rss("0.91") }, ["/feed"]),
    files({ "/feed": rss("2.0") }, ["/feed"]),
  ),
  finds(
    ["feed-unsupported", 1, "feed 0.3", { what: "Atom" }],
    files({ "/feed": atom('version="0.3" xmlns="http://purl.org/atom/ns#"') }, ["/feed"]),
    files({ "/feed": atom('xmlns="http://www.w3.org/2005/Atom"') }, ["/feed"]),
  ),
  finds(
    ["feed-unsupported", 1, "JSON Feed", { what: "JSON" }],
    files({ "/feed": `{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "${home}a"}]}` }, ["/feed"]),
    files({ "/feed": rss("2.0") }, ["/feed"]),
  ),
  finds(
    ["feed-unsupported", 1, "RDF", { what: "RDF" }],
    files(
      {
        "/feed": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><link>${home}a</link></item></rdf:RDF>`,
      },
      ["/feed"],
    ),
    files({ "/feed": `<!-- <rss version="0.9"> -->${rss("2.0")}` }, ["/feed"]),
  ),
  finds(
    ["feed-as-only-sitemap", 1, `${home}feed`],
    files({ "/feed": rss("2.0") }, ["/feed"]),
    files({ "/feed": rss("2.0"), "/sitemap.xml": sitemap("/") }, ["/feed", "/sitemap.xml"]),
  ),
  finds(
    ["text-sitemap-name", 1, undefined],
    files({ "/urls": `${home}\n` }, ["/urls"]),
    files({ "/urls.txt": `${home}\n` }, ["/urls.txt"]),
  ),
  finds(
    ["text-sitemap-junk", 1, "Hello"],
    files({ "/urls.txt": `${home}\nHello\n` }, ["/urls.txt"]),
    files({ "/urls.txt": `${home}\n\n${home}a\n` }, ["/urls.txt"]),
  ),
  finds(["url-repeated", 2, `${home}a`], site("/a", "/a", "/a"), site("/a", "/b")),
  finds(
    ["url-tag-repeated", 1, "lastmod", { what: "another tag" }],
    site(entry("/a", "<lastmod>2026-06-01</lastmod><lastmod>2026-06-02</lastmod>")),
    site(entry("/a", "<lastmod>2026-06-01</lastmod>")),
  ),
  finds(
    ["url-robots-disallowed", 2, `${home}private/a`, { severity: "error" }],
    site("/private/a", "/private/"),
    site("/private", "/public/private/"),
  ),
  finds(
    ["url-robots-disallowed", 1, `${home}a/b/c`, { what: "the longest rule wins" }],
    files({
      "/robots.txt": `User-agent: *\nAllow: /a\nDisallow: /a/b\n${robots("/sitemap.xml").split("\n").at(-2)}`,
      "/sitemap.xml": sitemap("/", "/a/b/c"),
    }),
    files({
      "/robots.txt": `User-agent: *\nDisallow: /a\nAllow: /a/b\n${robots("/sitemap.xml").split("\n").at(-2)}`,
      "/sitemap.xml": sitemap("/", "/a/b/c"),
    }),
  ),
  finds(
    ["url-robots-disallowed", 1, home, { what: "for another crawler alone", severity: "warning" }],
    files({
      "/robots.txt": `User-agent: YandexBot\nDisallow: /\n\n${robots("/sitemap.xml")}`,
      "/sitemap.xml": sitemap("/"),
    }),
    files({
      "/robots.txt": `User-agent: OtherBot\nDisallow: /\n\n${robots("/sitemap.xml")}`,
      "/sitemap.xml": sitemap("/"),
    }),
  ),
];

/** A sitemap with a comment of so many blanks, compressed: the same million again and again, which takes no time. */
function packed(blanks: number): Buffer {
  const million = gzipSync(" ".repeat(1_000_000));
  const [before = ""] = sitemap("/").split("</urlset>");
  return Buffer.concat([
    gzipSync(`${before}<!-- `),
    ...Array.from({ length: Math.floor(blanks / 1_000_000) }, () => million),
    gzipSync(`${" ".repeat(blanks % 1_000_000)} --></urlset>`),
  ]);
}
