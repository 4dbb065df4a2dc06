// The interface between the scanner and the reader of a format.
import type { RuleReader } from "./element-rule.ts";
import type { TextFacts } from "./text-facts.ts";
import type { XmlName } from "./xml-name.ts";

export interface XmlHandler {
  /** Returns whether the element's text is wanted. `attributes` are valid only during the call. */
  open(name: XmlName, attributes: ElementAttributes): boolean;
  /**
   * `text` is the text of the element itself or, if that is empty, of its only child. It is undefined if it is not
   * wanted or cannot be used.
   */
  close(name: XmlName, text: string | undefined): void;
  /** How many of the open elements were not closed, if this element starts an entry: an entry cannot be inside them. */
  unclosedBefore?(name: XmlName): number;
  /** Entries stand in the innermost element: a URL that stands there as text is one. */
  readonly takesStray?: boolean;
  /** Text in such a place, at this position of the buffer. */
  takeStray?(text: string, at: number): void;
  /** Whether an entry is open. */
  readonly isInEntry?: boolean;
  /** This handler, if it only applies rules: then their result can be looked up once and repeated. */
  readonly byRules?: RuleReader | undefined;
}

/** The attributes of an element, as its handler sees them. */
export interface ElementAttributes {
  readonly count: number;
  /** As written, prefix included. */
  name(index: number): string;
  /** The value of the attribute that is written with this name, prefix included. The first one counts. */
  get(name: string): string | undefined;
  /** The index of the attribute with this name as written; -1 if there is none. */
  find(name: string): number;
  /** Decoded. https://www.w3.org/TR/xml/#AVNormalize: white space becomes spaces. */
  value(index: number): string;
  /** Facts about its value. */
  facts(index: number): TextFacts;
}
