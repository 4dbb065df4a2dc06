// The instants of dates in sitemaps, which the parser has normalized to ISO 8601.

/** The last instant of a date: a day, a month or a year lasts until its end. */
export function lastInstant(text: string): number {
  const first = Date.parse(text);
  if (hasTime(text)) return first;
  if (text.length === 10) return first + dayLength - 1;
  const date = new Date(first);
  if (text.length === 7) date.setUTCMonth(date.getUTCMonth() + 1);
  else date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.getTime() - 1;
}

/** Whether the date has a time of day. */
export function hasTime(text: string): boolean {
  return text.length > 10;
}

export const dayLength: number = 24 * 3600 * 1000;

const counters = 64;

/**
 * The most common value of a list, with a few counters: the Space-Saving algorithm of Metwally, Agrawal and El Abbadi. The
 * result is a lower bound of the true count.
 */
export class CommonValue {
  // `error`: by how much a count may be too high: the count of the value that it replaced.
  readonly #counts = new Map<number, { count: number; error: number }>();

  add(value: number): void {
    const known = this.#counts.get(value);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    let error = 0;
    if (this.#counts.size === counters) {
      let least = value;
      error = Number.POSITIVE_INFINITY;
      for (const [each, { count }] of this.#counts) if (count < error) [least, error] = [each, count];
      this.#counts.delete(least);
    }
    this.#counts.set(value, { count: error + 1, error });
  }

  /** The most common value, and a lower bound of its count. */
  get top(): { readonly value: number; readonly count: number } {
    let top = { value: 0, count: 0 };
    for (const [value, { count, error }] of this.#counts)
      if (count - error > top.count) top = { value, count: count - error };
    return top;
  }

  clear(): void {
    this.#counts.clear();
  }
}
