// The tree while it grows: the references to visit, the indexes that are being visited, and what a visit found.
import type { Candidate } from "../discover/candidates.ts";
import type { DiscoveryRecord, SitemapEvent } from "../model/event.ts";
import type { Problem } from "../model/problem.ts";
import type { IndexSitemap, Sitemap, SitemapReference } from "../model/sitemap.ts";
import type { FollowFailure } from "./redirects.ts";

/** A reference, and where it comes from: an index, or discovery. */
export interface Declaration extends SitemapReference, Pick<Candidate, "ifNeeded" | "isForPrograms"> {
  readonly parent: Frame;
  /** How discovery found it; absent for the children of an index, and for later pages of a feed. */
  readonly by?: Candidate["by"] | undefined;
  /** For a later page of a feed: the identity of the page before it. */
  readonly continues?: string | undefined;
}

/** The result of a candidate, for the record of discovery. */
export type CandidateResult = Omit<DiscoveryRecord, "url" | "by">;

/** What a visit found. */
export type Visit =
  /** A finished sitemap. `next` is the next page of a feed. */
  | {
      readonly type: "node";
      readonly node: Sitemap;
      readonly result: CandidateResult;
      readonly next?: Pick<Declaration, "url" | "continues"> | undefined;
    }
  /** An index whose children are to be visited. */
  | { readonly type: "frame"; readonly frame: Frame; readonly result: CandidateResult }
  /** No node: for example a well-known path without a sitemap, a missing robots.txt or a duplicate. */
  | { readonly type: "omitted"; readonly result: CandidateResult };

/** A URL without a sitemap. */
export type Missing = Omit<FollowFailure, "outcome"> & Pick<CandidateResult, "outcome">;

/** The measurements of a document: its size on the wire and after decompression, and its response. */
export type Measurements = Pick<SitemapEvent, "wireBytes" | "decodedBytes" | "response">;

export const nothingRead: Measurements = { wireBytes: 0, decodedBytes: 0 };

/** An index whose children are being visited. */
export interface Frame {
  readonly node: Omit<IndexSitemap, "children">;
  readonly parent: Frame | undefined;
  /** 0 for the root of the tree. */
  readonly depth: number;
  /** The keys of its declared URL and of the URL where it was found. */
  readonly keys: readonly string[];
  references: readonly SitemapReference[];
  /** How many further children were only counted, because the budgets do not reach them. */
  unlisted: number;
  /** How many of the references fit into the budget for the length of URLs. */
  withinBudget: number;
  /** How many references were visited, and how many were considered for prefetching. */
  next: number;
  prefetched: number;
  readonly children: Sitemap[];
  /** References that were refused and have no node, by the code of the reason. */
  readonly refusals: Map<string, CountedRefusals>;
  readonly measurements: Measurements;
}

/** References that were refused for the same reason: the first one, and how many there are. */
export interface CountedRefusals {
  readonly entry: Declaration;
  readonly reason: Problem;
  count: number;
}

/** Creates a frame whose children have not been visited yet. */
export function frameOf(node: Frame["node"], given: Partial<Frame> = {}): Frame {
  const depth = given.parent === undefined ? 0 : given.parent.depth + 1;
  const numbers = { unlisted: 0, next: 0, prefetched: 0, withinBudget: Number.POSITIVE_INFINITY };
  const lists = { keys: [], references: [], children: [], refusals: new Map() };
  return { node, parent: undefined, depth, ...numbers, ...lists, measurements: nothingRead, ...given };
}
