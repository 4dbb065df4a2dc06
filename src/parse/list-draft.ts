// A list whose length is not known yet. Arrays that grow get room for more than they need: what is handed out has none to spare, and
// the room is used again for the next list.

export class ListDraft<T> {
  readonly #items: T[] = [];
  count = 0;

  add(item: T): void {
    this.#items[this.count++] = item;
  }

  /** Starts over. */
  clear(): void {
    this.count = 0;
  }

  /** What was added since `clear`. */
  toArray(): T[] {
    return this.#items.slice(0, this.count);
  }
}
