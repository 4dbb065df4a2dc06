// Reads the inside of a start tag.
// https://www.w3.org/TR/xml/#NT-STag
//   Lenient: values without quotes are read; attributes without values and stray characters are skipped.
//   Lenient: a `<` ends a tag that was not closed.
import { detached } from "../../model/text.ts";
import { trimUrl } from "../../model/url.ts";
import { noHints, type TextHints } from "../text-hints.ts";
import { decodeReferences, type ReferenceWatcher } from "./text.ts";

/** A start tag with its attributes. Valid only while its element is being opened. Values are decoded on demand. */
export class XmlAttributes {
  readonly #watcher: ReferenceWatcher;
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  readonly #hints: (TextHints | undefined)[] = [];
  count = 0;
  readonly #maxCount: number;
  readonly #maxValueLength: number;
  /** Whether the tag ends in `/>`. */
  selfClosing = false;
  /** Whether the tag is not well-formed, but could be read. */
  malformed = false;
  /** Whether the tag was not closed, so that the next one ended it. */
  unclosed = false;
  /** Whether the tag has too many attributes, so that reading stops. */
  tooMany = false;
  /** Whether the tag is too long to be kept. */
  tooLong = false;
  /** Whether a value was omitted because it is too long. */
  valueTooLong = false;

  constructor(watcher: ReferenceWatcher, maxCount = 0, maxValueLength = 0) {
    this.#watcher = watcher;
    this.#maxCount = maxCount;
    this.#maxValueLength = maxValueLength;
  }

  /** Adds an attribute. Give `hints` only for a value that is already decoded. */
  add(name: string, value: string, hints?: TextHints): void {
    const index = this.count++;
    this.#names[index] = name;
    this.#values[index] = value;
    this.#hints[index] = hints;
  }

  /** The name as written, with its prefix. */
  name(index: number): string {
    return this.#names[index]!;
  }

  /** The decoded value of the attribute with this name: see `find`. */
  get(name: string): string | undefined {
    const index = this.find(name);
    return index === -1 ? undefined : this.value(index);
  }

