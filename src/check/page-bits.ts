// One bit for each page of a website, by its number.

export class PageBits {
  readonly #bytes: Uint8Array;
  /** Whether any bit is set. */
  isAny = false;

  constructor(pages: number) {
    this.#bytes = new Uint8Array(Math.ceil(pages / 8));
  }

  set(ordinal: number): void {
    this.#bytes[ordinal >>> 3]! |= 1 << (ordinal & 7);
    this.isAny = true;
  }

  has(ordinal: number): boolean {
    return ((this.#bytes[ordinal >>> 3] ?? 0) & (1 << (ordinal & 7))) !== 0;
  }
}
