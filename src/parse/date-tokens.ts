// Splits a date into words, numbers and signs. Date forms are read from these tokens instead of by regular expressions:
// one with several optional spaces backtracked for a quarter of a second on 96 characters.

/** A run of digits, a run of letters, or one other character at a time. */
export class DateTokens {
  readonly #tokens: readonly string[];
  // Whether each of them has white space before it.
  readonly #spaced: readonly boolean[];
  at = 0;

  /** `text` has single spaces only. */
  constructor(text: string) {
    const tokens: string[] = [];
    const spaced: boolean[] = [];
    for (let at = 0; at < text.length; ) {
      const isSpaced = text.charCodeAt(at) === space;
      if (isSpaced) at++;
      const kind = kindOf(text.charCodeAt(at));
      let end = at + 1;
      if (kind !== sign) while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end++;
      if (at < text.length) {
        tokens.push(text.slice(at, end));
        spaced.push(isSpaced);
      }
      at = end;
    }
    this.#tokens = tokens;
    this.#spaced = spaced;
  }

  /** The next token; empty at the end. */
  get next(): string {
    return this.#tokens[this.at] ?? "";
  }

  get isAtEnd(): boolean {
    return this.at >= this.#tokens.length;
  }

  /** Whether the next token has white space before it. */
  get isSpaced(): boolean {
    return this.#spaced[this.at] ?? false;
  }

  /** Takes a number with so many digits. */
  digits(fewest: number, most: number = fewest): string | undefined {
    const { next } = this;
    if (next.length < fewest || next.length > most || kindOf(next.charCodeAt(0)) !== digit) return undefined;
    this.at++;
    return next;
  }

  /** Takes a word, in lower case. */
  word(): string | undefined {
    const { next } = this;
    if (kindOf(next.charCodeAt(0)) !== letter) return undefined;
    this.at++;
    return next.toLowerCase();
  }

  /** Takes the next token if it is one of these words or signs. */
  take(...wanted: readonly string[]): string | undefined {
    const next = this.next.toLowerCase();
    if (next === "" || !wanted.includes(next)) return undefined;
    this.at++;
    return next;
  }

  /** Takes the next token if it is this sign, with no white space around it. */
  joins(wanted: string): boolean {
    if (this.isAtEnd || this.next !== wanted || this.isSpaced || this.#spaced[this.at + 1] === true) return false;
    this.at++;
    return true;
  }

  /** Skips any of these signs. Returns whether there were any, or white space. */
  skip(signs: string): boolean {
    let hasAny = this.isSpaced;
    while (this.next !== "" && signs.includes(this.next)) {
      this.at++;
      hasAny = true;
    }
    return hasAny || this.isSpaced;
  }
}

function kindOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return digit;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a ? letter : sign;
}

const digit = 0;
const letter = 1;
const sign = 2;
const space = 0x20;
