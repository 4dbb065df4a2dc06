import { gzipSync } from "node:zlib";
import { type Case, files, home, index, robots, site, sitemap } from "./case.ts";

const big = sitemap("/").replace("</urlset>", `<!--${"x".repeat(1_000_001)}--></urlset>`);

export const fetchingCases: readonly Case[] = [
  {
    rule: "sitemap-none",
    fires: { routes: { "/robots.txt": "User-agent: *\n" } },
    near: { routes: { "/sitemap.xml": sitemap("/") } },
    count: 1,
    example: undefined,
  },
  {
    rule: "robots-unreachable",
    fires: { routes: { "/robots.txt": { status: 503 }, "/sitemap.xml": sitemap("/") } },
    near: { routes: { "/robots.txt": { status: 404 }, "/sitemap.xml": sitemap("/") } },
    count: 1,
    example: "Could not read robots.txt; sitemaps that only it names are missing",
  },
  {
    rule: "robots-too-large",
    fires: files({
      "/robots.txt": `${robots("/sitemap.xml")}${"# comment\n".repeat(51_200)}`,
      "/sitemap.xml": sitemap("/"),
    }),
    near: files({
      "/robots.txt": `${robots("/sitemap.xml")}${"# comment\n".repeat(51_000)}`,
      "/sitemap.xml": sitemap("/"),
    }),
    count: 1,
    example: "robots.txt is larger than 512 kB; the rest was not read",
  },
  {
    rule: "robots-sitemap-spelling",
    fires: files({ "/robots.txt": `Sitemaps: ${home}sitemap.xml`, "/sitemap.xml": sitemap("/") }),
    near: files({ "/robots.txt": `SITEMAP: ${home}sitemap.xml`, "/sitemap.xml": sitemap("/") }),
    count: 1,
    example: "Sitemaps: https://example.org/sitemap.xml",
  },
  {
    rule: "robots-sitemap-relative",
    fires: files({ "/robots.txt": "Sitemap: /sitemap.xml", "/sitemap.xml": sitemap("/") }),
    near: files({ "/sitemap.xml": sitemap("/", "<url><loc>/relative</loc></url>") }),
    count: 1,
    example: "/sitemap.xml",
  },
  {
    rule: "robots-no-sitemap",
    fires: { routes: { "/robots.txt": "User-agent: *\n", "/sitemap.xml": sitemap("/") } },
    near: site(),
    count: 1,
    example: undefined,
  },
  {
    rule: "robots-no-sitemap",
    what: "without a robots.txt",
    fires: { routes: { "/robots.txt": "", "/sitemap.xml": sitemap("/") } },
    near: { routes: { "/sitemap.xml": sitemap("/") } },
    count: 1,
    example: undefined,
  },
  {
    rule: "sitemap-undeclared",
    fires: {
      ...files({ "/a.xml": sitemap("/"), "/sitemap.xml": sitemap("/a") }, ["/a.xml"]),
      crawl: { useKnownPaths: true },
    },
    near: {
      ...files({ "/a.xml": index("/sitemap.xml"), "/sitemap.xml": sitemap("/") }, ["/a.xml"]),
      crawl: { useKnownPaths: true },
    },
    count: 1,
    example: undefined,
  },
  {
    rule: "sitemap-robots-disallowed",
    fires: files({ "/private/sitemap.xml": sitemap("/private/") }, ["/private/sitemap.xml"]),
    near: files({ "/maps/private/sitemap.xml": sitemap("/maps/private/") }, ["/maps/private/sitemap.xml"]),
    count: 1,
    example: "Googlebot, bingbot, YandexBot",
  },
  { rule: "sitemap-unreachable", fires: files({}), near: site(), count: 1, example: "Not found (404)" },
  {
    rule: "sitemap-unreachable",
    what: "a server error",
    fires: files({ "/sitemap.xml": { status: 500 } }),
    near: files({ "/sitemap.xml": { status: 403 } }),
    count: 1,
    example: "Server error (500)",
  },
  {
    rule: "sitemap-challenge",
    fires: files({ "/sitemap.xml": { status: 403 } }),
    near: files({ "/sitemap.xml": { status: 404 } }),
    count: 1,
    example: "Access denied (403)",
  },
  {
    rule: "sitemap-redirect",
    fires: files({ "/sitemap.xml": { to: `${home}a.xml` }, "/a.xml": sitemap("/") }),
    near: { routes: { "/sitemap.xml": { to: `${home}a.xml` }, "/a.xml": sitemap("/") } },
    count: 1,
    example: `${home}sitemap.xml leads to https://example.org/a.xml`,
  },
  {
    rule: "sitemap-redirect-broken",
    fires: files({ "/sitemap.xml": { to: `${home}b.xml` }, "/b.xml": { to: `${home}sitemap.xml` } }),
    near: files({ "/sitemap.xml": { to: `${home}a.xml` }, "/a.xml": sitemap("/") }),
    count: 1,
    example: `${home}sitemap.xml`,
  },
  {
    rule: "sitemap-slow",
    fires: { ...files({ "/sitemap.xml": { wait: 300, body: sitemap("/") } }), check: { slow: 200 } },
    near: files({ "/sitemap.xml": { wait: 300, body: sitemap("/") } }),
    count: 1,
    example: /^0\.\d s$/,
  },
  {
    rule: "sitemap-served-as-html",
    fires: files({ "/sitemap.xml": { headers: { "content-type": "text/html; charset=utf-8" }, body: sitemap("/") } }),
    near: files({ "/sitemap.xml": { headers: { "content-type": "text/xml" }, body: sitemap("/") } }),
    count: 1,
    example: "text/html; charset=utf-8",
  },
  {
    rule: "sitemap-cut-off",
    fires: files({ "/sitemap.xml": sitemap("/", "/a").slice(0, -30) }),
    near: site("/a"),
    count: 1,
    example: "The file is cut off at line 8",
  },
  {
    rule: "sitemap-compression",
    fires: files({ "/sitemap.xml.gz": Buffer.concat([gzipSync(sitemap("/")), Buffer.from("trailing")]) }, [
      "/sitemap.xml.gz",
    ]),
    near: files({ "/sitemap.xml.gz": gzipSync(sitemap("/")) }, ["/sitemap.xml.gz"]),
    count: 1,
    example: "Ignored data after the end of the compressed data",
  },
  {
    rule: "sitemap-not-compressed",
    fires: files({ "/sitemap.xml": big }),
    near: files({ "/sitemap.xml": { headers: { "content-encoding": "gzip" }, body: gzipSync(big) } }),
    count: 1,
    example: "1.0 MB",
  },
];
