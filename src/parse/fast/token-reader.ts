// The fast path: reads ordinary XML with the tokenizer instead of the scanner. The document is in the tokenizer's memory, as
// UTF-8. When the tokenizer stops, a window of the document is decoded for the scanner, which reads what is unusual or new,
// and hands back when it can. From then on, the tokenizer knows the names that the scanner has read.
import { isWellFormed, type TextPiece, Utf8Text } from "../../model/text.ts";
import { trimUrl } from "../../model/url.ts";
import { type ElementRule, TableReader, type TableTarget } from "../table.ts";
import { noHints, TextHints } from "../text-hints.ts";
import { isHighSurrogate, noAttributes } from "../xml/attributes.ts";
import type { XmlName } from "../xml/names.ts";
import type { CreateFastPath, FastPath, XmlScanner } from "../xml/scanner.ts";
import { XmlText } from "../xml/text.ts";
import * as layout from "./layout.ts";
import { createTokenizer, type KnownName, startOfCharacter, type Tokenizer } from "./tokenizer.ts";

type Rule = ElementRule<TableTarget>;
type RuleReader = TableReader<TableTarget>;

// All documents share one tokenizer. The first document that can use it creates it.
let shared: Tokenizer | undefined | false = false;

/** The default fast path, unless the document is read with `strict` or the engine cannot run it. */
export const usualFastPath: CreateFastPath = (scanner) => {
  // `strict` must check everything.
  if (scanner.cursor.strict) return undefined;
  if (shared === false) shared = createTokenizer();
  return shared && new TokenReader(scanner, shared);
};

class TokenReader implements FastPath {
  readonly #scanner: XmlScanner;
  readonly #tokenizer: Tokenizer;
  readonly #hints = new TextHints();
  readonly #attributeHints: TextHints[] = [];
  readonly #acceptOrigin: (origin: string) => void;
  #reader: RuleReader | undefined;
  // The names that the scanner has read.
  #names: KnownName[] = [];
  readonly #numbers = new Map<XmlName | string, number>();
  // How many rules are open, up to and including the rule of the current entry; 0 outside of entries.
  #entryDepth = 0;
  // How many problems were reported before the entry, and whether all of its elements have the traits that the tokenizer was told.
  #reports = 0;
  #isAsExpected = false;
  // The token that began the entry, and whether the last entry had only a URL.
  #entryToken = 0;
  #isBare = false;
  // The index of the next text.
  #next = 0;
  // The part of the last chunk that could not be read yet: bytes, and the first half of a surrogate pair.
  #rest: Uint8Array = nothing;
  #half = "";
  // Whether the tokenizer reads next: the scanner has stopped, or the tokenizer waits for more.
  #isOurs = false;
  // Where the tokenizer stopped: the scanner must read past it.
  #stuckAt = -1;
  // The scanner may stop once at most this much is unread: the tokenizer still has that much in its memory.
  #window = 0;
  // Switching between the two has a cost: after many short runs without a new name, the scanner reads the rest of the chunk.
  #shortRuns = 0;

  constructor(scanner: XmlScanner, tokenizer: Tokenizer) {
    this.#scanner = scanner;
    this.#tokenizer = tokenizer;
    this.#acceptOrigin = (origin) => tokenizer.acceptOrigin(origin);
  }

  write(piece: TextPiece): void {
    if (piece instanceof Utf8Text) {
      this.#readAll(piece.bytes);
      return;
    }
    // A surrogate pair may be split between two chunks.
    const text = this.#half + piece;
    this.#half = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : "";
    const whole = this.#half === "" ? text : text.slice(0, -1);
    const bytes = encoded(whole);
    // A lone surrogate has no bytes in UTF-8.
    if (bytes.length === whole.length || isWellFormed(whole, bytes)) this.#readAll(bytes);
    else this.#scanText(this.#takeRest() + whole, -1);
  }

