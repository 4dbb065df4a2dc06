// The options of a crawl, and how it reports its events and progress.
import type { SharedLimits } from "../fetch/limiter.ts";
import type { CrawlEvent, FinishedEvent, OrderedEvent, Totals } from "../model/event.ts";
import type { DocumentSource } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { PageFilter } from "./page-filter.ts";
import type { Prepared } from "./prepare.ts";
import type { ReadDocument } from "./read.ts";

/** Receives all events except those of requests, one at a time. The crawl waits for its result, and ends if it throws. */
export type Emit = (event: OrderedEvent) => Promise<void> | void;

/** What a crawl has done so far. */
export type Progress = Pick<FinishedEvent, "totals" | "discovery">;

export interface RunOptions {
  readonly prepared: Prepared;
  /** Where documents come from. @default the network */
  readonly source?: DocumentSource | undefined;
  readonly omitMissing?: boolean | undefined;
  /** Problems of the whole website that are known before the crawl begins. */
  readonly problems?: readonly Problem[] | undefined;
  /** Reads documents instead of `read`. */
  readonly read?: ReadDocument | undefined;
  /** Which pages are reported. @default all */
  readonly filter?: PageFilter | undefined;
  /** Whether pages wait for those declared before them. @default "declared" */
  readonly order?: Settings["order"] | undefined;
  /** Limits that several crawls share. */
  readonly shared?: SharedLimits | undefined;
  /** Called if the caller or an error ends the crawl. */
  readonly onInterrupted?: ((progress: Progress) => void) | undefined;
  /** Called with the events of requests, such as `request` and `response`. */
  readonly onSideEvent?: ((event: CrawlEvent) => void) | undefined;
}

/** The progress of a crawl that has not begun. */
export function noProgress(): Progress {
  const nothing = { sitemaps: 0, invalid: 0, pages: 0, requests: 0, wireBytes: 0, reusedBytes: 0, duration: 0 };
  return { totals: { ...nothing, obtained: noneObtained() }, discovery: [] };
}

/** Returns initial counts of documents by how they were obtained. */
export function noneObtained(): Record<keyof Totals["obtained"], number> {
  return { fetched: 0, "not-modified": 0, resumed: 0 };
}
