// Counts by name, such as the pages of each section of a website.

const mostNames = 10_000;
/** Stands for all names after the first ten thousand, because a website can have any number. */
export const otherNames = "other";

export class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string, more = 1): void {
    let key = name;
    // Copies the name, because a part of a URL would keep the whole document alive.
    if (!this.#counts.has(name)) key = this.#counts.size < mostNames ? Buffer.from(name).toString() : otherNames;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + more);
  }

  /** The counts, largest first. */
  sorted(): [name: string, count: number][] {
    return [...this.#counts].sort(([, one], [, other]) => other - one);
  }
}
