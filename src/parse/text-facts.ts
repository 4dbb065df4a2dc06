// What is already known about a text that is passed to a rule. Facts only save work: without them, the rule finds out by itself.

/** Facts about a text, valid only during the call that passes it. */
export class TextFacts {
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