  #readAll(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length && !this.#scanner.cursor.stopped; ) {
      const to = startOfCharacter(bytes, Math.min(from + maxPiece, bytes.length));
      this.#read(bytes.subarray(from, to));
      from = to;
    }
  }

  flush(): void {
    this.#window = -1;
    this.#scanner.scan(this.#takeRest() + this.#half);
  }

  takesOver(): boolean {
    const { cursor, handler: reader, text } = this.#scanner;
    if (!(reader instanceof TableReader) || this.#shortRuns >= mostShortRuns) return false;
    this.#learn(reader);
    const isInWindow = cursor.buffer.length - cursor.at <= this.#window;
    this.#isOurs = isInWindow && text === undefined && reader.isInRoot && cursor.position !== this.#stuckAt;
    return this.#isOurs;
  }

  // Adds the names of the tag that was just read to those that the tokenizer knows.
  #learn(reader: RuleReader): void {
    const { cursor, last, names, tag, tagEnd } = this.#scanner;
    if (reader !== this.#reader) {
      this.#reader = reader;
      this.#names = [];
      this.#numbers.clear();
    }
    if (last === undefined) return;
    const inner = reader.rules[reader.rules.length - 1]!;
    // For a closed element, uses the rule it had while it was open: its own namespace declarations are no longer in scope.
    const rule = names.at(-1) === last || last.context !== inner ? inner : (last.meaning as Rule);
    if (last.shared && !this.#numbers.has(last) && reader.isInRoot) {
      this.#add(last.raw, last, traitsOf(rule, reader.urlsOnly), rule);
    }
    if (cursor.position !== tagEnd) return;
    for (let index = 0; index < tag.count; index++) {
      const name = tag.name(index);
      if (this.#numbers.has(name) || name.startsWith("xmlns")) continue;
      const form = rule.attributes?.get(name);
      this.#add(`${name}=`, name, form === undefined ? 0 : formTraits[form]);
    }
  }

  #add(key: string, name: XmlName | string, traits: number, rule?: Rule): void {
    // The number of names is limited, because a hostile document may have any number.
    if (this.#names.length >= mostNames || encoder.encode(key).length > layout.longestName) return;
    const element = typeof name === "string" ? undefined : name;
    this.#numbers.set(name, this.#names.length);
    this.#names.push({
      key,
      traits,
      address: layout.unknownName,
      attribute: typeof name === "string" ? interned(name) : "",
      element,
      rule,
      isEntryName: element !== undefined && this.#reader!.isEntryName(element),
    });
    this.#shortRuns = 0;
  }

  // Reads a chunk, after the rest of the last one.
  #read(piece: Uint8Array): void {
    const { cursor } = this.#scanner;
    const tokenizer = this.#tokenizer;
    tokenizer.load(this.#rest, piece);
    this.#rest = nothing;
    this.#shortRuns = 0;
    const { end } = tokenizer;
    let at: number = layout.documentStart;
    let window = firstWindow;
    while (at < end && !cursor.stopped) {
      if (this.#isOurs) {
        const from = at;
        const { at: reached, needsMore } = this.#follow(at);
        at = reached;
        if (cursor.stopped) return;
        if (needsMore && end - at <= layout.longestRest) {
          this.#rest = tokenizer.bytes.slice(at, end);
          return;
        }
        this.#stuckAt = cursor.position;
        window = firstWindow;
        if (at - from < shortRun) this.#shortRuns++;
        else this.#shortRuns = 0;
      }
      at = this.#scan(at, startOfCharacter(tokenizer.bytes, Math.min(at + window, end)));
      window = Math.min(window * 2, maxWindow);
    }
  }

  // Gives a window of the document to the scanner. Returns where to continue: where the scanner stopped, or else the end of the window.
  #scan(from: number, to: number): number {
    const text = this.#tokenizer.decode(from, to);
    this.#scanText(text, text.length);
    if (!this.#isOurs || this.#scanner.cursor.stopped) return to;
    const rest = this.#scanner.takeRest();
    return to - (text.length === to - from ? rest.length : encoder.encode(rest).length);
  }

  #scanText(text: string, window: number): void {
    this.#window = window;
    this.#isOurs = false;
    this.#scanner.scan(text);
  }

  #takeRest(): string {
    const rest = decoder.decode(this.#rest);
    this.#rest = nothing;
    return rest;
  }

  // Runs the tokenizer from here. Returns the position it reached, and whether it needs more of the document.
  #follow(start: number): { at: number; needsMore: boolean } {
    const { cursor, names, namespaces } = this.#scanner;
    const tokenizer = this.#tokenizer;
    const reader = this.#reader!;
    this.#entryDepth = reader.rules.findIndex(({ isEntry }) => isEntry) + 1;
    tokenizer.use(this.#names);
    const open = names.map((name) => this.#names[this.#numbers.get(name) ?? -1]?.address ?? layout.unknownName);
    const rootDepth = names.length - reader.rules.length + 1;
    // If namespaces were redeclared, names may have other meanings.
    const isUsual = namespaces.deepest <= rootDepth;
    const wanted = reader.urlsOnly ? layout.lines : this.#isBare ? layout.texts : layout.tokens;
    const floor = Math.max(rootDepth, namespaces.deepest);
    tokenizer.prepare(this.#scanner, open, floor, isUsual ? wanted : layout.tokens);
    cursor.enter(tokenizer, start);
    const stop = this.#play(reader, tokenizer.run(start), isUsual);
    const at = stop === -1 ? tokenizer.at : stop;
    tokenizer.texts = [];
    if (stop !== -1 || cursor.stopped) tokenizer.forgetWords();
    if (cursor.stopped) return { at, needsMore: false };
    cursor.leave(at);
    return { at, needsMore: stop === -1 && tokenizer.needsMore };
  }

  // Does what the scanner would have done for these tokens. Returns the position where the scanner must take over, or -1.
  #play(reader: RuleReader, end: number, isUsual: boolean): number {
    const { cursor, names, tag: attributes } = this.#scanner;
    const { memory } = this.#tokenizer;
    const { rules } = reader;
    this.#next = 0;
    this.#entryToken = 0;
    attributes.count = 0;
    for (let at: number = layout.tokensStart; at < end && !cursor.stopped; at += layout.tokenSize) {
      const head = memory[at >> 2]!;
      const kind = head & layout.kinds;
      if (kind === layout.closes) {
        cursor.at = memory[(at + layout.tokenStart) >> 2]!;
        names.pop();
        const isEntryEnd = rules.length === this.#entryDepth;
        reader.close();
        if (isEntryEnd) {
          this.#entryDepth = 0;
          if (this.#isAsExpected) this.#learnShape(reader, at);
        }
        continue;
      }
      const name = this.#names[(head >> 8) & 0xff]!;
      if (kind === layout.isAttribute) {
        this.#addAttribute(name.attribute, at);
        continue;
      }
      const tag = memory[(at + layout.tokenTag) >> 2]!;
      cursor.at = tag;
      const rule = reader.ruleOf(name.element!);
      if (rule !== name.rule) this.#isAsExpected = false;
      if (kind === layout.isPage) {
        if (this.#entryDepth > 0 || rule !== name.rule) return tag;
        at = reader.urlsOnly ? this.#takeLines(reader, at, end) : this.#takeBare(reader, at, end);
        continue;
      }
      const hides = (head & layout.hidesAttributes) !== 0 && rule.open !== undefined;
      const hasComments = (memory[(at + layout.tokenHints) >> 2]! & layout.hasComments) !== 0;
      const isEntryName = isUsual ? name.isEntryName : reader.isEntryName(name.element!);
      if (hides || hasComments || (isEntryName && (kind !== layout.opens || this.#entryDepth > 0))) return tag;
      if (kind === layout.opens) {
        if (rule.text !== undefined) return tag;
        if (rule.isEntry) {
          this.#entryDepth = rules.length + 1;
          this.#reports = cursor.reports;
          this.#isAsExpected = rule === name.rule;
          this.#entryToken = at;
        }
        names.push(name.element!);
      }
      const hasAttributes = (head & layout.hasAttributes) !== 0;
      reader.enter(rule, hasAttributes ? attributes : noAttributes);
      if (hasAttributes) attributes.count = 0;
      if (kind === layout.opens) continue;
      if (kind === layout.isEmpty) reader.take("", noHints);
      else this.#takeText(reader, rule, at, kind === layout.holdsCdata);
      reader.close();
    }
    return -1;
  }

  // Remembers the shape of the entry that ends with this token, if nothing was reported about the entry, and its URL is all that is needed or
  // all that it has. Further entries of that shape become single tokens.
  #learnShape(reader: RuleReader, close: number): void {
    const { memory } = this.#tokenizer;
    const hints = memory[(close - layout.tokenSize + layout.tokenHints) >> 2]!;
    this.#isBare = close - this.#entryToken === 2 * layout.tokenSize && (hints & layout.hasKey) !== 0;
    if ((reader.urlsOnly || this.#isBare) && this.#reports === this.#scanner.cursor.reports)
      this.#tokenizer.learnShape(close);
  }

  // Takes entries that have only a URL, and about which nothing is reported, except perhaps that it is repeated. Returns the last of their
  // tokens.
  #takeBare(reader: RuleReader, first: number, end: number): number {
    const { cursor } = this.#scanner;
    const { memory, texts } = this.#tokenizer;
    const sink = reader.beginPages();
    let at = first;
    for (; at < end && memory[at >> 2] === memory[first >> 2] && !cursor.stopped; at += layout.tokenSize) {
      cursor.at = memory[(at + layout.tokenClose) >> 2]!;
      const url = texts[this.#next++]!;
      sink.takeBare(url, memory[(at + layout.tokenHigh) >> 2]!, memory[(at + layout.tokenLow) >> 2]!);
    }
    return at - layout.tokenSize;
  }

  // Takes entries of which only the URL is needed, and about which nothing is reported, except perhaps that it is repeated. Returns the last
  // of their tokens.
  #takeLines(reader: RuleReader, first: number, end: number): number {
    const { cursor } = this.#scanner;
    const tokenizer = this.#tokenizer;
    const { memory } = tokenizer;
    const lines = reader.beginPages();
    let at = first;
    let from = memory[(first + layout.tokenStart) >> 2]!;
    let count = 0;
    const urlOf = () => tokenizer.decode(memory[(at + layout.tokenStart) >> 2]!, memory[(at + layout.tokenEnd) >> 2]!);
    for (; at < end && memory[at >> 2] === memory[first >> 2] && !cursor.stopped; at += layout.tokenSize) {
      cursor.at = memory[(at + layout.tokenClose) >> 2]!;
      if (lines.takeLine(memory[(at + layout.tokenHigh) >> 2]!, memory[(at + layout.tokenLow) >> 2]!, urlOf)) count++;
      else {
        if (count > 0) lines.addLines(tokenizer.lines(from, memory[(at + layout.tokenStart) >> 2]!, count));
        from = memory[(at + layout.tokenEnd) >> 2]! + 1;
        count = 0;
      }
    }
    const last = at - layout.tokenSize;
    if (count > 0) lines.addLines(tokenizer.lines(from, memory[(last + layout.tokenEnd) >> 2]! + 1, count));
    return last;
  }

  #takeText(reader: RuleReader, rule: Rule, at: number, isCdata: boolean): void {
    const { memory } = this.#tokenizer;
    const { cursor } = this.#scanner;
    const start = memory[(at + layout.tokenStart) >> 2]!;
    const end = memory[(at + layout.tokenEnd) >> 2]!;
    const hints = memory[(at + layout.tokenHints) >> 2]!;
    const value = this.#value(at, hints);
    cursor.at = isCdata ? end + cdataEnd : end;
    if (rule.text === undefined) return;
    if (value === undefined) this.#takeRaw(reader, this.#tokenizer.decode(start, end), isCdata, start);
    else {
      const isKnown = (hints & knownHints) !== 0 && (!rule.isKey || (hints & layout.hasKey) !== 0);
      const text = (hints & layout.hasSpace) === 0 ? value : trimUrl(value);
      reader.take(text, isKnown ? this.#hintsAt(this.#hints, at, hints) : noHints);
    }
  }

  // Takes a text that the tokenizer left undecoded.
  #takeRaw(reader: RuleReader, value: string, isCdata: boolean, start: number): void {
    const { cursor, depth, limits } = this.#scanner;
    const { at } = cursor;
    const text = new XmlText(cursor, limits.xmlTextLength, depth);
    // Problems with references are reported from the start of the text.
    if (!isCdata) cursor.at = start;
    if (isCdata) text.addCdata(value, true);
    else text.add(value, true);
    cursor.at = at;
    reader.text(text);
  }

  #addAttribute(name: string, at: number): void {
    const { memory } = this.#tokenizer;
    const { tag: attributes } = this.#scanner;
    const hints = memory[(at + layout.tokenHints) >> 2]!;
    const value = this.#value(at, hints);
    if (value === undefined) {
      const [start, end] = [memory[(at + layout.tokenStart) >> 2]!, memory[(at + layout.tokenEnd) >> 2]!];
      attributes.add(name, this.#tokenizer.decode(start, end));
      return;
    }
    const known = (this.#attributeHints[attributes.count] ??= new TextHints());
    attributes.add(name, value, this.#hintsAt(known, at, hints));
  }

  // Returns the next text, or undefined if it must be read as written.
  #value(at: number, hints: number): string | undefined {
    const { memory, texts, words } = this.#tokenizer;
    if (memory[(at + layout.tokenStart) >> 2] === memory[(at + layout.tokenEnd) >> 2]) return "";
    if ((hints & layout.isRaw) !== 0) return undefined;
    if ((hints & layout.isKnownWord) !== 0) return words[memory[(at + layout.tokenHigh) >> 2]!]!;
    const value = texts[this.#next++]!;
    if ((hints & layout.isNewWord) !== 0) words[memory[(at + layout.tokenHigh) >> 2]!] = value;
    return value;
  }

  #hintsAt(hints: TextHints, at: number, flags: number): TextHints {
    const { memory } = this.#tokenizer;
    hints.isUrl = (flags & layout.isAccepted) !== 0;
    hints.acceptOrigin = (flags & layout.isUnaccepted) !== 0 ? this.#acceptOrigin : undefined;
    hints.isDate = (flags & layout.isUsualDate) !== 0;
    hints.high = memory[(at + layout.tokenHigh) >> 2]!;
    hints.low = memory[(at + layout.tokenLow) >> 2]!;
    return hints;
  }
}

// Returns the traits that tell the tokenizer what kind of text the rule of an element reads.
function traitsOf(rule: Rule, urlsOnly: boolean): number {
  if (urlsOnly && rule.isPage) return layout.isEntry;
  const wanted = (rule.open === undefined ? 0 : layout.wantsAttributes) | (rule.isPage ? layout.isEntry : 0);
  if (rule.text === undefined) return wanted | layout.isUnwanted;
  const key = rule.isKey ? layout.isKey : 0;
  const url = rule.isUrl ? layout.isUrl : 0;
  return wanted | key | url | (rule.form === undefined ? 0 : formTraits[rule.form]);
}

// Returns the same string object for equal names, so that comparing them compares pointers.
function interned(name: string): string {
  return Object.keys({ [name]: true })[0]!;
}

// Encodes a text as UTF-8. Unless the result is long, it is valid only until the next call.
function encoded(text: string): Uint8Array {
  if (text.length * 3 > scratch.length) return encoder.encode(text);
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const nothing = new Uint8Array(0);
// The size of the largest chunk in bytes.
const maxPiece = layout.documentEnd - layout.documentStart - layout.longestRest - 64;
// Windows start small, because the scanner usually has to read only a few tags.
const firstWindow = 512;
const maxWindow = 64 * 1024;
const scratch = new Uint8Array(maxWindow * 3);
// A run of fewer bytes is not worth the switch.
const shortRun = 256;
const mostShortRuns = 16;
const mostNames = 200;
const knownHints = layout.isAccepted | layout.isUnaccepted | layout.isUsualDate;
// The length of `]]>`.
const cdataEnd = 3;
const formTraits = { any: layout.isAny, date: layout.isDate, number: layout.isNumber, url: layout.isUrl } as const;
