// The forms of one side of a diff: a tree, an archive, a sitemap file, a list of URLs, a website.
import type { CrawlTarget } from "../crawl/crawl.ts";
import { checkTarget } from "../crawl/target.ts";
import { path, readable, unexpected } from "../model/option-checks.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";

/**
 * A tree; the path of an archive, of a sitemap file or of a text with one URL a line; the bytes of a file; or a website, by the URL
 * of its homepage or of given sitemaps.
 */
export type DiffSide = SitemapTree | CrawlTarget | DiffBytes;

/** A sitemap or a list of URLs from elsewhere, such as standard input. */
export interface DiffBytes {
  /** The name of the sitemap of its pages. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Throws a `SitemapError` for a wrong argument. The content of a file is checked when it is opened. */
export function checkSide(source: DiffSide): void {
  readable("side", () => {
    if (isTree(source)) return;
    if (isBytes(source)) checkBytes(source);
    else if (isTarget(source)) checkTarget(source);
    else path("path", source);
  });
}

function checkBytes({ name, bytes }: DiffBytes): void {
  if (typeof name !== "string") throw unexpected("name", "the name of a file", name);
  const isStream = typeof bytes === "object" && bytes !== null && Symbol.asyncIterator in bytes;
  if (!isStream) throw unexpected("bytes", "a stream of bytes", bytes);
}

export function isBytes(source: unknown): source is DiffBytes {
  return typeof source === "object" && source !== null && "bytes" in source;
}

export function isTarget(source: CrawlTarget): boolean {
  return typeof source !== "string" || /^https?:\/\//i.test(source);
}
