// The most common value of a list, with a few counters: the Space-Saving algorithm of Metwally, Agrawal and El Abbadi.
// The result is a lower bound of the true count.

const counters = 64;

export class CommonValue {
  readonly #values = new Float64Array(counters);
  readonly #counts = new Int32Array(counters);
  // By how much a count may be too high: the count of the value that it replaced.
  readonly #errors = new Int32Array(counters);
  #used = 0;
  #last = 0;

  add(value: number): void {
    if (this.#used > 0 && this.#values[this.#last] === value) {
      this.#counts[this.#last]!++;
      return;
    }
    let least = 0;
    for (let index = 0; index < this.#used; index++) {
      if (this.#values[index] === value) {
        this.#counts[index]!++;
        this.#last = index;
        return;
      }
      if (this.#counts[index]! < this.#counts[least]!) least = index;
    }
    const place = this.#used < counters ? this.#used++ : least;
    this.#errors[place] = this.#counts[place]!;
    this.#counts[place]!++;
    this.#values[place] = value;
    this.#last = place;
  }

  /** The most common value, and a lower bound of its count. */
  get top(): { readonly value: number; readonly count: number } {
    let best = 0;
    let count = 0;
    for (let index = 0; index < this.#used; index++) {
      const sure = this.#counts[index]! - this.#errors[index]!;
      if (sure > count) {
        best = index;
        count = sure;
      }
    }
    return { value: this.#values[best]!, count };
  }

  clear(): void {
    this.#counts.fill(0);
    this.#errors.fill(0);
    this.#used = 0;
    this.#last = 0;
  }
}
