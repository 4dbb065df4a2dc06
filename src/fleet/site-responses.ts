// What the responses of one website were like: how many had which status, and how long their first byte took.
import type { CrawlEvent } from "../model/event.ts";

/** The responses of one website. Plain data: it may come from another process. */
export interface SiteResponses {
  /** By status; `none` without a response. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly firstByte: {
    /** How many took at most so long, for each of `firstByteBounds`. */
    readonly buckets: readonly number[];
    /** In seconds. */
    readonly sum: number;
    readonly count: number;
  };
}

/** In seconds. */
export const firstByteBounds: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class ResponseCounter {
  counted: SiteResponses = { statuses: {}, firstByte: { buckets: firstByteBounds.map(() => 0), sum: 0, count: 0 } };

  readonly see = (event: CrawlEvent): void => {
    if (event.type !== "response") return;
    const { status = "none", firstByte } = event;
    const seconds = (firstByte ?? Number.NaN) / 1000;
    const isTimed = firstByte !== undefined;
    const buckets = firstByteBounds.map((bound) => Number(seconds <= bound));
    this.add({
      statuses: { [status]: 1 },
      firstByte: { buckets, sum: isTimed ? seconds : 0, count: Number(isTimed) },
    });
  };

  add({ statuses, firstByte }: SiteResponses): void {
    const { statuses: before, firstByte: first } = this.counted;
    const counts = Object.entries(statuses).map(([status, count]) => [status, (before[status] ?? 0) + count]);
    this.counted = {
      statuses: { ...before, ...Object.fromEntries(counts) },
      firstByte: {
        buckets: first.buckets.map((count, at) => count + (firstByte.buckets[at] ?? 0)),
        sum: first.sum + firstByte.sum,
        count: first.count + firstByte.count,
      },
    };
  }
}
