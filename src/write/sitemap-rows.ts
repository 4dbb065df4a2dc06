// Sitemaps as rows of a table: one row for each sitemap of the tree, with sizes and times. Made from the events of a
// crawl, which come in declared order, children before their index; the rows are in the order of the tree.
import type { CrawlEvent, SitemapEvent } from "../model/event.ts";
import type { Problem } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";

/** Collects the rows of one crawl. */
export class SitemapRows {
  readonly #rows: (SitemapRow | undefined)[] = [];
  // The positions of the rows of the sitemap being read and its ancestors.
  readonly #open: { readonly at: number; readonly url: string }[] = [];

  see(event: CrawlEvent): void {
    if (event.type === "start") {
      this.#open.length = Math.min(this.#open.length, event.depth);
      this.#open.push({ at: this.#rows.length, url: event.url });
      this.#rows.push(undefined);
    } else if (event.type === "sitemap") {
      const parent = this.#open[event.depth - 1]?.url;
      const at = this.#open[event.depth]?.at ?? this.#rows.length;
      this.#rows[at] = rowOf(event, parent);
      this.#open.length = Math.min(this.#open.length, event.depth);
    }
  }

  /** In the order of the tree, without the root. */
  *[Symbol.iterator](): Generator<SitemapRow, void> {
    for (const row of this.#rows) if (row !== undefined && row.row.depth > 0) yield row;
  }
}

export interface SitemapRow {
  readonly row: SitemapFacts;
  readonly problems: readonly Problem[];
}

export interface SitemapFacts {
  readonly url: string;
  readonly declaredUrl?: string | undefined;
  readonly parent?: string | undefined;
  readonly depth: number;
  readonly kind: string;
  readonly format?: string | undefined;
  readonly pageCount?: number | undefined;
  readonly complete: boolean;
  /** The `lastmod` in its index. */
  readonly lastModified?: string | undefined;
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly status?: number | undefined;
  readonly fetchedAt?: string | undefined;
  /** From the request to the head of the response, in milliseconds. */
  readonly firstByte?: number | undefined;
  /** From the request to the last byte, in milliseconds. */
  readonly duration?: number | undefined;
  /** How many kinds of problems it has. */
  readonly problems: number;
  /** Why it could not be read, as a sentence. */
  readonly reason?: string | undefined;
}

function rowOf(
  { sitemap, depth, wireBytes, decodedBytes, response }: SitemapEvent,
  parent: string | undefined,
): SitemapRow {
  const problems = sitemap.kind === "invalid" ? [sitemap.reason] : sitemap.problems;
  return {
    row: {
      url: sitemap.url,
      declaredUrl: sitemap.declaredUrl,
      parent,
      depth,
      kind: sitemap.kind,
      format: sitemap.kind === "invalid" ? undefined : sitemap.format,
      pageCount: pagesOf(sitemap),
      complete: sitemap.kind !== "invalid" && sitemap.complete,
      lastModified: sitemap.lastModified,
      wireBytes,
      decodedBytes,
      status: response?.status,
      fetchedAt: response?.receivedAt,
      firstByte: response?.firstByte,
      duration: response?.duration,
      problems: problems.length,
      reason: sitemap.kind === "invalid" ? sitemap.reason.message : undefined,
    },
    problems,
  };
}

// An index that also lists pages has a child for them at its own URL, without an event of its own.
function pagesOf(sitemap: Sitemap): number | undefined {
  if (sitemap.kind === "pages") return sitemap.pageCount;
  if (sitemap.kind === "invalid") return undefined;
  const own = sitemap.children.find((child) => child.kind === "pages" && child.url === sitemap.url);
  return own?.kind === "pages" ? own.pageCount : undefined;
}
