// What is known about a text before anybody looked at it: the matcher has seen all of its bytes.

export class TextMark {
  /** The flags of the matcher. */
  flags = 0;
  /** The fingerprint of the URL that it is, without references, where it names an entry. */
  high = 0;
  low = 0;
  /** Where the first `&` stands, from the beginning, and how many there are. Only where each starts `&amp;`. */
  firstReference = 0;
  references = 0;

  /** It is a URL as it stands: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  get isKnownUrl(): boolean {
    return (this.flags & knownUrl) !== 0;
  }

  /** It is a date as it stands. */
  get isDate(): boolean {
    return (this.flags & usualDate) !== 0;
  }

  copy(mark: TextMark): void {
    this.flags = mark.flags;
    this.high = mark.high;
    this.low = mark.low;
  }
}

/** Nothing is known. */
export const noMark: TextMark = new TextMark();

/** A text in a buffer, where each of its references is `&amp;`. */
export function withoutReferences(buffer: string, start: number, end: number, mark: TextMark): string {
  if (mark.references !== 1) return buffer.slice(start, end).replaceAll("&amp;", "&");
  const first = start + mark.firstReference;
  return buffer.slice(start, first + 1) + buffer.slice(first + 5, end);
}

// The same figures as in matcher.wat.
export const hasReferences = 1;
export const hasControls = 2;
export const hasSpace = 8;
const knownUrl = 16;
export const isEasilyDecoded = 32;
const usualDate = 64;
