// What is known of a text before its reader looks at it. Nearly always nothing; then the reader finds out for itself. Facts only
// save work: a reader that never looks at them comes to the same results.

/** Valid only while the text is handed over. */
export class TextFacts {
  /** It is a URL as it stands: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  isUrl = false;
  /** The fingerprint of that URL, where it names an entry. */
  high = 0;
  low = 0;
  /** It is a URL as it stands if its origin is accepted: whoever accepts the origin says so here. */
  acceptOrigin: ((origin: string) => void) | undefined = undefined;
  /** It is a date as it stands. */
  isDate = false;

  copy(facts: TextFacts): void {
    this.isUrl = facts.isUrl;
    this.high = facts.high;
    this.low = facts.low;
    this.acceptOrigin = facts.acceptOrigin;
    this.isDate = facts.isDate;
  }
}

export const noFacts: TextFacts = new TextFacts();
