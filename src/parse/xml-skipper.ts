// Skips content chunk by chunk, without keeping it: comments, instructions, unwanted CDATA sections, document type
// declarations, and the rest of a start tag that is too long.
import type { XmlCursor } from "./xml-cursor.ts";
import { XmlDoctype } from "./xml-doctype.ts";
import type { XmlElements } from "./xml-elements.ts";
import type { XmlOutside } from "./xml-outside.ts";
import { flawOfCharacters } from "./xml-strict.ts";

export class XmlSkipper {
  readonly #cursor: XmlCursor;
  readonly #elements: XmlElements;
  readonly #outside: XmlOutside;
  #skipping: Skipping = nothing;
  // The end to look for.
  #until = "";
  #doctype: XmlDoctype | undefined;
  // In a start tag: the quote that ends the current value, and whether the last character was `/`.
  #quote = "";
  #selfClosing = false;

  constructor(cursor: XmlCursor, elements: XmlElements, outside: XmlOutside) {
    this.#cursor = cursor;
    this.#elements = elements;
    this.#outside = outside;
  }

  /** Something is being skipped. */
  get isActive(): boolean {
    return this.#skipping !== nothing;
  }

  /** Skips what follows `from`, including `until`. */
  start(until: "--" | "?>" | "]]>" | ">", from: number): void {
    this.#skipping = something;
    this.#until = until;
    this.#cursor.at = from;
  }

  /** Skips a document type declaration whose first word ends at `from`. */
  startDoctype(from: number): void {
    this.#skipping = doctype;
    this.#doctype = new XmlDoctype();
    this.#cursor.at = from;
  }

  /** Skips the rest of a start tag. */
  startTag(from: number): void {
    this.#skipping = startTag;
    this.#quote = "";
    this.#selfClosing = false;
    this.#cursor.at = from;
  }

  /** Continues. Returns whether the end was found; otherwise the buffer has to grow. */
  goOn(final: boolean): boolean {
    if (this.#skipping === something) return this.#skipUntil();
    return this.#skipping === doctype ? this.#skipDoctype(final) : this.#skipTag();
  }

  #skipUntil(): boolean {
    const cursor = this.#cursor;
    const until = this.#until;
    const from = cursor.at;
    const found = cursor.buffer.indexOf(until, from);
    // Not found: all but its possible beginning can be dropped.
    cursor.at = found === -1 ? Math.max(from, cursor.buffer.length - until.length + 1) : found;
    if (cursor.strict && !this.#checkCharacters(from, found !== -1)) return false;
    if (found === -1) return false;
    if (until === "--") return this.#endComment(found);
    cursor.at = found + until.length;
    this.#skipping = nothing;
    return true;
  }

  // At `--` in a comment, which only its end may have: https://www.w3.org/TR/xml/#sec-comments
  //   Lenient: a comment may end in `--!>`.
  #endComment(found: number): boolean {
    const cursor = this.#cursor;
    const next = cursor.buffer.charCodeAt(found + 2);
    const isOdd = next === exclamationMark && cursor.buffer.charCodeAt(found + 3) === greaterThan;
    if (cursor.buffer.length < found + (next === exclamationMark ? 4 : 3)) return false;
    if (isOdd) cursor.flawAt(found, "xml-comment-end", "--!>");
    else if (next !== greaterThan && cursor.strict) cursor.flawAt(found, "xml-malformed-tag", "--");
    if (isOdd || next === greaterThan) this.#skipping = nothing;
    cursor.at = isOdd ? found + 4 : next === greaterThan ? found + 3 : found + 1;
    return true;
  }

  // Checks the characters from there to the cursor. The first half of a surrogate pair waits for the second, unless the
  // text is whole.
  #checkCharacters(from: number, isWhole: boolean): boolean {
    const cursor = this.#cursor;
    if (!isWhole && cursor.at > from && isHighSurrogate(cursor.buffer.charCodeAt(cursor.at - 1))) cursor.at--;
    const flaw = flawOfCharacters(cursor.buffer.slice(from, cursor.at));
    if (flaw !== undefined) cursor.flawAt(from + flaw.at, "xml-malformed-tag", flaw.value);
    return flaw === undefined;
  }

  #skipDoctype(final: boolean): boolean {
    const cursor = this.#cursor;
    const declaration = this.#doctype!;
    const from = cursor.at;
    cursor.at = declaration.skip(cursor.buffer, from, final);
    if (cursor.strict && !this.#checkCharacters(from, declaration.done)) return false;
    if (declaration.declaresEntities) {
      if (!this.#outside.isInDocument) cursor.reportAt(cursor.at, "xml-dtd-refused");
      cursor.stop();
      return false;
    }
    if (declaration.done) this.#skipping = nothing;
    return declaration.done;
  }

  #skipTag(): boolean {
    const cursor = this.#cursor;
    const { buffer } = cursor;
    for (let at = cursor.at; at < buffer.length; at++) {
      const character = buffer[at]!;
      if (this.#quote !== "") {
        const end = buffer.indexOf(this.#quote, at);
        if (end === -1) break;
        this.#quote = "";
        at = end;
        this.#selfClosing = false;
        continue;
      }
      if (character === '"' || character === "'") this.#quote = character;
      else if (character === ">" || character === "<") {
        cursor.at = character === ">" ? at + 1 : at;
        this.#skipping = nothing;
        if (this.#selfClosing && character === ">") this.#elements.close();
        this.#selfClosing = false;
        return true;
      }
      this.#selfClosing = character === "/";
    }
    cursor.at = buffer.length;
    return false;
  }
}

/** The first half of a surrogate pair. */
export function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

type Skipping = typeof nothing | typeof something | typeof doctype | typeof startTag;
const nothing = 0;
const something = 1;
const doctype = 2;
const startTag = 3;

const exclamationMark = 0x21;
const greaterThan = 0x3e;
