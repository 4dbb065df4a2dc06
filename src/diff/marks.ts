// Two bits for each page of a side, by its place: the kind of its change.

export const unmarked = 0;
/** On this side only. */
export const alone = 1;
/** Its fields differ on the other side. */
export const changed = 2;
/** Another sitemap declares it on the other side, and its fields are the same. */
export const moved = 3;
export type Mark = typeof unmarked | typeof alone | typeof changed | typeof moved;

export class Marks {
  readonly #bits: Uint8Array;

  constructor(count: number) {
    this.#bits = new Uint8Array(Math.ceil(count / 4));
  }

  set(ordinal: number, mark: Mark): void {
    // 32-bit operators would take the upper half of the ordinals for negative numbers.
    this.#bits[Math.floor(ordinal / 4)]! |= mark << ((ordinal % 4) * 2);
  }

  get(ordinal: number): Mark {
    return ((this.#bits[Math.floor(ordinal / 4)]! >> ((ordinal % 4) * 2)) & 3) as Mark;
  }

  /** Whether none of these pages is marked, without checking each. */
  isClear(from: number, count: number): boolean {
    const end = from + count;
    let at = from;
    for (; at < end && at % 4 !== 0; at++) if (this.get(at) !== unmarked) return false;
    for (; at + 4 <= end; at += 4) if (this.#bits[at / 4] !== 0) return false;
    for (; at < end; at++) if (this.get(at) !== unmarked) return false;
    return true;
  }
}
