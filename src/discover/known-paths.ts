// Where websites have sitemaps without declaring them, in the order in which they are tried. Most are the defaults of
// content management systems. The common ones come first, so that a short run finds them.

/** Relative to the homepage. */
export const knownPaths: readonly string[] = [
  "sitemap.xml",
  "sitemap_index.xml", // Yoast
  "sitemap-index.xml",
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
  "admin/config/search/xmlsitemap", // Drupal's administration page; mostly forbidden
];
