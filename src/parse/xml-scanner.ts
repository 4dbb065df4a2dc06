// The XML scanner: text in any pieces becomes elements that open and close, with the text that the handler wants.
// https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/, without document type declarations.
// Linear in time. Memory is bounded for any token: comments, instructions and unwanted text are never kept, names, values
// and wanted text only up to their limits. There is no recursion.
//   Lenient: end tags that match no element, elements that are not closed and tags in another case are put right.
//   Lenient: a `<` that starts no tag is text.
//   Lenient: text before the root is skipped, and what comes after it is read as if it stood inside.
// With `strict` the first thing that is not well-formed ends the document; xml-strict.ts has the checks that only it needs.
import type { Limits } from "../options.ts";
import type { ProblemCode, ProblemLog } from "../problem.ts";
import { protocolUrlLength } from "../url.ts";
import type { TextPiece } from "../utf8-text.ts";
import { type CreateFastPath, type FastPath, noFastPath } from "./fast-path.ts";
import { endOfName, isSpace, noAttributes, skipSpace, XmlAttributes } from "./xml-attributes.ts";
import { XmlCursor } from "./xml-cursor.ts";
import { XmlDoctype } from "./xml-doctype.ts";
import { XmlElements } from "./xml-elements.ts";
import type { XmlHandler } from "./xml-handler.ts";
import { readInstruction } from "./xml-instruction.ts";
import { type XmlName, XmlNames } from "./xml-name.ts";
import {
  endOfChecked,
  flawOfCharacters,
  flawOfInstruction,
  flawOfName,
  flawOfTag,
  flawOfText,
  hasTarget,
} from "./xml-strict.ts";
import { XmlText } from "./xml-text.ts";

export interface XmlScannerOptions {
  readonly limits: Limits;
  readonly strict: boolean;
  readonly problems: ProblemLog;
  /** Line ends of the document before what is written. */
  readonly linesBefore?: number;
  /** @default none */
  readonly fastPath?: CreateFastPath | undefined;
}

export class XmlScanner {
  readonly #limits: Limits;
  readonly #names = new XmlNames();
  readonly #attributes: XmlAttributes;
  readonly #elements: XmlElements;
  readonly #fastPath: FastPath;
  /** Where it is. */
  readonly cursor: XmlCursor;
  /** The text of the element that is being closed, where it is wanted. */
  readonly text: XmlText;

  // Nothing is tried before the buffer has this length: a long token that comes in small pieces is not read again for each.
  #enough = 0;
  #mode: Mode = content;
  #until = "";
  #doctype: XmlDoctype | undefined;
  #quote = "";
  #selfClosing = false;
  #isInDocument = false;
  #outsideReported = false;
  #isJunkReported = false;

  constructor(handler: XmlHandler, options: XmlScannerOptions) {
    const { limits } = options;
    this.#limits = limits;
    const cursor = new XmlCursor(options);
    const text = new XmlText(cursor, limits.xmlTextLength);
    const attributes = new XmlAttributes(limits.xmlAttributes, limits.xmlTextLength, cursor);
    const elements = new XmlElements({ cursor, text, limits, handler, first: this.#names.find("/", 0, 1) });
    this.cursor = cursor;
    this.text = text;
    this.#attributes = attributes;
    this.#elements = elements;
    const lengths = { text: limits.xmlTextLength, url: Math.min(limits.urlLength, protocolUrlLength) };
    const createFastPath = options.fastPath ?? noFastPath;
    this.#fastPath = createFastPath({
      cursor,
      text,
      elements,
      attributes,
      limits: lengths,
      scan: (piece) => this.#write(piece),
      takeRest: () => {
        this.#enough = 0;
        return cursor.takeRest();
      },
    });
  }

  /** How many elements are open. */
  get depth(): number {
    return this.#elements.depth;
  }

  /** Nothing more will be read. */
  get stopped(): boolean {
    return this.cursor.stopped;
  }

  /** From the next element on, `handler` takes what is found. */
  useHandler(handler: XmlHandler): void {
    this.#elements.useHandler(handler);
  }

  /** The root was found: what came before is no part of the document. */
  beginDocument(): void {
    this.#isInDocument = true;
  }

