// The XML scanner: turns text in chunks of any size into elements that open and close, with the texts that the handler
// wants. https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/, without document type declarations. Linear in
// time. Memory is limited for any token: comments, instructions and unwanted text are never kept; names, values and
// wanted text only up to their limits. No recursion. `XmlScanner` separates text from markup; `XmlTags` reads tags, and
// `XmlElements` opens and closes their elements; `XmlDeclarations` reads `<!…>` and `<?…?>`, `XmlSkipper` skips content,
// `XmlOutside` knows what is outside the root.
//   Lenient: a `<` that starts no tag is text.
// With `strict` the first thing that is not well-formed ends the document; strict.ts has the checks that only it needs.
import type { Limits } from "../../model/options.ts";
import type { ProblemCode, ProblemLog } from "../../model/problem.ts";
import { protocolUrlLength } from "../../model/url.ts";
import type { TextPiece } from "../../model/utf8-text.ts";
import { type CreateFastPath, type FastPath, noFastPath } from "../fast/fast-path.ts";
import { endOfName, isSpace, noAttributes, skipSpace, XmlAttributes } from "./attributes.ts";
import { XmlCursor } from "./cursor.ts";
import { type ElementAttributes, type XmlHandler, type XmlName, XmlNames, XmlNamespaces } from "./names.ts";
import {
  endOfChecked,
  flawOfCharacters,
  flawOfInstruction,
  flawOfName,
  flawOfTag,
  flawOfText,
  hasTarget,
} from "./strict.ts";
import { XmlText } from "./text.ts";

export interface XmlScannerOptions {
  readonly limits: Limits;
  readonly strict: boolean;
  readonly problems: ProblemLog;
  /** Line ends of the document before the written text. */
  readonly linesBefore?: number;
  /** @default none */
  readonly fastPath?: CreateFastPath | undefined;
}

export class XmlScanner {
  readonly #attributes: XmlAttributes;
  readonly #elements: XmlElements;
  readonly #outside: XmlOutside;
  readonly #skipper: XmlSkipper;
  readonly #tags: XmlTags;
  readonly #declarations: XmlDeclarations;
  readonly #fastPath: FastPath;
  /** Its position. */
  readonly cursor: XmlCursor;
  /** The text of the element that is being closed, if it is wanted. */
  readonly text: XmlText;

  // Nothing is read before the buffer has this length: a long token in small chunks is not scanned again for each
  // chunk.
  #enough = 0;

