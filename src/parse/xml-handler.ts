// What takes the elements that the scanner finds.
import type { TextMark } from "./text-mark.ts";
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlGlue } from "./xml-glue.ts";
import type { XmlName } from "./xml-name.ts";

export interface XmlHandler {
  /** Returns whether the element's text is wanted. `attributes` are valid only during the call. */
  open(name: XmlName, attributes: XmlAttributes): boolean;
  /**
   * `text` is what stands in the element itself, or, where that is nothing, in its only child. It is undefined where it is
   * not wanted or cannot be used.
   */
  close(name: XmlName, text: string | undefined): void;
  /** The shortcut for what was there before. Without it each call is made. */
  readonly follower?: XmlGlueHandler | undefined;
}

/** What a text is used for: as it is, as a URL, as the URL of an entry, of which each is taken once, or as a date. */
export type TextKind = "text" | "url" | "key" | "date";

/** What a handler makes of a glue. */
export interface XmlPlan {
  /** What the text before it is. */
  readonly takes: TextKind;
}

/** Does at once what the calls for the elements of a glue would do. */
export interface XmlGlueHandler {
  /**
   * `text` is that of the element that the glue closes first. Returns whether the text of the element that it opens last is
   * wanted. Leaves its plan with the glue.
   */
  follow(glue: XmlGlue, text: string | undefined): boolean;
  /** As `follow`, where the very same was followed before, but without keeping up to date which elements are open. */
  repeat(plan: XmlPlan, text: string | undefined): void;
  /** As `repeat`, with a text that needs no decoding and no trimming. */
  repeatClean(plan: XmlPlan, text: string, mark: TextMark): void;
  /** What the element that was opened last is for the handler. */
  readonly meaning: object | undefined;
  /** As `open`, and `close` where it is empty, for an element with this meaning. */
  repeatTag(meaning: object, attributes: XmlAttributes, isEmpty: boolean): void;
  /** Where it is among the elements. */
  readonly position: object;
  /** What `repeat` left out. */
  resume(position: object): void;
}
