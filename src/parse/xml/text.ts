// The wanted text of an element: nearly always one piece; several if comments, CDATA sections or children are in
// between. Limited in length; a longer text is not kept.
//   Lenient: where an element holds nothing but one child, the child's text counts: `<loc><a>https://example.org/</a></loc>`.
import type { XmlCursor } from "./cursor.ts";
import { decodeReferences, type ReferenceFlaw, type ReferenceWatcher } from "./entities.ts";

/** Why a wanted text is missing. */
export type TextFlaw = "too-long" | "reference" | "unclosed";

export class XmlText implements ReferenceWatcher {
  readonly #cursor: XmlCursor;
  readonly maxLength: number;
  /** The depth of its element. */
  readonly depth: number;
  /** The wanted text that surrounds it. */
  readonly outer: XmlText | undefined;
  flaw: TextFlaw | undefined = undefined;
  /** It contains nothing that could be decoded a second time. */
  isPlain = true;
  /** It ends in `]]>`, written in two CDATA sections. */
  endsInSplit = false;
  #own = "";
  // Before decoding.
  #length = 0;
  #children = 0;
  #childText = "";
  // With children: all texts in order, and how many of them are the element's own.
  #all = "";
  #parts = 0;
  #childrenBefore = -1;
  // Another wanted text stands inside of it.
  #surrounds = false;

  constructor(cursor: XmlCursor, maxLength: number, depth: number, outer?: XmlText) {
    this.#cursor = cursor;
    this.maxLength = maxLength;
    this.depth = depth;
    this.outer = outer;
  }

  /** The element was closed. Returns the wanted text that surrounds it. */
  finish(): XmlText | undefined {
    if (this.outer !== undefined) this.outer.#surrounds = true;
    return this.outer;
  }

  /** Whether this many more characters exceed the limit. */
  exceeds(length: number): boolean {
    return this.#length + length > this.maxLength;
  }

  spoil(flaw: TextFlaw): void {
    this.flaw ??= flaw;
    // Everything that follows is too long, too.
    if (flaw === "too-long") this.#length = this.maxLength + 1;
  }

  addChild(): void {
    if (this.#children++ === 0) this.#all = this.#own;
  }

  /** Text between two tags, as written, of the element itself or of a child. */
  add(raw: string, isOwn: boolean): void {
    if (this.exceeds(raw.length)) {
      this.spoil("too-long");
      return;
    }
    if (raw.includes("&")) this.isPlain = false;
    this.#add(decodeReferences(withLineFeeds(raw), this), raw.length, isOwn);
  }

  /** Markup that turned out to be text. */
  addStray(text: string, isOwn: boolean): void {
    if (this.exceeds(text.length)) this.spoil("too-long");
    else this.#add(text, text.length, isOwn);
  }

  addCdata(raw: string, isOwn: boolean): void {
    if (raw.includes("&")) this.isPlain = false;
    const endsInSplit = raw.trimEnd() === ">" && this.#own.endsWith("]]");
    this.#add(withLineFeeds(raw), raw.length, isOwn);
    this.endsInSplit = endsInSplit;
  }

  #add(text: string, rawLength: number, isOwn: boolean): void {
    const isBlank = text.trim() === "";
    if (!isBlank) this.endsInSplit = false;
    this.#length += rawLength;
    if (this.#children > 0) this.#all += text;
    if (!isOwn) {
      this.#childText += text;
      return;
    }
    this.#own = this.#own === "" ? text : this.#own + text;
    if (isBlank || this.#childrenBefore === this.#children) return;
    this.#childrenBefore = this.#children;
    this.#parts++;
  }

  /** The text so far. */
  get whole(): string {
    return this.#children === 0 ? this.#own : this.#all;
  }

  /** The whole text; undefined if it cannot be used. */
  get value(): string | undefined {
    return this.flaw === undefined ? this.whole : undefined;
  }

  /** There are elements in it. */
  get hasChildren(): boolean {
    return this.#children > 0;
  }

  /** All of it is the text of a child. */
  get isOfChild(): boolean {
    return this.#children > 0 && this.#parts === 0;
  }

  /**
   * Its parts surround children, or are next to children with texts of their own, or one wanted text stands inside of
   * another: their order would be a guess.
   */
  get isMixed(): boolean {
    if ((this.#surrounds && this.#own.trim() !== "") || (this.outer && this.outer.#own.trim() !== "")) return true;
    if (this.#children === 0) return false;
    return this.#parts > 1 || ((this.#parts > 0 || this.#children > 1) && this.#childText.trim() !== "");
  }

  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void {
    if (flaw === "xml-char-reference") this.spoil("reference");
    this.#cursor.onReference(flaw, value, at, raw);
  }
}

// https://www.w3.org/TR/xml/#sec-line-ends
function withLineFeeds(raw: string): string {
  return raw.includes("\r") ? raw.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : raw;
}
