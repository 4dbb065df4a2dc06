// The formats by name.

export const formats = ["tabtree", "pages", "json", "ndjson", "csv"] as const;
export const formatInWords = "the tree (tabtree), URLs (pages), or data";
export const explodeInWords = "spread a list of each page over rows, one row an item (csv)";
export type Format = (typeof formats)[number];
/** Lists of pages: written while the crawl goes on. The others show the tree, and wait for it. */
export type PageFormat = Exclude<Format, "tabtree" | "json">;

export function isPageFormat(format: Format): format is PageFormat {
  return format !== "tabtree" && format !== "json";
}
