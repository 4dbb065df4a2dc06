// The pages that rules rest on.

const google = "https://developers.google.com/search/docs";
const protocolPage = "https://www.sitemaps.org/protocol.html";

/** A section of the sitemap protocol. */
export function protocol(section: string): string {
  return `${protocolPage}#${section}`;
}

type Source =
  | "buildSitemap"
  | "largeSitemaps"
  | "news"
  | "images"
  | "videos"
  | "languages"
  | "robots"
  | "urlStructure"
  | "canonical"
  | "noindex"
  | "searchConsole"
  | "bing"
  | "bingLastmod"
  | "yandex"
  | "yandexErrors"
  | "uri"
  | "httpStatus"
  | "dates";

export const sources: Readonly<Record<Source, string>> = {
  buildSitemap: `${google}/crawling-indexing/sitemaps/build-sitemap`,
  largeSitemaps: `${google}/crawling-indexing/sitemaps/large-sitemaps`,
  news: `${google}/crawling-indexing/sitemaps/news-sitemap`,
  images: `${google}/crawling-indexing/sitemaps/image-sitemaps`,
  videos: `${google}/crawling-indexing/sitemaps/video-sitemaps`,
  languages: `${google}/specialty/international/localized-versions`,
  robots: `${google}/crawling-indexing/robots/robots_txt`,
  urlStructure: `${google}/crawling-indexing/url-structure`,
  canonical: `${google}/crawling-indexing/consolidate-duplicate-urls`,
  noindex: `${google}/crawling-indexing/block-indexing`,
  searchConsole: "https://support.google.com/webmasters/answer/7451001",
  bing: "https://blogs.bing.com/webmaster/July-2025/Keeping-Content-Discoverable-with-Sitemaps-in-AI-Powered-Search",
  bingLastmod:
    "https://blogs.bing.com/webmaster/february-2023/The-Importance-of-Setting-the-lastmod-Tag-in-Your-Sitemap",
  yandex: "https://yandex.com/support/webmaster/controlling-robot/sitemap.html",
  yandexErrors: "https://yandex.com/support/webmaster/error-dictionary/sitemap.html",
  uri: "https://www.rfc-editor.org/rfc/rfc3986",
  httpStatus: "https://www.rfc-editor.org/rfc/rfc9110#name-status-codes",
  dates: "https://www.w3.org/TR/NOTE-datetime",
};
