// What the responses of websites were like: how many had which status, and how long their first byte took.
import type { ResponseEvent } from "../model/event.ts";

/** The responses of one website. Plain data: it may come from another process. */
export interface SiteResponses {
  /** How many responses there were, by status; `none` for no response. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly firstByte: {
    /** For each of `firstByteBounds`: how many responses took at most this long. */
    readonly buckets: readonly number[];
    /** In seconds. */
    readonly sum: number;
    readonly count: number;
  };
}

/** In seconds. */
export const firstByteBounds: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function noResponses(): SiteResponses {
  return { statuses: {}, firstByte: { buckets: firstByteBounds.map(() => 0), sum: 0, count: 0 } };
}

export function countResponse(responses: SiteResponses, { status, firstByte }: ResponseEvent): void {
  addInto(responses.statuses, { [String(status)]: 1 });
  if (firstByte === undefined) return;
  const sum = firstByte / 1000;
  addInto(responses.firstByte, { buckets: firstByteBounds.map((bound) => Number(sum <= bound)), sum, count: 1 });
}

/** Adds the numbers in an object to those of another, at any depth. A boolean is true only if it is true in both. */
export function addInto(sums: object, more: object): void {
  const into = sums as Record<string, unknown>;
  for (const [name, value] of Object.entries(more)) {
    if (typeof value === "object") addInto((into[name] ??= {}) as object, value as object);
    else into[name] = typeof value === "number" ? Number(into[name] ?? 0) + value : into[name] !== false && value;
  }
}
