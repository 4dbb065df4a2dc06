// Where websites have undeclared sitemaps, in the order in which they are tried. Most are defaults of content management systems; rare
// paths that only one CMS uses are in platforms.ts. Common paths come first, so that a short run finds them.

/** Paths worth a request on any platform. If the platform is known, all but these and its own are tried only if nothing else is found. */
export const commonPaths: readonly string[] = ["sitemap.xml", "sitemap_index.xml", "sitemap-index.xml"];

/** The well-known paths, relative to the homepage. */
export const knownPaths: readonly string[] = [
  ...commonPaths,
  "wp-sitemap.xml", // WordPress since 5.5
  "sitemap.xml.gz",
  "sitemap.txt",
  "sitemap", // often an HTML page
  "sitemap_news.xml",
  "sitemap-news.xml",
  "news-sitemap.xml",
  "sitemaps.xml",
  "sitemapindex.xml",
  "sitemap/index.xml",
  "sitemap/sitemap-index.xml",
  "sitemap_index.xml.gz",
  "sitemap-index.xml.gz",
  "sitemap_news.xml.gz",
  "sitemap-news.xml.gz",
  ".sitemap.xml",
  "sitemap.php",
];

/** The usual paths of feeds, for `useFeeds`. */
export const feedPaths: readonly string[] = ["feed", "rss.xml", "atom.xml", "feed.xml", "index.xml", "feed.json"];
