// Collects a list of unknown length. Growing arrays allocate more room than they need: the array that is returned has
// none to spare, and the room is reused for the next list.

export class ListDraft<T> {
  readonly #items: T[] = [];
  count = 0;

  add(item: T): void {
    this.#items[this.count++] = item;
  }

  /** Starts a new list. */
  clear(): void {
    this.count = 0;
  }

  /** The items added since `clear`. */
  toArray(): T[] {
    return this.#items.slice(0, this.count);
  }
}
