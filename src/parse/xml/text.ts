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
  /** The depth of its element; 0 if no text is wanted. */
  depth = 0;
  /** Nothing was added yet: its state is the initial one. */
  #isFresh = true;
  #own = "";
  // The length before decoding.
  #length = 0;
  #children = 0;
  #childText = "";
  // With children: all texts in order, and how many of them are the element's own.
  #all = "";
  #parts = 0;
  #childrenBefore = -1;
  // Another wanted text stands inside of it.
  #surrounds = false;
  /** Why it cannot be used. */
  flaw: TextFlaw | undefined = undefined;
  /** It contains nothing that could be decoded a second time. */
  isPlain = true;
  /** It ends in `]]>`, written in two CDATA sections. */
  endsInSplit = false;
  /** So far, all of it is one CDATA section. */
  isCdata = false;
  // Set if the wanted text of one element surrounds the wanted text of another.
  readonly #outer: OuterText[] = [];

  constructor(cursor: XmlCursor, maxLength: number) {
    this.#cursor = cursor;
    this.maxLength = maxLength;
  }

  /** Nothing was added yet. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  get isNested(): boolean {
    return this.#outer.length > 0;
  }

  /** From here on, the text of the element at this depth is wanted. */
  begin(depth: number): void {
    if (this.depth !== 0) this.#keepOuter();
    this.depth = depth;
    this.clear();
  }

  /** Starts over for the next element. */
  clear(): void {
    if (this.#isFresh) return;
    this.#isFresh = true;
    this.#own = "";
    this.#length = 0;
    this.#children = 0;
    this.#childText = "";
    this.#all = "";
    this.#parts = 0;
    this.#childrenBefore = -1;
    this.#surrounds = false;
    this.flaw = undefined;
    this.isPlain = true;
    this.isCdata = false;
    this.endsInSplit = false;
  }

  /** The element was closed. */
  finish(): void {
    this.depth = 0;
    this.clear();
    if (this.#outer.length > 0) this.#restoreOuter();
  }

  /** Whether this many more characters exceed the limit. */
  exceeds(length: number): boolean {
    return this.#length + length > this.maxLength;
  }

  spoil(flaw: TextFlaw): void {
    this.#isFresh = false;
    this.flaw ??= flaw;
    // Everything that follows is too long, too.
    if (flaw === "too-long") this.#length = this.maxLength + 1;
  }

  addChild(): void {
    this.#isFresh = false;
    if (this.#children === 0) this.#all = this.#own;
    this.#children++;
  }

  /** Text between two tags, as written, of the element itself or of a child. */
  add(raw: string, isOwn: boolean): void {
    if (this.exceeds(raw.length)) this.spoil("too-long");
    else this.addDecoded(this.#decode(withLineFeeds(raw)), raw.length, isOwn);
  }

  /** Markup that turned out to be text. */
  addStray(text: string, isOwn: boolean): void {
    if (this.exceeds(text.length)) this.spoil("too-long");
    else this.addDecoded(text, text.length, isOwn);
  }

  addCdata(raw: string, isOwn: boolean): void {
    if (raw.includes("&")) this.isPlain = false;
    const isCdata = this.#isFresh;
    const endsInSplit = raw.trimEnd() === ">" && this.#own.endsWith("]]");
    this.addDecoded(withLineFeeds(raw), raw.length, isOwn);
    this.isCdata = isCdata;
    this.endsInSplit = endsInSplit;
  }

  addDecoded(text: string, rawLength: number, isOwn: boolean): void {
    this.#isFresh = false;
    this.isCdata = false;
    if (text.trim() !== "") this.endsInSplit = false;
    this.#length += rawLength;
    if (this.#children > 0) this.#all += text;
    if (isOwn) {
      this.#own = this.#own === "" ? text : this.#own + text;
      if (this.#childrenBefore !== this.#children && text.trim() !== "") {
        this.#childrenBefore = this.#children;
        this.#parts++;
      }
    } else this.#childText += text;
  }

  /** The whole text; undefined if it cannot be used. */
  get value(): string | undefined {
    return this.flaw === undefined ? this.whole : undefined;
  }

  /** The text so far. */
  get whole(): string {
    return this.#children === 0 ? this.#own : this.#all;
  }

  /** All of it is the text of a child. */
  get isOfChild(): boolean {
    return this.#children > 0 && this.#parts === 0;
  }

  /** There are elements in it. */
  get hasChildren(): boolean {
    return this.#children > 0;
  }

  /**
   * Its parts surround children, or are next to children with texts of their own, or one wanted text stands inside of
   * another: their order would be a guess.
   */
  get isMixed(): boolean {
    if (this.#surrounds && this.#own.trim() !== "") return true;
    if (this.isNested && this.#outer.at(-1)!.own.trim() !== "") return true;
    if (this.#children === 0) return false;
    return this.#parts > 1 || ((this.#parts > 0 || this.#children > 1) && this.#childText.trim() !== "");
  }

  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void {
    if (flaw === "xml-char-reference") this.spoil("reference");
    this.#cursor.onReference(flaw, value, at, raw);
  }

  #decode(raw: string): string {
    if (!raw.includes("&")) return raw;
    this.#isFresh = false;
    this.isPlain = false;
    return decodeReferences(raw, this);
  }

  #keepOuter(): void {
    this.#outer.push({
      depth: this.depth,
      own: this.#own,
      length: this.#length,
      children: this.#children,
      childText: this.#childText,
      all: this.#all,
      parts: this.#parts,
      childrenBefore: this.#childrenBefore,
      flaw: this.flaw,
      isPlain: this.isPlain,
    });
  }

  #restoreOuter(): void {
    const outer = this.#outer.pop()!;
    this.#isFresh = false;
    this.#surrounds = true;
    this.depth = outer.depth;
    this.#own = outer.own;
    this.#length = outer.length;
    this.#children = outer.children;
    this.#childText = outer.childText;
    this.#all = outer.all;
    this.#parts = outer.parts;
    this.#childrenBefore = outer.childrenBefore;
    this.flaw = outer.flaw;
    this.isPlain = outer.isPlain;
  }
}

interface OuterText {
  readonly depth: number;
  readonly own: string;
  readonly length: number;
  readonly children: number;
  readonly childText: string;
  readonly all: string;
  readonly parts: number;
  readonly childrenBefore: number;
  readonly flaw: TextFlaw | undefined;
  readonly isPlain: boolean;
}

// https://www.w3.org/TR/xml/#sec-line-ends
function withLineFeeds(raw: string): string {
  return raw.includes("\r") ? raw.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : raw;
}
