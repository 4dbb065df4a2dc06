// What is already known about a text that is passed to a rule. It only saves work: without facts, the rule finds out by itself.

/** Valid only during the call that passes the text. */
export class TextFacts {
  /** It is a valid URL as is: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  isUrl = false;
  /** The fingerprint of that URL, if it is the URL of an entry. */
  high = 0;
  low = 0;
  /** Set if the text is a valid URL provided that its origin is valid. Call it once the origin has been accepted. */
  acceptOrigin: ((origin: string) => void) | undefined = undefined;
  /** It is a valid date as is. */
  isDate = false;
  /** A `]]>` at its end belongs to it: it was written in two CDATA sections. */
  isExact = false;

  copy(facts: TextFacts): void {
    this.isUrl = facts.isUrl;
    this.high = facts.high;
    this.low = facts.low;
    this.acceptOrigin = facts.acceptOrigin;
    this.isExact = facts.isExact;
  }
}

export const noFacts: TextFacts = new TextFacts();
export const exactFacts: TextFacts = new TextFacts();
exactFacts.isExact = true;
