// The XML scanner: turns text in chunks of any size into elements that open and close, with the text that the handler
// wants. https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/, without document type declarations. Takes linear
// time, and does not recurse. Memory is limited for any token: comments, instructions and unwanted text are not kept, and
// names, values and wanted text only up to their limits.
//   Lenient: a `<` that does not start a tag is text.
//   Lenient: end tags that match no element, unclosed elements and tags in another case are repaired.
//   Lenient: text before the root is skipped, and anything after it is read as if it were inside.
//   Lenient: entries and URLs in a CDATA section between entries are read.
// With `strict`, the first error ends the document; strict.ts has the checks for this.
import type { AllLimits } from "../../model/options.ts";
import type { DocumentProblems } from "../../model/problem-log.ts";
import { detached, type TextPiece } from "../../model/text.ts";
import { endOfName, isHighSurrogate, isSpace, skipSpace, XmlAttributes } from "./attributes.ts";
import { XmlCursor } from "./cursor.ts";
import { type XmlHandler, XmlName, XmlNamespaces } from "./names.ts";
import {
  endOfChecked,
  type Flaw,
  flawOfCharacters,
  flawOfInstruction,
  flawOfName,
  flawOfTag,
  flawOfText,
  hasTarget,
} from "./strict.ts";
import { XmlText } from "./text.ts";

export interface ScannerOptions {
  readonly limits: AllLimits;
  /** Whether to stop at the first error. */
  readonly strict: boolean;
  readonly problems: DocumentProblems;
  /** @default none: the scanner reads everything */
  readonly fastPath?: CreateFastPath | undefined;
}

/** Reads ordinary XML in place of the scanner, and leaves everything else to it. The results are the same, only faster. */
export interface FastPath {
  /** Takes a chunk of the document. */
  write(piece: TextPiece): void;
  /** Called when the document has ended. */
  flush(): void;
  /** Whether `scan` must stop here. Called between two tokens, when the scanner's public fields hold its entire state. */
  takesOver(): boolean;
}

/** Creates the fast path for a scanner. Returns undefined if the scanner should read everything. */
export type CreateFastPath = (scanner: XmlScanner) => FastPath | undefined;

export class XmlScanner {
  readonly limits: AllLimits;
  /** Where the scanner is in the document. */
  readonly cursor: XmlCursor;
  /** The open elements, root first. */
  readonly names: XmlName[] = [];
  readonly namespaces: XmlNamespaces = new XmlNamespaces();
  /** Receives the elements, from the next one on. */
  handler: XmlHandler;
  /** The innermost text that is wanted. */
  text: XmlText | undefined = undefined;
  /** The element whose tag was read last. */
  last: XmlName | undefined;
  /** The last start tag that was read here, and where it ends. */
  readonly tag: XmlAttributes;
  tagEnd = -1;
  readonly #known = new Map<string, XmlName>();
  // How many open elements have each name. Keys are names as written, and names in lower case after a slash. Created for the first end
  // tag that does not match.
  #openNames: Map<string, number> | undefined;
  readonly #fastPath: FastPath | undefined;
  // Nothing is read until the buffer has this length: otherwise each small chunk of a long token would rescan all of it.
  #enough = 0;

  /** Whether the root was found. Anything before it does not belong to the document. */
  isInDocument = false;
  /** Whether the document type declaration is that of an HTML page. */
  isHtml = false;
  // Whether each of these was already reported: something after the root, the current text outside it, a URL after it.
  #isJunkReported = false;
  #isRunReported = false;
  #isLateUrlReported = false;

  // What is being skipped, chunk by chunk; the text that ends it; and, in a document type declaration, whether we are in its subset.
  #skipping: "" | "text" | "doctype" = "";
  #until = "";
  #isInSubset = false;

  /** `linesBefore` is the number of line ends in the document before the written text. */
  constructor(handler: XmlHandler, options: ScannerOptions, linesBefore = 0) {
    const { limits, strict, problems, fastPath } = options;
    this.limits = limits;
    this.cursor = new XmlCursor(problems, strict, linesBefore);
    this.tag = new XmlAttributes(this.cursor, limits.xmlAttributes, limits.xmlTextLength);
    this.handler = handler;
    this.#fastPath = fastPath?.(this);
  }

