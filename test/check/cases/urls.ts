import type { Website } from "../checked.ts";
import { type Case, entry, files, home, many, robots, site, sitemap } from "./case.ts";

const host = "example.org";
const long = (length: number) => `${home}${"a".repeat(length - home.length)}`;

// Named by the homepage, not by robots.txt.
const linked = (text: string): Website => ({
  routes: {
    "/": { headers: { "content-type": "text/html" }, body: '<link rel="sitemap" href="/blog/sitemap.xml">' },
    "/blog/sitemap.xml": text,
  },
});

export const urlCases: readonly Case[] = [
  {
    rule: "url-missing",
    fires: site("<url><lastmod>2026-06-01T00:00:00Z</lastmod></url>"),
    near: site("/a"),
    count: 1,
    example: "Skipped an entry without a URL",
  },
  {
    rule: "url-tag-repeated",
    fires: site(`<url><loc>${home}a</loc><loc>${home}b</loc></url>`),
    near: site("/a", "/b"),
    count: 1,
    example: `${home}b`,
  },
  {
    rule: "url-not-absolute",
    fires: site("<url><loc>/relative</loc></url>"),
    // Atom allows it.
    near: files({
      "/sitemap.xml": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/relative"/></entry></feed>`,
    }),
    example: "/relative",
    count: 1,
  },
  {
    rule: "url-invalid",
    what: "no URL",
    fires: site("<url><loc>https://</loc></url>"),
    near: site("/a"),
    count: 1,
    example: "https://",
  },
  {
    rule: "url-invalid",
    what: "another scheme",
    fires: site("<url><loc>ftp://example.org/a</loc></url>"),
    near: site("/a"),
    count: 1,
    example: "ftp://example.org/a",
  },
  { rule: "url-too-long", fires: site(long(2048)), near: site(long(2047)), count: 1, example: `${long(200)}…` },
  { rule: "url-too-long-yandex", fires: site(long(1025)), near: site(long(1024)), count: 1, example: long(1025) },
  {
    rule: "url-too-long-yandex",
    what: "percent-encoded",
    fires: site(`${home}${"%C3%A4".repeat(1024)}`),
    near: site(`${home}${"%C3%A4".repeat(1000)}`),
    count: 1,
    example: `${`${home}${"%C3%A4".repeat(1024)}`.slice(0, 2047)}…`,
  },
  {
    rule: "url-escaped-twice",
    fires: site(`${home}a?b=1&amp;amp;c=2`),
    near: site(`${home}a?b=1&amp;c=2`),
    count: 1,
    example: `${home}a?b=1&amp;c=2`,
  },
  {
    rule: "url-www-mismatch",
    fires: site(`https://www.${host}/a`),
    near: site("/a"),
    example: `https://www.${host}/a`,
    count: 1,
  },
  {
    rule: "url-other-host",
    fires: site("https://other.org/a", "https://blog.example.org/b", "https://localhost/private"),
    near: { ...site("https://other.org/a"), check: { crossSubmit: ["other.org"] } },
    count: 2,
    example: "https://other.org/a",
  },
  {
    rule: "url-other-host",
    what: "a sitemap elsewhere, named by the robots.txt of the pages",
    fires: {
      routes: {
        "/robots.txt": robots("https://maps.example.net/a.xml"),
        "https://maps.example.net/a.xml": sitemap("https://third.org/a"),
      },
    },
    near: {
      routes: {
        "/robots.txt": robots("https://maps.example.net/a.xml"),
        "https://maps.example.net/a.xml": sitemap("/a"),
      },
    },
    count: 1,
    example: "https://third.org/a",
  },
  {
    rule: "url-other-scheme",
    fires: site(`http://${host}/a`),
    near: site("/a"),
    count: 1,
    example: "http://example.org/a",
  },
  {
    rule: "url-outside-directory",
    fires: linked(sitemap("/blog/a", "/shop/b", "/blogs")),
    near: linked(sitemap("/blog/a", "/blog/b/c")),
    count: 2,
    severity: "warning",
    example: `${home}shop/b`,
  },
  {
    rule: "url-outside-directory",
    what: "named by robots.txt: one note for the website",
    fires: files({ "/blog/1.xml": sitemap("/shop/b", "/shop/c"), "/blog/2.xml": sitemap("/shop/d") }, [
      "/blog/1.xml",
      "/blog/2.xml",
    ]),
    near: { routes: { "/blog/sitemap.xml": sitemap("/shop/b") }, sitemaps: [`${home}blog/sitemap.xml`] },
    count: 2,
    severity: "info",
    example: `${home}blog/1.xml`,
  },
  {
    rule: "url-private-host",
    fires: site(
      "http://localhost/a",
      "http://127.0.0.1:3000/a",
      "https://10.1.2.3/",
      "https://[::1]/",
      "https://intranet/",
      "https://printer.local/",
      "https://shop.test/",
      "https://a.internal/",
      "https://a.example/",
    ),
    near: site(
      "https://localhost.org/",
      "https://8.8.8.8/",
      "https://internal.org/",
      "https://test.org/",
      "https://dev.to/",
    ),
    count: 9,
    severity: "error",
    example: "http://localhost/a",
  },
  {
    rule: "url-private-host",
    what: "a staging host",
    fires: { ...site("https://staging.example.org/a"), check: { crossSubmit: ["staging.example.org"] } },
    // One finding for each URL: it is on another host.
    near: site("https://stagingpost.example.org/a", "https://staging.example.org/a"),
    severity: "warning",
    count: 1,
    example: "https://staging.example.org/a",
  },
  {
    rule: "url-credentials",
    fires: site("https://user:secret@example.org/a"),
    near: site("/@user", "/a?b=c@d"),
    example: "https://…@example.org/a",
    count: 1,
  },
  { rule: "url-fragment", fires: site("/a#b"), near: site("/a#", "/a%23b"), count: 1, example: `${home}a#b` },
  {
    rule: "url-session-id",
    fires: site("/a;jsessionid=1A2B", "/b?PHPSESSID=1", "/c?x=1&amp;sid=2", "/d?ASPSESSIONIDABCD=3", "/e?zenid=4"),
    near: site("/a?sidebar=1", "/b?inside=2", "/session"),
    count: 5,
    example: `${home}a;jsessionid=1A2B`,
  },
  {
    rule: "url-tracking-parameter",
    fires: site("/a?utm_source=x", "/b?gclid=1", "/c?x=1&amp;fbclid=2", "/d?_ga=3", "/e?ref=4"),
    near: site("/a?reference=1", "/utm_source=x", "/b?custom_utm=1"),
    count: 5,
    example: `${home}a?utm_source=x`,
  },
  {
    rule: "url-not-escaped",
    fires: site("/a b", "/c|d", "/e{f}", "/g^h"),
    near: site("/a%20b", "/c/d", "/(e)", "/g~h"),
    count: 4,
    severity: "warning",
    example: `${home}a b`,
  },
  {
    rule: "url-not-escaped",
    what: "an IRI",
    fires: site("/käse"),
    near: site("/k%C3%A4se"),
    severity: "info",
    count: 1,
    example: `${home}käse`,
  },
  {
    rule: "url-percent-invalid",
    fires: site("/100%", "/a%zz"),
    near: site("/100%25", "/a%C3%A4"),
    count: 2,
    example: `${home}100%`,
  },
  {
    rule: "url-percent-twice",
    fires: site("/a%2520b"),
    near: site("/a%25b", "/a%20b"),
    count: 1,
    example: `${home}a%2520b`,
  },
  {
    rule: "url-not-normal",
    fires: site("https://EXAMPLE.org/a", "https://example.org:443/b", "/c/../d", "/e/./f", "https://example.org./g"),
    near: site("/A", "/c/..d", "/e/.f", "https://example.org/a:443"),
    count: 5,
    example: "https://EXAMPLE.org/a",
  },
  {
    rule: "url-double-slash",
    fires: site("/a//b"),
    near: site("/a/b", "/a?u=https://x.org//y"),
    count: 1,
    example: `${home}a//b`,
  },
  {
    rule: "url-asset",
    fires: site("/a.css", "/b.PNG", "/c.json?v=1"),
    near: site("/a.html", "/b.pdf", "/css", "/c?file=a.png"),
    count: 3,
    example: `${home}a.css`,
  },
  {
    rule: "url-utility",
    fires: site("/cart", "/en/checkout/", "/login", "/wp-admin/x", "/?s=shoes", "/search?q=a"),
    near: site("/cartoons", "/login-help", "/research", "/blog/cart-tips", "/?sort=asc"),
    count: 6,
    example: `${home}cart`,
  },
  {
    rule: "url-duplicate",
    fires: files({ "/a.xml": sitemap("/", "/x", "/y"), "/b.xml": sitemap("/y", "/x", "/z") }, ["/a.xml", "/b.xml"]),
    near: files({ "/a.xml": sitemap("/", "/x"), "/b.xml": sitemap("/x2", "/x/y") }, ["/a.xml", "/b.xml"]),
    count: 2,
    example: `${home}y`,
  },
  {
    rule: "url-variants",
    fires: site(
      "/x",
      "/x/",
      "/X",
      `http://${host}/y`,
      "/y",
      "https://www.example.org/z",
      "/z",
      "/q?a=1&amp;b=2",
      "/q?b=2&amp;a=1",
    ),
    near: site("/x", "/x/y", "/x?a=1", "/x?a=2", "/xy", "/x#a"),
    count: 5,
    example: `${home}x/`,
  },
  {
    rule: "url-lastmod-conflict",
    fires: files(
      {
        "/a.xml": sitemap("/", entry("/x", "<lastmod>2026-06-01T00:00:00Z</lastmod>")),
        "/b.xml": sitemap(entry("/x", "<lastmod>2026-06-03</lastmod>")),
      },
      ["/a.xml", "/b.xml"],
    ),
    near: files(
      {
        "/a.xml": sitemap(
          "/",
          entry("/x", "<lastmod>2026-06-01T00:00:00Z</lastmod>"),
          entry("/y", "<lastmod>2026-06-01</lastmod>"),
        ),
        "/b.xml": sitemap(
          entry("/x", "<lastmod>2026-06-01T02:00:01+02:00</lastmod>"),
          entry("/y", "<lastmod>2026-06-01T23:59:59Z</lastmod>"),
          entry("/z", "<lastmod>2026-06-03</lastmod>"),
        ),
      },
      ["/a.xml", "/b.xml"],
    ),
    count: 1,
    example: `${home}x`,
  },
  {
    rule: "homepage-unlisted",
    fires: files({ "/sitemap.xml": sitemap(...many(10, (number) => `/${number}`)) }),
    near: files({ "/sitemap.xml": sitemap("https://example.org", ...many(10, (number) => `/${number}`)) }),
    count: 1,
    example: home,
  },
  {
    rule: "homepage-unlisted",
    what: "an incomplete tree is not judged",
    fires: files({ "/sitemap.xml": sitemap(...many(10, (number) => `/${number}`)) }),
    near: files({ "/sitemap.xml": sitemap(...many(10, (number) => `/${number}`)) }, ["/sitemap.xml", "/gone.xml"]),
    count: 1,
    example: home,
  },
  {
    rule: "homepage-unlisted",
    what: "a few pages are not the website",
    fires: files({ "/sitemap.xml": sitemap(...many(10, (number) => `/${number}`)) }),
    near: files({ "/sitemap.xml": sitemap(...many(9, (number) => `/${number}`)) }),
    count: 1,
    example: home,
  },
  {
    rule: "url-robots-disallowed",
    what: "on the host that the website has moved to",
    fires: files({
      "/robots.txt": { to: "https://www.example.org/robots.txt" },
      "https://www.example.org/robots.txt":
        "User-agent: *\nDisallow: /private\nSitemap: https://www.example.org/sitemap.xml",
      "https://www.example.org/sitemap.xml": sitemap("https://www.example.org/private/a"),
    }),
    near: files({
      "/robots.txt": { to: "https://www.example.org/robots.txt" },
      "https://www.example.org/robots.txt":
        "User-agent: *\nDisallow: /private\nSitemap: https://www.example.org/sitemap.xml",
      "https://www.example.org/sitemap.xml": sitemap(
        "https://shop.example.org/private/a",
        "https://www.example.org.evil/private",
      ),
    }),
    count: 1,
    example: "https://www.example.org/private/a",
  },
  {
    rule: "sitemap-near-limit",
    fires: site(...many(45_001, (number) => `/${number}`)),
    near: site(...many(44_000, (number) => `/${number}`)),
    count: 1,
    example: "45002 URLs",
  },
];
