// Marks pages by number, with two bits each. Also finds the sitemap of a page by the page's number.

/** A mark of a page; 0 means that the page is not marked. */
export type Mark = 0 | 1 | 2 | 3;

export class Marks {
  readonly #bits: Uint8Array;
  /** Whether any page is marked. */
  isAny = false;

  constructor(count: number) {
    this.#bits = new Uint8Array(Math.ceil(count / 4));
  }

  set(ordinal: number, mark: Mark = 1): void {
    // 32-bit operators would treat large ordinals as negative numbers.
    this.#bits[Math.floor(ordinal / 4)]! |= mark << ((ordinal % 4) * 2);
    this.isAny = true;
  }

  get(ordinal: number): Mark {
    return ((this.#bits[Math.floor(ordinal / 4)]! >> ((ordinal % 4) * 2)) & 3) as Mark;
  }

  /** Whether none of these pages is marked. */
  isClear(from: number, count: number): boolean {
    for (let at = from; at < from + count; at++) if (this.get(at) !== 0) return false;
    return true;
  }
}

/** Finds the sitemap of a page, given the number of each sitemap's first page: the pages of a sitemap have consecutive numbers. */
export function runAt(starts: readonly number[], number: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}
