// Counts the results of a crawl while reporting them.
import type { ProblemEvent, ResponseEvent, SitemapEvent, Totals } from "../model/event.ts";
import type { SitemapResponse } from "../model/response.ts";
import { isComplete, problemsOf, type Sitemap } from "../model/sitemap.ts";
import type { FoundDocument } from "./follow.ts";
import type { Reading } from "./read.ts";

/** The measurements of a document: its size on the wire and after decompression, and its response. */
export interface DocumentFacts {
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly response?: SitemapResponse | undefined;
}

export const nothingRead: DocumentFacts = { wireBytes: 0, decodedBytes: 0 };

export class Tally {
  /** No loss so far. */
  complete = true;
  /** Sitemaps that could be read, at least in part. */
  readable = 0;
  invalid = 0;

  /** The events of a finished sitemap: its problems, then the sitemap itself. */
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

/** Counts where documents came from. */
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

/** Of a document that was read. */
export function factsOf(
  { document, hops }: FoundDocument,
  { wireBytes, decodedBytes, charset }: Reading,
): DocumentFacts {
  const { status, headers, attempts, receivedAt, firstByte } = document;
  const duration = document.duration ?? document.body.duration;
  const response: SitemapResponse = {
    status,
    headers,
    hops,
    attempts,
    ...(receivedAt === undefined ? {} : { receivedAt }),
    ...(firstByte === undefined ? {} : { firstByte }),
    ...(duration === undefined ? {} : { duration }),
    ...(charset === undefined ? {} : { charset }),
  };
  return { wireBytes, decodedBytes, response };
}
