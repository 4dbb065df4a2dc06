import { gzipSync } from "node:zlib";
import type { Route } from "../../support/site.ts";
import { type Case, doc, files, finds, home, index, robots, sitemap } from "./case.ts";

const big = sitemap("/").replace("</urlset>", `<!--${"x".repeat(1_000_001)}--></urlset>`);

/** A website with this robots.txt and a sitemap. */
const named = (robots: Route) => files({ "/robots.txt": robots, "/sitemap.xml": sitemap("/") });
const guessed = (routes: Record<string, string>) => ({
  ...files(routes, ["/a.xml"]),
  crawl: { knownPaths: "always" as const },
});

export const fetchingCases: readonly Case[] = [
  finds(
    ["sitemap-none", 1, undefined],
    { routes: { "/robots.txt": "User-agent: *\n" } },
    { routes: { "/sitemap.xml": sitemap("/") } },
  ),
  finds(
    ["robots-unreachable", 1, "Could not read robots.txt, so some sitemaps may be missing"],
    named({ status: 503 }),
    named({ status: 404 }),
  ),
  finds(
    ["robots-too-large", 1, "robots.txt is larger than 500 KiB; the rest was not read"],
    named(`${robots("/sitemap.xml")}${"# comment\n".repeat(51_200)}`),
    named(`${robots("/sitemap.xml")}${"# comment\n".repeat(51_000)}`),
  ),
  finds(
    ["robots-sitemap-spelling", 1, "Sitemaps: https://example.org/sitemap.xml"],
    named(`Sitemaps: ${home}sitemap.xml`),
    named(`SITEMAP: ${home}sitemap.xml`),
  ),
  finds(
    ["robots-sitemap-relative", 1, "/sitemap.xml"],
    named("Sitemap: /sitemap.xml"),
    doc(sitemap("/", "<url><loc>/relative</loc></url>")),
  ),
  finds(["robots-no-sitemap", 1, undefined], named("User-agent: *\n")),
  finds(["robots-no-sitemap", 1, undefined, { what: "an empty robots.txt" }], named(""), named({ status: 404 })),
  finds(
    ["sitemap-undeclared", 1, undefined],
    guessed({ "/a.xml": sitemap("/"), "/sitemap.xml": sitemap("/a") }),
    guessed({ "/a.xml": index("/sitemap.xml"), "/sitemap.xml": sitemap("/") }),
  ),
  finds(
    ["sitemap-robots-disallowed", 1, "Googlebot, bingbot, YandexBot"],
    doc(sitemap("/private/"), "/private/sitemap.xml"),
    doc(sitemap("/maps/private/"), "/maps/private/sitemap.xml"),
  ),
  finds(["sitemap-unreachable", 1, "Not found (404)"], files({})),
  finds(
    ["sitemap-unreachable", 1, "Server error (500)", { what: "a server error" }],
    doc({ status: 500 }),
    doc({ status: 403 }),
  ),
  finds(["sitemap-challenge", 1, "Access denied (403)"], doc({ status: 403 }), doc({ status: 404 })),
  finds(
    ["sitemap-redirect", 1, `${home}sitemap.xml leads to https://example.org/a.xml`],
    files({ "/sitemap.xml": { to: `${home}a.xml` }, "/a.xml": sitemap("/") }),
    { routes: { "/sitemap.xml": { to: `${home}a.xml` }, "/a.xml": sitemap("/") } },
  ),
  finds(
    ["sitemap-redirect-broken", 1, `Redirect loop: back to ${home}sitemap.xml`],
    files({ "/sitemap.xml": { to: `${home}b.xml` }, "/b.xml": { to: `${home}sitemap.xml` } }),
    files({ "/sitemap.xml": { to: `${home}a.xml` }, "/a.xml": sitemap("/") }),
  ),
  finds(
    ["sitemap-slow", 1, /^0\.\d s$/],
    { ...doc({ wait: 300, body: sitemap("/") }), check: { slow: 200 } },
    doc({ wait: 300, body: sitemap("/") }),
  ),
  finds(
    ["sitemap-served-as-html", 1, "text/html; charset=utf-8"],
    doc({ headers: { "content-type": "text/html; charset=utf-8" }, body: sitemap("/") }),
    doc({ headers: { "content-type": "text/xml" }, body: sitemap("/") }),
  ),
  finds(["sitemap-cut-off", 1, "The file is cut off at line 8"], doc(sitemap("/", "/a").slice(0, -30))),
  finds(
    ["sitemap-compression", 1, "Ignored data after the end of the compressed data"],
    doc(Buffer.concat([gzipSync(sitemap("/")), Buffer.from("trailing")]), "/sitemap.xml.gz"),
    doc(gzipSync(sitemap("/")), "/sitemap.xml.gz"),
  ),
  finds(
    ["sitemap-not-compressed", 1, "1.0 MB"],
    doc(big),
    doc({ headers: { "content-encoding": "gzip" }, body: gzipSync(big) }),
  ),
];