  /** How many elements are open. */
  get depth(): number {
    return this.names.length;
  }

  get #isAfterRoot(): boolean {
    return this.isInDocument && this.depth === 0;
  }

  write(piece: TextPiece): void {
    if (this.cursor.stopped) return;
    if (this.#fastPath === undefined) this.scan(String(piece));
    else this.#fastPath.write(piece);
  }

  /** Scans this text. A part that cannot be read yet stays in the cursor's buffer. */
  scan(chunk: string): void {
    const { cursor } = this;
    // Scans slices of limited length, because some searches run to the end of the buffer.
    for (let at = 0; at < chunk.length && !cursor.stopped; at += maxPiece) {
      const piece = chunk.length <= maxPiece ? chunk : chunk.slice(at, at + maxPiece);
      cursor.buffer += piece;
      if (cursor.buffer.length >= this.#enough) this.#scan(false);
    }
  }

  /** Empties the buffer. Returns the unread part. */
  takeRest(): string {
    this.#enough = 0;
    return this.cursor.takeRest();
  }

  end(): void {
    const { cursor } = this;
    if (!cursor.stopped) this.#fastPath?.flush();
    if (cursor.stopped) return;
    this.#scan(true);
    if (cursor.stopped) return;
    if (cursor.at < cursor.buffer.length || this.#skipping !== "" || this.depth > 0) {
      // The document ends inside a token.
      const isInside = !(this.#isJunkReported || this.#isAfterRoot) || this.handler.isInEntry;
      if (isInside) cursor.flawAt(cursor.at, "xml-truncated");
      else if (!this.#isJunkReported) cursor.flawAt(cursor.at, "xml-junk-after-root");
    }
    cursor.stop();
  }

  #scan(final: boolean): void {
    const { cursor } = this;
    let more = true;
    while (more && !cursor.stopped) {
      if (this.#skipping === "") more = this.#scanContent(final);
      else more = this.#skipping === "text" ? this.#skipUntil() : this.#skipDoctype(final);
    }
    cursor.buffer = cursor.takeRest();
    this.#enough = cursor.buffer.length + (cursor.buffer.length >> 1);
  }

  // Scans until something must be skipped (returns true), or until the buffer must grow or the fast path takes over (returns false).
  #scanContent(final: boolean): boolean {
    const { cursor } = this;
    for (;;) {
      if (this.#fastPath?.takesOver()) {
        this.#openNames = undefined;
        return false;
      }
      const open = cursor.buffer.indexOf("<", cursor.at);
      if (open === -1) {
        this.#partialText(final);
        return false;
      }
      if (open > cursor.at) this.#takeText(open);
      if (cursor.stopped || !this.#scanMarkup(open, final)) return false;
      if (this.#skipping !== "" || cursor.stopped) return true;
    }
  }

  // Reads the markup at a `<`, where the cursor is. This and the following methods for markup return whether it was read; otherwise the
  // buffer must grow.
  #scanMarkup(open: number, final: boolean): boolean {
    const { buffer } = this.cursor;
    // If the document ends here, it is cut off; after the root, this is junk.
    if (open + 1 === buffer.length) return final && this.#isAfterRoot && this.#strayText(open);
    const code = buffer.charCodeAt(open + 1);
    if (code === exclamationMark) return this.#declaration(open, final);
    if (code === questionMark) return this.#instruction(open, final);
    if (!this.#checkMarkup(open, final) || this.cursor.stopped) return false;
    if (code === slash) return this.#endTag(open);
    return startsName(code) ? this.#startTag(open, final) : this.#strayText(open);
  }

  // Takes a whole text between two tags.
  #takeText(end: number): void {
    const { cursor } = this;
    const start = cursor.at;
    const { handler, depth, text } = this;
    if (text !== undefined) text.add(cursor.buffer.slice(start, end), text.depth === depth);
    else if (depth === 0) this.#outsideText(start, end);
    else if (skipSpace(cursor.buffer, start) < end && handler.takesStray) this.#takeStray(start, end);
    if (cursor.strict) this.#checkText(start, end);
    cursor.at = end;
  }

  #strayText(open: number): true {
    if (this.#isAfterRoot) this.#checkMarkup(open, true);
    else this.cursor.flawAt(open, "xml-stray-text");
    const { text, depth } = this;
    text?.add("<", text.depth === depth);
    this.cursor.at = open + 1;
    return true;
  }

  // Takes what it can of a text that the end of the buffer cuts in two.
  #partialText(final: boolean): void {
    const { cursor } = this;
    const { length } = cursor.buffer;
    const { text } = this;
    const isOutside = this.depth === 0;
    const { takesStray } = this.handler;
    if (!isOutside && text === undefined && takesStray) this.#partialStray();
    if (final) {
      if (isOutside && length > cursor.at) this.#outsideText(cursor.at, length);
      cursor.at = length;
    } else if (isOutside) {
      // Keeps enough of the text to show it in a problem.
      cursor.at = skipSpace(cursor.buffer, cursor.at);
      if (length - cursor.at <= shownLength && !this.#isRunReported) return;
      this.#outsideText(cursor.at, length);
      // Never splits the start of a URL.
      cursor.at = Math.max(cursor.at, length - "https://".length + 1);
    } else if (text !== undefined || cursor.strict) {
      const unread = length - cursor.at;
      if (!(text?.exceeds(unread) ?? unread > this.limits.xmlTextLength)) return;
      text?.spoil("too-long");
      const end = cursor.strict ? endOfChecked(cursor.buffer, cursor.at) : length;
      if (cursor.strict) this.#checkText(cursor.at, end);
      cursor.at = end;
    } else if (!takesStray || length - cursor.at > longestWord) cursor.at = length;
  }

  // Takes the complete words of a text. The last word of the document may be half a URL.
  #partialStray(): void {
    const { cursor } = this;
    const start = cursor.at;
    const end = this.#wordStart(start, cursor.strict ? endOfChecked(cursor.buffer, start) : cursor.buffer.length);
    if (end > start) this.#takeStray(start, end);
    if (cursor.strict) this.#checkText(start, end);
    cursor.at = end;
  }

  // With `strict`, the document ends at its first flaw: neither the word that contains it nor the words after it are taken.
  #takeStray(start: number, end: number): void {
    const { buffer, strict } = this.cursor;
    const flaw = strict ? flawOfText(buffer.slice(start, end), false) : undefined;
    const last = flaw === undefined ? end : this.#wordStart(start, start + flaw.at);
    this.handler.takeStray!(buffer.slice(start, last), start);
  }

  // Returns where the word that continues at `end` starts.
  #wordStart(start: number, end: number): number {
    while (end > start && !isSpace(this.cursor.buffer.charCodeAt(end - 1))) end--;
    return end;
  }

  // Handles text before or after the root, which a well-formed document does not have.
  #outsideText(start: number, end: number): void {
    this.#reportOutside(start, end);
    this.#checkLateUrl(start, end);
  }

  #reportOutside(start: number, end: number): void {
    if (this.#isRunReported || this.#isJunkReported) return;
    const { buffer } = this.cursor;
    const first = skipSpace(buffer, start);
    if (first >= end) return;
    this.#isRunReported = true;
    this.#isJunkReported = this.isInDocument;
    const shown = buffer.slice(first, Math.min(end, first + shownLength)).trimEnd();
    this.cursor.flawAt(first, this.isInDocument ? "xml-junk-after-root" : "xml-junk-before-root", shown);
  }

  // Reports a URL in the text after the root, because it may be an entry.
  #checkLateUrl(start: number, end: number): void {
    if (!this.isInDocument || this.#isLateUrlReported) return;
    const url = this.cursor.buffer.slice(start, end).search(/https?:\/\//i);
    if (url < 0) return;
    this.#isLateUrlReported = true;
    this.cursor.flawAt(start + url, "xml-entry-skipped", "a URL after the document");
  }

  // Reports markup after the root once; it is then read. Returns false if more of the document is needed to show it.
  #checkMarkup(open: number, final: boolean): boolean {
    if (!this.#isAfterRoot || this.#isJunkReported) return true;
    const { cursor } = this;
    if (!final && cursor.buffer.length - open < shownLength) return false;
    this.#isJunkReported = true;
    cursor.flawAt(open, "xml-junk-after-root", cursor.buffer.slice(open, open + shownLength));
    return true;
  }

  // Reads a start tag, and opens its element.
  #startTag(open: number, final: boolean): boolean {
    const { cursor, tag, limits } = this;
    const { buffer } = cursor;
    this.#isRunReported = false;
    const nameEnd = endOfName(buffer, open + 1);
    const nameTooLong = nameEnd - open - 1 > limits.xmlNameLength;
    if (nameEnd === buffer.length && !nameTooLong) return false;
    const end = nameTooLong ? nameEnd : tag.scan(buffer, open, nameEnd);
    if (end === -1) return false;
    if (nameTooLong || tag.tooLong) {
      return this.#skipTag(open, nameTooLong ? limits.xmlNameLength : limits.xmlTextLength);
    }
    // Lenient: `a <b` in text is text, not an unclosed tag.
    if (tag.unclosed && this.text !== undefined) return this.#strayText(open);
    const name = this.#nameOf(buffer.slice(open + 1, nameEnd));
    if (!tag.selfClosing && !this.#endUnclosed(name, open, end, final)) return false;
    if (tag.tooMany) {
      cursor.limit("limit-xml-attributes", limits.xmlAttributes);
      return true;
    }
    if (tag.valueTooLong) cursor.flawAt(open, "limit-xml-token", name.raw, limits.xmlTextLength);
    if (tag.malformed) cursor.flawAt(open, "xml-malformed-tag", buffer.slice(open, Math.min(end, open + 80)));
    if (cursor.stopped) return true;
    this.#declare(tag);
    if (cursor.strict) this.#checkTag(name, open);
    if (cursor.stopped) return true;
    this.#open(name, tag);
    if (tag.selfClosing && !cursor.stopped) this.#close();
    cursor.at = end;
    this.tagEnd = cursor.position;
    return true;
  }

  // If the start tag from `open` to `end` starts an entry, closes the elements that were left open before it. Inside an entry, the tag starts
  // another entry only if a tag follows; if text follows, it is an unknown field. Returns false if more of the document is needed.
  #endUnclosed(name: XmlName, open: number, end: number, final: boolean): boolean {
    const { cursor } = this;
    this.namespaces.resolve(name);
    const count = this.handler.unclosedBefore?.(name) ?? 0;
    if (count === 0) return true;
    const { buffer } = cursor;
    const next = skipSpace(buffer, end);
    if (next + 1 >= buffer.length) {
      if (final) return true;
      if (next - end < maxLookAhead) return false;
    } else if (buffer.charCodeAt(next) !== lessThan || buffer.charCodeAt(next + 1) === slash) return true;
    else if (buffer.charCodeAt(next + 1) === exclamationMark) {
      if (!final && buffer.length - next < cdataStart.length) return false;
      if (buffer.startsWith(cdataStart, next)) return true;
    }
    cursor.flawAt(open, "xml-mismatched-tag", `<${this.names.at(-1)!.raw}>`);
    for (let left = count; left > 0 && !cursor.stopped; left--) this.#close(true);
    return true;
  }

  #endTag(open: number): boolean {
    const { cursor } = this;
    const { buffer } = cursor;
    const top = this.names[this.names.length - 1];
    if (top !== undefined) {
      const end = open + 2 + top.raw.length;
      if (end < buffer.length && buffer.charCodeAt(end) === greaterThan && buffer.startsWith(top.raw, open + 2)) {
        this.#close();
        cursor.at = end + 1;
        return true;
      }
    }
    const nameEnd = endOfName(buffer, open + 2);
    const end = buffer.indexOf(">", nameEnd);
    const length = (end === -1 ? buffer.length : end) - open;
    const { xmlNameLength } = this.limits;
    if (length > xmlNameLength + maxEndTagSpace) return this.#skipTag(open, xmlNameLength);
    if (end === -1) return false;
    const after = this.#endOfEndTag(nameEnd, end);
    if (!cursor.stopped) this.#otherEndTag(this.#nameOf(buffer.slice(open + 2, nameEnd)), open);
    cursor.at = after;
    return true;
  }

  #nameOf(raw: string): XmlName {
    const known = this.#known.get(raw);
    if (known !== undefined) return known;
    const name = new XmlName(detached(raw), this.#known.size < sharedNames);
    if (name.shared) this.#known.set(name.raw, name);
    return name;
  }

  // Only white space is allowed between the name and `>`.
  #endOfEndTag(nameEnd: number, end: number): number {
    const { buffer } = this.cursor;
    const at = skipSpace(buffer, nameEnd);
    if (at === end) return end + 1;
    this.cursor.flawAt(nameEnd, "xml-malformed-tag", buffer.slice(nameEnd, Math.min(end, nameEnd + 80)));
    const next = buffer.slice(at, end).indexOf("<");
    return next === -1 ? end + 1 : at + next;
  }

  // Handles an end tag that differs from the start tag of the innermost element.
  #otherEndTag(name: XmlName, open: number): void {
    const { cursor } = this;
    const depth = this.#depthOf(name);
    // After the root, `xml-junk-after-root` was already reported.
    if (!this.#isAfterRoot && (depth === 0 || depth !== this.depth || this.names.at(-1)?.raw !== name.raw)) {
      cursor.flawAt(open, "xml-mismatched-tag", `</${name.raw}>`);
    }
    if (depth === 0) return;
    while (this.depth > depth && !cursor.stopped) this.#close(true);
    if (!cursor.stopped) this.#close();
  }

  // Opens an element: adds it to the stack, and calls the handler.
  //   Lenient: the text of an unclosed element is not used, because its end is uncertain.
  #open(name: XmlName, attributes: XmlAttributes): void {
    const { xmlDepth, xmlTextLength } = this.limits;
    if (this.depth >= xmlDepth) {
      this.cursor.limit("limit-xml-depth", xmlDepth);
      return;
    }
    const depth = this.names.push(name);
    if (this.#openNames !== undefined) this.#countOpen(name, 1);
    this.last = name;
    this.namespaces.resolve(name);
    if (this.handler.open(name, attributes)) this.text = new XmlText(this.cursor, xmlTextLength, depth, this.text);
    else if (depth - 1 === this.text?.depth) this.text.addChild();
  }

  // Closes the innermost element. `isImplied` means that its end tag is missing.
  #close(isImplied = false): void {
    const { depth, handler, text } = this;
    if (text?.depth === depth) {
      if (isImplied) text.spoil("unclosed");
      handler.text!(text);
      this.text = text.finish();
    }
    handler.close();
    this.last = this.names.pop();
    if (this.#openNames !== undefined) this.#countOpen(this.last!, -1);
    this.namespaces.leave(depth);
  }

  // Returns the depth of the innermost element that an end tag may close: one with this name, or else with this name in another case. A
  // document may have millions of end tags that match nothing, so the stack is searched only for names that are in it.
  #depthOf({ raw, folded }: XmlName): number {
    if (this.#openNames === undefined) {
      this.#openNames = new Map();
      for (const name of this.names) this.#countOpen(name, 1);
    }
    const isExact = this.#openNames.has(raw);
    if (!isExact && !this.#openNames.has(`/${folded}`)) return 0;
    return this.names.findLastIndex((name) => (isExact ? name.raw === raw : name.folded === folded)) + 1;
  }

  #countOpen({ raw, folded }: XmlName, change: 1 | -1): void {
    const counts = this.#openNames!;
    for (const key of [raw, `/${folded}`]) {
      const count = (counts.get(key) ?? 0) + change;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    }
  }

  // Takes the namespace declarations of an element that is about to be opened.
  #declare(attributes: XmlAttributes): void {
    for (let index = 0; index < attributes.count; index++) {
      const name = attributes.name(index);
      if (name !== "xmlns" && !name.startsWith("xmlns:")) continue;
      this.namespaces.declare(name.slice(6), attributes.value(index), this.depth + 1);
    }
  }

  // Reads what begins with `<!`: comments, CDATA sections and document type declarations.
  #declaration(open: number, final: boolean): boolean {
    const { cursor } = this;
    const { buffer } = cursor;
    // `<![CDATA[` and `<!DOCTYPE` have nine characters.
    if (!final && buffer.length - open < 9) return false;
    if (buffer.startsWith("<!--", open)) return this.#skip("text", "--", open + 4);
    if (!this.#checkMarkup(open, final) || cursor.stopped) return false;
    if (buffer.startsWith(cdataStart, open)) return this.#cdata(open, final);
    const start = buffer.slice(open, open + 9).toUpperCase();
    if (start !== "<!DOCTYPE") {
      // The document is cut off here.
      if (["<!--", cdataStart, "<!DOCTYPE"].some((each) => each.startsWith(start))) return false;
      cursor.flawAt(open, "xml-malformed-tag", "<!");
      return this.#skip("text", ">", open + 2);
    }
    if (!final && buffer.length - open < longestHtmlDoctype) return false;
    this.isHtml ||= htmlDoctype.test(buffer.slice(open, open + longestHtmlDoctype));
    if (this.isInDocument) cursor.flawAt(open, "xml-malformed-tag", "<!DOCTYPE");
    else cursor.report("xml-doctype");
    this.#isInSubset = false;
    return this.#skip("doctype", "", open + 9);
  }

  // https://www.w3.org/TR/xml/#sec-pi
  //   Lenient: an XML declaration, and an instruction for style sheets and the like, may end in `>` instead of `?>`, or at the next tag.
  // Any other instruction must end in `?>`, because it may contain a `>`; without an end, it extends to the end of the document.
  #instruction(open: number, final: boolean): boolean {
    const { cursor } = this;
    const { buffer } = cursor;
    // Six characters show `<?xml` and the character after it.
    if (!final && buffer.length - open < 6) return false;
    const isForXml = forXml.test(buffer.slice(open + 2, open + 6));
    const isDeclaration = isForXml && declarationStart.test(buffer.slice(open + 5, open + 6));
    const end = isForXml ? endOfInstruction(buffer, open) : -1;
    if (end === -1 && isForXml && !final && buffer.length - open < longestDeclaration) return false;
    if (cursor.strict && !isDeclaration && !hasTarget(buffer, open + 2) && !final) return false;
    if (isDeclaration) {
      // Lenient: the declaration may follow a few blank lines, as on many websites.
      if (this.isInDocument) cursor.flawAt(open, "xml-malformed-tag", "<?xml");
      else if (cursor.position > 0 && !cursor.has("xml-junk-before-root")) {
        cursor.flawAt(open, "xml-junk-before-root", "white space");
      }
    }
    const isUnclosed = end !== -1 && !buffer.startsWith("?>", end - 2);
    if (isUnclosed) cursor.flawAt(open, "xml-unclosed-instruction", buffer.slice(open, Math.min(end, open + 80)));
    if (cursor.strict && !cursor.stopped) {
      const flaw = flawOfInstruction(buffer.slice(open, end === -1 ? undefined : end), isDeclaration);
      if (flaw !== undefined) cursor.flawAt(open, "xml-malformed-tag", flaw);
    }
    if (!isUnclosed) return this.#skip("text", "?>", open + 2);
    cursor.at = end;
    return true;
  }

  #cdata(open: number, final: boolean): boolean {
    const { cursor, text } = this;
    const { buffer } = cursor;
    const start = open + 9;
    if (this.depth === 0 && !this.isInDocument) cursor.flawAt(open, "xml-junk-before-root", "<![CDATA[");
    if (text === undefined) {
      const holds = this.handler.takesStray && !cursor.strict ? this.#holdsEntries(start, final) : false;
      if (holds === undefined) return false;
      if (!holds) return this.#skip("text", "]]>", start);
      cursor.report("xml-misplaced", "<![CDATA[");
      cursor.at = start;
      return true;
    }
    const end = buffer.indexOf("]]>", start);
    const length = (end === -1 ? buffer.length - 3 : end) - start;
    if (text.exceeds(length)) {
      text.spoil("too-long");
      return this.#skip("text", "]]>", start);
    }
    if (end === -1) return false;
    if (cursor.strict) this.#malformed(start, flawOfCharacters(buffer.slice(start, end)));
    text.addCdata(buffer.slice(start, end), text.depth === this.depth);
    cursor.at = end + 3;
    return true;
  }

  // Whether a CDATA section between entries starts with an entry or a URL. Returns undefined if more of the document is needed.
  #holdsEntries(from: number, final: boolean): boolean | undefined {
    const { buffer } = this.cursor;
    const start = skipSpace(buffer, from);
    if (start - from > maxLookAhead) return false;
    const isEnough = final || buffer.length - start >= longestStart || buffer.startsWith("]]>", start);
    return isEnough ? this.handler.startsEntry!(buffer.slice(start, start + longestStart)) : undefined;
  }

  // Starts to skip, at `from`: text up to and including `until`, or a document type declaration.
  #skip(what: "text" | "doctype", until: string, from: number): true {
    this.#skipping = what;
    this.#until = until;
    this.cursor.at = from;
    return true;
  }

  #skipUntil(): boolean {
    const { cursor } = this;
    const until = this.#until;
    const from = cursor.at;
    const found = cursor.buffer.indexOf(until, from);
    // If `until` was not found, drops everything except what may be its beginning.
    cursor.at = found === -1 ? Math.max(from, cursor.buffer.length - until.length + 1) : found;
    if (cursor.strict && !this.#checkCharacters(from, found !== -1)) return false;
    if (found === -1) return false;
    if (until === "--") return this.#endComment(found);
    cursor.at = found + until.length;
    this.#skipping = "";
    return true;
  }

  // Handles `--`, which may only occur at the end of a comment: https://www.w3.org/TR/xml/#sec-comments
  //   Lenient: a comment may end in `--!>`.
  #endComment(found: number): boolean {
    const { cursor } = this;
    const next = cursor.buffer.charCodeAt(found + 2);
    const isOdd = next === exclamationMark && cursor.buffer.charCodeAt(found + 3) === greaterThan;
    if (cursor.buffer.length < found + (next === exclamationMark ? 4 : 3)) return false;
    if (isOdd) cursor.flawAt(found, "xml-comment-end", "--!>");
    else if (next !== greaterThan && cursor.strict) cursor.flawAt(found, "xml-malformed-tag", "--");
    if (isOdd || next === greaterThan) this.#skipping = "";
    cursor.at = isOdd ? found + 4 : next === greaterThan ? found + 3 : found + 1;
    return true;
  }

  // Skips a document type declaration (https://www.w3.org/TR/xml/#NT-doctypedecl), and looks for entity declarations in it. A document with
  // one is refused, because nothing is ever expanded.
  #skipDoctype(final: boolean): boolean {
    const { cursor } = this;
    const { buffer } = cursor;
    const from = cursor.at;
    let at = from;
    let found = "";
    let isOver = false;
    while (!isOver && found.length < longestMark) {
      doctypeMark.lastIndex = at;
      const next = this.#until === "" ? (doctypeMark.exec(buffer)?.index ?? -1) : buffer.indexOf(this.#until, at);
      at = next === -1 ? Math.max(at, buffer.length - Math.max(this.#until.length - 1, 0)) : next;
      if (next === -1) break;
      if (this.#until !== "") {
        at += this.#until.length;
        this.#until = "";
        continue;
      }
      if (buffer[at] === "<" && !final && buffer.length - at <= longestMark) break;
      found = doctypeMarks.exec(buffer.slice(at, at + longestMark))![0];
      at += found.length;
      if (found === "[" || found === "]") this.#isInSubset = found === "[";
      else if (found === ">") isOver = !this.#isInSubset;
      else this.#until = doctypeEnds[found] ?? "";
    }
    cursor.at = at;
    if (cursor.strict && !this.#checkCharacters(from, isOver)) return false;
    if (found.length === longestMark) {
      if (!this.isInDocument) cursor.report("xml-dtd-refused");
      cursor.stop();
      return false;
    }
    if (isOver) this.#skipping = "";
    return isOver;
  }

  // Skips a tag that is too long to be kept.
  #skipTag(open: number, limit: number): true {
    this.cursor.flawAt(open, "limit-xml-token", undefined, limit);
    return this.#skip("text", ">", open + 2);
  }

  // Reports a flaw that a check for `strict` found.
  #malformed(start: number, flaw: Flaw | undefined): void {
    if (flaw !== undefined) this.cursor.flawAt(start + flaw.at, "xml-malformed-tag", flaw.value);
  }

  #checkText(start: number, end: number): void {
    if (this.cursor.stopped) return;
    this.#malformed(start, flawOfText(this.cursor.buffer.slice(start, end), this.text !== undefined));
  }

  // Checks the characters from `from` to the cursor. The first half of a surrogate pair waits for the second, unless the text is whole.
  #checkCharacters(from: number, isWhole: boolean): boolean {
    const { cursor } = this;
    if (!isWhole && cursor.at > from && isHighSurrogate(cursor.buffer.charCodeAt(cursor.at - 1))) cursor.at--;
    const flaw = flawOfCharacters(cursor.buffer.slice(from, cursor.at));
    this.#malformed(from, flaw);
    return flaw === undefined;
  }

  #checkTag(name: XmlName, at: number): void {
    const { namespaces } = this;
    namespaces.resolve(name);
    const flaw = flawOfTag(this.tag, (prefix) => namespaces.lookup(prefix)) ?? flawOfName(name);
    if (flaw !== undefined) this.cursor.flawAt(at, "xml-malformed-tag", flaw);
  }
}

