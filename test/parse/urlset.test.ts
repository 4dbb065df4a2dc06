import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { entry, richUrlset as urlset } from "../support/documents.ts";
import { noFastPath } from "../support/no-fast-path.ts";
import { parsed, parsePieces, summary, urlsOf } from "../support/parsed.ts";
import { parseSiteFile } from "../support/site-file.ts";

// These websites (test/crawl/sites.test.ts) show how every field of every format is read.
const sites = path.join(import.meta.dirname, "../fixtures/sites");
test.each(readdirSync(sites))(
  "the documents of %s are read the same, however they are split, and without the fast path",
  (file) => {
    const { routes } = parseSiteFile(readFileSync(path.join(sites, file), "utf8"));
    for (const [name, route] of Object.entries(routes)) {
      const body = typeof route === "object" && "body" in route ? String(route.body).slice(0, 20_000) : "";
      const url = `https://example.org${name}`;
      expect(parsed(body, { url })).toEqual(parsePieces([body], { url, fastPath: noFastPath }));
    }
  },
);

// https://www.sitemaps.org/protocol.html
test("spec: every field of an entry is read", () => {
  const result = parsed(
    urlset(
      `<url>
        <loc>https://example.org/a?x=1&amp;y=2</loc>
        <lastmod>2024-05-06T07:08:09+02:00</lastmod>
        <changefreq>daily</changefreq>
        <priority>0.8</priority>
      </url>`,
      entry("https://example.org/b"),
    ),
  );
  expect(result.outcome).toEqual({ kind: "pages", format: "xml" });
  expect(result.pages).toEqual([
    {
      url: "https://example.org/a?x=1&y=2",
      priority: 0.8,
      lastModified: "2024-05-06T07:08:09+02:00",
      changeFrequency: "daily",
    },
    { url: "https://example.org/b" },
  ]);
  expect(result.problems).toEqual([]);
  expect(result.complete).toBe(true);
});

test("a field that is not declared is absent, not undefined", () => {
  const result = parsed(urlset(entry("https://example.org/", "<news:news><news:title>T</news:title></news:news>")));
  expect(Object.keys(result.pages[0]!)).toEqual(["url", "newsStory"]);
  expect(Object.keys(result.pages[0]!.newsStory!)).toEqual(["title"]);
});

test("fields may come in any order, and surrounding text does not matter", () => {
  const result = parsed(
    urlset(`<url> <!-- c --> <priority>0.1</priority><?pi x?><unknown a="b>"><loc>https://no.example/</loc></unknown>
      <changefreq> Weekly </changefreq> text <lastmod>
        2024-01-02
      </lastmod><loc>  https://example.org/a  </loc></url>`),
  );
  const fields = { priority: 0.1, changeFrequency: "weekly", lastModified: "2024-01-02" };
  expect(result.pages).toEqual([{ url: "https://example.org/a", ...fields }]);
});

describe("locs", () => {
  const long = `https://example.org/${"x".repeat(3000)}`;
  const z = entry("https://example.org/z");

  test.each<[what: string, entries: string[], urls: string[], problems: object[]]>([
    [
      "lenient: missing and empty ones cost the entry",
      ["<url><priority>1</priority></url>", "<url><loc/></url>", entry(" \n "), z],
      ["https://example.org/z"],
      [{ code: "url-missing", count: 3, line: 7 }],
    ],
    [
      "lenient: invisible spaces are trimmed",
      [entry("\u00a0https://example.org/a\u200b"), entry("&#xA0;https://example.org/b&nbsp;")],
      ["https://example.org/a", "https://example.org/b"],
      [{ code: "xml-html-entity" }],
    ],
  ])("%s", (_, entries, urls, problems) => {
    expect(parsed(urlset(...entries))).toMatchObject({ pages: urls.map((url) => ({ url })), problems });
  });

  test("relative URLs are invalid if the document itself has no URL", () => {
    const result = summary(urlset(entry("a"), z), { url: undefined });
    expect(result).toMatchObject({ urls: ["https://example.org/z"], codes: ["url-invalid"] });
  });

  test("an overlong character reference loses only its entry", () => {
    const result = summary(urlset(entry(long), z), { limits: { xmlTextLength: 1000 } });
    expect(result).toMatchObject({ urls: ["https://example.org/z"], codes: ["limit-url-length"] });
  });
});

