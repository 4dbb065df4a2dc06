// Counts what a crawl finds while telling of it.
import type { ProblemEvent, ResponseEvent, SitemapEvent, Totals } from "../event.ts";
import type { SitemapResponse } from "../response.ts";
import { isComplete, problemsOf, type Sitemap } from "../sitemap.ts";

/** What was measured of a document: its size as it came off the wire and after decompression, and how it came. */
export interface DocumentFacts {
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly response?: SitemapResponse | undefined;
}

export const nothingRead: DocumentFacts = { wireBytes: 0, decodedBytes: 0 };

export class Tally {
  /** Whether nothing was lost so far. */
  complete = true;
  /** Sitemaps that could be read, at least in part. */
  readable = 0;
  invalid = 0;

  /** What there is to tell of a sitemap that is finished: its problems, then itself. */
  *finish(sitemap: Sitemap, depth: number, facts: DocumentFacts): Generator<ProblemEvent | SitemapEvent, void> {
    if (sitemap.kind === "invalid") this.invalid += sitemap.reason.count ?? 1;
    else this.readable += 1;
    const problems = problemsOf(sitemap);
    this.complete &&= isComplete(problems);
    for (const problem of problems) yield { type: "problem", url: sitemap.url, problem };
    const { wireBytes, decodedBytes, response } = facts;
    yield { type: "sitemap", sitemap, depth, wireBytes, decodedBytes, ...(response === undefined ? {} : { response }) };
  }
}

/** Counts how documents came. */
export class CameCount {
  readonly counts: Record<keyof Totals["came"], number> = {
    fetched: 0,
    "not-modified": 0,
    "same-payload": 0,
    "not-asked": 0,
    resumed: 0,
  };

  see({ outcome, came }: ResponseEvent): void {
    if (outcome === "found") this.counts[came] += 1;
  }
}
