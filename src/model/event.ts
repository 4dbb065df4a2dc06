// The events of a crawl, and its result: plain data that survives JSON.stringify.
import type { FailureOutcome, Provenance, SitemapResponse } from "./exchange.ts";
import type { SitemapPage } from "./page.ts";
import type { Problem } from "./problem.ts";
import type { IndexSitemap, InvalidSitemap, PagesSitemap, Sitemap } from "./sitemap.ts";

/**
 * `request`, `retry`, `response` and `failure` come when they happen, in any order. All others come in declared order: the pages of
 * a sitemap in batches, then the sitemap itself; an index after its children; the root last, then `finished`. With `order: "arrival"`,
 * `pages` come as soon as they are read.
 */
export type CrawlEvent =
  | RequestEvent
  | RetryEvent
  | ResponseEvent
  | FailureEvent
  | StartEvent
  | PagesEvent
  | SitemapEvent
  | ProblemEvent
  | FinishedEvent;

/** All events other than those of requests; in declared order, except with `order: "arrival"`. */
export type OrderedEvent = Exclude<CrawlEvent, FetchEvent>;

/** The events of requests, in any order. */
export type FetchEvent = RequestEvent | RetryEvent | ResponseEvent | FailureEvent;

/** A request is sent. */
export interface RequestEvent {
  readonly type: "request";
  readonly url: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A request failed temporarily, and is retried after a pause. */
export interface RetryEvent {
  readonly type: "retry";
  readonly url: string;
  /** The attempt that failed. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly delay: number;
  readonly reason: Problem;
}

/** A response arrived, and is not followed by a retry. */
export interface ResponseEvent extends Pick<SitemapResponse, "status" | "attempts" | "receivedAt" | "firstByte"> {
  readonly type: "response";
  readonly url: string;
  /** `redirect`: the next request follows it, unless the target is already known. */
  readonly outcome: "found" | "redirect" | FailureOutcome;
  readonly obtained: Provenance;
}

/** No response arrived, and there is no further retry. */
export interface FailureEvent {
  readonly type: "failure";
  readonly url: string;
  readonly outcome: FailureOutcome;
  readonly attempts: number;
  readonly reason: Problem;
}

/** A sitemap is about to be read. In declared order, the events until its `sitemap` event are about its content. */
export interface StartEvent {
  readonly type: "start";
  readonly url: string;
  /** 0 for the root. */
  readonly depth: number;
}

/** A batch of pages of one sitemap, in declared order. */
export interface PagesEvent {
  readonly type: "pages";
  /** The URL of the sitemap that declares these pages, after redirects. */
  readonly url: string;
  readonly pages: readonly SitemapPage[];
}

/** A sitemap is finished: an index after its children, the root last. */
export interface SitemapEvent {
  readonly type: "sitemap";
  readonly sitemap: Sitemap;
  readonly depth: number;
  /** As received, before decompression. */
  readonly wireBytes: number;
  /** After decompression. */
  readonly decodedBytes: number;
  /** The response for this sitemap. Absent for the root, for sitemaps that were not requested, and for repeated ones. */
  readonly response?: SitemapResponse;
}

/** A problem, and the document that has it. */
export interface SitemapProblem {
  readonly url: string;
  readonly problem: Problem;
}

/** Something was wrong with a document. */
export interface ProblemEvent extends SitemapProblem {
  readonly type: "problem";
}

/** The end of a crawl. */
export interface FinishedEvent {
  readonly type: "finished";
  /** Why it ended: nothing was left to read, or the `limit` of pages was reached. */
  readonly end: "end" | "limit";
  /** Whether nothing is missing. Reaching your own `limit` is not a loss. */
  readonly complete: boolean;
  readonly totals: Totals;
  /** Every candidate of discovery, in order. */
  readonly discovery: readonly DiscoveryRecord[];
  /** Whether the website sent anything but errors and refusals; "not found" counts as a response. */
  readonly reachable: boolean;
  /** Why the website was unreachable, if it was. */
  readonly unreachable?: UnreachableWebsite;
  /** What the page filters did, if there are any. */
  readonly filtered?: FilterCounts;
}

/** How a stream of pages ended: `stream.finished`. */
export interface Finished extends Omit<FinishedEvent, "type" | "end"> {
  /** `break`: you left the loop. `abort`: your signal, or an error, ended the crawl. After these two, `complete` is false. */
  readonly end: FinishedEvent["end"] | "break" | "abort";
  readonly problems: readonly SitemapProblem[];
}

/** How many pages passed the page filters, and how many were skipped because it is unknown whether they match. */
export interface FilterCounts {
  readonly listed: number;
  /** Pages without a date, skipped by `since`. */
  readonly undated: number;
  /** Pages whose robots.txt could not be read, skipped by `allowedFor`. */
  readonly robotsUnknown: number;
}

/** Why nothing could be read from a website. */
export interface UnreachableWebsite {
  /** `failed`: no connection, or no usable response. `blocked`: it refused all requests. `refused`: our own policy forbids it. */
  readonly outcome: "failed" | "blocked" | "refused";
  /** Why the request for the homepage failed or, if it was not requested, the one for the first candidate. */
  readonly reason: Problem;
  /** How many documents were requested without success. A website that is down gets only a few requests. */
  readonly documents: number;
}

/** The totals of a crawl. */
export interface Totals {
  /** Sitemaps that could be read, at least in part, not counting robots.txt. */
  readonly sitemaps: number;
  readonly invalid: number;
  readonly pages: number;
  readonly requests: number;
  /** The number of documents by how they were obtained; see `Provenance`. */
  readonly obtained: Readonly<Record<Provenance, number>>;
  /** Bytes of documents that were transferred. */
  readonly wireBytes: number;
  /** Bytes of documents that were not transferred again: after a 304, or with `resume`. */
  readonly reusedBytes: number;
  /** In milliseconds. */
  readonly duration: number;
}

/** One candidate of discovery: how it was found, and its result. */
export interface DiscoveryRecord {
  readonly url: string;
  readonly by: "robots" | "known-path" | "homepage-header" | "homepage-link" | "feed" | "llms" | "given";
  /**
   * `duplicate`: already found, under this URL, as the target of a redirect, or with the same content. `not-a-sitemap`: some other document.
   * `skipped`: not needed because of robots.txt (`knownPaths: "if-needed"`), or the website has refused all requests so far.
   */
  readonly outcome: "found" | "duplicate" | "not-a-sitemap" | "skipped" | FailureOutcome;
  readonly status?: number;
  /** The URL after redirects, if that differs. */
  readonly finalUrl?: string;
  /** The URL of the sitemap in the tree that has the same content. */
  readonly sameAs?: string;
  /** Why the candidate was not used. */
  readonly reason?: Problem;
}

/** One step of a walk through a tree, depth first and in declared order. The content of a sitemap is between `enter` and `leave`. */
export type TreeStep =
  | { readonly type: "enter"; readonly sitemap: Sitemap; readonly depth: number }
  | { readonly type: "pages"; readonly sitemap: PagesSitemap; readonly pages: readonly SitemapPage[] }
  | { readonly type: "leave"; readonly sitemap: Sitemap; readonly depth: number };

/** A tree as data. */
export interface TreeData extends Pick<FinishedEvent, "complete" | "reachable" | "unreachable" | "discovery"> {
  readonly homepage: string;
  readonly pageCount: number;
  readonly root: IndexSitemap;
}

/** A tree as data, with all of its pages: what `sitegrove ls -f json` prints. */
export interface TreeDataWithPages extends Omit<TreeData, "root"> {
  readonly root: IndexWithPages;
}

/** A sitemap with its pages, or an index whose sitemaps have theirs. */
export type SitemapWithPages = IndexWithPages | (PagesSitemap & { pages: SitemapPage[] }) | InvalidSitemap;

/** An index whose sitemaps have their pages. */
export interface IndexWithPages extends Omit<IndexSitemap, "children"> {
  children: SitemapWithPages[];
}