describe("the content of a loc", () => {
  test("lenient: if a loc contains only a child, the child's text is used", () => {
    const result = parsed(urlset(entry("<a href='#'>https://example.org/a</a>"), entry("https://example.org/b<br/>")));
    expect(urlsOf(result)).toEqual(["https://example.org/a", "https://example.org/b"]);
    expect(result.problems).toMatchObject([{ code: "url-repaired", count: 2 }]);
  });

  test.each([
    "https://example.org/<b>x</b>/y",
    "https://example.org/c<b>d</b>",
    "https://example.org/<br/>c",
    "<b>https://example.org/</b><i>e</i>",
    "<b>https://example.org/</b>e",
  ])("text around and inside elements is not a URL: %s", (content) => {
    const result = summary(urlset(entry(content), entry("https://example.org/z")));
    expect(result).toMatchObject({ urls: ["https://example.org/z"], codes: ["url-invalid"] });
  });

  test("tags inside a title are removed, and their text is kept", () => {
    const result = parsed(
      urlset(entry("https://example.org/", "<news:news><news:title>a <b>b</b> <i>c</i>d</news:title></news:news>")),
    );
    expect(result.pages[0]?.newsStory?.title).toBe("a b cd");
  });
});

describe("extensions", () => {
  const page = (...fields: string[]) => urlset(entry("https://example.org/", fields.join("")));

  test("an image without a URL is skipped and reported; so are those beyond the limit", () => {
    const images = ["", "/1", "/2", "/3"].map((loc) => `<image:image><image:loc>${loc}</image:loc></image:image>`);
    const result = parsed(page(...images), { limits: { images: 2 } });
    expect(result.pages[0]?.images).toEqual([{ url: "https://example.org/1" }, { url: "https://example.org/2" }]);
    expect(result.codes).toEqual(["image-incomplete", "url-relative", "limit-images"]);
    expect(result.complete).toBe(false);
  });

  test("the loc of an image is not the loc of the page", () => {
    const text = urlset("<url><image:loc>https://example.org/no</image:loc></url>");
    expect(parsed(text)).toMatchObject({ pages: [], codes: ["url-missing"] });
  });

  test("videos beyond the limit are skipped and reported", () => {
    const video = `<video:video><video:thumbnail_loc>https://example.org/t.jpg</video:thumbnail_loc><video:title>T</video:title>
      <video:description>D</video:description><video:content_loc>https://example.org/v.mp4</video:content_loc></video:video>`;
    const result = parsed(page(video, video), { limits: { videos: 1 } });
    expect(result.pages[0]?.videos).toHaveLength(1);
    expect(result.codes).toEqual(["limit-videos"]);
  });

  test("an alternate without relation, language or URL is skipped and reported; so are those beyond the limit", () => {
    const links = [
      ...['rel="alternate" href="https://example.org/nolang"', 'rel="alternate" hreflang="de"'],
      'hreflang="nl" href="https://example.org/nl"',
      'rel="canonical" hreflang="es" href="https://example.org/es"',
      'rel="alternate" hreflang="fr" href="https://example.org/fr"',
      'rel="alternate" hreflang="it" href="https://example.org/it"',
    ].map((attributes) => `<xhtml:link ${attributes}/>`);
    const result = parsed(page(...links), { limits: { alternates: 1 } });
    expect(result.pages[0]?.alternates).toEqual([{ language: "fr", url: "https://example.org/fr" }]);
    expect(result.problems).toMatchObject([
      { code: "alternate-incomplete", count: 3 },
      { code: "limit-alternates", limit: 1 },
    ]);
  });

  test("lenient: `<link>` is read as `<xhtml:link>`", () => {
    const result = parsed(page('<link rel="alternate" hreflang="de" href="https://example.org/de"/>'));
    expect(result.pages[0]?.alternates).toEqual([{ language: "de", url: "https://example.org/de" }]);
    expect(result.codes).toEqual(["xml-namespace"]);
  });
});