  constructor(handler: XmlHandler, options: XmlScannerOptions) {
    const { limits } = options;
    const cursor = new XmlCursor(options);
    const text = new XmlText(cursor, limits.xmlTextLength);
    const attributes = new XmlAttributes(limits.xmlAttributes, limits.xmlTextLength, cursor);
    const names = new XmlNames();
    const elements = new XmlElements({ cursor, text, limits, handler, first: names.find("/", 0, 1) });
    const outside = new XmlOutside(cursor, elements);
    const skipper = new XmlSkipper(cursor, elements, outside);
    this.cursor = cursor;
    this.text = text;
    this.#attributes = attributes;
    this.#elements = elements;
    this.#outside = outside;
    this.#skipper = skipper;
    this.#tags = new XmlTags({ cursor, text, names, attributes, elements, outside, skipper, limits });
    this.#declarations = new XmlDeclarations({ cursor, text, elements, outside, skipper });
    const most = {
      text: limits.xmlTextLength,
      url: Math.min(limits.urlLength, protocolUrlLength),
      depth: limits.xmlDepth,
      attributes: limits.xmlAttributes,
    };
    const createFastPath = options.fastPath ?? noFastPath;
    this.#fastPath = createFastPath({
      cursor,
      text,
      elements,
      attributes,
      limits: most,
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

  /** Reading has stopped. */
  get stopped(): boolean {
    return this.cursor.stopped;
  }

  /** From the next element on, this handler is called. */
  useHandler(handler: XmlHandler): void {
    this.#elements.useHandler(handler);
  }

  /** The root was found: what came before does not belong to the document. */
  beginDocument(): void {
    this.#outside.isInDocument = true;
  }

  write(piece: TextPiece): void {
    if (!this.cursor.stopped) this.#fastPath.write(piece);
  }

  #write(chunk: string): void {
    const { cursor } = this;
    // In slices of limited length: some searches run to the end of the buffer.
    for (let at = 0; at < chunk.length && !cursor.stopped; at += maxPiece) {
      const piece = chunk.length <= maxPiece ? chunk : chunk.slice(at, at + maxPiece);
      if (cursor.buffer === "" || piece.length < 8 * seam) cursor.append(piece);
      else {
        // Concatenating all of it would copy it: only the part across the seam is added.
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
    if (cursor.at < cursor.buffer.length || this.#skipper.isActive || this.#elements.depth > 0) this.#endEarly();
    cursor.stop();
  }

  // The document ends inside a token.
  #endEarly(): void {
    const { cursor } = this;
    const { isJunkReported, isAfterRoot } = this.#outside;
    if (!(isJunkReported || isAfterRoot) || this.#elements.handler.isInEntry) cursor.flawAt(cursor.at, "xml-truncated");
    else if (!isJunkReported) cursor.flawAt(cursor.at, "xml-junk-after-root");
  }

  #scan(final: boolean): void {
    const { cursor } = this;
    this.#attributes.setBuffer(cursor.buffer);
    let more = true;
    while (more && !cursor.stopped) {
      more = this.#skipper.isActive ? this.#skipper.goOn(final) : this.#scanContent(final);
    }
    cursor.forget();
    this.#enough = cursor.buffer.length + (cursor.buffer.length >> 1);
  }

  // Scans until the buffer ends inside a token, or the fast path takes over. Returns whether to continue.
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
      if (this.#skipper.isActive || cursor.stopped) return true;
    }
  }

  // A whole text between two tags.
  #takeText(end: number): void {
    const { cursor, text } = this;
    const start = cursor.at;
    if (text.depth !== 0) text.add(cursor.buffer.slice(start, end), this.#isOwnText());
    else if (this.#elements.depth === 0) this.#outside.text(start, end);
    else if (skipSpace(cursor.buffer, start) < end && this.#elements.handler.takesStray) {
      this.#elements.handler.takeStray!(cursor.buffer.slice(start, end), start);
    }
    if (cursor.strict) this.#checkText(start, end);
    cursor.at = end;
  }

  #isOwnText(): boolean {
    return this.text.depth === this.#elements.depth;
  }

  // At a `<`. Returns whether it was read; otherwise the buffer has to grow.
  #scanMarkup(open: number, final: boolean): boolean {
    const { buffer } = this.cursor;
    if (open + 1 === buffer.length) return final && this.#strayText(open);
    const code = buffer.charCodeAt(open + 1);
    if (code === exclamationMark) return this.#declarations.declaration(open, final);
    if (code === questionMark) return this.#declarations.instruction(open, final);
    if (!this.#outside.checkMarkup(open, final) || this.cursor.stopped) return false;
    if (code !== slash && !startsName(code)) return this.#strayText(open);
    const result = code === slash ? this.#tags.end(open, final) : this.#tags.start(open, final);
    return result === "text" ? this.#strayText(open) : result === "read";
  }

  #strayText(open: number): true {
    if (this.#outside.isAfterRoot) this.#outside.checkMarkup(open, true);
    else this.cursor.flawAt(open, "xml-stray-text");
    if (this.text.depth !== 0) this.text.addStray("<", this.#isOwnText());
    this.cursor.at = open + 1;
    return true;
  }

  // The buffer ends inside a text.
  #partialText(final: boolean): void {
    const { cursor, text } = this;
    const { length } = cursor.buffer;
    const isOutside = this.#elements.depth === 0;
    if (!isOutside && text.depth === 0 && this.#elements.handler.takesStray) this.#partialStray();
    if (final) {
      if (isOutside && length > cursor.at) this.#outside.text(cursor.at, length);
      cursor.at = length;
    } else if (isOutside) this.#outside.partialText();
    else if (text.depth !== 0 || cursor.strict) {
      if (!text.exceeds(length - cursor.at)) return;
      if (text.depth !== 0) text.spoil("too-long");
      const end = cursor.strict ? endOfChecked(cursor.buffer, cursor.at) : length;
      if (cursor.strict) this.#checkText(cursor.at, end);
      cursor.at = end;
    } else if (!this.#elements.handler.takesStray || length - cursor.at > longestWord) cursor.at = length;
  }

  // Takes the words of a text that are whole. The last one of the document may be half a URL.
  #partialStray(): void {
    const { cursor } = this;
    let end = cursor.strict ? endOfChecked(cursor.buffer, cursor.at) : cursor.buffer.length;
    while (end > cursor.at && !isSpace(cursor.buffer.charCodeAt(end - 1))) end--;
    if (end > cursor.at) this.#elements.handler.takeStray!(cursor.buffer.slice(cursor.at, end), cursor.at);
    if (cursor.strict) this.#checkText(cursor.at, end);
    cursor.at = end;
  }

  #checkText(start: number, end: number): void {
    const flaw = flawOfText(this.cursor.buffer.slice(start, end), this.text.depth !== 0);
    if (flaw !== undefined && !this.cursor.stopped)
      this.cursor.flawAt(start + flaw.at, "xml-malformed-tag", flaw.value);
  }
}

// https://www.w3.org/TR/xml/#NT-NameStartChar, except for characters outside of ASCII, which only `strict` checks.
function startsName(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x3a || code >= 0x80
  );
}

