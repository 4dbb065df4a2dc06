import { isLong } from "../../support/long.ts";
import type { Website } from "../checked.ts";
import { type Case, dated, doc, files, finds, home, many, site, sitemap, two } from "./case.ts";

const host = "example.org";
const long = (length: number) => `${home}${"a".repeat(length - home.length)}`;

const tenPages = many(10, (number) => `/${number}`);
const moved = (...urls: readonly string[]): Website =>
  files({
    "/robots.txt": { to: "https://www.example.org/robots.txt" },
    "https://www.example.org/robots.txt":
      "User-agent: *\nDisallow: /private\nSitemap: https://www.example.org/sitemap.xml",
    "https://www.example.org/sitemap.xml": sitemap(...urls),
  });

// Only a link on the homepage leads to the sitemap, not robots.txt.
const linked = (text: string): Website => ({
  routes: {
    "/": { headers: { "content-type": "text/html" }, body: '<link rel="sitemap" href="/blog/sitemap.xml">' },
    "/blog/sitemap.xml": text,
  },
});

export const urlCases: readonly Case[] = [
  finds(
    ["url-missing", 1, "Skipped an entry without a URL"],
    site("<url><lastmod>2026-06-01T00:00:00Z</lastmod></url>"),
  ),
  finds(["url-tag-repeated", 1, `${home}b`], site(`<url><loc>${home}a</loc><loc>${home}b</loc></url>`)),
  finds(
    ["url-not-absolute", 1, "/relative"],
    site("<url><loc>/relative</loc></url>"),
    // Atom allows it.
    doc(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/relative"/></entry></feed>`),
  ),
  finds(["url-invalid", 1, "https://", { what: "no URL" }], site("<url><loc>https://</loc></url>")),
  finds(
    ["url-invalid", 1, "ftp://example.org/a", { what: "another scheme" }],
    site("<url><loc>ftp://example.org/a</loc></url>"),
  ),
  finds(["url-too-long", 1, `${long(200)}…`], site(long(2048)), site(long(2047))),
  finds(["url-too-long-yandex", 1, long(1025)], site(long(1025)), site(long(1024)), site(long(2048))),
  finds(
    ["url-too-long-yandex", 1, `${long(1000)}${"%C3%A4".repeat(25)}`, { what: "percent-encoded" }],
    site(`${long(1000)}${"%C3%A4".repeat(25)}`),
    site(`${long(1000)}${"%C3%A4".repeat(24)}`),
  ),
  finds(
    ["url-escaped-twice", 1, `${home}a?b=1&amp;c=2`],
    site(`${home}a?b=1&amp;amp;c=2`),
    site(`${home}a?b=1&amp;c=2`),
  ),
  finds(["url-www-mismatch", 1, `https://www.${host}/a`], site(`https://www.${host}/a`)),
  finds(
    ["url-other-host", 2, "https://other.org/a"],
    site("https://other.org/a", "https://blog.example.org/b", "https://localhost/private"),
    { ...site("https://other.org/a"), check: { crossSubmit: ["other.org"] } },
  ),
  finds(
    ["url-other-host", 1, "https://third.org/a", { what: "a sitemap elsewhere, named by the robots.txt of the pages" }],
    doc(sitemap("https://third.org/a"), "https://maps.example.net/a.xml"),
    doc(sitemap("/a"), "https://maps.example.net/a.xml"),
  ),
  finds(["url-other-scheme", 1, "http://example.org/a"], site(`http://${host}/a`)),
  finds(
    ["url-outside-directory", 2, `${home}shop/b`, { severity: "warning" }],
    linked(sitemap("/blog/a", "/shop/b", "/blogs")),
    linked(sitemap("/blog/a", "/blog/b/c")),
  ),
  finds(
    ["url-outside-directory", 2, `${home}blog/1.xml`, { what: "one note for the website", severity: "info" }],
    files({ "/blog/1.xml": sitemap("/shop/b"), "/blog/2.xml": sitemap("/shop/d") }, ["/blog/1.xml", "/blog/2.xml"]),
    { routes: { "/blog/sitemap.xml": sitemap("/shop/b") }, sitemaps: [`${home}blog/sitemap.xml`] },
  ),
  finds(
    ["url-private-host", 9, "http://localhost/a", { severity: "error" }],
    site(
      ...["http://localhost/a", "http://127.0.0.1:3000/a", "https://10.1.2.3/", "https://[::1]/", "https://intranet/"],
      ...["https://printer.local/", "https://shop.test/", "https://a.internal/", "https://a.example/"],
    ),
    site("https://localhost.org/", "https://8.8.8.8/", "https://internal.org/", "https://test.org/", "https://dev.to/"),
  ),
  finds(
    ["url-private-host", 1, "https://staging.example.org/a", { what: "a staging host", severity: "warning" }],
    { ...site("https://staging.example.org/a"), check: { crossSubmit: ["staging.example.org"] } },
    site("https://stagingpost.example.org/a", "https://latest.example.org/a"),
  ),
  finds(
    ["url-forbidden", 2, `${home}drafts/a`],
    { ...site("/drafts/a", "/a?preview=1", "/a"), check: { forbidden: ["/drafts/*", "*?preview=*"] } },
    { ...site("/my/drafts/a", "/drafts"), check: { forbidden: ["/drafts/*", "https://other.org/*"] } },
  ),
  finds(
    ["url-credentials", 1, "https://…@example.org/a"],
    site("https://user:secret@example.org/a"),
    site("/@user", "/a?b=c@d"),
  ),
  finds(["url-fragment", 1, `${home}a#b`], site("/a#b"), site("/a#", "/a%23b")),
  finds(
    ["url-session-id", 5, `${home}a;jsessionid=1A2B?sid=3`],
    site("/a;jsessionid=1A2B?sid=3", "/b?PHPSESSID=1", "/c?x=1&amp;sid=2", "/d?ASPSESSIONIDABCD=3", "/e?zenid=4"),
    site(
      "/a?sidebar=1",
      "/b?inside=2",
      "/session",
      "/talks?session=keynote",
      "/talks?session=12",
      "/a(S)b/c",
      "/(s)/d",
    ),
  ),
  finds(
    ["url-session-id", 4, `${home}(S(lit3py55t21z5v55))/a.aspx`, { what: "in the path, or by its value" }],
    site(
      "/(S(lit3py55t21z5v55))/a.aspx",
      "/(A(x1)S(lit3py55))/b.aspx",
      "/c?session=8f14e45fceea167a5a36dedd4bea2543",
      "/d?session_id=1",
    ),
  ),
  finds(
    ["url-tracking-parameter", 5, `${home}a?utm_source=x`],
    site("/a?utm_source=x", "/b?gclid=1", "/c?x=1&amp;fbclid=2", "/d?_ga=3", "/e?ref=4"),
    site("/a?reference=1", "/utm_source=x", "/b?custom_utm=1"),
  ),
  finds(
    ["url-not-escaped", 4, `${home}a b`, { severity: "warning" }],
    site("/a b", "/c|d", "/e{f}", "/g^h"),
    site("/a%20b", "/c/d", "/(e)", "/g~h"),
  ),
  finds(["url-not-escaped", 1, `${home}käse`, { what: "an IRI", severity: "info" }], site("/käse"), site("/k%C3%A4se")),
  finds(["url-percent-invalid", 2, `${home}100%`], site("/100%", "/a%zz"), site("/100%25", "/a%C3%A4")),
  finds(["url-percent-twice", 1, `${home}a%2520b`], site("/a%2520b"), site("/a%25b", "/a%20b")),
  finds(
    ["url-not-normal", 5, "https://EXAMPLE.org/../a"],
    site("https://EXAMPLE.org/../a", "https://example.org:443/b", "/c/../d", "/e/./f", "https://example.org./g"),
    site("/A", "/c/..d", "/e/.f", "https://example.org/a:443"),
  ),
  finds(["url-double-slash", 1, `${home}a//b`], site("/a//b"), site("/a/b", "/a?u=https://x.org//y")),
  finds(
    ["url-asset", 3, `${home}a.css`],
    site("/a.css", "/b.PNG", "/c.json?v=1"),
    site("/a.html", "/b.pdf", "/css", "/c?file=a.png"),
  ),
  finds(
    ["url-utility", 6, `${home}cart`],
    site("/cart", "/en/checkout/", "/login", "/wp-admin/x", "/?s=shoes", "/search?q=a"),
    site("/cartoons", "/login-help", "/research", "/blog/cart-tips", "/?sort=asc"),
  ),
  finds(
    ["url-utility", 6, `${home}de/?s=schuh`, { what: "internal search" }],
    site(
      "/de/?s=schuh",
      "/index.php?s=a",
      "/find?query=a",
      "/x?a=1&amp;search=b",
      "/en/search/hats",
      "/catalogsearch/",
    ),
    site("/shirt?s=42", "/searchlight", "/job-search", "/x?research=1", "/x?quality=q", "/x?seq=1"),
  ),
  finds(["url-duplicate", 2, `${home}y`], two(["/x", "/y"], ["/y", "/x", "/z"]), two(["/x"], ["/x2", "/x/y"])),
  finds(
    ["url-variants", 5, `${home}x/`],
    site("/x", "/x/", "/X", `http://${host}/y`, "/y", `https://www.${host}/z`, "/z", "/q?a=1&amp;b", "/q?b&amp;a=1"),
    site("/x", "/x/y", "/x?a=1", "/x?a=2", "/xy", "/x#a", `https://${host}`),
  ),
  finds(
    ["url-lastmod-conflict", 1, `${home}x`],
    two([dated("/x", "2026-06-01T00:00:00Z")], [dated("/x", "2026-06-03")]),
    two(
      [dated("/x", "2026-06-01T00:00:00Z"), dated("/y", "2026-06-01")],
      [dated("/x", "2026-06-01T02:00:01+02:00"), dated("/y", "2026-06-01T23:59:59Z"), dated("/z", "2026-06-03")],
    ),
  ),
  finds(
    ["homepage-unlisted", 1, home],
    doc(sitemap(...tenPages)),
    doc(sitemap("https://example.org", ...tenPages)),
    // The tree is incomplete, or has too few pages to stand for the website.
    files({ "/sitemap.xml": sitemap(...tenPages) }, ["/sitemap.xml", "/gone.xml"]),
    doc(sitemap(...tenPages.slice(1))),
  ),
  finds(
    ["url-robots-disallowed", 1, "https://www.example.org/private/a", { what: "on the host that it has moved to" }],
    moved("https://www.example.org/private/a"),
    moved("https://shop.example.org/private/a", "https://www.example.org.evil/private"),
  ),
  finds(
    ["sitemap-near-limit", 1, "45002 URLs"],
    site(...many(45_001, (number) => `/${number}`)),
    ...(isLong ? [site(...many(44_999, (number) => `/${number}`))] : []),
  ),
  finds(
    ["url-facet", 6, `${home}c?sort=price`],
    site(
      ...[
        "c?sort=price",
        "c?filter[color]=red",
        "c?a=1&amp;page=2",
        "c/page/3/",
        "c?orderby=date",
        "c?min_price=3",
      ].map((name) => `/${name}`),
    ),
    site("/c?page=about", "/page/two", "/c?id=7", "/sort", "/c?color=red"),
  ),
  finds(
    ["url-facet", 2, `${home}c?farbe=f0`, { what: "combinations of parameters, whatever their names" }],
    site(
      ...many(5, (at) => `/c?farbe=f${at}`),
      ...many(16, (at) => `/c?farbe=f${at % 4}&amp;groesse=${at >> 2}&amp;lang=de`),
      ...many(20, (at) => `/d?b=${at % 10}&amp;a=${Math.floor(at / 10)}`),
    ),
    // Too few pages, products of old shops, languages, categories, topics of a forum, a single parameter, articles of a CMS.
    site(...many(19, (at) => `/c?farbe=f${at % 4}&amp;groesse=${at >> 2}`)),
    site(...many(60, (at) => `/product_info.php?products_id=${at}`)),
    site(...many(60, (at) => `/product.php?id=${at % 10}&amp;lang=${["en", "de", "fr", "it", "es", "nl"][at % 6]}`)),
    site(...many(60, (at) => `/p.php?cat=${at % 5}&amp;article=${at}`)),
    site(...many(60, (at) => `/viewtopic.php?f=${at % 7}&amp;t=${at}`)),
    site(...many(60, (at) => `/product?id=${at % 20}&amp;color=${at % 3}`)),
    site(...many(60, (at) => `/list?brand=b${at}`)),
    site(...many(60, (at) => `/index.php?option=com_content&amp;view=article&amp;id=${at}&amp;Itemid=${at % 9}`)),
    site(...many(60, (at) => `/shop/${at}?color=red&amp;size=${at % 3}`)),
  ),
  finds(
    [
      "url-private-host",
      2,
      "https://staging-www.example.org/a",
      { what: "a staging host in the sitemap of the public one" },
    ],
    site("https://staging-www.example.org/a", "https://shop.vercel.app/b"),
    site("/staging/a"),
  ),
];
