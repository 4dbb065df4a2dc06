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
  readonly #statuses: Record<string, number> = {};
  readonly #buckets = firstByteBounds.map(() => 0);
  #sum = 0;
  #count = 0;

  readonly see = (event: CrawlEvent): void => {
    if (event.type !== "response") return;
    const { status = "none", firstByte } = event;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (firstByte === undefined) return;
    const seconds = firstByte / 1000;
    for (const [at, bound] of firstByteBounds.entries())
      if (seconds <= bound) this.#buckets[at] = (this.#buckets[at] ?? 0) + 1;
    this.#sum += seconds;
    this.#count += 1;
  };

  get counted(): SiteResponses {
    return {
      statuses: this.#statuses,
      firstByte: { buckets: this.#buckets, sum: this.#sum, count: this.#count },
    };
  }
}
