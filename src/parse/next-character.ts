// The next position of a character. Most texts hold none of the characters that need care: searching for the next one
// once, and then only comparing positions, is much cheaper than searching every text.

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

  /** Its position, after `isWithin` returned true. */
  get position(): number {
    return this.#next;
  }

  /** Whether the character is between `start` and `end`. Each `start` must not be before the last one. */
  isWithin(start: number, end: number): boolean {
    if (this.#next < start) {
      const found = this.#buffer.indexOf(this.#character, start);
      this.#next = found === -1 ? beyond : found;
    }
    return this.#next < end;
  }
}

// Beyond the end of the longest string.
const beyond = 2 ** 30 - 1;