  // The root was closed.
  get #isAfterRoot(): boolean {
    return this.#isInDocument && this.#elements.depth === 0;
  }

  write(piece: TextPiece): void {
    if (!this.cursor.stopped) this.#fastPath.write(piece);
  }

  #write(chunk: string): void {
    const { cursor } = this;
    // In pieces of bounded length: some searches run to the end of the buffer in vain.
    for (let at = 0; at < chunk.length && !cursor.stopped; at += maxPiece) {
      const piece = chunk.length <= maxPiece ? chunk : chunk.slice(at, at + maxPiece);
      if (cursor.buffer === "" || piece.length < 8 * seam) cursor.append(piece);
      else {
        // Joining all of it to what is left would copy it: as much as leads over the seam is enough.
        const joined = isHighSurrogate(piece.charCodeAt(seam - 1)) ? seam + 1 : seam;
        cursor.append(piece.slice(0, joined));
        if (cursor.buffer.length >= this.#enough) this.#scan(false);
        if (cursor.stopped) return;
        cursor.goOn(piece, joined);
      }
      if (cursor.buffer.length >= this.#enough) this.#scan(false);
    }
  }

  end(): void {
    const { cursor } = this;
    if (!cursor.stopped) this.#fastPath.flush();
    if (cursor.stopped) return;
    this.#scan(true);
    if (cursor.stopped) return;
    if (cursor.at < cursor.buffer.length || this.#mode !== content || this.#elements.depth > 0) this.#endEarly();
    cursor.stop();
  }

  // The document ends inside of something.
  #endEarly(): void {
    const isJunk = this.#isJunkReported || this.#isAfterRoot;
    if (!isJunk || this.#elements.handler.isInEntry) this.#flaw("xml-truncated", this.cursor.at);
    else if (!this.#isJunkReported) this.#flaw("xml-junk-after-root", this.cursor.at);
  }

  // Something that is not well-formed.
  #flaw(code: ProblemCode, at: number, value?: string, limit?: number): void {
    this.cursor.flawAt(at, code, value, limit);
  }

  #scan(final: boolean): void {
    const { cursor } = this;
    this.#attributes.setBuffer(cursor.buffer);
    let more = true;
    while (more && !cursor.stopped) {
      if (this.#mode === content) more = this.#scanContent(final);
      else if (this.#mode === skipping) more = this.#skipUntil();
      else if (this.#mode === inDoctype) more = this.#skipDoctype(final);
      else more = this.#skipTag();
    }
    cursor.forget();
    this.#enough = cursor.buffer.length + (cursor.buffer.length >> 1);
  }

  // Reads on until the buffer ends inside a token, or something begins that is not read here. Returns whether to go on.
  #scanContent(final: boolean): boolean {
    const { cursor } = this;
    for (;;) {
      if (this.#fastPath.takesOver()) return false;
      const open = cursor.buffer.indexOf("<", cursor.at);
      if (open === -1) {
        this.#partialText(final);
        return false;
      }
      if (open > cursor.at) this.#takeText(open);
      if (cursor.stopped || !this.#scanMarkup(open, final)) return false;
      if (this.#mode !== content || cursor.stopped) return true;
    }
  }

  // All of a text that stands between two tags.
  #takeText(end: number): void {
    const { cursor, text } = this;
    const start = cursor.at;
    if (text.depth !== 0) text.add(cursor.buffer.slice(start, end), this.#isOwnText());
    else if (this.#elements.depth === 0) this.#outsideText(start, end);
    if (cursor.strict) this.#checkText(start, end);
    cursor.at = end;
  }

  #isOwnText(): boolean {
    return this.text.depth === this.#elements.depth;
  }

  // At a `<`. Returns whether it was read; otherwise the buffer has to grow.
  #scanMarkup(open: number, final: boolean): boolean {
    if (open + 1 === this.cursor.buffer.length) return final && this.#strayText(open);
    const code = this.cursor.buffer.charCodeAt(open + 1);
    if (code !== exclamationMark && code !== questionMark && !this.#checkAfterRoot(open, final)) return false;
    if (code === slash) return this.#scanEndTag(open, final);
    if (code === exclamationMark) return this.#scanDeclaration(open, final);
    if (code === questionMark) return this.#scanInstruction(open, final);
    if (startsName(code)) return this.#scanStartTag(open, final);
    return this.#strayText(open);
  }

  #strayText(open: number): true {
    if (this.#isAfterRoot) this.#checkAfterRoot(open, true);
    else this.#flaw("xml-stray-text", open);
    if (this.text.depth !== 0) this.text.addDecoded("<", 1, this.#isOwnText());
    this.cursor.at = open + 1;
    return true;
  }

  #scanStartTag(open: number, final: boolean): boolean {
    this.#outsideReported = false;
    const buffer = this.cursor.buffer;
    const nameEnd = endOfName(buffer, open + 1);
    const nameTooLong = nameEnd - open - 1 > this.#limits.xmlNameLength;
    if (nameEnd === buffer.length && !nameTooLong) return final && this.#cut(open);
    if (buffer.charCodeAt(nameEnd) === greaterThan && !nameTooLong) {
      const name = this.#names.find(buffer, open + 1, nameEnd);
      if (!this.#endUnclosed(name, open, nameEnd + 1, final)) return false;
      this.#simpleTag(name, open, nameEnd + 1, false);
      return true;
    }
    const attributes = this.#attributes;
    const end = nameTooLong ? nameEnd : attributes.scan(open, nameEnd);
    if (end === -1) return final && this.#cut(open);
    if (nameTooLong || attributes.tooLong) return this.#openLongTag(open, nameEnd, nameTooLong);
    // Lenient: `a <b` in a text is text, not a tag that lost its end.
    if (attributes.unclosed && this.text.depth !== 0) return this.#strayText(open);
    const name = this.#names.find(buffer, open + 1, nameEnd);
    if (attributes.isEmptyElement) {
      this.#simpleTag(name, open, end, true);
      return true;
    }
    if (!attributes.selfClosing && !this.#endUnclosed(name, open, end, final)) return false;
    this.cursor.at = open;
    if (attributes.tooMany) {
      this.cursor.limit("limit-xml-attributes", this.#limits.xmlAttributes);
      return true;
    }
    if (attributes.valueTooLong) this.#flaw("limit-xml-token", open, name.raw, this.#limits.xmlTextLength);
    if (attributes.malformed) this.#flaw("xml-malformed-tag", open, buffer.slice(open, Math.min(end, open + 80)));
    if (this.cursor.stopped) return true;
    this.#elements.declare(attributes);
    if (this.cursor.strict) this.#checkTag(name, open);
    if (this.cursor.stopped) return true;
    this.#elements.open(name, attributes);
    if (attributes.selfClosing && !this.cursor.stopped) this.#elements.close();
    this.cursor.at = end;
    return true;
  }

  // A start tag from `open` to `end`: if it starts an entry, what was left open before it ends here. Inside of an entry, an element with
  // the name of an entry is one where a tag follows, and a field of something unknown where a text does. Returns false where more of the
  // document is needed to tell.
  #endUnclosed(name: XmlName, open: number, end: number, final: boolean): boolean {
    const count = this.#elements.unclosedBefore(name);
    if (count === 0) return true;
    const { buffer } = this.cursor;
    const next = skipSpace(buffer, end);
    if (next + 1 >= buffer.length) {
      if (final) return true;
      if (next - end < maxLookAhead) return false;
    } else if (buffer.charCodeAt(next) !== lessThan || buffer.charCodeAt(next + 1) === slash) return true;
    this.cursor.at = open;
    this.#flaw("xml-mismatched-tag", open, `<${this.#elements.top!.raw}>`);
    for (let left = count; left > 0 && !this.cursor.stopped; left--) this.#elements.close(true);
    return true;
  }

  // A start tag without attributes, perhaps an empty element.
  #simpleTag(name: XmlName, open: number, end: number, selfClosing: boolean): void {
    if (this.cursor.strict) this.#checkName(name, open);
    if (this.cursor.stopped) return;
    this.#elements.open(name, noAttributes);
    if (selfClosing && !this.cursor.stopped) this.#elements.close();
    this.cursor.at = end;
  }

  // The name or the attributes are longer than what is kept: the element is opened without them.
  #openLongTag(open: number, nameEnd: number, nameTooLong: boolean): true {
    const { xmlNameLength, xmlTextLength } = this.#limits;
    this.cursor.at = open;
    this.#flaw("limit-xml-token", open, undefined, nameTooLong ? xmlNameLength : xmlTextLength);
    if (this.cursor.stopped) return true;
    const kept = nameTooLong ? open + 1 + xmlNameLength : nameEnd;
    this.#elements.open(this.#names.find(this.cursor.buffer, open + 1, Math.max(kept, open + 2)), noAttributes);
    this.#mode = inTag;
    this.#quote = "";
    this.cursor.at = kept;
    return true;
  }

  #scanEndTag(open: number, final: boolean): boolean {
    const buffer = this.cursor.buffer;
    const top = this.#elements.top;
    if (top !== undefined) {
      const end = open + 2 + top.raw.length;
      if (end < buffer.length && buffer.charCodeAt(end) === greaterThan && buffer.startsWith(top.raw, open + 2)) {
        this.#elements.close();
        this.cursor.at = end + 1;
        return true;
      }
    }
    const nameEnd = endOfName(buffer, open + 2);
    const end = buffer.indexOf(">", nameEnd);
    const length = (end === -1 ? buffer.length : end) - open;
    if (length > this.#limits.xmlNameLength + maxEndTagSpace) {
      this.#flaw("limit-xml-token", open, undefined, this.#limits.xmlNameLength);
      this.#skip(">", open + 2);
      return true;
    }
    if (end === -1) return final && this.#cut(open);
    this.cursor.at = open;
    const name = this.#names.find(buffer, open + 2, nameEnd);
    this.#otherEndTag(name, open, this.#endOfEndTag(nameEnd, end));
    return true;
  }

  // Between the name of an end tag and its `>` there is only white space.
  #endOfEndTag(nameEnd: number, end: number): number {
    const buffer = this.cursor.buffer;
    for (let at = nameEnd; at < end; at++) {
      if (isSpace(buffer.charCodeAt(at))) continue;
      this.#flaw("xml-malformed-tag", nameEnd, buffer.slice(nameEnd, Math.min(end, nameEnd + 80)));
      const next = buffer.slice(at, end).indexOf("<");
      return next === -1 ? end + 1 : at + next;
    }
    return end + 1;
  }

  // An end tag that is not written like the start tag of the innermost element.
  #otherEndTag(name: XmlName, open: number, end: number): void {
    this.cursor.at = open;
    if (this.cursor.stopped) return;
    const depth = this.#elements.depthOf(name);
    const top = this.#elements.top;
    // After the root, that was said.
    if (!this.#isAfterRoot && (depth === 0 || depth !== this.#elements.depth || top?.raw !== name.raw)) {
      this.#flaw("xml-mismatched-tag", open, `</${name.raw}>`);
    }
    if (depth > 0 && !this.cursor.stopped) {
      while (this.#elements.depth > depth && !this.cursor.stopped) this.#elements.close(true);
      if (!this.cursor.stopped) this.#elements.close();
    }
    this.cursor.at = end;
  }

  #scanDeclaration(open: number, final: boolean): boolean {
    const buffer = this.cursor.buffer;
    // As long as `<![CDATA[` and `<!DOCTYPE`.
    if (!final && buffer.length - open < 9) return false;
    this.cursor.at = open;
    // `<!-`, `<![` and others: one character tells what it can be.
    const kind = buffer.charCodeAt(open + 2);
    if (kind === hyphen && buffer.startsWith("<!--", open)) {
      this.#skip("--", open + 4);
      return true;
    }
    if (!this.#checkAfterRoot(open, final)) return false;
    if (kind === squareBracket && buffer.startsWith("<![CDATA[", open)) return this.#scanCdata(open, final);
    if (buffer.slice(open, open + 9).toUpperCase() === "<!DOCTYPE") {
      this.#mode = inDoctype;
      this.#doctype = new XmlDoctype();
      this.cursor.at = open + 9;
      if (this.#isInDocument) this.#flaw("xml-malformed-tag", open, "<!DOCTYPE");
      else this.cursor.reportAt(open, "xml-doctype");
      return true;
    }
    this.#flaw("xml-malformed-tag", open, "<!");
    this.#skip(">", open + 2);
    return true;
  }

  #scanInstruction(open: number, final: boolean): boolean {
    const { cursor } = this;
    const instruction = readInstruction(cursor.buffer, open, final);
    if (instruction === undefined) return false;
    const { isDeclaration, end, isUnclosed } = instruction;
    if (cursor.strict && !isDeclaration && !hasTarget(cursor.buffer, open + 2) && !final) return false;
    cursor.at = open;
    if (isDeclaration) {
      // Lenient: the declaration stands at the very beginning, or, for many websites, after a few blank lines.
      if (this.#isInDocument) this.#flaw("xml-malformed-tag", open, "<?xml");
      else if (!cursor.isBeginning(open) && !cursor.has("xml-junk-before-root")) {
        this.#flaw("xml-junk-before-root", open, "white space");
      }
    }
    if (isUnclosed) this.#flaw("xml-unclosed-instruction", open, cursor.buffer.slice(open, Math.min(end!, open + 80)));
    if (cursor.strict && !cursor.stopped) {
      const flaw = flawOfInstruction(cursor.buffer.slice(open, end), isDeclaration);
      if (flaw !== undefined) this.#flaw("xml-malformed-tag", open, flaw);
    }
    if (isUnclosed) cursor.at = end!;
    else this.#skip("?>", open + 2);
    return true;
  }

  #scanCdata(open: number, final: boolean): boolean {
    const buffer = this.cursor.buffer;
    if (this.#elements.depth === 0 && !this.#isInDocument) this.#flaw("xml-junk-before-root", open, "<![CDATA[");
    if (this.text.depth === 0) {
      this.#skip("]]>", open + 9);
      return true;
    }
    const end = buffer.indexOf("]]>", open + 9);
    const length = (end === -1 ? buffer.length : end) - open - 9;
    if (this.text.exceeds(end === -1 ? length - 3 : length)) {
      this.text.spoil("too-long");
      this.#skip("]]>", open + 9);
      return true;
    }
    if (end === -1) return final && this.#cut(open);
    if (this.cursor.strict) {
      const flaw = flawOfCharacters(buffer.slice(open + 9, end));
      if (flaw !== undefined) this.#flaw("xml-malformed-tag", open + 9 + flaw.at, flaw.value);
    }
    this.text.addCdata(buffer.slice(open + 9, end), this.#isOwnText());
    this.cursor.at = end + 3;
    return true;
  }

  // The document ends inside this tag.
  #cut(open: number): false {
    this.cursor.at = open;
    return false;
  }

  #skip(until: string, from: number): void {
    this.#mode = skipping;
    this.#until = until;
    this.cursor.at = from;
  }

  #skipUntil(): boolean {
    const { cursor } = this;
    const until = this.#until;
    const from = cursor.at;
    const found = cursor.buffer.indexOf(until, from);
    // Where it is not there, all but its beginning can go.
    cursor.at = found === -1 ? Math.max(from, cursor.buffer.length - until.length + 1) : found;
    if (cursor.strict && !this.#checkSkipped(from)) return false;
    if (found === -1) return false;
    if (until === "--") return this.#endComment(found);
    cursor.at = found + until.length;
    this.#mode = content;
    return true;
  }

  // At `--` in a comment, which only its end may have: https://www.w3.org/TR/xml/#sec-comments
  //   Lenient: a comment may end in `--!>`.
  #endComment(found: number): boolean {
    const { cursor } = this;
    const next = cursor.buffer.charCodeAt(found + 2);
    const isOdd = next === exclamationMark && cursor.buffer.charCodeAt(found + 3) === greaterThan;
    if (cursor.buffer.length < found + (next === exclamationMark ? 4 : 3)) return false;
    if (isOdd) this.#flaw("xml-comment-end", found, "--!>");
    else if (next !== greaterThan && cursor.strict) this.#flaw("xml-malformed-tag", found, "--");
    if (isOdd || next === greaterThan) this.#mode = content;
    cursor.at = isOdd ? found + 4 : next === greaterThan ? found + 3 : found + 1;
    return true;
  }

  // Characters from there to where the cursor is now. The first half of one that has two waits for the second.
  #checkSkipped(from: number): boolean {
    const { cursor } = this;
    if (cursor.at > from && isHighSurrogate(cursor.buffer.charCodeAt(cursor.at - 1))) cursor.at--;
    const flaw = flawOfCharacters(cursor.buffer.slice(from, cursor.at));
    if (flaw !== undefined) this.#flaw("xml-malformed-tag", from + flaw.at, flaw.value);
    return flaw === undefined;
  }

  #skipDoctype(final: boolean): boolean {
    const doctype = this.#doctype!;
    this.cursor.at = doctype.skip(this.cursor.buffer, this.cursor.at, final);
    if (doctype.declaresEntities) {
      if (!this.#isInDocument) this.cursor.reportAt(this.cursor.at, "xml-dtd-refused");
      this.cursor.stop();
      return false;
    }
    if (doctype.done) this.#mode = content;
    return doctype.done;
  }

  // Passes over the rest of a start tag that is too long.
  #skipTag(): boolean {
    const buffer = this.cursor.buffer;
    for (let at = this.cursor.at; at < buffer.length; at++) {
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
        this.cursor.at = character === ">" ? at + 1 : at;
        this.#mode = content;
        if (this.#selfClosing && character === ">") this.#elements.close();
        this.#selfClosing = false;
        return true;
      }
      this.#selfClosing = character === "/";
    }
    this.cursor.at = buffer.length;
    return false;
  }

  // The buffer ends inside a text.
  #partialText(final: boolean): void {
    const { length } = this.cursor.buffer;
    if (final) {
      if (this.#elements.depth === 0 && length > this.cursor.at) this.#outsideText(this.cursor.at, length);
      this.cursor.at = length;
    } else if (this.#elements.depth === 0) {
      this.cursor.at = skipSpace(this.cursor.buffer, this.cursor.at);
      // Enough to show it. Then it can go.
      if (length - this.cursor.at > shownLength || this.#outsideReported) {
        this.#outsideText(this.cursor.at, length);
        this.cursor.at = length;
      }
    } else if (this.text.depth !== 0 || this.cursor.strict) {
      if (!this.text.exceeds(length - this.cursor.at)) return;
      if (this.text.depth !== 0) this.text.spoil("too-long");
      const end = this.cursor.strict ? endOfChecked(this.cursor.buffer, this.cursor.at) : length;
      if (this.cursor.strict) this.#checkText(this.cursor.at, end);
      this.cursor.at = end;
    } else this.cursor.at = length;
  }

  // Text outside of the root. One run of it is one problem.
  #outsideText(start: number, end: number): void {
    if (this.#outsideReported || this.#isJunkReported) return;
    const first = skipSpace(this.cursor.buffer, start);
    if (first >= end) return;
    this.#outsideReported = true;
    this.#isJunkReported = this.#isInDocument;
    const text = this.cursor.buffer.slice(first, Math.min(end, first + shownLength)).trimEnd();
    this.#flaw(this.#isInDocument ? "xml-junk-after-root" : "xml-junk-before-root", first, text);
  }

  // Markup after the root is reported once, and read. Returns false where more of the document is needed to show it.
  #checkAfterRoot(open: number, final: boolean): boolean {
    if (!this.#isAfterRoot || this.#isJunkReported) return true;
    if (!final && this.cursor.buffer.length - open < shownLength) return false;
    this.cursor.at = open;
    this.#isJunkReported = true;
    this.#flaw("xml-junk-after-root", open, this.cursor.buffer.slice(open, open + shownLength));
    return true;
  }

  #checkText(start: number, end: number): void {
    const flaw = flawOfText(this.cursor.buffer.slice(start, end), this.text.depth !== 0);
    if (flaw !== undefined && !this.cursor.stopped) this.#flaw("xml-malformed-tag", start + flaw.at, flaw.value);
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

// What the buffer starts with: content, something to be passed over, or the rest of a tag that is too long.
type Mode = typeof content | typeof skipping | typeof inDoctype | typeof inTag;
const content = 0;
const skipping = 1;
const inDoctype = 2;
const inTag = 3;

// https://www.w3.org/TR/xml/#NT-NameStartChar, but for what is outside of ASCII: that is for `strict` to judge.
function startsName(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x3a || code >= 0x80
  );
}

// The first half of a character that has two.
function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

const maxPiece = 64 * 1024;
// White space after a start tag, until something follows.
const maxLookAhead = 4096;
// Longer than most of what lies between two places at which reading may stop.
const seam = 512;
// White space that an end tag may have.
const maxEndTagSpace = 1024;
const shownLength = 200;
const exclamationMark = 0x21;
const hyphen = 0x2d;
const slash = 0x2f;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const questionMark = 0x3f;
const squareBracket = 0x5b;
