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
  if (!raw.includes("&")) return raw;
  return raw.replace(reference, (written: string, hexadecimal?: string, decimal?: string, ...[at]: number[]) => {
    const known = predefinedEntities.get(written);
    if (known !== undefined) return known;
    const digits = hexadecimal ?? decimal;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, hexadecimal === undefined ? 10 : 16);
      if (isXmlCharacter(code)) return String.fromCodePoint(code);
      watcher.onReference("xml-char-reference", written, at!, raw);
      return "\ufffd";
    }
    if (written === "&") {
      watcher.onReference("xml-bare-ampersand", raw.slice(at, at! + shownLength), at!, raw);
      return written;
    }
    const decoded = decodeHTMLStrict(written);
    watcher.onReference(decoded === written ? "xml-unknown-entity" : "xml-html-entity", written, at!, raw);
    return decoded;
  });
}

/**
 * The second decoding: text that was escaped for HTML before it was escaped for XML. A reference must end in a semicolon
 * here, or `?a=1&copy=2` would become `?a=1©=2`.
 */
export function decodeHtml(text: string): string {
  const at = text.indexOf("&");
  return at === -1 || !text.includes(";", at + 3) ? text : decodeHTMLStrict(text);
}

/** https://www.w3.org/TR/xml/#NT-Char */
export function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

// The longest name that HTML has (`CounterClockwiseContourIntegral`) has 31 letters.
const reference = /&(?:#x([0-9a-fA-F]+);|#([0-9]+);|[\w.-]{1,41};)?/g;
const predefinedEntities: ReadonlyMap<string, string> = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&apos;", "'"],
]);
// The length of a value in a problem.
const shownLength = 20;
