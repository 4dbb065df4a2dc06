// The interface of all document parsers: synchronous transducers from text to entries. No I/O, no callbacks. Any way of
// cutting the text into chunks gives the same entries and the same problems.
import type { Limits } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Problem, ProblemLog } from "../model/problem.ts";
import type { PagesFormat, SitemapReference } from "../model/sitemap.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import type { CreateFastPath } from "./fast-path.ts";

/** Entries in declared order. Within one document, those of one URL are one. */
export interface Entries {
  readonly pages: SitemapPage[];
  readonly sitemaps: SitemapReference[];
}

/** Concatenates all batches at once: a list that grows with each batch is copied again and again. */
export function joined(batches: readonly Entries[]): Entries {
  return {
    pages: concat(batches.map(({ pages }) => pages)),
    sitemaps: concat(batches.map(({ sitemaps }) => sitemaps)),
  };
}

function concat<T>(lists: readonly T[][]): T[] {
  // As many arguments as every engine accepts.
  const some: T[][] = [];
  for (let at = 0; at < lists.length; at += 1000) some.push(([] as T[]).concat(...lists.slice(at, at + 1000)));
  return some.length === 1 ? some[0]! : ([] as T[]).concat(...some);
}

export interface EntryParser {
  /** Takes a chunk of the document; returns the entries that became complete. */
  write(piece: TextPiece): Entries;
  /** Ends the document; returns the entries that became complete. */
  end(): Entries;
  /** A limit was reached or the document is refused: the caller may stop reading, and then calls `end`. */
  readonly stopped: boolean;
  /** The format of the document, or why it is invalid. Valid after `end`. */
  readonly outcome: ParseOutcome;
  /** robots.txt only: its Crawl-delay for a user agent, in milliseconds. Valid after `end`. */
  crawlDelay?(userAgent: string): number | undefined;
}

export type ParseOutcome =
  /** `next`: the URL of the next page of a feed. */
  | { readonly kind: "pages"; readonly format: PagesFormat; readonly next?: string }
  | { readonly kind: "index"; readonly format: "robots" | "xml" }
  | { readonly kind: "invalid"; readonly reason: Problem };

/** What the parsers of one document share. */
export interface ParseContext {
  /** The document's own URL: the base of relative URLs. */
  readonly url: string | undefined;
  readonly limits: Limits;
  /** Stop at the first thing that is not well-formed. */
  readonly strict: boolean;
  readonly problems: ProblemLog;
  /** Of pages, only the URLs are wanted: the rest need not be there. What there is to report stays the same. */
  readonly urlsOnly?: boolean | undefined;
  /** All entries are kept in memory, so that repeated ones can be merged however far apart they are. */
  readonly keepsAll?: boolean | undefined;
  /** For XML: @default none */
  readonly fastPath?: CreateFastPath | undefined;
}
