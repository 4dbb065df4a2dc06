// Start tags and end tags: an element opens or closes.
//   Lenient: end tags that match no element, elements that are not closed and tags in another case are put right.
import type { Limits } from "../model/options.ts";
import type { ProblemCode } from "../model/problem.ts";
import { endOfName, isSpace, noAttributes, skipSpace, type XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";
import type { XmlName, XmlNames } from "./xml-name.ts";
import type { XmlOutside } from "./xml-outside.ts";
import type { XmlSkipper } from "./xml-skipper.ts";
import { flawOfName, flawOfTag } from "./xml-strict.ts";
import type { XmlText } from "./xml-text.ts";

export interface XmlTagsOptions {
  readonly cursor: XmlCursor;
  readonly text: XmlText;
  readonly names: XmlNames;
  readonly attributes: XmlAttributes;
  readonly elements: XmlElements;
  readonly outside: XmlOutside;
  readonly skipper: XmlSkipper;
  readonly limits: Limits;
}

/** The result for a tag: it was read, it is text and not a tag, or the buffer has to grow. */
export type TagResult = "read" | "text" | "more";

export class XmlTags {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #names: XmlNames;
  readonly #attributes: XmlAttributes;
  readonly #elements: XmlElements;
  readonly #outside: XmlOutside;
  readonly #skipper: XmlSkipper;
  readonly #limits: Limits;

  constructor(options: XmlTagsOptions) {
    this.#cursor = options.cursor;
    this.#text = options.text;
    this.#names = options.names;
    this.#attributes = options.attributes;
    this.#elements = options.elements;
    this.#outside = options.outside;
    this.#skipper = options.skipper;
    this.#limits = options.limits;
  }

  /** A start tag: `<` is at `open`, and a name follows. */
  start(open: number, final: boolean): TagResult {
    this.#outside.endRun();
    const buffer = this.#cursor.buffer;
    const nameEnd = endOfName(buffer, open + 1);
    const nameTooLong = nameEnd - open - 1 > this.#limits.xmlNameLength;
    if (nameEnd === buffer.length && !nameTooLong) return this.#more(open, final);
    if (buffer.charCodeAt(nameEnd) === greaterThan && !nameTooLong) {
      const name = this.#names.find(buffer, open + 1, nameEnd);
      if (!this.#endUnclosed(name, open, nameEnd + 1, final)) return "more";
      this.#simpleTag(name, open, nameEnd + 1, false);
      return "read";
    }
    const attributes = this.#attributes;
    const end = nameTooLong ? nameEnd : attributes.scan(open, nameEnd);
    if (end === -1) return this.#more(open, final);
    if (nameTooLong || attributes.tooLong) return this.#openLongTag(open, nameEnd, nameTooLong);
    // Lenient: `a <b` in a text is text, not a tag that lost its end.
    if (attributes.unclosed && this.#text.depth !== 0) return "text";
    const name = this.#names.find(buffer, open + 1, nameEnd);
    if (attributes.isEmptyElement) {
      this.#simpleTag(name, open, end, true);
      return "read";
    }
    if (!attributes.selfClosing && !this.#endUnclosed(name, open, end, final)) return "more";
    this.#cursor.at = open;
    if (attributes.tooMany) {
      this.#cursor.limit("limit-xml-attributes", this.#limits.xmlAttributes);
      return "read";
    }
    if (attributes.valueTooLong) this.#flaw("limit-xml-token", open, name.raw, this.#limits.xmlTextLength);
    if (attributes.malformed) this.#flaw("xml-malformed-tag", open, buffer.slice(open, Math.min(end, open + 80)));
    if (this.#cursor.stopped) return "read";
    this.#elements.declare(attributes);
    if (this.#cursor.strict) this.#checkTag(name, open);
    if (this.#cursor.stopped) return "read";
    this.#elements.open(name, attributes);
    if (attributes.selfClosing && !this.#cursor.stopped) this.#elements.close();
    this.#cursor.at = end;
    return "read";
  }

  // If the start tag from `open` to `end` starts an entry, what was left open before it ends here. Inside an entry, an
  // element with the name of an entry is one if a tag follows, and a field of something unknown if text follows.
  // Returns false if more of the document is needed.
  #endUnclosed(name: XmlName, open: number, end: number, final: boolean): boolean {
    const count = this.#elements.unclosedBefore(name);
    if (count === 0) return true;
    const { buffer } = this.#cursor;
    const next = skipSpace(buffer, end);
    if (next + 1 >= buffer.length) {
      if (final) return true;
      if (next - end < maxLookAhead) return false;
    } else if (buffer.charCodeAt(next) !== lessThan || buffer.charCodeAt(next + 1) === slash) return true;
    this.#cursor.at = open;
    this.#flaw("xml-mismatched-tag", open, `<${this.#elements.top!.raw}>`);
    for (let left = count; left > 0 && !this.#cursor.stopped; left--) this.#elements.close(true);
    return true;
  }

  // A start tag without attributes, perhaps an empty element.
  #simpleTag(name: XmlName, open: number, end: number, selfClosing: boolean): void {
    if (this.#cursor.strict) this.#checkName(name, open);
    if (this.#cursor.stopped) return;
    this.#elements.open(name, noAttributes);
    if (selfClosing && !this.#cursor.stopped) this.#elements.close();
    this.#cursor.at = end;
  }

  // The name or the attributes are too long to be kept: the element is opened without them.
  #openLongTag(open: number, nameEnd: number, nameTooLong: boolean): TagResult {
    const { xmlNameLength, xmlTextLength } = this.#limits;
    this.#cursor.at = open;
    this.#flaw("limit-xml-token", open, undefined, nameTooLong ? xmlNameLength : xmlTextLength);
    if (this.#cursor.stopped) return "read";
    const kept = nameTooLong ? open + 1 + xmlNameLength : nameEnd;
    this.#elements.open(this.#names.find(this.#cursor.buffer, open + 1, Math.max(kept, open + 2)), noAttributes);
    this.#skipper.startTag(kept);
    return "read";
  }

  /** An end tag: `</` is at `open`. */
  end(open: number, final: boolean): TagResult {
    const buffer = this.#cursor.buffer;
    const top = this.#elements.top;
    if (top !== undefined) {
      const end = open + 2 + top.raw.length;
      if (end < buffer.length && buffer.charCodeAt(end) === greaterThan && buffer.startsWith(top.raw, open + 2)) {
        this.#elements.close();
        this.#cursor.at = end + 1;
        return "read";
      }
    }
    const nameEnd = endOfName(buffer, open + 2);
    const end = buffer.indexOf(">", nameEnd);
    const length = (end === -1 ? buffer.length : end) - open;
    if (length > this.#limits.xmlNameLength + maxEndTagSpace) {
      this.#flaw("limit-xml-token", open, undefined, this.#limits.xmlNameLength);
      this.#skipper.start(">", open + 2);
      return "read";
    }
    if (end === -1) return this.#more(open, final);
    this.#cursor.at = open;
    const name = this.#names.find(buffer, open + 2, nameEnd);
    this.#otherEndTag(name, open, this.#endOfEndTag(nameEnd, end));
    return "read";
  }

  // Only white space is allowed between the name and `>`.
  #endOfEndTag(nameEnd: number, end: number): number {
    const buffer = this.#cursor.buffer;
    for (let at = nameEnd; at < end; at++) {
      if (isSpace(buffer.charCodeAt(at))) continue;
      this.#flaw("xml-malformed-tag", nameEnd, buffer.slice(nameEnd, Math.min(end, nameEnd + 80)));
      const next = buffer.slice(at, end).indexOf("<");
      return next === -1 ? end + 1 : at + next;
    }
    return end + 1;
  }

  // An end tag that differs from the start tag of the innermost element.
  #otherEndTag(name: XmlName, open: number, end: number): void {
    this.#cursor.at = open;
    if (this.#cursor.stopped) return;
    const depth = this.#elements.depthOf(name);
    const top = this.#elements.top;
    // After the root, it was reported already.
    if (!this.#outside.isAfterRoot && (depth === 0 || depth !== this.#elements.depth || top?.raw !== name.raw)) {
      this.#flaw("xml-mismatched-tag", open, `</${name.raw}>`);
    }
    if (depth > 0 && !this.#cursor.stopped) {
      while (this.#elements.depth > depth && !this.#cursor.stopped) this.#elements.close(true);
      if (!this.#cursor.stopped) this.#elements.close();
    }
    this.#cursor.at = end;
  }

  // The buffer ends inside this tag.
  #more(open: number, final: boolean): TagResult {
    if (final) this.#cursor.at = open;
    return "more";
  }

  // Something that is not well-formed.
  #flaw(code: ProblemCode, at: number, value?: string, limit?: number): void {
    this.#cursor.flawAt(at, code, value, limit);
  }

  #checkName(name: XmlName, at: number): void {
    this.#elements.namespaces.resolve(name);
    const flaw = flawOfName(name);
    if (flaw !== undefined) this.#flaw("xml-malformed-tag", at, flaw);
  }

  #checkTag(name: XmlName, at: number): void {
    const flaw = flawOfTag(this.#attributes, (prefix) => this.#elements.namespaces.lookup(prefix));
    if (flaw !== undefined) this.#flaw("xml-malformed-tag", at, flaw);
    else this.#checkName(name, at);
  }
}

// White space after a start tag, until something follows.
const maxLookAhead = 4096;
// White space that an end tag may have.
const maxEndTagSpace = 1024;
const slash = 0x2f;
const lessThan = 0x3c;
const greaterThan = 0x3e;
