// The text of the element whose text is wanted: from one piece, nearly always; or from several, where comments, CDATA
// sections or children stand in between. Up to a limit; what is longer is not kept.
//   Lenient: where an element holds nothing but one child, the child's text counts: `<loc><a>https://example.org/</a></loc>`.
import { decodeReferences, type ReferenceFlaw, type ReferenceWatcher } from "./entities.ts";
import type { XmlCursor } from "./xml-cursor.ts";

/** Why a text that was wanted is not there. */
export type TextFlaw = "too-long" | "reference" | "unclosed";

export class XmlText implements ReferenceWatcher {
  readonly #cursor: XmlCursor;
  readonly maxLength: number;
  /** The element it belongs to, by its depth; 0 where no text is wanted. */
  depth = 0;
  /** Nothing of it was seen yet: all that follows is as it was at the beginning. */
  #isFresh = true;
  #own = "";
  // Of everything that was seen, before it was decoded.
  #length = 0;
  #children = 0;
  #childText = "";
  // With children: all of it, in order. Of its own text, how many parts stand between them.
  #all = "";
  #parts = 0;
  #childrenBefore = -1;
  /** Why it cannot be used. */
  flaw: TextFlaw | undefined = undefined;
  /** It holds nothing that could be decoded once more. */
  isPlain = true;
  /** All of it, so far, is one CDATA section. */
  isCdata = false;
  // Where the text of an element is wanted in which another one stands whose text is wanted.
  readonly #outer: OuterText[] = [];

  constructor(cursor: XmlCursor, maxLength: number) {
    this.#cursor = cursor;
    this.maxLength = maxLength;
  }

  /** Nothing of it was seen yet. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  get isNested(): boolean {
    return this.#outer.length > 0;
  }

  /** From here on the text of the element at this depth is wanted. */
  begin(depth: number): void {
    if (this.depth !== 0) this.#keepOuter();
    this.depth = depth;
    this.clear();
  }

  /** Starts over, for the next element. */
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
    this.flaw = undefined;
    this.isPlain = true;
    this.isCdata = false;
  }

  /** The element was closed. */
  finish(): void {
    this.depth = 0;
    this.clear();
    if (this.#outer.length > 0) this.#restoreOuter();
  }

  /** Whether this many more characters are too many. */
  exceeds(length: number): boolean {
    return this.#length + length > this.maxLength;
  }

  spoil(flaw: TextFlaw): void {
    this.#isFresh = false;
    this.flaw ??= flaw;
    // Whatever follows is too long, too.
    if (flaw === "too-long") this.#length = this.maxLength + 1;
  }

  addChild(): void {
    this.#isFresh = false;
    if (this.#children === 0) this.#all = this.#own;
    this.#children++;
  }

  /** What stands between two tags, as written, in the element itself or in a child. */
  add(raw: string, isOwn: boolean): void {
    if (this.exceeds(raw.length)) this.spoil("too-long");
    else this.addDecoded(this.#decode(withLineFeeds(raw)), raw.length, isOwn);
  }

  /** Markup that is none. */
  addStray(text: string, isOwn: boolean): void {
    if (this.exceeds(text.length)) this.spoil("too-long");
    else this.addDecoded(text, text.length, isOwn);
  }

  addCdata(raw: string, isOwn: boolean): void {
    if (raw.includes("&")) this.isPlain = false;
    const isCdata = this.#isFresh;
    this.addDecoded(withLineFeeds(raw), raw.length, isOwn);
    this.isCdata = isCdata;
  }

  addDecoded(text: string, rawLength: number, isOwn: boolean): void {
    this.#isFresh = false;
    this.isCdata = false;
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

  /** All of it; undefined where it cannot be used. */
  get value(): string | undefined {
    return this.flaw === undefined ? this.whole : undefined;
  }

  /** All of it, as far as it was read. */
  get whole(): string {
    return this.#children === 0 ? this.#own : this.#all;
  }

  /** Its parts stand around children, or beside some that have a text themselves: what they are together is a guess. */
  get isMixed(): boolean {
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
