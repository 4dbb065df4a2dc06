// Counts what a crawl finds while telling of it.
import type { ProblemEvent, SitemapEvent } from "../event.ts";
import { isComplete, problemsOf, type Sitemap } from "../sitemap.ts";

/** The size of a document: as it came off the wire, and after decompression. */
export interface DocumentSize {
  readonly wireBytes: number;
  readonly decodedBytes: number;
}

export const nothingRead: DocumentSize = { wireBytes: 0, decodedBytes: 0 };

export class Tally {
  /** Whether nothing was lost so far. */
  complete = true;
  /** Sitemaps that could be read, at least in part. */
  readable = 0;
  invalid = 0;

  /** What there is to tell of a sitemap that is finished: its problems, then itself. */
  *finish(sitemap: Sitemap, depth: number, size: DocumentSize): Generator<ProblemEvent | SitemapEvent, void> {
    if (sitemap.kind === "invalid") this.invalid += 1;
    else this.readable += 1;
    const problems = problemsOf(sitemap);
    this.complete &&= isComplete(problems);
    for (const problem of problems) yield { type: "problem", url: sitemap.url, problem };
    yield { type: "sitemap", sitemap, depth, wireBytes: size.wireBytes, decodedBytes: size.decodedBytes };
  }
}
