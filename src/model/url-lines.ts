// The URLs of pages as lines of UTF-8: for whoever writes nothing else, so that no page and no string has to be made of
// them.

export class UrlLines {
  /** Each line ends with a line feed. */
  readonly bytes: Uint8Array;
  /** How many lines there are. */
  readonly count: number;

  constructor(bytes: Uint8Array, count: number) {
    this.bytes = bytes;
    this.count = count;
  }

  /** The first lines, as many as there are. */
  first(count: number): UrlLines {
    if (count >= this.count) return this;
    let end = 0;
    for (let line = 0; line < count; line++) end = this.bytes.indexOf(lineFeed, end) + 1;
    return new UrlLines(this.bytes.subarray(0, end), Math.max(count, 0));
  }
}

/**
 * Makes the line of a URL, without its line feed. A URL of ASCII without control characters is its own line. `counted`: only
 * the number of lines is wanted; they have no bytes.
 */
export type LineOf = ((url: string) => string) | "counted";

/** Collects lines. */
export class UrlLinesDraft {
  readonly #lineOf: LineOf;
  #parts: Uint8Array[] = [];
  #count = 0;
  // Lines made from single URLs, which are encoded at once.
  #text = "";

  constructor(lineOf: LineOf) {
    this.#lineOf = lineOf;
  }

  add(url: string): void {
    if (this.#lineOf !== "counted") this.#text += `${this.#lineOf(url)}\n`;
    this.#count++;
  }

  /** Adds whole lines. The bytes are copied. */
  addLines(bytes: Uint8Array, count: number): void {
    this.#count += count;
    if (this.#lineOf === "counted") return;
    this.#endText();
    this.#parts.push(bytes.slice());
  }

  /** The lines since the last call; undefined if there are none. */
  take(): UrlLines | undefined {
    if (this.#count === 0) return undefined;
    this.#endText();
    const lines = new UrlLines(concatenated(this.#parts), this.#count);
    this.#parts = [];
    this.#count = 0;
    return lines;
  }

  #endText(): void {
    if (this.#text === "") return;
    this.#parts.push(encoder.encode(this.#text));
    this.#text = "";
  }
}

/** All lines, one after the other; undefined if there are none. */
export function joinedLines(all: readonly UrlLines[]): UrlLines | undefined {
  if (all.length <= 1) return all[0];
  const count = all.reduce((sum, lines) => sum + lines.count, 0);
  return new UrlLines(concatenated(all.map(({ bytes }) => bytes)), count);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const encoder = new TextEncoder();
const lineFeed = 10;
