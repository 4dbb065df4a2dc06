// The formats by name.

/** Of one document. */
export const documentFormats = ["tabtree", "pages", "json", "ndjson", "csv"] as const;
/** Of a website. */
export const formats = ["tabtree", "pages", "json", "ndjson", "csv", "sitemaps", "sitemaps-csv", "parquet"] as const;
export const formatInWords = "the tree (tabtree), URLs (pages), or data";
export const explodeInWords = "spread a list of each page over rows, one row per item (csv)";

export type Format = (typeof formats)[number];
/** Lists of pages: written during the crawl. The others show the tree, and wait for it. */
export type PageFormat = "pages" | "ndjson" | "csv";
/** Tables of sitemaps: made from what happened, without reading pages again. */
export type SitemapFormat = "sitemaps" | "sitemaps-csv";

export function isPageFormat(format: Format): format is PageFormat {
  return format === "pages" || format === "ndjson" || format === "csv";
}

export function isSitemapFormat(format: Format): format is SitemapFormat {
  return format === "sitemaps" || format === "sitemaps-csv";
}