  // Lenient: attribute names are case-insensitive.
  find(name: string): number {
    for (let index = 0; index < this.count; index++) if (this.#names[index] === name) return index;
    for (let index = 0; index < this.count; index++) {
      const written = this.#names[index]!;
      if (written.length !== name.length || written.toLowerCase() !== name.toLowerCase()) continue;
      this.#watcher.onSpelling?.(written);
      return index;
    }
    return -1;
  }

  hints(index: number): TextHints {
    return this.#hints[index] ?? noHints;
  }

  /** The value as written, unless it is already decoded. */
  raw(index: number): string {
    return this.#values[index]!;
  }

  /** The decoded value. White space becomes spaces, except in URLs: https://www.w3.org/TR/xml/#AVNormalize */
  value(index: number, isUrl = false): string {
    const value = this.#values[index]!;
    if (this.#hints[index] !== undefined) return value;
    return detached(decodeReferences(isUrl ? value : value.replace(lineEnds, " "), this.#watcher));
  }

  /** The decoded URL at an index that `find` returned, perhaps empty. Line breaks inside stay, because they make it invalid. */
  url(index: number): string {
    return index === -1 ? "" : trimUrl(this.value(index, true));
  }

  /** Reads from the end of the element's name; returns the position after the tag, or -1 if the buffer ends before it. */
  scan(buffer: string, tagStart: number, from: number): number {
    this.count = 0;
    this.selfClosing = false;
    this.malformed = false;
    this.unclosed = false;
    this.tooMany = false;
    this.tooLong = false;
    this.valueTooLong = false;
    const end = this.#scan(buffer, tagStart + maxTagLength, from);
    if (end !== -1 || buffer.length - tagStart <= maxTagLength + 1 || this.tooMany) return end;
    this.tooLong = true;
    return from;
  }

  #scan(buffer: string, limit: number, from: number): number {
    let at = from;
    for (;;) {
      at = skipSpace(buffer, at);
      if (at === buffer.length) return -1;
      const code = buffer.charCodeAt(at);
      if (at > limit) {
        this.tooLong = true;
        return from;
      }
      if (code === greaterThan) return at + 1;
      if (code === slash) {
        if (at + 1 === buffer.length) return -1;
        if (buffer.charCodeAt(at + 1) === greaterThan) {
          this.selfClosing = true;
          return at + 2;
        }
        this.malformed = true;
        at++;
        continue;
      }
      if (code === lessThan) {
        this.malformed = true;
        this.unclosed = true;
        return at;
      }
      const nameEnd = endOfName(buffer, at);
      if (nameEnd === buffer.length) return -1;
      if (nameEnd === at) {
        this.malformed = true;
        at++;
        continue;
      }
      at = this.#scanValue(buffer, buffer.slice(at, nameEnd), nameEnd);
      if (at === -1 || this.tooMany) return at;
    }
  }

  // Reads the value that follows a name. Returns its end, or -1 if the buffer ends first.
  #scanValue(buffer: string, name: string, nameEnd: number): number {
    let at = skipSpace(buffer, nameEnd);
    if (at === buffer.length) return -1;
    if (buffer.charCodeAt(at) !== equals) {
      this.malformed = true;
      return at;
    }
    at = skipSpace(buffer, at + 1);
    if (at === buffer.length) return -1;
    const quote = buffer.charCodeAt(at);
    if (quote === doubleQuote || quote === singleQuote) {
      const end = buffer.indexOf(quote === doubleQuote ? '"' : "'", at + 1);
      if (end === -1) return -1;
      this.#take(name, buffer, at + 1, end);
      if (end + 1 === buffer.length) return -1;
      const next = buffer.charCodeAt(end + 1);
      if (!isSpace(next) && next !== greaterThan && next !== slash) this.malformed = true;
      return end + 1;
    }
    const end = endOfBareValue(buffer, at);
    if (end === buffer.length) return -1;
    this.malformed = true;
    this.#take(name, buffer, at, end);
    return end;
  }

  #take(name: string, buffer: string, start: number, end: number): void {
    if (end - start > this.#maxValueLength) this.valueTooLong = true;
    else if (this.count >= this.#maxCount) this.tooMany = true;
    else {
      const value = buffer.slice(start, end);
      // The value of an attribute that lost its quote goes on in other tags.
      if (value.includes("<")) this.malformed = true;
      this.add(name, value);
    }
  }
}

/** The attributes of a tag that has none. */
export const noAttributes: XmlAttributes = new XmlAttributes({ onReference() {} });

/** Whether a character is white space: https://www.w3.org/TR/xml/#NT-S */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Whether a UTF-16 unit is the first half of a surrogate pair. */
export function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

export function skipSpace(buffer: string, from: number): number {
  // Never reads beyond the end: after a single such read, V8 makes all reads slower.
  const { length } = buffer;
  let at = from;
  while (at < length && isSpace(buffer.charCodeAt(at))) at++;
  return at;
}

/** Returns the position after the name of an element or attribute. Only `strict` checks which characters are allowed in names. */
export function endOfName(buffer: string, from: number): number {
  const { length } = buffer;
  let at = from;
  for (; at < length; at++) {
    const code = buffer.charCodeAt(at);
    if (code > greaterThan) continue;
    if (code >= lessThan || code === slash || code === doubleQuote || code === singleQuote || isSpace(code)) break;
  }
  return at;
}

function endOfBareValue(buffer: string, from: number): number {
  let at = from;
  for (; at < buffer.length; at++) {
    const code = buffer.charCodeAt(at);
    if (isSpace(code) || code === greaterThan || code === lessThan) break;
    if (code === slash && buffer.charCodeAt(at + 1) === greaterThan) break;
  }
  return at;
}

// This leaves room for four values of full length. A longer tag does not belong to a sitemap.
const maxTagLength = 256 * 1024;
const lineEnds = /\r\n|[\r\n\t]/g;
const doubleQuote = 0x22;
const singleQuote = 0x27;
const slash = 0x2f;
const lessThan = 0x3c;
const equals = 0x3d;
const greaterThan = 0x3e;
