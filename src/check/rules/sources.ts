// The pages that rules are based on.

const google = "https://developers.google.com/search/docs";

/** A section of the sitemap protocol. */
export function protocol(section: string): string {
  return `https://www.sitemaps.org/protocol.html#${section}`;
}

export const buildSitemap: string = `${google}/crawling-indexing/sitemaps/build-sitemap`;
export const largeSitemaps: string = `${google}/crawling-indexing/sitemaps/large-sitemaps`;
export const news: string = `${google}/crawling-indexing/sitemaps/news-sitemap`;
export const images: string = `${google}/crawling-indexing/sitemaps/image-sitemaps`;
export const videos: string = `${google}/crawling-indexing/sitemaps/video-sitemaps`;
export const languages: string = `${google}/specialty/international/localized-versions`;
export const robots: string = `${google}/crawling-indexing/robots/robots_txt`;
export const urlStructure: string = `${google}/crawling-indexing/url-structure`;
export const canonical: string = `${google}/crawling-indexing/consolidate-duplicate-urls`;
export const redirects: string = `${google}/crawling-indexing/301-redirects`;
export const noindex: string = `${google}/crawling-indexing/block-indexing`;
export const soft404: string = `${google}/crawling-indexing/http-network-errors#soft-404-errors`;
export const searchConsole: string = "https://support.google.com/webmasters/answer/7451001";
export const bing: string =
  "https://blogs.bing.com/webmaster/July-2025/Keeping-Content-Discoverable-with-Sitemaps-in-AI-Powered-Search";
export const bingLastmod: string =
  "https://blogs.bing.com/webmaster/february-2023/The-Importance-of-Setting-the-lastmod-Tag-in-Your-Sitemap";
export const yandex: string = "https://yandex.com/support/webmaster/controlling-robot/sitemap.html";
export const uri: string = "https://www.rfc-editor.org/rfc/rfc3986";
export const httpStatus: string = "https://www.rfc-editor.org/rfc/rfc9110#name-status-codes";
export const contentSignals: string = "https://contentsignals.org/";
export const contentUsage: string = "https://datatracker.ietf.org/doc/draft-ietf-aipref-attach/";
export const dates: string = "https://www.w3.org/TR/NOTE-datetime";
