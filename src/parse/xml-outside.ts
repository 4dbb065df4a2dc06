// Text and markup before and after the root element, where a well-formed document has none.
//   Lenient: text before the root is skipped, and what comes after it is read as if it stood inside.
import { skipSpace } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";

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
