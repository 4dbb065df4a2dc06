// What every parser of a document is: a synchronous transducer from text to entries. No I/O, no callbacks.
// Any way of cutting the text into pieces gives the same entries and the same problems.
import type { Limits } from "../options.ts";
import type { SitemapPage } from "../page.ts";
import type { Problem, ProblemLog } from "../problem.ts";
import type { PagesFormat, SitemapReference } from "../sitemap.ts";
import type { TextPiece } from "../utf8-text.ts";
import type { CreateFastPath } from "./fast-path.ts";

/** Entries in declared order. Within one document the first declaration of a URL counts. */
export interface Entries {
  readonly pages: SitemapPage[];
  readonly sitemaps: SitemapReference[];
}

/** All of them. In one step: a list that grows with each batch is copied again and again. */
export function joined(batches: readonly Entries[]): Entries {
  return {
    pages: concat(batches.map(({ pages }) => pages)),
    sitemaps: concat(batches.map(({ sitemaps }) => sitemaps)),
  };
}

function concat<T>(lists: readonly T[][]): T[] {
  // As many arguments at once as any engine takes.
  const some: T[][] = [];
  for (let at = 0; at < lists.length; at += 1000) some.push(([] as T[]).concat(...lists.slice(at, at + 1000)));
  return some.length === 1 ? some[0]! : ([] as T[]).concat(...some);
}

export interface EntryParser {
  /** Takes a piece of the document; returns the entries that became complete. */
  write(piece: TextPiece): Entries;
  /** Says that the document is over; returns the entries that became complete by that. */
  end(): Entries;
  /** Nothing more will come: a limit was reached or the document refused. The caller may stop reading, and then calls `end`. */
  readonly stopped: boolean;
  /** What the document turned out to be. Valid after `end`. */
  readonly outcome: ParseOutcome;
  /** robots.txt only: the pause between two requests that it asks of the named program, in milliseconds. Valid after `end`. */
  crawlDelay?(userAgent: string): number | undefined;
}

export type ParseOutcome =
  | { readonly kind: "pages"; readonly format: PagesFormat }
  | { readonly kind: "index"; readonly format: "robots" | "xml" }
  | { readonly kind: "invalid"; readonly reason: Problem };

/** What the parsers of one document share. */
export interface ParseContext {
  /** The document's own URL: the base of relative ones. */
  readonly url: string | undefined;
  readonly limits: Limits;
  /** Stop at the first thing that is not well-formed. */
  readonly strict: boolean;
  readonly problems: ProblemLog;
  /** For XML: @default none */
  readonly fastPath?: CreateFastPath | undefined;
}
