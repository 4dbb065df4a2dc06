// Processing instructions: where they end. https://www.w3.org/TR/xml/#sec-pi
//   Lenient: an XML declaration, and an instruction for style sheets and the like, may end in `>` instead of `?>`.
// Any other has to end in `?>`, because a `>` may be part of it: without an end it takes the rest, and the document counts as cut off.
import { isSpace } from "./xml-attributes.ts";

export interface Instruction {
  /** It is the declaration, `<?xml …?>`. */
  readonly isDeclaration: boolean;
  /** The position after it; undefined if its end is not in the buffer: then `?>` ends it. */
  readonly end: number | undefined;
  /** It ends in `>` alone. */
  readonly isUnclosed: boolean;
}

/** Reads from `<?`. Undefined if more of the document is needed. */
export function readInstruction(buffer: string, open: number, final: boolean): Instruction | undefined {
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
const greaterThan = 0x3e;
const questionMark = 0x3f;
