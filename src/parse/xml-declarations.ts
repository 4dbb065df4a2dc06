// What begins with `<!` or `<?`: comments, CDATA sections, document type declarations and instructions.
import { skipSpace } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";
import { readInstruction } from "./xml-instruction.ts";
import type { XmlOutside } from "./xml-outside.ts";
import type { XmlSkipper } from "./xml-skipper.ts";
import { flawOfCharacters, flawOfInstruction, hasTarget } from "./xml-strict.ts";
import type { XmlText } from "./xml-text.ts";

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
const maxLookAhead = 4096;
const longestStart = 64;
const hyphen = 0x2d;
const squareBracket = 0x5b;