// Whether a character may start a name (https://www.w3.org/TR/xml/#NT-NameStartChar). Only `strict` checks characters outside of ASCII.
function startsName(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x3a || code >= 0x80
  );
}

// Returns the first position that is after `?>`, after a `>` outside of quotes, or before a tag; -1 if there is none.
function endOfInstruction(buffer: string, open: number): number {
  let quote = 0;
  const last = Math.min(buffer.length, open + longestDeclaration);
  for (let at = open + 5; at < last; at++) {
    const code = buffer.charCodeAt(at);
    // `?>` is never part of a value, even if a quote is missing.
    if (code === greaterThan && (quote === 0 || buffer.charCodeAt(at - 1) === questionMark)) return at + 1;
    if (code === lessThan) return at;
    if (code === quote) quote = 0;
    else if (quote === 0 && (code === doubleQuote || code === singleQuote)) quote = code;
  }
  return -1;
}

// How many names are remembered: a hostile document may have millions.
const sharedNames = 1000;
// The longest word that is kept between entries; longer than the longest URL that is accepted.
const longestWord = 64 * 1024;
const maxPiece = 64 * 1024;
// How much of misplaced text is shown.
const shownLength = 200;
// The maximum white space that is examined after a start tag, and that an end tag may contain.
const maxLookAhead = 4096;
const maxEndTagSpace = 1024;
const longestDeclaration = 4096;
const cdataStart = "<![CDATA[";
// Matches `<!DOCTYPE html`, with a few spaces. This many characters show it.
const htmlDoctype = /^<!DOCTYPE\s+html\b/i;
const longestHtmlDoctype = 20;
const forXml = /^xml(?![0-9A-Za-z])/;
const declarationStart = /^[ \t\r\n?>]/;
// How much of a CDATA section shows whether it starts with an entry.
const longestStart = 64;
// In a document type declaration: the marks to look for, their first characters, and what ends a quoted or skipped part.
const doctypeMarks = /^(?:<!--|<\?|<!ENTITY|["'[\]<>])/i;
const doctypeMark = /["'[\]<>]/g;
const doctypeEnds: Readonly<Record<string, string>> = { '"': '"', "'": "'", "<!--": "-->", "<?": "?>" };
// The length of `<!ENTITY`.
const longestMark = 8;
const exclamationMark = 0x21;
const doubleQuote = 0x22;
const singleQuote = 0x27;
const slash = 0x2f;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const questionMark = 0x3f;
