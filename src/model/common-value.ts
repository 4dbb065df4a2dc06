// The most common of many values, in little memory.

const counters = 64;

/**
 * Finds the most common value of a list with a few counters, by the Space-Saving algorithm of Metwally, Agrawal and El Abbadi. The
 * count is a lower bound of the true count.
 */
export class CommonValue {
  // `error` is how much too high a count may be: a new value starts with the count of the value that it replaces.
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
}
