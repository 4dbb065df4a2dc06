// The wanted text of an element: nearly always one piece; several if comments, CDATA sections or children are in
// between. Limited in length; a longer text is not kept.
//   Lenient: where an element holds nothing but one child, the child's text counts: `<loc><a>https://example.org/</a></loc>`.
import type { XmlCursor } from "./cursor.ts";
import { decodeReferences, type ReferenceFlaw, type ReferenceWatcher } from "./entities.ts";

/** Why a wanted text is missing. */
export type TextFlaw = "too-long" | "reference" | "unclosed";

class TextState {
  /** The depth of its element; 0 if no text is wanted. */
  depth = 0;
  own = "";
  /** Before decoding. */
  length = 0;
  children = 0;
  childText = "";
  /** With children: all texts in order, and how many of them are the element's own. */
  all = "";
  parts = 0;
  childrenBefore = -1;
  /** Another wanted text stands inside of it. */
  surrounds = false;
  flaw: TextFlaw | undefined = undefined;
  isPlain = true;
  endsInSplit = false;
}

export class XmlText implements ReferenceWatcher {
  readonly #cursor: XmlCursor;
  readonly maxLength: number;
  /** The depth of its element; 0 if no text is wanted. */
  depth = 0;
  #state = new TextState();
  // Nothing was added to the state.
  #isFresh = true;
  // Wanted texts that surround it.
  readonly #outer: TextState[] = [];

  constructor(cursor: XmlCursor, maxLength: number) {
    this.#cursor = cursor;
    this.maxLength = maxLength;
  }

  /** From here on, the text of the element at this depth is wanted. */
  begin(depth: number): void {
    if (this.depth !== 0) {
      this.#outer.push(this.#state);
      this.#isFresh = false;
    }
    this.clear();
    this.depth = depth;
    this.#state.depth = depth;
  }

  /** Starts over for the next element. */
  clear(): void {
    if (this.#isFresh) return;
    this.#isFresh = true;
    this.#state = new TextState();
  }

  /** The element was closed. */
  finish(): void {
    const outer = this.#outer.pop();
    this.depth = outer?.depth ?? 0;
    if (outer === undefined) {
      this.clear();
      return;
    }
    outer.surrounds = true;
    this.#state = outer;
    this.#isFresh = false;
  }

  /** Whether this many more characters exceed the limit. */
  exceeds(length: number): boolean {
    return this.#state.length + length > this.maxLength;
  }

  spoil(flaw: TextFlaw): void {
    this.#isFresh = false;
    this.#state.flaw ??= flaw;
    // Everything that follows is too long, too.
    if (flaw === "too-long") this.#state.length = this.maxLength + 1;
  }

  addChild(): void {
    this.#isFresh = false;
    const state = this.#state;
    if (state.children++ === 0) state.all = state.own;
  }

  /** Text between two tags, as written, of the element itself or of a child. */
  add(raw: string, isOwn: boolean): void {
    if (this.exceeds(raw.length)) this.spoil("too-long");
    else this.#add(this.#decode(withLineFeeds(raw)), raw.length, isOwn);
  }

  /** Markup that turned out to be text. */
  addStray(text: string, isOwn: boolean): void {
    if (this.exceeds(text.length)) this.spoil("too-long");
    else this.#add(text, text.length, isOwn);
  }

  addCdata(raw: string, isOwn: boolean): void {
    const state = this.#state;
    if (raw.includes("&")) state.isPlain = false;
    const endsInSplit = raw.trimEnd() === ">" && state.own.endsWith("]]");
    this.#add(withLineFeeds(raw), raw.length, isOwn);
    state.endsInSplit = endsInSplit;
  }

  #add(text: string, rawLength: number, isOwn: boolean): void {
    const state = this.#state;
    this.#isFresh = false;
    const isBlank = text.trim() === "";
    if (!isBlank) state.endsInSplit = false;
    state.length += rawLength;
    if (state.children > 0) state.all += text;
    if (!isOwn) {
      state.childText += text;
      return;
    }
    state.own = state.own === "" ? text : state.own + text;
    if (isBlank || state.childrenBefore === state.children) return;
    state.childrenBefore = state.children;
    state.parts++;
  }

  /** Why it cannot be used. */
  get flaw(): TextFlaw | undefined {
    return this.#state.flaw;
  }

  /** It contains nothing that could be decoded a second time. */
  get isPlain(): boolean {
    return this.#state.isPlain;
  }

  /** It ends in `]]>`, written in two CDATA sections. */
  get endsInSplit(): boolean {
    return this.#state.endsInSplit;
  }

  /** The whole text; undefined if it cannot be used. */
  get value(): string | undefined {
    return this.#state.flaw === undefined ? this.whole : undefined;
  }

  /** The text so far. */
  get whole(): string {
    return this.#state.children === 0 ? this.#state.own : this.#state.all;
  }

  /** All of it is the text of a child. */
  get isOfChild(): boolean {
    return this.#state.children > 0 && this.#state.parts === 0;
  }

  /** There are elements in it. */
  get hasChildren(): boolean {
    return this.#state.children > 0;
  }

  /**
   * Its parts surround children, or are next to children with texts of their own, or one wanted text stands inside of
   * another: their order would be a guess.
   */
  get isMixed(): boolean {
    const { surrounds, own, children, parts, childText } = this.#state;
    if (surrounds && own.trim() !== "") return true;
    if (this.#outer.length > 0 && this.#outer.at(-1)!.own.trim() !== "") return true;
    if (children === 0) return false;
    return parts > 1 || ((parts > 0 || children > 1) && childText.trim() !== "");
  }

  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void {
    if (flaw === "xml-char-reference") this.spoil("reference");
    this.#cursor.onReference(flaw, value, at, raw);
  }

  #decode(raw: string): string {
    if (!raw.includes("&")) return raw;
    this.#isFresh = false;
    this.#state.isPlain = false;
    return decodeReferences(raw, this);
  }
}

// https://www.w3.org/TR/xml/#sec-line-ends
function withLineFeeds(raw: string): string {
  return raw.includes("\r") ? raw.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : raw;
}
