// The wanted text of an element. It is nearly always one piece, but comments, CDATA sections and children may divide it.
// A text that is too long is not kept.
//   Lenient: if an element contains only one child, the child's text is used: `<loc><a>https://example.org/</a></loc>`.
import { decodeHtmlReferences, htmlEntities } from "../../model/html-entities.ts";

/** Why a wanted text is missing. */
export type TextFlaw = "too-long" | "reference" | "unclosed";

export class XmlText implements ReferenceWatcher {
  readonly #watcher: ReferenceWatcher;
  readonly maxLength: number;
  /** The depth of the element. */
  readonly depth: number;
  /** The wanted text that surrounds this one. */
  readonly outer: XmlText | undefined;
  flaw: TextFlaw | undefined = undefined;
  /** Whether the text contains no ampersand, so that a URL in it cannot have been escaped twice. */
  isPlain = true;
  /** Whether the text ends in a `]]>` that is split between two CDATA sections. */
  endsInSplit = false;
  #own = "";
  // The length before decoding.
  #length = 0;
  #children = 0;
  #childText = "";
  // If there are children: all texts in order, and how many of them are the element's own.
  #all = "";
  #parts = 0;
  #childrenBefore = -1;
  // Whether another wanted text is inside this one.
  #surrounds = false;

  constructor(watcher: ReferenceWatcher, maxLength: number, depth: number, outer?: XmlText) {
    this.#watcher = watcher;
    this.maxLength = maxLength;
    this.depth = depth;
    this.outer = outer;
  }

  /** Ends the text when its element closes. Returns the wanted text that surrounds it. */
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
    // Makes anything that is added later too long, too.
    if (flaw === "too-long") this.#length = this.maxLength + 1;
  }

  addChild(): void {
    if (this.#children++ === 0) this.#all = this.#own;
  }

  /** Adds text between two tags, as written. `isOwn` means that the text is in the element itself, not in a child. */
  add(raw: string, isOwn: boolean): void {
    if (this.exceeds(raw.length)) {
      this.spoil("too-long");
      return;
    }
    if (raw.includes("&")) this.isPlain = false;
    this.#add(decodeReferences(withLineFeeds(raw), this), raw.length, isOwn);
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

  /** The whole text, or undefined if it cannot be used. */
  get value(): string | undefined {
    return this.flaw === undefined ? this.whole : undefined;
  }

  /** Whether the element contains other elements. */
  get hasChildren(): boolean {
    return this.#children > 0;
  }

  /** Whether all text belongs to children. */
  get isOfChild(): boolean {
    return this.#children > 0 && this.#parts === 0;
  }

  /** Whether the text is mixed with texts of children, or with another wanted text, so that the order of its parts would be a guess. */
  get isMixed(): boolean {
    if ((this.#surrounds && this.#own.trim() !== "") || (this.outer && this.outer.#own.trim() !== "")) return true;
    if (this.#children === 0) return false;
    return this.#parts > 1 || ((this.#parts > 0 || this.#children > 1) && this.#childText.trim() !== "");
  }

  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void {
    if (flaw === "xml-char-reference") this.spoil("reference");
    this.#watcher.onReference(flaw, value, at, raw);
  }
}

// Normalizes line ends: https://www.w3.org/TR/xml/#sec-line-ends
function withLineFeeds(raw: string): string {
  return raw.includes("\r") ? raw.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : raw;
}

// Character and entity references.
// https://www.w3.org/TR/xml/#sec-references: XML has five entities and numeric references. Declared entities are never expanded.
//   Lenient: an & that does not start a reference is text. Websites forget to escape it, mostly in URLs.
//   Lenient: an HTML entity is decoded as in HTML.
//   Lenient: any other entity is kept as text.
// A numeric reference to a character that XML does not allow becomes U+FFFD and is reported; the caller drops the value.

/** A problem with a reference. */
export type ReferenceFlaw = "xml-bare-ampersand" | "xml-html-entity" | "xml-unknown-entity" | "xml-char-reference";

export interface ReferenceWatcher {
  /** Called for each flaw; `at` is its position in the raw text. */
  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void;
  /** Called if the name of an attribute is not in the expected case. */
  onSpelling?(name: string): void;
}

/** Decodes the references in XML text. The result is not longer than `raw`, except with a handful of HTML entities. */
export function decodeReferences(raw: string, watcher: ReferenceWatcher): string {
  if (!raw.includes("&")) return raw;
  return raw.replace(reference, (written: string, hexadecimal?: string, decimal?: string, ...[at]: number[]) => {
    const known = predefinedEntities.get(written);
    if (known !== undefined) return known;
    const digits = hexadecimal ?? decimal;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, hexadecimal === undefined ? 10 : 16);
      if (isXmlCharacter(code)) return String.fromCodePoint(code);
      watcher.onReference("xml-char-reference", written, at!, raw);
      return "\ufffd";
    }
    if (written === "&") {
      watcher.onReference("xml-bare-ampersand", raw.slice(at, at! + shownLength), at!, raw);
      return written;
    }
    const decoded = htmlEntities().characters.get(written.slice(1, -1));
    watcher.onReference(decoded === undefined ? "xml-unknown-entity" : "xml-html-entity", written, at!, raw);
    return decoded ?? written;
  });
}

/** Decodes the references in HTML text. References must end in a semicolon, or `?a&copy=2` would become `?a©=2`. */
export function decodeHtml(text: string): string {
  const at = text.indexOf("&");
  return at === -1 || !text.includes(";", at + 3) ? text : decodeHtmlReferences(text);
}

/** Whether XML allows a character: https://www.w3.org/TR/xml/#NT-Char */
export function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

// The longest name in HTML (`CounterClockwiseContourIntegral`) has 31 letters.
const reference = /&(?:#x([0-9a-fA-F]+);|#([0-9]+);|[\w.-]{1,41};)?/g;
const predefinedEntities: ReadonlyMap<string, string> = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&apos;", "'"],
]);
// How many characters of a value a problem shows.
const shownLength = 20;