// Between entries; longer than any URL.
const longestWord = 64 * 1024;
const maxPiece = 64 * 1024;
// More than most chunks between two places where the scanner can stop.
const seam = 512;
const exclamationMark = 0x21;
const slash = 0x2f;
const questionMark = 0x3f;

// Start tags and end tags: an element opens or closes.
//   Lenient: end tags that match no element, elements that are not closed and tags in another case are put right.

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
const lessThan = 0x3c;
const greaterThan = 0x3e;

// What begins with `<!` or `<?`: comments, CDATA sections, document type declarations and instructions.

export interface XmlDeclarationsOptions {
  readonly cursor: XmlCursor;
  readonly text: XmlText;
  readonly elements: XmlElements;
  readonly outside: XmlOutside;
  readonly skipper: XmlSkipper;
}

export class XmlDeclarations {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #elements: XmlElements;
  readonly #outside: XmlOutside;
  readonly #skipper: XmlSkipper;

  constructor(options: XmlDeclarationsOptions) {
    this.#cursor = options.cursor;
    this.#text = options.text;
    this.#elements = options.elements;
    this.#outside = options.outside;
    this.#skipper = options.skipper;
  }

  /** At `<!`. Returns whether it was read; otherwise the buffer has to grow. */
  declaration(open: number, final: boolean): boolean {
    const buffer = this.#cursor.buffer;
    // As long as `<![CDATA[` and `<!DOCTYPE`.
    if (!final && buffer.length - open < 9) return false;
    this.#cursor.at = open;
    // `<!-`, `<![` and others: the third character tells which.
    const kind = buffer.charCodeAt(open + 2);
    if (kind === hyphen && buffer.startsWith("<!--", open)) {
      this.#skipper.start("--", open + 4);
      return true;
    }
    if (!this.#outside.checkMarkup(open, final) || this.#cursor.stopped) return false;
    if (kind === squareBracket && buffer.startsWith("<![CDATA[", open)) return this.#scanCdata(open, final);
    if (buffer.slice(open, open + 9).toUpperCase() === "<!DOCTYPE") {
      this.#skipper.startDoctype(open + 9);
      if (this.#outside.isInDocument) this.#cursor.flawAt(open, "xml-malformed-tag", "<!DOCTYPE");
      else this.#cursor.reportAt(open, "xml-doctype");
      return true;
    }
    this.#cursor.flawAt(open, "xml-malformed-tag", "<!");
    this.#skipper.start(">", open + 2);
    return true;
  }

  /** At `<?`. Returns whether it was read; otherwise the buffer has to grow. */
  instruction(open: number, final: boolean): boolean {
    const cursor = this.#cursor;
    const instruction = readInstruction(cursor.buffer, open, final);
    if (instruction === undefined) return false;
    const { isDeclaration, end, isUnclosed } = instruction;
    if (cursor.strict && !isDeclaration && !hasTarget(cursor.buffer, open + 2) && !final) return false;
    cursor.at = open;
    if (isDeclaration) {
      // Lenient: the declaration stands at the very beginning, or, for many websites, after a few blank lines.
      if (this.#outside.isInDocument) this.#cursor.flawAt(open, "xml-malformed-tag", "<?xml");
      else if (!cursor.isBeginning(open) && !cursor.has("xml-junk-before-root")) {
        this.#cursor.flawAt(open, "xml-junk-before-root", "white space");
      }
    }
    if (isUnclosed)
      this.#cursor.flawAt(open, "xml-unclosed-instruction", cursor.buffer.slice(open, Math.min(end!, open + 80)));
    if (cursor.strict && !cursor.stopped) {
      const flaw = flawOfInstruction(cursor.buffer.slice(open, end), isDeclaration);
      if (flaw !== undefined) this.#cursor.flawAt(open, "xml-malformed-tag", flaw);
    }
    if (isUnclosed) cursor.at = end!;
    else this.#skipper.start("?>", open + 2);
    return true;
  }

  // Whether a CDATA section between entries holds entries. Undefined if more of the document is needed.
  //   Lenient: entries and URLs in a CDATA section between entries are read.
  #holdsEntries(from: number, final: boolean): boolean | undefined {
    const { buffer } = this.#cursor;
    const start = skipSpace(buffer, from);
    if (start - from > maxLookAhead) return false;
    const isEnough = final || buffer.length - start >= longestStart;
    return isEnough || buffer.startsWith("]]>", start)
      ? entryStart.test(buffer.slice(start, start + longestStart))
      : undefined;
  }

  #scanCdata(open: number, final: boolean): boolean {
    const buffer = this.#cursor.buffer;
    if (this.#elements.depth === 0 && !this.#outside.isInDocument)
      this.#cursor.flawAt(open, "xml-junk-before-root", "<![CDATA[");
    if (this.#text.depth === 0) {
      const holds =
        this.#elements.handler.takesStray && !this.#cursor.strict ? this.#holdsEntries(open + 9, final) : false;
      if (holds === undefined) return false;
      if (!holds) {
        this.#skipper.start("]]>", open + 9);
        return true;
      }
      this.#cursor.reportAt(open, "xml-misplaced", "<![CDATA[");
      this.#cursor.at = open + 9;
      return true;
    }
    const end = buffer.indexOf("]]>", open + 9);
    const length = (end === -1 ? buffer.length : end) - open - 9;
    if (this.#text.exceeds(end === -1 ? length - 3 : length)) {
      this.#text.spoil("too-long");
      this.#skipper.start("]]>", open + 9);
      return true;
    }
    if (end === -1) {
      if (final) this.#cursor.at = open;
      return false;
    }
    if (this.#cursor.strict) {
      const flaw = flawOfCharacters(buffer.slice(open + 9, end));
      if (flaw !== undefined) this.#cursor.flawAt(open + 9 + flaw.at, "xml-malformed-tag", flaw.value);
    }
    this.#text.addCdata(buffer.slice(open + 9, end), this.#text.depth === this.#elements.depth);
    this.#cursor.at = end + 3;
    return true;
  }
}

// The first word of entries, or of a URL.
const entryStart = /^(?:<(?:[\w.-]+:)?(?:url|sitemap|item|entry)[\s>]|https?:\/\/)/i;
// White space before it, and its own length.
const longestStart = 64;
const hyphen = 0x2d;
const squareBracket = 0x5b;

// A document type declaration: skipped, never interpreted. https://www.w3.org/TR/xml/#NT-doctypedecl It is only
// searched for entity declarations: a document that has one is refused, so nothing is ever expanded.
//   Lenient: any other document type declaration is skipped.

/** Finds the end of a document type declaration, chunk by chunk. */
export class XmlDoctype {
  /** It declares entities. */
  declaresEntities = false;
  #inSubset = false;
  // The end of the current comment, instruction or quoted text.
  #until = "";
  /** Its end was found. */
  done = false;

  /** Returns where to continue; a few characters may have to be examined again, with those that follow. */
  skip(buffer: string, from: number, final: boolean): number {
    let at = from;
    while (at < buffer.length && !this.declaresEntities) {
      if (this.#until !== "") {
        const end = buffer.indexOf(this.#until, at);
        if (end === -1) return Math.max(at, buffer.length - this.#until.length + 1);
        at = end + this.#until.length;
        this.#until = "";
        continue;
      }
      const character = buffer[at]!;
      // Longer than any of the words searched for.
      if (character === "<" && !final && buffer.length - at < 9) return at;
      at = this.#step(buffer, at, character);
      if (this.done) return at;
    }
    return at;
  }

  #step(buffer: string, at: number, character: string): number {
    switch (character) {
      case '"':
      case "'":
        this.#until = character;
        return at + 1;
      case "[":
        this.#inSubset = true;
        return at + 1;
      case "]":
        this.#inSubset = false;
        return at + 1;
      case ">":
        this.done = !this.#inSubset;
        return at + 1;
      case "<":
        return this.#markup(buffer, at);
      default:
        return at + 1;
    }
  }

  #markup(buffer: string, at: number): number {
    if (buffer.startsWith("<!--", at)) {
      this.#until = "-->";
      return at + 4;
    }
    if (buffer.startsWith("<?", at)) {
      this.#until = "?>";
      return at + 2;
    }
    if (buffer.slice(at, at + 8).toUpperCase() === "<!ENTITY") this.declaresEntities = true;
    return at + 1;
  }
}

// Processing instructions: where they end. https://www.w3.org/TR/xml/#sec-pi
//   Lenient: an XML declaration, and an instruction for style sheets and the like, may end in `>` instead of `?>`.
// Any other has to end in `?>`, because a `>` may be part of it: without an end it takes the rest, and the document counts as cut off.

export interface Instruction {
  /** It is the declaration, `<?xml …?>`. */
  readonly isDeclaration: boolean;
  /** The position after it; undefined if its end is not in the buffer: then `?>` ends it. */
  readonly end: number | undefined;
  /** It ends in `>` alone. */
  readonly isUnclosed: boolean;
}

/** Reads from `<?`. Undefined if more of the document is needed. */
function readInstruction(buffer: string, open: number, final: boolean): Instruction | undefined {
  // Enough for `<?xml` and the next character.
  if (!final && buffer.length - open < 6) return undefined;
  const isForXml = buffer.startsWith("xml", open + 2) && !isLetter(buffer.charCodeAt(open + 5));
  if (!isForXml) return { isDeclaration: false, end: undefined, isUnclosed: false };
  const next = buffer.charCodeAt(open + 5);
  const isDeclaration = isSpace(next) || next === questionMark || next === greaterThan;
  let quote = 0;
  const last = Math.min(buffer.length, open + maxLength);
  for (let at = open + 5; at < last; at++) {
    const code = buffer.charCodeAt(at);
    if (code === greaterThan) {
      // Never part of a value, even if a quote is missing.
      const isClosed = buffer.charCodeAt(at - 1) === questionMark;
      if (isClosed || quote === 0) return { isDeclaration, end: at + 1, isUnclosed: !isClosed };
    } else if (code === quote) quote = 0;
    else if (quote === 0 && (code === doubleQuote || code === singleQuote)) quote = code;
  }
  if (!final && buffer.length - open < maxLength) return undefined;
  return { isDeclaration, end: undefined, isUnclosed: false };
}

function isLetter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

// Longer than any declaration.
const maxLength = 4096;
const doubleQuote = 0x22;
const singleQuote = 0x27;

// Skips content chunk by chunk, without keeping it: comments, instructions, unwanted CDATA sections, document type
// declarations, and the rest of a start tag that is too long.

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
function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

type Skipping = typeof nothing | typeof something | typeof doctype | typeof startTag;
const nothing = 0;
const something = 1;
const doctype = 2;
const startTag = 3;

// Text and markup before and after the root element, where a well-formed document has none.
//   Lenient: text before the root is skipped, and what comes after it is read as if it stood inside.

export class XmlOutside {
  readonly #cursor: XmlCursor;
  readonly #elements: XmlElements;
  /** The root was found: what came before does not belong to the document. */
  isInDocument = false;
  /** Something after the root was reported. */
  isJunkReported = false;
  // One run of text is one problem.
  #isRunReported = false;

  constructor(cursor: XmlCursor, elements: XmlElements) {
    this.#cursor = cursor;
    this.#elements = elements;
  }

  /** The root was closed. */
  get isAfterRoot(): boolean {
    return this.isInDocument && this.#elements.depth === 0;
  }

  /** A tag ends a run of text. */
  endRun(): void {
    this.#isRunReported = false;
  }

  /** Text from `start` to `end`. */
  text(start: number, end: number): void {
    if (this.#isRunReported || this.isJunkReported) return;
    const { buffer } = this.#cursor;
    const first = skipSpace(buffer, start);
    if (first >= end) return;
    this.#isRunReported = true;
    this.isJunkReported = this.isInDocument;
    const shown = buffer.slice(first, Math.min(end, first + shownLength)).trimEnd();
    this.#cursor.flawAt(first, this.isInDocument ? "xml-junk-after-root" : "xml-junk-before-root", shown);
  }

  /** The buffer ends inside a text that starts at the cursor: enough of it is kept to show it in a problem. */
  partialText(): void {
    const cursor = this.#cursor;
    cursor.at = skipSpace(cursor.buffer, cursor.at);
    const { length } = cursor.buffer;
    if (length - cursor.at <= shownLength && !this.#isRunReported) return;
    this.text(cursor.at, length);
    cursor.at = length;
  }

  /** Reports markup after the root once; it is then read. Returns false if more of the document is needed to show it. */
  checkMarkup(open: number, final: boolean): boolean {
    if (!this.isAfterRoot || this.isJunkReported) return true;
    const cursor = this.#cursor;
    if (!final && cursor.buffer.length - open < shownLength) return false;
    cursor.at = open;
    this.isJunkReported = true;
    cursor.flawAt(open, "xml-junk-after-root", cursor.buffer.slice(open, open + shownLength));
    return true;
  }
}

const shownLength = 200;

// The stack of open elements; calls the handler for each.
//   Lenient: where an element is not closed its text has no certain end, so it is not used.

export class XmlElements {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #maxDepth: number;
  // The root is at 1; 0 is unused.
  readonly #open: XmlName[] = [];
  readonly namespaces: XmlNamespaces = new XmlNamespaces();
  handler: XmlHandler;
  /** How many are open. */
  depth = 0;
  /** The element whose tag was read last. */
  last: XmlName;

  constructor(options: { cursor: XmlCursor; text: XmlText; limits: Limits; handler: XmlHandler; first: XmlName }) {
    this.#cursor = options.cursor;
    this.#text = options.text;
    this.#maxDepth = options.limits.xmlDepth;
    this.handler = options.handler;
    this.last = options.first;
  }

  /** From the next element on, this handler is called. */
  useHandler(handler: XmlHandler): void {
    this.handler = handler;
  }

  /** The innermost element. */
  get top(): XmlName | undefined {
    return this.depth === 0 ? undefined : this.#open[this.depth];
  }

  open(name: XmlName, attributes: ElementAttributes): void {
    if (this.depth >= this.#maxDepth) {
      this.#cursor.limit("limit-xml-depth", this.#maxDepth);
      return;
    }
    const depth = ++this.depth;
    this.#open[depth] = name;
    this.last = name;
    this.namespaces.resolve(name);
    if (this.handler.open(name, attributes)) this.#text.begin(depth);
    else if (this.#text.depth !== 0 && depth === this.#text.depth + 1) this.#text.addChild();
  }

  /** `isImplied`: its end tag is missing. */
  close(isImplied = false): void {
    const { depth } = this;
    const name = this.#open[depth]!;
    if (this.#text.depth === depth) {
      if (isImplied) this.#text.spoil("unclosed");
      this.handler.close(name, this.#text.value);
      this.#text.finish();
    } else this.handler.close(name, undefined);
    this.last = name;
    this.depth = depth - 1;
    this.namespaces.leave(depth);
  }

  /** How many of the open elements were not closed, if this element starts an entry. */
  unclosedBefore(name: XmlName): number {
    if (this.handler.unclosedBefore === undefined) return 0;
    this.namespaces.resolve(name);
    return this.handler.unclosedBefore(name);
  }

  /** The innermost element that an end tag may close: with this name, or else with this name in another case. */
  depthOf({ raw, hash }: XmlName): number {
    let inOtherCase = 0;
    for (let depth = this.depth; depth > 0; depth--) {
      const name = this.#open[depth]!;
      // A limit, because a document can have any number of end tags that close nothing, with many elements open.
      if (name.hash !== hash) continue;
      if (name.raw === raw) return depth;
      if (inOtherCase === 0 && isAlike(name.raw, raw)) inOtherCase = depth;
    }
    return inOtherCase;
  }

  /** Takes the namespace declarations of an element that is about to be opened. */
  declare(attributes: XmlAttributes): void {
    for (let index = 0; index < attributes.count; index++) {
      if (!attributes.declares(index)) continue;
      const name = attributes.name(index);
      if (name === "xmlns") this.namespaces.declare("", attributes.value(index), this.depth + 1);
      else if (name.startsWith("xmlns:")) {
        this.namespaces.declare(name.slice(6), attributes.value(index), this.depth + 1);
      }
    }
  }

  /** Whether these elements are open. */
  areOpen(names: readonly XmlName[]): boolean {
    if (names.length !== this.depth) return false;
    for (let index = 0; index < names.length; index++) {
      if (this.#open[index + 1] !== names[index]) return false;
    }
    return true;
  }

  /** The open elements, root first. */
  openNames(): readonly XmlName[] {
    return this.#open.slice(1, this.depth + 1);
  }

  /** From now on these elements are open. */
  resume(names: readonly XmlName[]): void {
    for (let index = 0; index < names.length; index++) this.#open[index + 1] = names[index]!;
    this.depth = names.length;
  }
}

function isAlike(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase();
}
