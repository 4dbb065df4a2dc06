// What is known about a text before anybody looked at it: the matcher has seen all of its bytes.

export class TextMark {
  /** The flags of the matcher. */
  flags = 0;
  /** The fingerprint of the URL that it is, without references, where it names an entry. */
  high = 0;
  low = 0;

  /** It is a URL as it stands: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  get isKnownUrl(): boolean {
    return (this.flags & knownUrl) !== 0;
  }

  /** It is a URL as it stands, if the origin is accepted. */
  get isUrlOfNewOrigin(): boolean {
    return (this.flags & newOrigin) !== 0;
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

// The same figures as in matcher.wat.
export const hasReferences = 1;
export const hasControls = 2;
export const hasSpace = 8;
const knownUrl = 16;
export const isDecoded = 32;
const usualDate = 64;
const newOrigin = 128;