describe("limits of a document", () => {
  test("reading stops at the limit of entries; duplicates do not count", () => {
    const result = parsed(urlset(...[1, 1, 2, 3, 4].map((n) => entry(`https://example.org/${n}`))), {
      limits: { documentEntries: 2 },
    });
    expect(urlsOf(result)).toEqual(["https://example.org/1", "https://example.org/2"]);
    expect(result.problems).toMatchObject([
      { code: "url-repeated" },
      { code: "limit-document-entries", limit: 2, line: 10 },
    ]);
    expect(result.complete).toBe(false);
  });

  test("more entries than the protocol allows are reported, including repeated ones", () => {
    const entries = Array.from({ length: 60_000 }, (_, n) => entry(`https://example.org/${n % 45_000}`));
    const result = parsePieces([urlset(...entries)]);
    expect(result.pages).toHaveLength(45_000);
    expect(result.problems).toMatchObject([
      { code: "url-repeated", value: "https://example.org/0", count: 15_000 },
      { code: "protocol-entries", limit: 50_000 },
    ]);
    expect(result.complete).toBe(true);
  });

  test.each([
    "<urlset/>",
    "<urlset>\n<!-- none -->\n</urlset>",
    "<sitemapindex></sitemapindex>",
    "<rss><channel><title>T</title></channel></rss>",
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title></feed>',
  ])("%s lists nothing, which is reported", (text) => {
    const result = parsed(text);
    expect(result.codes.filter((code) => code !== "xml-namespace")).toEqual(["no-entries"]);
    expect(result.complete).toBe(true);
  });

  test("a document that is cut off before its first entry is not called empty", () => {
    expect(parsed('<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">').codes).toEqual(["xml-truncated"]);
  });

  test.each(["documentEntries", "urlLength", "xmlDepth", "xmlTextLength", "xmlAttributes", "xmlNameLength"] as const)(
    "%s of zero means zero",
    (limit) => {
      const result = parsed(urlset(entry("https://example.org/")), { limits: { [limit]: 0 } });
      expect(result).toMatchObject({ pages: [], complete: false });
    },
  );
});

describe("nothing is dropped silently", () => {
  const page = (fields: string) => urlset(entry("https://e.example/0", fields));
  const video = (fields: string) =>
    page(`<video:video><video:thumbnail_loc>https://e.example/t</video:thumbnail_loc><video:title>t</video:title>
      <video:description>d</video:description><video:content_loc>https://e.example/v</video:content_loc>${fields}</video:video>`);

  test("all URLs in one entry are pages, however many", () => {
    const locs = Array.from({ length: 1500 }, (_, at) => `<loc>https://e.example/${at + 1}</loc>`);
    const result = parsed(page(locs.join("")));
    expect(result.pages).toHaveLength(1501);
    expect(result.problems).toMatchObject([{ code: "url-several", count: 1500 }]);
  });

  test("values of a video beyond the first thousand are a loss", () => {
    const tags = "<video:tag>t</video:tag>".repeat(1200);
    const result = parsed(video(tags));
    expect(result.pages[0]?.videos?.[0]?.tags).toHaveLength(1000);
    expect(result.problems).toMatchObject([{ code: "limit-video-values", count: 200, limit: 1000 }]);
    expect(result.complete).toBe(false);
  });

  test("a second news story and repeated elements are reported, and the first ones count", () => {
    const story = (title: string) =>
      `<news:news><news:publication><news:name>n</news:name><news:language>en</news:language></news:publication>
       <news:publication_date>2024-05-31</news:publication_date><news:title>${title}</news:title></news:news>`;
    const result = parsed(
      page(`<lastmod>2024-01-01</lastmod><lastmod>2024-02-02</lastmod><priority>0.1</priority><priority>0.2</priority>
        <changefreq>daily</changefreq><changefreq>weekly</changefreq>${story("one")}${story("two")}`),
    );
    expect(result.pages).toMatchObject([
      { lastModified: "2024-01-01", priority: 0.1, changeFrequency: "daily", newsStory: { title: "one" } },
    ]);
    expect(result.problems).toMatchObject([
      { code: "element-repeated", value: "lastmod", count: 3 },
      { code: "news-repeated" },
    ]);
  });

  test("a video's TV show is kept", () => {
    const result = parsed(
      video(`<video:tvshow>
        <video:show_title>Trees</video:show_title><video:video_type>full</video:video_type><video:episode_title>Oak</video:episode_title>
        <video:season_number>2</video:season_number><video:episode_number>x</video:episode_number>
        <video:premier_date>2008-05-23</video:premier_date></video:tvshow>`),
    );
    expect(result.pages[0]?.videos?.[0]?.tvShow).toEqual({
      showTitle: "Trees",
      videoType: "full",
      episodeTitle: "Oak",
      seasonNumber: 2,
      premierDate: "2008-05-23",
    });
    expect(result.problems).toMatchObject([{ code: "video-invalid", value: "episodeNumber: x" }]);
  });
});
