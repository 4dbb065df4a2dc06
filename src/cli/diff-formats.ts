// The formats of `sitegrove diff` by name.

export const diffFormats = ["summary", "ndjson", "csv", "pages", "rss", "markdown"] as const;
export type DiffFormat = (typeof diffFormats)[number];
