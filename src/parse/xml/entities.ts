// Character and entity references.
// https://www.w3.org/TR/xml/#sec-references: XML has five entities and numeric references; nothing else is ever expanded.
//   Lenient: an & that starts no reference is text. Websites forget to escape it, mostly in URLs.
//   Lenient: an entity that HTML has is decoded as HTML does.
//   Lenient: any other entity is left as text.
//   Lenient: what was escaped twice (`&amp;amp;`) is decoded twice.
// A numeric reference to something that is not a character of XML is kept out: who asks drops what contains it.
import { decodeHTMLStrict } from "entities/decode";

/** A problem with a reference. */
export type ReferenceFlaw = "xml-bare-ampersand" | "xml-html-entity" | "xml-unknown-entity" | "xml-char-reference";

export interface ReferenceWatcher {
  /** `at` is its position in the raw text. */
  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void;
}

/** Decodes the references in XML text. The result is not longer than `raw`, except with a handful of HTML entities. */
export function decodeReferences(raw: string, watcher: ReferenceWatcher): string {
  let at = raw.indexOf("&");
  if (at === -1) return raw;
  let decoded = "";
  let from = 0;
  do {
    if (isAmp(raw, at + 1)) {
      decoded += raw.slice(from, at + 1);
      from = at + 5;
    } else {
      const end = endOfReference(raw, at + 1);
      if (end === -1) {
        watcher.onReference("xml-bare-ampersand", raw.slice(at, at + shownLength), at, raw);
        decoded += raw.slice(from, at + 1);
        from = at + 1;
      } else {
        const character =
          raw.charCodeAt(at + 1) === hash
            ? decodeNumber(raw, at, end, watcher)
            : decodeEntity(raw.slice(at, end + 1), at, raw, watcher);
        decoded += raw.slice(from, at) + character;
        from = end + 1;
      }
    }
    at = raw.indexOf("&", from);
  } while (at !== -1);
  return decoded + raw.slice(from);
}

/** Whether `amp;` is at this position. `startsWith` takes four times as long. */
function isAmp(raw: string, at: number): boolean {
  return (
    at + 3 < raw.length &&
    raw.charCodeAt(at) === letterA &&
    raw.charCodeAt(at + 1) === letterM &&
    raw.charCodeAt(at + 2) === letterP &&
    raw.charCodeAt(at + 3) === semicolon
  );
}

/**
 * The second decoding: text that was escaped for HTML before it was escaped for XML. A reference must end in a semicolon
 * here, or `?a=1&copy=2` would become `?a=1©=2`.
 */
export function decodeHtml(text: string): string {
  const at = text.indexOf("&");
  return at === -1 || !text.includes(";", at + 3) ? text : decodeHTMLStrict(text);
}

// The index of the semicolon, or -1 if this is not a reference.
function endOfReference(raw: string, start: number): number {
  let at = start;
  if (raw.charCodeAt(at) === hash) {
    const hexadecimal = raw.charCodeAt(at + 1) === letterX;
    const first = hexadecimal ? at + 2 : at + 1;
    at = first;
    while (isDigit(raw.charCodeAt(at), hexadecimal)) at++;
    return at > first && raw.charCodeAt(at) === semicolon ? at : -1;
  }
  const limit = start + longestName;
  while (at <= limit && isNameCharacter(raw.charCodeAt(at))) at++;
  return at > start && raw.charCodeAt(at) === semicolon ? at : -1;
}

function decodeEntity(reference: string, at: number, raw: string, watcher: ReferenceWatcher): string {
  const predefined = predefinedEntities.get(reference);
  if (predefined !== undefined) return predefined;
  const decoded = decodeHTMLStrict(reference);
  watcher.onReference(decoded === reference ? "xml-unknown-entity" : "xml-html-entity", reference, at, raw);
  return decoded;
}

// Digit by digit: slicing and parsing takes three times as long.
function decodeNumber(raw: string, at: number, end: number, watcher: ReferenceWatcher): string {
  const hexadecimal = raw.charCodeAt(at + 2) === letterX;
  const base = hexadecimal ? 16 : 10;
  let code = 0;
  for (let digit = at + (hexadecimal ? 3 : 2); digit < end; digit++) {
    const character = raw.charCodeAt(digit);
    // Letters come after 9; bit 5 makes them lower case.
    code = code * base + (character <= 0x39 ? character - 0x30 : (character | 0x20) - 0x61 + 10);
  }
  if (isXmlCharacter(code)) return String.fromCodePoint(code);
  watcher.onReference("xml-char-reference", raw.slice(at, end + 1), at, raw);
  return "\ufffd";
}

/** https://www.w3.org/TR/xml/#NT-Char */
export function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

function isDigit(code: number, hexadecimal: boolean): boolean {
  if (code >= 0x30 && code <= 0x39) return true;
  return hexadecimal && ((code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66));
}

// Entity names: letters, digits, and the other characters of XML names.
function isNameCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2e ||
    code === 0x2d
  );
}

const predefinedEntities: ReadonlyMap<string, string> = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&apos;", "'"],
]);
// The longest name that HTML has (`CounterClockwiseContourIntegral`) has 31 letters.
const longestName = 40;
// The length of a value in a problem.
const shownLength = 20;
const hash = 0x23;
const semicolon = 0x3b;
const letterA = 0x61;
const letterM = 0x6d;
const letterP = 0x70;
const letterX = 0x78;
