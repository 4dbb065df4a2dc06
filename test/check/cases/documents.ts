import { gzipSync } from "node:zlib";
import { type Case, entry, files, home, index, many, robots, site, sitemap } from "./case.ts";

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
  {
    rule: "sitemap-is-html",
    fires: files({ "/sitemap.xml": "<!doctype html><html><body>Not found</body></html>" }),
    near: files({ "/sitemap.xml": { status: 404, body: "<!doctype html><html></html>" } }),
    count: 1,
    example: "html",
  },
  {
    rule: "sitemap-unsupported",
    fires: files({ "/sitemap.xml": '{"urls":[]}' }),
    near: files({ "/sitemap.xml": "<!doctype html><html><body>Not found</body></html>" }),
    count: 1,
    example: "json",
  },
  {
    rule: "sitemap-unsupported",
    what: "an element whose name has html in it",
    fires: files({ "/sitemap.xml": "<htmlmap><a/></htmlmap>" }),
    near: files({ "/sitemap.xml": '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body/></h:html>' }),
    count: 1,
    example: "htmlmap",
  },
  {
    rule: "sitemap-empty",
    what: "no bytes",
    fires: files({ "/sitemap.xml": "" }),
    near: site(),
    count: 1,
    example: "The document is empty",
  },
  {
    rule: "sitemap-empty",
    what: "no entries",
    fires: files({ "/sitemap.xml": sitemap() }),
    near: site(),
    count: 1,
    severity: "warning",
    example: undefined,
  },
  {
    rule: "sitemap-empty",
    what: "an index",
    fires: files({ "/sitemap.xml": index() }),
    near: files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
    count: 1,
    example: undefined,
  },
  {
    rule: "sitemap-empty",
    what: "a feed",
    fires: files({ "/sitemap.xml": '<rss version="2.0"><channel></channel></rss>' }),
    near: site(),
    severity: "info",
    count: 1,
    example: undefined,
  },
  {
    rule: "sitemap-empty",
    what: "news",
    fires: files({ "/news.xml": sitemap() }, ["/news.xml"]),
    near: files({ "/news.xml": sitemap("/") }, ["/news.xml"]),
    severity: "info",
    count: 1,
    example: undefined,
  },
  {
    rule: "sitemap-not-well-formed",
    fires: site(`<url><loc>${home}a?b=1&c=2</loc></url>`),
    near: site(
      `<url><loc>${home}a?b=1&amp;c=2</loc></url><!-- a & b -->`,
      `<url><loc><![CDATA[${home}b?a&c]]></loc></url>`,
    ),
    count: 1,
    example: "&c=2",
  },
  {
    rule: "sitemap-leading-text",
    fires: files({ "/sitemap.xml": `Warning: x\n${sitemap("/")}` }),
    near: site(),
    count: 1,
    example: "Warning: x",
  },
  {
    rule: "sitemap-leading-text",
    what: "an empty line",
    fires: files({ "/sitemap.xml": `\n${sitemap("/")}` }),
    near: files({ "/sitemap.xml": `\ufeff${sitemap("/")}` }),
    count: 1,
    example: "white space",
  },
  {
    rule: "sitemap-namespace",
    fires: files({ "/sitemap.xml": `<urlset><url><loc>${home}</loc></url></urlset>` }),
    near: site(),
    count: 1,
    example: "none",
  },
  {
    rule: "sitemap-namespace",
    what: "of an extension",
    fires: files({
      "/sitemap.xml": sitemap(entry("/", `<image:image><image:loc>${home}a.jpg</image:loc></image:image>`)).replace(
        "sitemap-image/1.1",
        "sitemap-image/9.9",
      ),
    }),
    near: files({
      "/sitemap.xml": sitemap(entry("/", `<image:image><image:loc>${home}a.jpg</image:loc></image:image>`)),
    }),
    count: 1,
    example: "http://www.google.com/schemas/sitemap-image/9.9",
  },
  {
    rule: "sitemap-not-utf8",
    fires: files({ "/sitemap.xml": Buffer.from(sitemap("/k\u00e4se").replace("UTF-8", "ISO-8859-1"), "latin1") }),
    near: files({ "/sitemap.xml": sitemap("/k\u00e4se") }),
    count: 1,
    example: "windows-1252",
  },
  {
    rule: "sitemap-not-utf8",
    what: "invalid bytes",
    fires: files({
      "/sitemap.xml": Buffer.from(
        sitemap(
          entry("/a", `<image:image><image:loc>${home}a</image:loc><image:title>\u00e4</image:title></image:image>`),
        ),
        "latin1",
      ),
    }),
    near: files({ "/sitemap.xml": sitemap(entry("/a", "<!-- \u00e4 -->")) }),
    count: 1,
    example: "utf-8",
  },
  {
    rule: "sitemap-too-large",
    fires: files({ "/sitemap.xml.gz": packed(52_428_800) }, ["/sitemap.xml.gz"]),
    near: files({ "/sitemap.xml.gz": packed(52_427_000) }, ["/sitemap.xml.gz"]),
    count: 1,
    example: "Larger than the 50 MiB that the protocol allows",
  },
  {
    rule: "sitemap-too-many-urls",
    fires: files({ "/sitemap.xml": sitemap(...many(50_001, (number) => `/${number}`)) }),
    near: files({ "/sitemap.xml": sitemap(...many(50_000, (number) => `/${number}`)) }),
    count: 1,
    example: "More than the 50,000 entries that the protocol allows",
  },
  {
    rule: "sitemap-too-many-urls",
    what: "repeated ones included",
    fires: files({ "/sitemap.xml": sitemap(...many(50_001, (number) => `/${number % 100}`)) }),
    near: files({ "/sitemap.xml": sitemap(...many(50_000, (number) => `/${number % 100}`)) }),
    count: 1,
    example: "More than the 50,000 entries that the protocol allows",
  },
  {
    rule: "index-too-many-sitemaps",
    fires: {
      ...files({ "/sitemap.xml": index(...many(50_001, (number) => `/${number}.xml`)) }),
      crawl: { recurseList: () => [] },
    },
    near: {
      ...files({ "/sitemap.xml": index(...many(50_000, (number) => `/${number}.xml`)) }),
      crawl: { recurseList: () => [] },
    },
    count: 1,
    example: "More than the 50,000 entries that the protocol allows",
  },
  {
    rule: "index-nested",
    fires: files({ "/sitemap.xml": index("/sub.xml"), "/sub.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
    near: files(
      { "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/"), "/sub.xml": index("/b.xml"), "/b.xml": sitemap("/b") },
      ["/sitemap.xml", "/sub.xml"],
    ),
    count: 1,
    example: `${home}sub.xml`,
  },
  {
    rule: "index-mixed",
    fires: files({
      "/sitemap.xml": sitemap("/").replace("</urlset>", `<sitemap><loc>${home}a.xml</loc></sitemap></urlset>`),
      "/a.xml": sitemap("/a"),
    }),
    near: site(),
    count: 1,
    example: "Lists both pages and sitemaps",
  },
  {
    rule: "index-mixed",
    what: "a page in an index",
    fires: files({
      "/sitemap.xml": index("/a.xml").replace("</sitemapindex>", `<url><loc>${home}b</loc></url></sitemapindex>`),
      "/a.xml": sitemap("/a"),
    }),
    near: files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/a") }),
    count: 1,
    example: "<url>",
  },
  {
    rule: "index-cycle",
    fires: files({ "/sitemap.xml": index("/sitemap.xml", "/a.xml"), "/a.xml": sitemap("/") }),
    near: files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
    count: 1,
    example: "The sitemap contains itself",
  },
  {
    rule: "index-child-other-site",
    fires: files({
      "/sitemap.xml": index("https://maps.example.net/a.xml"),
      "https://maps.example.net/a.xml": sitemap("https://maps.example.net/"),
    }),
    near: files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") }),
    count: 1,
    example: "https://maps.example.net/a.xml",
  },
  {
    rule: "index-child-other-site",
    what: "named by robots.txt",
    fires: files({
      "/sitemap.xml": index("https://m.example.net/a.xml"),
      "https://m.example.net/a.xml": sitemap("https://m.example.net/"),
    }),
    near: files(
      {
        "/sitemap.xml": index("https://m.example.net/a.xml"),
        "https://m.example.net/a.xml": sitemap("https://m.example.net/"),
      },
      ["/sitemap.xml", "https://m.example.net/a.xml"],
    ),
    count: 1,
    example: "https://m.example.net/a.xml",
  },
  {
    rule: "index-child-outside-directory",
    fires: files({ "/maps/index.xml": index("/a.xml"), "/a.xml": sitemap("/") }, ["/maps/index.xml"]),
    near: files(
      {
        "/maps/index.xml": index("/maps/a.xml", "/maps/b/c.xml"),
        "/maps/a.xml": sitemap("/maps/"),
        "/maps/b/c.xml": sitemap("/maps/b/"),
      },
      ["/maps/index.xml"],
    ),
    count: 1,
    example: `${home}a.xml`,
  },
  {
    rule: "index-child-repeated",
    fires: files(
      {
        "/i.xml": index("/a.xml"),
        "/j.xml": index("/a.xml", "/b.xml"),
        "/a.xml": sitemap("/"),
        "/b.xml": sitemap("/b"),
      },
      ["/i.xml", "/j.xml"],
    ),
    near: files({ "/i.xml": index("/a.xml"), "/a.xml": sitemap("/") }, ["/i.xml", "/a.xml"]),
    count: 1,
    example: `${home}a.xml`,
  },
  {
    rule: "index-child-repeated",
    what: "in one index",
    fires: files({ "/sitemap.xml": index("/a.xml", "/a.xml"), "/a.xml": sitemap("/") }),
    near: files({ "/sitemap.xml": index("/a.xml", "/b.xml"), "/a.xml": sitemap("/"), "/b.xml": sitemap("/b") }),
    count: 1,
    example: `${home}a.xml`,
  },
  {
    rule: "index-lastmod-stale",
    fires: files({
      "/sitemap.xml": datedIndex(child("/a.xml", "2026-06-01T00:00:00Z")),
      "/a.xml": sitemap("/", entry("/a", "<lastmod>2026-06-02T00:00:01Z</lastmod>")),
    }),
    near: files({
      "/sitemap.xml": datedIndex(child("/a.xml", "2026-06-01")),
      "/a.xml": sitemap(
        "/",
        entry("/a", "<lastmod>2026-06-02T23:59:00Z</lastmod>"),
        entry("/b", "<lastmod>2036-01-01</lastmod>"),
      ),
    }),
    count: 1,
    example: "2026-06-01T00:00:00Z, but pages changed on 2026-06-02T00:00:01Z",
  },
  {
    rule: "index-lastmod-identical",
    fires: files({
      ...parts,
      "/sitemap.xml": datedIndex(...Object.keys(parts).map((name) => child(name, "2026-06-01"))),
    }),
    near: files({
      ...parts,
      "/sitemap.xml": datedIndex(
        ...Object.keys(parts)
          .slice(1)
          .map((name) => child(name, "2026-06-01")),
      ),
    }),
    count: 1,
    example: "2026-06-01",
  },
  {
    rule: "feed-unsupported",
    what: "RSS",
    fires: files({ "/feed": rss("0.91") }, ["/feed"]),
    near: files({ "/feed": rss("2.0") }, ["/feed"]),
    count: 1,
    example: "rss 0.91",
  },
  {
    rule: "feed-unsupported",
    what: "Atom",
    fires: files({ "/feed": atom('version="0.3" xmlns="http://purl.org/atom/ns#"') }, ["/feed"]),
    near: files({ "/feed": atom('xmlns="http://www.w3.org/2005/Atom"') }, ["/feed"]),
    count: 1,
    example: "feed 0.3",
  },
  {
    rule: "feed-unsupported",
    what: "JSON",
    fires: files({ "/feed": `{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "${home}a"}]}` }, [
      "/feed",
    ]),
    near: files({ "/feed": rss("2.0") }, ["/feed"]),
    count: 1,
    example: "JSON Feed",
  },
  {
    rule: "feed-unsupported",
    what: "RDF",
    fires: files(
      {
        "/feed": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><link>${home}a</link></item></rdf:RDF>`,
      },
      ["/feed"],
    ),
    near: files({ "/feed": `<!-- <rss version="0.9"> -->${rss("2.0")}` }, ["/feed"]),
    count: 1,
    example: "RDF",
  },
  {
    rule: "feed-as-only-sitemap",
    fires: files({ "/feed": rss("2.0") }, ["/feed"]),
    near: files({ "/feed": rss("2.0"), "/sitemap.xml": sitemap("/") }, ["/feed", "/sitemap.xml"]),
    count: 1,
    example: `${home}feed`,
  },
  {
    rule: "text-sitemap-name",
    fires: files({ "/urls": `${home}\n` }, ["/urls"]),
    near: files({ "/urls.txt": `${home}\n` }, ["/urls.txt"]),
    count: 1,
    example: undefined,
  },
  {
    rule: "text-sitemap-junk",
    fires: files({ "/urls.txt": `${home}\nHello\n` }, ["/urls.txt"]),
    near: files({ "/urls.txt": `${home}\n\n${home}a\n` }, ["/urls.txt"]),
    count: 1,
    example: "Hello",
  },
  { rule: "url-repeated", fires: site("/a", "/a", "/a"), near: site("/a", "/b"), count: 2, example: `${home}a` },
  {
    rule: "url-tag-repeated",
    what: "another tag",
    fires: site(entry("/a", "<lastmod>2026-06-01</lastmod><lastmod>2026-06-02</lastmod>")),
    near: site(entry("/a", "<lastmod>2026-06-01</lastmod>")),
    count: 1,
    example: "lastmod",
  },
  {
    rule: "url-robots-disallowed",
    fires: site("/private/a", "/private/"),
    near: site("/private", "/public/private/"),
    count: 2,
    severity: "error",
    example: `${home}private/a`,
  },
  {
    rule: "url-robots-disallowed",
    what: "the longest rule wins",
    fires: files({
      "/robots.txt": `User-agent: *\nAllow: /a\nDisallow: /a/b\n${robots("/sitemap.xml").split("\n").at(-2)}`,
      "/sitemap.xml": sitemap("/", "/a/b/c"),
    }),
    near: files({
      "/robots.txt": `User-agent: *\nDisallow: /a\nAllow: /a/b\n${robots("/sitemap.xml").split("\n").at(-2)}`,
      "/sitemap.xml": sitemap("/", "/a/b/c"),
    }),
    count: 1,
    example: `${home}a/b/c`,
  },
  {
    rule: "url-robots-disallowed",
    what: "for another crawler alone",
    fires: files({
      "/robots.txt": `User-agent: YandexBot\nDisallow: /\n\n${robots("/sitemap.xml")}`,
      "/sitemap.xml": sitemap("/"),
    }),
    near: files({
      "/robots.txt": `User-agent: OtherBot\nDisallow: /\n\n${robots("/sitemap.xml")}`,
      "/sitemap.xml": sitemap("/"),
    }),
    severity: "warning",
    count: 1,
    example: home,
  },
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
