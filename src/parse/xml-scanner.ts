// The XML scanner: turns text in chunks of any size into elements that open and close, with the texts that the handler
// wants. https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/, without document type declarations. Linear in
// time. Memory is limited for any token: comments, instructions and unwanted text are never kept; names, values and
// wanted text only up to their limits. No recursion. This file separates text from markup; tags are read in
// xml-tags.ts, `<!…>` and `<?…?>` in xml-declarations.ts, skipped content in xml-skipper.ts, and what is outside the
// root in xml-outside.ts.
//   Lenient: a `<` that starts no tag is text.
// With `strict` the first thing that is not well-formed ends the document; xml-strict.ts has the checks that only it needs.
import type { Limits } from "../model/options.ts";
import type { ProblemLog } from "../model/problem.ts";
import { protocolUrlLength } from "../model/url.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import { type CreateFastPath, type FastPath, noFastPath } from "./fast-path.ts";
import { isSpace, skipSpace, XmlAttributes } from "./xml-attributes.ts";
import { XmlCursor } from "./xml-cursor.ts";
import { XmlDeclarations } from "./xml-declarations.ts";
import { XmlElements } from "./xml-elements.ts";
import type { XmlHandler } from "./xml-handler.ts";
import { XmlNames } from "./xml-name.ts";
import { XmlOutside } from "./xml-outside.ts";
import { isHighSurrogate, XmlSkipper } from "./xml-skipper.ts";
import { endOfChecked, flawOfText } from "./xml-strict.ts";
import { XmlTags } from "./xml-tags.ts";
import { XmlText } from "./xml-text.ts";

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
    let end = cursor.buffer.length;
    while (end > cursor.at && !isSpace(cursor.buffer.charCodeAt(end - 1))) end--;
    if (end > cursor.at) this.#elements.handler.takeStray!(cursor.buffer.slice(cursor.at, end), cursor.at);
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
