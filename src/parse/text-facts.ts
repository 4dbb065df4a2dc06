// What is known about a text before it is read; usually nothing. Those of the fast path only save work: a reader that
// ignores them gives the same results.

/** Valid only during the call that passes the text. */
export class TextFacts {
  /** It is a URL as it is: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  isUrl = false;
  /** The fingerprint of that URL, if it is the URL of an entry. */
  high = 0;
  low = 0;
  /** It is a URL as it is if its origin is valid: whoever accepts the origin calls this. */
  acceptOrigin: ((origin: string) => void) | undefined = undefined;
  /** It is a valid date as it is. */
  isDate = false;
  /** A `]]>` at its end belongs to it: it was written in two CDATA sections. */
  isExact = false;

  copy(facts: TextFacts): void {
    this.isUrl = facts.isUrl;
    this.high = facts.high;
    this.low = facts.low;
    this.acceptOrigin = facts.acceptOrigin;
    this.isDate = facts.isDate;
    this.isExact = facts.isExact;
  }
}

export const noFacts: TextFacts = new TextFacts();
export const exactFacts: TextFacts = new TextFacts();
exactFacts.isExact = true;
