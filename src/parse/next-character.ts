// Where a character stands next. Most texts of a document hold none of those that need care: searching for the next one
// once, and then only comparing places, is much cheaper than searching in every text.

export class NextCharacter {
  readonly #character: string;
  #buffer = "";
  #next = -1;

  constructor(character: string) {
    this.#character = character;
  }

  /** Starts over with another buffer. */
  reset(buffer: string): void {
    this.#buffer = buffer;
    this.#next = -1;
  }

  /** Where it stands, after `isWithin` said that it does. */
  get position(): number {
    return this.#next;
  }

  /** Whether the character stands between `start` and `end`. No `start` may lie before an earlier one. */
  isWithin(start: number, end: number): boolean {
    if (this.#next < start) {
      const found = this.#buffer.indexOf(this.#character, start);
      this.#next = found === -1 ? beyond : found;
    }
    return this.#next < end;
  }
}

// More than the longest string has.
const beyond = 2 ** 30 - 1;
