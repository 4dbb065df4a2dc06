// Hints tell a rule what is already known about a text. They only save work: without them, the rule finds out by itself. The exception is
// `isExact`, which the text alone does not show.

/** Hints about a text, valid only during the call that passes it. */
export class TextHints {
  /** Whether the text is a valid URL as is: trimmed, not too long, and with an origin that was accepted before. */
  isUrl = false;
  /** The fingerprint of that URL, if it is the URL of an entry. */
  high = 0;
  low = 0;
  /** Set if the text is a valid URL provided that its origin is valid. Call it once the origin has been accepted. */
  acceptOrigin: ((origin: string) => void) | undefined = undefined;
  /** Whether the text is a valid date as is. */
  isDate = false;
  /** Whether a `]]>` at the end belongs to the text, because it was split between two CDATA sections. */
  isExact = false;

  copy(hints: TextHints): void {
    this.isUrl = hints.isUrl;
    this.high = hints.high;
    this.low = hints.low;
    this.acceptOrigin = hints.acceptOrigin;
    this.isExact = hints.isExact;
  }
}

export const noHints: TextHints = new TextHints();
export const exactHints: TextHints = new TextHints();
exactHints.isExact = true;
