// Estimates the most common of many values, in little memory.

const counters = 64;

/**
 * Estimates the most common value with a few counters, by the Space-Saving algorithm of Metwally, Agrawal and El Abbadi. A value that is
 * clearly more common than all others is found.
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

  /** The value whose lower bound of its count is highest, and that lower bound. */
  get top(): { readonly value: number; readonly count: number } {
    let top = { value: 0, count: 0 };
    for (const [value, { count, error }] of this.#counts)
      if (count - error > top.count) top = { value, count: count - error };
    return top;
  }
}
