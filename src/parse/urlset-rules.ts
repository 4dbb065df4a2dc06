// The elements of `<urlset>` and `<sitemapindex>`, and of the news, image and hreflang extensions.
// https://www.sitemaps.org/protocol.html
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
// https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
//   Lenient: `<link>` is taken for `<xhtml:link>`.
//   Lenient: `<urlset>` and `<sitemapindex>` may stand in one another.
import { type ElementRule, elements, rule } from "./element-rule.ts";
import type { UrlsetReader } from "./urlset-reader.ts";
import { parseList } from "./values.ts";
import { videoRules } from "./video-rules.ts";

type Rules = Map<string, ElementRule<UrlsetReader>>;

const news: Rules = elements("news", {
  publication: {
    children: elements<UrlsetReader>("news", {
      name: {
        text({ news }, text) {
          if (text !== "") news.publicationName ??= text;
        },
      },
      language: {
        text({ news }, text) {
          if (text !== "") news.publicationLanguage ??= text;
        },
      },
    }),
  },
  title: {
    text({ news }, text) {
      if (text !== "") news.title ??= text;
    },
  },
  publication_date: {
    isDate: true,
    text(reader, text, facts) {
      const date = reader.date(text, facts);
      if (date !== undefined) reader.news.publishDate ??= date;
    },
  },
  access: {
    text({ news }, text) {
      if (text !== "") news.access ??= text;
    },
  },
  genres: {
    text({ news }, text) {
      if (text !== "") news.genres ??= parseList(text);
    },
  },
  keywords: {
    text({ news }, text) {
      if (text !== "") news.keywords ??= parseList(text);
    },
  },
  stock_tickers: {
    text({ news }, text) {
      if (text !== "") news.stockTickers ??= parseList(text);
    },
  },
});

const image: Rules = elements("image", {
  loc: {
    isUrl: true,
    text(reader, text, facts) {
      const url = text === "" ? undefined : reader.url(text, facts);
      if (url !== undefined) reader.image.url ??= url;
    },
  },
  caption: {
    text({ image }, text) {
      if (text !== "") image.caption ??= text;
    },
  },
  geo_location: {
    text({ image }, text) {
      if (text !== "") image.geoLocation ??= text;
    },
  },
  title: {
    text({ image }, text) {
      if (text !== "") image.title ??= text;
    },
  },
  license: {
    isUrl: true,
    text(reader, text, facts) {
      const url = text === "" ? undefined : reader.url(text, facts);
      if (url !== undefined) reader.image.license ??= url;
    },
  },
});

const entry: Rules = elements("sitemap", {
  loc: { isUrl: true, isKey: true, text: (reader, text, facts) => reader.setLoc(text, facts) },
  lastmod: { isDate: true, text: (reader, text, facts) => reader.setLastModified(text, facts) },
});

const page: Rules = new Map([
  ...entry,
  ...elements<UrlsetReader>("sitemap", {
    changefreq: { text: (reader, text) => reader.setChangeFrequency(text) },
    priority: { text: (reader, text) => reader.setPriority(text) },
    link: { open: (reader, attributes) => reader.addLink(attributes, "link") },
  }),
  ...elements<UrlsetReader>("xhtml", { link: { open: (reader, attributes) => reader.addLink(attributes, undefined) } }),
  ...elements<UrlsetReader>("news", { news: { children: news, close: (reader) => reader.endNews() } }),
  ...elements<UrlsetReader>("image", { image: { children: image, close: (reader) => reader.endImage() } }),
  ...elements<UrlsetReader>("video", { video: { children: videoRules, close: (reader) => reader.endVideo() } }),
]);

const entries: Rules = elements("sitemap", {
  url: { children: page, open: (reader) => reader.begin(), close: (reader) => reader.endPage() },
  sitemap: { children: entry, open: (reader) => reader.begin(), close: (reader) => reader.endSitemap() },
});
// An entry that was not closed holds the next one.
for (const [key, found] of entries) {
  page.set(key, found);
  entry.set(key, found);
}
const roots: Rules = elements("sitemap", { urlset: { children: entries }, sitemapindex: { children: entries } });
for (const [key, found] of roots) entries.set(key, found);

export const urlsetRule: ElementRule<UrlsetReader> = rule("urlset", { children: entries });
export const sitemapIndexRule: ElementRule<UrlsetReader> = rule("sitemapindex", { children: entries });
