// What takes the elements that the scanner finds.
import type { RuleReader } from "./element-rule.ts";
import type { TextFacts } from "./text-facts.ts";
import type { XmlName } from "./xml-name.ts";

export interface XmlHandler {
  /** Returns whether the element's text is wanted. `attributes` are valid only during the call. */
  open(name: XmlName, attributes: ElementAttributes): boolean;
  /**
   * `text` is what stands in the element itself, or, where that is nothing, in its only child. It is undefined where it is
   * not wanted or cannot be used.
   */
  close(name: XmlName, text: string | undefined): void;
  /** How many of the open elements were not closed, if this one starts an entry: an entry cannot stand in them. */
  unclosedBefore?(name: XmlName): number;
  /** Whether an entry is open. */
  readonly isInEntry?: boolean;
  /** This handler, if all it does is follow rules: then what they say can be looked up once and done again. */
  readonly byRules?: RuleReader | undefined;
}

/** The attributes of an element, as its handler sees them. */
export interface ElementAttributes {
  readonly count: number;
  /** As written, prefix included. */
  name(index: number): string;
  /** The value of the attribute that is written with this name, prefix included. The first one counts. */
  get(name: string): string | undefined;
  /** The attribute that is written with this name; -1 where there is none. */
  find(name: string): number;
  /** Decoded. https://www.w3.org/TR/xml/#AVNormalize: white space becomes spaces. */
  value(index: number): string;
  /** What is known of its value. */
  facts(index: number): TextFacts;
}
