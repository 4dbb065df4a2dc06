// The elements of `<urlset>` and `<sitemapindex>`, and of the news, image and hreflang extensions.
// https://www.sitemaps.org/protocol.html
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
// https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
//   Lenient: `<link>` is taken for `<xhtml:link>`.
//   Lenient: `<urlset>` and `<sitemapindex>` may stand in one another.
import { type ElementRule, elements, type Part as RulePart, rule, wrapper } from "./element-rule.ts";
import type { UrlsetReader } from "./urlset-reader.ts";
import { parseList } from "./values.ts";
import { videoRules } from "./video-rules.ts";

type Rules = Map<string, ElementRule<UrlsetReader>>;
type Part = RulePart<UrlsetReader>;

const news: Rules = elements("news", {
  publication: {
    children: elements<UrlsetReader>("news", {
      name: {
        isDetail: true,
        text({ news }, text) {
          if (text !== "") news.publicationName ??= text;
        },
      },
      language: {
        isDetail: true,
        text({ news }, text) {
          if (text !== "") news.publicationLanguage ??= text;
        },
      },
    }),
  },
  title: {
    isDetail: true,
    text({ news }, text) {
      if (text !== "") news.title ??= text;
    },
  },
  publication_date: {
    isDate: true,
    isDetail: true,
    text(reader, text, facts) {
      const date = reader.newsDate(text, facts);
      if (date !== undefined) reader.news.publishDate ??= date;
    },
  },
  access: {
    isDetail: true,
    text({ news }, text) {
      if (text !== "") news.access ??= text;
    },
  },
  genres: {
    isDetail: true,
    text({ news }, text) {
      if (text !== "") news.genres ??= parseList(text);
    },
  },
  keywords: {
    isDetail: true,
    text({ news }, text) {
      if (text !== "") news.keywords ??= parseList(text);
    },
  },
  stock_tickers: {
    isDetail: true,
    text({ news }, text) {
      if (text !== "") news.stockTickers ??= parseList(text);
    },
  },
});

const image: Rules = elements("image", {
  loc: {
    isUrl: true,
    isDetail: true,
    text(reader, text, facts) {
      const url = text === "" ? undefined : reader.url(text, facts);
      if (url !== undefined) reader.image.url ??= url;
    },
  },
  caption: {
    isDetail: true,
    text({ image }, text) {
      if (text !== "") image.caption ??= text;
    },
  },
  geo_location: {
    isDetail: true,
    text({ image }, text) {
      if (text !== "") image.geoLocation ??= text;
    },
  },
  title: {
    isDetail: true,
    text({ image }, text) {
      if (text !== "") image.title ??= text;
    },
  },
  license: {
    isUrl: true,
    isDetail: true,
    text(reader, text, facts) {
      const url = text === "" ? undefined : reader.url(text, facts);
      if (url !== undefined) reader.image.license ??= url;
    },
  },
});

//   Lenient: a `<loc>` that is opened twice is read as if it were opened once, and so is what follows it.
function withLoc(fields: Rules): Rules {
  const loc: Part = {
    isUrl: true,
    isKey: true,
    children: fields,
    text: (reader, text, facts) => reader.setLoc(text, facts),
  };
  for (const [key, found] of elements("sitemap", { loc })) fields.set(key, found);
  return fields;
}

const sitemap: Rules = withLoc(
  elements("sitemap", {
    lastmod: { isDate: true, text: (reader, text, facts) => reader.setLastModified(text, facts) },
  }),
);

const page: Rules = withLoc(
  new Map([
    ...elements<UrlsetReader>("sitemap", {
      lastmod: { isDate: true, isDetail: true, text: (reader, text, facts) => reader.setLastModified(text, facts) },
      changefreq: { text: (reader, text) => reader.setChangeFrequency(text) },
      priority: { text: (reader, text) => reader.setPriority(text) },
      link: { isDetail: true, open: (reader, attributes) => reader.addLink(attributes, "link") },
    }),
    ...elements<UrlsetReader>("xhtml", {
      link: { isDetail: true, open: (reader, attributes) => reader.addLink(attributes, undefined) },
    }),
    ...elements<UrlsetReader>("news", { news: { children: news, close: (reader) => reader.endNews() } }),
    ...elements<UrlsetReader>("image", { image: { children: image, close: (reader) => reader.endImage() } }),
    ...elements<UrlsetReader>("video", { video: { children: videoRules, close: (reader) => reader.endVideo() } }),
  ]),
);

// Inside an entry, in unknown elements. Elements of other namespaces are extensions, whose content is their own.
const fields: ElementRule<UrlsetReader> = wrapper(
  elements<UrlsetReader>("sitemap", {
    loc: { isUrl: true, text: (reader, text) => reader.setWrappedLoc(text) },
    lastmod: {
      text(reader, text, facts) {
        if (!reader.hasLoc) reader.setLastModified(text, facts);
      },
    },
  }),
  rule("", {}),
);

// An entry inside of an entry that was not closed, with nothing in it: what follows it is the next entry.
const inner: Part = { children: fields.children, others: fields, open: (reader) => reader.passEntry() };
for (const table of [page, sitemap]) {
  for (const [key, found] of elements("sitemap", { url: inner, sitemap: inner })) table.set(key, found);
}

type Kind = "page" | "sitemap";

function entry(name: Kind | "url", kind: Kind, isMisplaced: boolean): Part {
  return {
    isEntry: true,
    children: kind === "page" ? page : sitemap,
    others: fields,
    open(reader) {
      if (isMisplaced) reader.reportMisplaced(name);
      reader.begin(kind);
    },
    close: (reader) => reader.end(),
  };
}

// What stands in `<urlset>` or `<sitemapindex>`. Below an index everything is a sitemap: that is what an index lists.
//   Lenient: a `<url>` in a `<sitemapindex>` is a sitemap.
//   Lenient: entries inside of elements that nobody knows, and after the end of the document, are read.
//   Lenient: a `<loc>` that stands in no entry is one.
//   Lenient: a URL that stands between entries as text is one.
function entriesOf(root: Kind): Part & { children: Rules } {
  const url = root === "page" ? "page" : "sitemap";
  const loose: Rules = elements("sitemap", {
    loc: { isUrl: true, isKey: true, text: (reader, text, facts) => reader.beginImplied(root, text, facts) },
    lastmod: {
      text(reader, text, facts) {
        if (reader.isImplied) reader.setLastModified(text, facts);
      },
    },
  });
  const children: Rules = new Map([
    ...elements<UrlsetReader>("sitemap", {
      url: entry("url", url, root === "sitemap"),
      sitemap: entry("sitemap", "sitemap", false),
    }),
    ...loose,
  ]);
  const misplaced = elements<UrlsetReader>("sitemap", {
    url: entry("url", url, true),
    sitemap: entry("sitemap", "sitemap", true),
  });
  const foreign = wrapper(misplaced);
  const others = wrapper(new Map([...misplaced, ...loose]), foreign);
  return { children, others, foreign, stray: (reader, text) => reader.takeStray(root, text) };
}

const pages = entriesOf("page");
const sitemaps = entriesOf("sitemap");
const roots: Rules = elements("sitemap", { urlset: pages, sitemapindex: sitemaps });
for (const { children } of [pages, sitemaps]) for (const [key, found] of roots) children.set(key, found);

export const urlsetRule: ElementRule<UrlsetReader> = rule("urlset", pages);
export const sitemapIndexRule: ElementRule<UrlsetReader> = rule("sitemapindex", sitemaps);
