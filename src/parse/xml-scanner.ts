// The XML scanner: text in any pieces becomes elements that open and close, with the text that the handler wants.
// https://www.w3.org/TR/xml/ and https://www.w3.org/TR/xml-names/, without document type declarations.
// Linear in time. Memory is bounded for any token: comments, instructions and unwanted text are never kept, names, values
// and wanted text only up to their limits. There is no recursion.
//   Lenient: end tags that match no element, elements that are not closed and tags in another case are put right.
//   Lenient: a `<` that starts no tag is text.
//   Lenient: text before the root and anything after it is passed over.
// With `strict` the first thing that is not well-formed ends the document; xml-strict.ts has the checks that only it needs.
import type { Limits } from "../options.ts";
import type { ProblemCode, ProblemLog } from "../problem.ts";
import { decodeReferences, isAmp, type ReferenceFlaw, type ReferenceWatcher } from "./entities.ts";
import { NextCharacter } from "./next-character.ts";
import { endOfName, isSpace, noAttributes, skipSpace, standsAt, XmlAttributes } from "./xml-attributes.ts";
import { XmlDoctype } from "./xml-doctype.ts";
import { type XmlGlue, XmlGlues } from "./xml-glue.ts";
import { type XmlName, XmlNames, XmlNamespaces } from "./xml-name.ts";
import { XmlRounds, type XmlStep } from "./xml-rounds.ts";
import { flawOfName, flawOfTag, flawOfText } from "./xml-strict.ts";

/** Takes what the scanner finds. */
export interface XmlHandler {
  /** Returns whether the element's text is wanted. `attributes` are valid only during the call. */
  open(name: XmlName, attributes: XmlAttributes): boolean;
  /**
   * `text` is what stands in the element itself, or, where that is nothing, in its only child. It is undefined where it is
   * not wanted or cannot be used: see `textFlaw`.
   */
  close(name: XmlName, text: string | undefined): void;
  /**
   * Does at once what the calls for the elements of a glue would do. `text` is that of the element that it closes first.
   * Returns whether the text of the element that it opens last is wanted. Without this, each call is made.
   */
  follow?(glue: XmlGlue, text: string | undefined): boolean;
  /** As `follow`, where the very same was followed before, but without keeping up to date which elements are open. */
  repeat?(glue: XmlGlue, text: string | undefined): void;
  /** What `repeat` left out. Returns whether the text of the element that the glue opens last is wanted. */
  settle?(glue: XmlGlue): boolean;
  /** What the element that was opened last is for the handler. */
  readonly meaning?: object | undefined;
  /** As `open` and `close`, for an empty element with this meaning. */
  repeatTag?(meaning: object, attributes: XmlAttributes): void;
}

/** Why a text that was wanted is not there. */
export type TextFlaw = "too-long" | "reference" | "unclosed";

export class XmlScanner implements ReferenceWatcher {
  #handler: XmlHandler;
  // The element in which the handler was put in place: it is not closed by glues.
  #floor = 1;
  readonly #limits: Limits;
  readonly #strict: boolean;
  readonly #problems: ProblemLog;
  readonly #names = new XmlNames();
  readonly #namespaces = new XmlNamespaces();
  readonly #attributes: XmlAttributes;
  readonly #glue = new XmlGlues();
  readonly #rounds = new XmlRounds();

  // What is not read yet starts at `#at`.
  #buffer = "";
  #at = 0;
  // Nothing is tried before the buffer has this length: a long token that comes in small pieces is not read again for each.
  #enough = 0;
  #mode: Mode = content;
  #until = "";
  #doctype: XmlDoctype | undefined;
  #quote = "";
  #selfClosing = false;
  // Characters and line ends before the buffer.
  #offset = 0;
  #linesBefore: number;
  #hasCarriageReturns = false;
  readonly #nextReference = new NextCharacter("&");

  // The open elements; #open[1] is the root.
  readonly #open: XmlName[] = [];
  #depth = 0;
  // The tag that was read last.
  #last: XmlName;
  #isInDocument = false;
  #isAfterRoot = false;
  #outsideReported = false;
  #stopped = false;

  // The innermost element whose text is wanted; 0 where there is none.
  #wantedDepth = 0;
  // Nothing of its text was seen yet: all that follows is as it is at the beginning.
  #isFresh = true;
  #text = "";
  #textLength = 0;
  #textIsPlain = true;
  #textIsTrimmed = false;
  #childText = "";
  #children = 0;
  #textFlaw: TextFlaw | undefined;
  readonly #outer: OuterText[] = [];

  constructor(
    handler: XmlHandler,
    options: { limits: Limits; strict: boolean; problems: ProblemLog; linesBefore?: number },
  ) {
    this.#handler = handler;
    this.#limits = options.limits;
    this.#strict = options.strict;
    this.#problems = options.problems;
    this.#linesBefore = options.linesBefore ?? 0;
    const { xmlAttributes, xmlTextLength } = options.limits;
    this.#attributes = new XmlAttributes(xmlAttributes, xmlTextLength, this);
    this.#last = this.#names.find("/", 0, 1);
  }

  /** While a handler follows a glue: where the tag begins that it is at, from the beginning of the glue. */
  offsetInGlue = 0;

  /** How many elements are open. */
  get depth(): number {
    return this.#depth;
  }

  /** Nothing more will be read. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Why the text of the element that is being closed is missing, where it was wanted. */
  get textFlaw(): TextFlaw | undefined {
    return this.#textFlaw;
  }

  /** Which state of the namespace declarations the names belong to. */
  get generation(): number {
    return this.#namespaces.generation;
  }

  /** Whether the text of the element that is being closed holds nothing that could be decoded once more. */
  get textIsPlain(): boolean {
    return this.#textIsPlain;
  }

  /** Whether it is known that there is no white space around that text, where it is plain. */
  get textIsTrimmed(): boolean {
    return this.#textIsTrimmed;
  }

  get maxTextLength(): number {
    return this.#limits.xmlTextLength;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** From the next element on, `handler` takes what is found. */
  useHandler(handler: XmlHandler): void {
    this.#rounds.reset();
    this.#rounds.steps = [];
    this.#handler = handler;
    this.#floor = this.#depth;
    this.#glue.drop();
  }

  /** The root was found: what came before is no part of the document. */
  beginDocument(): void {
    this.#isInDocument = true;
  }

  /** The root was closed: what comes now is no part of the document. */
  endDocument(): void {
    this.#isAfterRoot = true;
  }

  write(chunk: string): void {
    // In pieces of bounded length: some searches run to the end of the buffer in vain.
    for (let at = 0; at < chunk.length && !this.#stopped; at += maxPiece) {
      this.#buffer += chunk.length <= maxPiece ? chunk : chunk.slice(at, at + maxPiece);
      if (this.#buffer.length >= this.#enough) this.#scan(false);
    }
  }

  end(): void {
    if (this.#stopped) return;
    this.#scan(true);
    if (this.#stopped) return;
    if (this.#at < this.#buffer.length || this.#mode !== content || this.#depth > 0) {
      this.#flaw(this.#isAfterRoot ? "xml-junk-after-root" : "xml-truncated", this.#at);
    }
    this.#stopped = true;
  }

  /** Adds a problem at the place that is being read: a tag, perhaps inside of a glue. */
  report(code: ProblemCode, value?: string, limit?: number): void {
    this.#report(code, this.#at + this.offsetInGlue, value, limit);
  }

  onReference(flaw: ReferenceFlaw, value: string, at: number): void {
    if (flaw === "xml-char-reference") {
      this.#isFresh = false;
      this.#textFlaw = "reference";
    }
    this.#flaw(flaw, this.#at + at, value);
  }

  #report(code: ProblemCode, at: number, value?: string, limit?: number): void {
    if (this.#problems.has(code)) {
      this.#problems.add(code);
      return;
    }
    const line = this.#linesBefore + countLineEnds(this.#buffer, at) + 1;
    this.#problems.add(code, {
      line,
      ...(value === undefined ? {} : { value }),
      ...(limit === undefined ? {} : { limit }),
    });
  }

  // Something that is not well-formed.
  #flaw(code: ProblemCode, at: number, value?: string, limit?: number): void {
    this.#glue.drop();
    this.#report(code, at, value, limit);
    if (this.#strict && !this.#stopped) {
      this.#report("xml-not-well-formed", at);
      this.#stopped = true;
    }
  }

  #scan(final: boolean): void {
    // One search for all: most documents have none.
    this.#hasCarriageReturns = this.#buffer.includes("\r");
    this.#nextReference.reset(this.#buffer);
    this.#attributes.setBuffer(this.#buffer);
    let more = true;
    while (more && !this.#stopped) {
      if (this.#mode === content) more = this.#scanContent(final);
      else if (this.#mode === skipping) more = this.#skipUntil();
      else if (this.#mode === inDoctype) more = this.#skipDoctype(final);
      else more = this.#skipTag();
    }
    this.#glue.drop();
    this.#linesBefore += countLineEnds(this.#buffer, this.#at);
    this.#offset += this.#at;
    this.#buffer = this.#at < this.#buffer.length ? this.#buffer.slice(this.#at) : "";
    this.#at = 0;
    this.#enough = this.#buffer.length + (this.#buffer.length >> 1);
  }

  // Reads on until the buffer ends inside a token, or something begins that is not read here. Returns whether to go on.
  #scanContent(final: boolean): boolean {
    const buffer = this.#buffer;
    for (;;) {
      const open = buffer.indexOf("<", this.#at);
      if (open === -1) {
        this.#partialText(final);
        return false;
      }
      // Nearly always a text, or nothing, is followed by something that was there before.
      const glues = this.#last.glues;
      if (glues.length > 0 && this.#mayFollow() && this.#follow(glues, open)) {
        if (this.#stopped) return false;
        continue;
      }
      if (open > this.#at) {
        this.#takeText(open);
        if (this.#stopped) return false;
      }
      if (!this.#scanMarkup(open, final)) return false;
      if (this.#mode !== content || this.#stopped) return true;
    }
  }

  // All of a text that stands between two tags.
  #takeText(end: number): void {
    const start = this.#at;
    if (this.#wantedDepth !== 0) this.#addText(start, end);
    else if (this.#depth === 0) this.#outsideText(start, end);
    else if (this.#glue.started && skipSpace(this.#buffer, start) < end) this.#glue.drop();
    if (this.#strict) this.#checkText(start, end);
    this.#at = end;
  }

  // Not while a glue is being learnt, not inside of a child of what is wanted, and `strict` looks at everything.
  #mayFollow(): boolean {
    if (this.#glue.started || this.#strict || this.#handler.follow === undefined) return false;
    return this.#wantedDepth === 0 ? this.#depth > 0 : this.#wantedDepth === this.#depth;
  }

  // Where one of the glues stands here, takes the text before it and does what it does; and so on, as long as it goes.
  #follow(glues: XmlGlue[], open: number): boolean {
    const buffer = this.#buffer;
    let next = this.#glueAt(glues, open);
    if (next === undefined) return false;
    while (next !== undefined) {
      const glue: XmlGlue = next;
      const hasText = this.#wantedDepth !== 0;
      const text = hasText ? this.#wholeText(open) : undefined;
      this.#at = open;
      const wants = this.#handler.follow!(glue, text);
      this.#settle(glue);
      this.#wantedDepth = wants ? this.#depth : 0;
      if (!this.#isFresh) this.#clearText();
      this.#at = open + glue.text.length;
      if (this.#rounds.addGlue(glue, hasText, wants, this.#depth) && this.#handler.repeat !== undefined)
        this.#goRounds();
      open = buffer.indexOf("<", this.#at);
      next = open === -1 || this.#stopped ? undefined : this.#glueAt(this.#last.glues, open);
    }
    return true;
  }

  // The elements that are open after a glue.
  #settle(glue: XmlGlue): void {
    const { stays } = glue;
    let depth = this.#depth - glue.closes.length;
    for (let at = 0; at < stays.length; at++) this.#open[++depth] = stays[at]!;
    this.#depth = depth;
    this.#last = glue.last;
  }

  // Reads entries that are like the one before, as long as there are any. What is open is the same after each of them, so
  // it is not kept up to date in between, but only where a round breaks off.
  #goRounds(): void {
    const { steps } = this.#rounds;
    for (;;) {
      for (let index = 0; index < steps.length; index++) {
        if (!this.#stopped && this.#repeat(steps[index]!)) continue;
        this.#leaveRound(steps, index);
        return;
      }
      this.#rounds.succeed();
    }
  }

  #repeat({ glue, plan, hasText, tag, meaning }: XmlStep): boolean {
    if (glue === undefined) return this.#repeatTag(tag!, meaning!);
    return glue.plan === plan && this.#repeatGlue(glue, hasText);
  }

  #repeatGlue(glue: XmlGlue, hasText: boolean): boolean {
    const open = this.#buffer.indexOf("<", this.#at);
    if (open === -1) return false;
    if (!this.#glue.standsAt(glue, this.#buffer, open)) return hasText && this.#repeatCdata(glue, open);
    if (hasText) {
      if (open - this.#at > this.#limits.xmlTextLength) return false;
      const text = this.#decodedText(this.#at, open);
      this.#textIsTrimmed = isPrintable(this.#buffer, this.#at) && isPrintable(this.#buffer, open - 1);
      this.#at = open;
      this.#handler.repeat!(glue, this.#textFlaw === undefined ? text : undefined);
      this.#textIsTrimmed = false;
      if (!this.#isFresh) this.#clearText();
    } else {
      this.#at = open;
      this.#handler.repeat!(glue, undefined);
    }
    this.#at = open + glue.text.length;
    return true;
  }

  // The text is one CDATA section, and nothing else.
  #repeatCdata(glue: XmlGlue, open: number): boolean {
    const buffer = this.#buffer;
    if (open !== this.#at || !buffer.startsWith("<![CDATA[", open)) return false;
    const end = buffer.indexOf("]]>", open + 9);
    if (end === -1 || end - open - 9 > this.#limits.xmlTextLength) return false;
    if (!this.#glue.standsAt(glue, buffer, end + 3)) return false;
    this.#addCdata(open + 9, end);
    this.#at = end + 3;
    this.#handler.repeat!(glue, this.#text);
    this.#clearText();
    this.#at = end + 3 + glue.text.length;
    return true;
  }

  #repeatTag(tag: XmlName, meaning: object): boolean {
    const buffer = this.#buffer;
    const open = buffer.indexOf("<", this.#at);
    const nameEnd = open + 1 + tag.raw.length;
    if (open === -1 || nameEnd >= buffer.length || !isSpace(buffer.charCodeAt(nameEnd))) return false;
    if (!standsAt(tag.raw, buffer, open + 1)) return false;
    const end = this.#attributes.scan(open, nameEnd);
    if (end === -1 || !this.#attributes.isSimple) return false;
    this.#at = open;
    this.#handler.repeatTag!(meaning, this.#attributes);
    this.#at = end;
    return true;
  }

  // Brings up to date what is open, after the first steps of a round.
  #leaveRound(steps: readonly XmlStep[], count: number): void {
    let wants = this.#wantedDepth !== 0;
    for (let index = 0; index < count; index++) {
      const { glue, tag } = steps[index]!;
      if (glue === undefined) this.#last = tag!;
      else this.#settle(glue);
      wants = glue !== undefined && this.#handler.settle!(glue);
    }
    this.#wantedDepth = wants ? this.#depth : 0;
    this.#rounds.fail();
  }

  // The glue that stands here, if there is one. The one that stood here last is tried first.
  #glueAt(glues: XmlGlue[], open: number): XmlGlue | undefined {
    for (let index = 0; index < glues.length; index++) {
      const glue = glues[index]!;
      if (!this.#glue.standsAt(glue, this.#buffer, open) || !this.#fits(glue)) continue;
      if (index > 0) {
        glues[index] = glues[0]!;
        glues[0] = glue;
      }
      if (glue.generation !== this.#namespaces.generation) {
        for (const name of glue.names) this.#namespaces.resolve(name);
        glue.generation = this.#namespaces.generation;
      }
      return glue;
    }
    return undefined;
  }

  // Whether the elements that a glue closes are those that are open, and nothing else has to be done for them.
  #fits(glue: XmlGlue): boolean {
    const { closes } = glue;
    const depth = this.#depth;
    const outermost = depth - closes.length;
    if (outermost < this.#floor || this.#namespaces.deepest > outermost || depth + glue.rise > this.#limits.xmlDepth)
      return false;
    // Where a text is wanted, it has to end here: what a child holds may be part of it.
    if (this.#outer.length > 0 || (this.#wantedDepth !== 0 && glue.opens[0]!)) return false;
    for (let index = 0; index < closes.length; index++) {
      if (this.#open[depth - index] !== closes[index]) return false;
    }
    return true;
  }

  // At a `<`. Returns whether it was read; otherwise the buffer has to grow.
  #scanMarkup(open: number, final: boolean): boolean {
    if (open + 1 === this.#buffer.length) return final && this.#strayText(open);
    const code = this.#buffer.charCodeAt(open + 1);
    if (this.#isAfterRoot && code !== exclamationMark && code !== questionMark) return this.#junkAfterRoot(open, final);
    if (code === slash) return this.#scanEndTag(open, final);
    if (code === exclamationMark) return this.#scanDeclaration(open, final);
    if (code === questionMark) return this.#scanInstruction(open, final);
    if (startsName(code)) return this.#scanStartTag(open, final);
    return this.#strayText(open);
  }

  #strayText(open: number): true {
    this.#rounds.reset();
    this.#flaw("xml-stray-text", open);
    if (this.#wantedDepth !== 0) this.#addDecoded("<", 1);
    this.#at = open + 1;
    return true;
  }

  #scanStartTag(open: number, final: boolean): boolean {
    const buffer = this.#buffer;
    const nameEnd = endOfName(buffer, open + 1);
    const nameTooLong = nameEnd - open - 1 > this.#limits.xmlNameLength;
    if (nameEnd === buffer.length && !nameTooLong) return final && this.#cut(open);
    if (buffer.charCodeAt(nameEnd) === greaterThan && !nameTooLong) {
      this.#simpleTag(this.#names.find(buffer, open + 1, nameEnd), open, nameEnd + 1, false);
      return true;
    }
    const attributes = this.#attributes;
    const end = nameTooLong ? nameEnd : attributes.scan(open, nameEnd);
    if (end === -1) return final && this.#cut(open);
    if (nameTooLong || attributes.tooLong) return this.#openLongTag(open, nameEnd, nameTooLong);
    // Lenient: `a <b` in a text is text, not a tag that lost its end.
    if (attributes.unclosed && this.#wantedDepth !== 0) return this.#strayText(open);
    const name = this.#names.find(buffer, open + 1, nameEnd);
    if (attributes.isEmptyElement) {
      this.#simpleTag(name, open, end, true);
      return true;
    }
    this.#glue.finish(buffer, open);
    this.#at = open;
    if (attributes.tooMany) {
      this.#limit("xml-attr-limit", this.#limits.xmlAttributes);
      return true;
    }
    if (attributes.valueTooLong) this.#flaw("xml-token-limit", open, name.raw, this.#limits.xmlTextLength);
    if (attributes.malformed) this.#flaw("xml-malformed-tag", open, buffer.slice(open, Math.min(end, open + 80)));
    if (this.#stopped) return true;
    this.#declareNamespaces();
    if (this.#strict) this.#checkTag(name, open);
    if (this.#stopped) return true;
    this.#push(name, attributes);
    const isStep = attributes.isSimple && this.#wantedDepth === 0;
    if (attributes.selfClosing && !this.#stopped) this.#pop();
    if (isStep) this.#rounds.addTag(name, this.#handler.meaning);
    else this.#rounds.reset();
    this.#at = end;
    return true;
  }

  // A start tag without attributes, perhaps an empty element.
  #simpleTag(name: XmlName, open: number, end: number, selfClosing: boolean): void {
    this.#rounds.reset();
    const glue = this.#glue;
    if (!glue.started && this.#wantedDepth === 0 && this.#mayLearn()) glue.start(this.#last, open);
    if (this.#strict) this.#checkName(name, open);
    if (this.#stopped) return;
    glue.add(name, true, open);
    const before = this.#wantedDepth;
    this.#push(name, noAttributes);
    if (selfClosing && !this.#stopped) {
      this.#pop();
      glue.add(name, false, open);
    }
    this.#at = end;
    if (before !== 0) glue.drop();
    else if (this.#wantedDepth !== 0 || glue.full) glue.finish(this.#buffer, end);
  }

  #mayLearn(): boolean {
    return this.#depth > 0 && !this.#strict && this.#handler.follow !== undefined;
  }

  // The name or the attributes are longer than what is kept: the element is opened without them.
  #openLongTag(open: number, nameEnd: number, nameTooLong: boolean): true {
    this.#rounds.reset();
    const { xmlNameLength, xmlTextLength } = this.#limits;
    this.#at = open;
    this.#flaw("xml-token-limit", open, undefined, nameTooLong ? xmlNameLength : xmlTextLength);
    if (this.#stopped) return true;
    const kept = nameTooLong ? open + 1 + xmlNameLength : nameEnd;
    this.#push(this.#names.find(this.#buffer, open + 1, Math.max(kept, open + 2)), noAttributes);
    this.#mode = inTag;
    this.#quote = "";
    this.#at = kept;
    return true;
  }

  #scanEndTag(open: number, final: boolean): boolean {
    this.#rounds.reset();
    const buffer = this.#buffer;
    const top = this.#open[this.#depth];
    if (top !== undefined && this.#depth > 0) {
      const end = open + 2 + top.raw.length;
      if (end < buffer.length && buffer.charCodeAt(end) === greaterThan && buffer.startsWith(top.raw, open + 2)) {
        this.#simpleEndTag(top, open, end + 1);
        return true;
      }
    }
    const nameEnd = endOfName(buffer, open + 2);
    const end = buffer.indexOf(">", nameEnd);
    const length = (end === -1 ? buffer.length : end) - open;
    if (length > this.#limits.xmlNameLength + maxEndTagSpace) {
      this.#flaw("xml-token-limit", open, undefined, this.#limits.xmlNameLength);
      this.#skip(">", open + 2);
      return true;
    }
    if (end === -1) return final && this.#cut(open);
    this.#at = open;
    this.#otherEndTag(buffer.slice(open + 2, nameEnd), open, this.#endOfEndTag(nameEnd, end));
    return true;
  }

  #simpleEndTag(name: XmlName, open: number, end: number): void {
    const glue = this.#glue;
    if (!glue.started && (this.#wantedDepth === 0 || this.#wantedDepth === this.#depth) && this.#mayLearn()) {
      glue.start(this.#last, open);
    }
    glue.add(name, false, open);
    this.#pop();
    this.#at = end;
    if (this.#depth === 0 || this.#wantedDepth !== 0) glue.drop();
    else if (glue.full) glue.finish(this.#buffer, end);
  }

  // Between the name of an end tag and its `>` there is only white space.
  #endOfEndTag(nameEnd: number, end: number): number {
    const buffer = this.#buffer;
    for (let at = nameEnd; at < end; at++) {
      if (isSpace(buffer.charCodeAt(at))) continue;
      this.#flaw("xml-malformed-tag", nameEnd, buffer.slice(nameEnd, Math.min(end, nameEnd + 80)));
      const next = buffer.slice(at, end).indexOf("<");
      return next === -1 ? end + 1 : at + next;
    }
    return end + 1;
  }

  // An end tag that is not written like the start tag of the innermost element.
  #otherEndTag(raw: string, open: number, end: number): void {
    this.#at = open;
    if (this.#stopped) return;
    this.#glue.drop();
    const depth = this.#depthOf(raw);
    const top = this.#open[this.#depth];
    if (depth === 0 || depth !== this.#depth || top?.raw !== raw) this.#flaw("xml-mismatched-tag", open, `</${raw}>`);
    if (depth > 0 && !this.#stopped) {
      while (this.#depth > depth && !this.#stopped) this.#pop(true);
      if (!this.#stopped) this.#pop();
    }
    this.#at = end;
  }

  // The innermost element that such an end tag may close: with this name, or else with this name in another case.
  #depthOf(raw: string): number {
    for (let depth = this.#depth; depth > 0; depth--) {
      if (this.#open[depth]!.raw === raw) return depth;
    }
    const lower = raw.toLowerCase();
    for (let depth = this.#depth; depth > 0; depth--) {
      if (this.#open[depth]!.raw.toLowerCase() === lower) return depth;
    }
    return 0;
  }

  #scanDeclaration(open: number, final: boolean): boolean {
    const buffer = this.#buffer;
    // As long as `<![CDATA[` and `<!DOCTYPE`.
    if (!final && buffer.length - open < 9) return false;
    this.#glue.finish(buffer, open);
    this.#at = open;
    // `<!-`, `<![` and others: one character tells what it can be.
    const kind = buffer.charCodeAt(open + 2);
    if (kind === hyphen && buffer.startsWith("<!--", open)) {
      this.#skip(this.#strict ? "--" : "-->", open + 4);
      return true;
    }
    if (this.#isAfterRoot) return this.#junkAfterRoot(open, final);
    if (kind === squareBracket && buffer.startsWith("<![CDATA[", open)) return this.#scanCdata(open, final);
    if (buffer.slice(open, open + 9).toUpperCase() === "<!DOCTYPE") {
      this.#mode = inDoctype;
      this.#doctype = new XmlDoctype();
      this.#at = open + 9;
      if (this.#isInDocument) this.#flaw("xml-malformed-tag", open, "<!DOCTYPE");
      else this.#report("xml-doctype", open);
      return true;
    }
    this.#flaw("xml-malformed-tag", open, "<!");
    this.#skip(">", open + 2);
    return true;
  }

  #scanInstruction(open: number, final: boolean): boolean {
    // Room for `<?xml` and what follows.
    if (!final && this.#buffer.length - open < 6) return false;
    this.#glue.finish(this.#buffer, open);
    this.#at = open;
    const target = this.#buffer.slice(open + 2, open + 6);
    if (target.startsWith("xml") && (isSpace(target.charCodeAt(3)) || target[3] === "?")) {
      // Lenient: the declaration stands at the very beginning, or, for many websites, after a few blank lines.
      const isFirst = this.#offset + open === 0;
      if (this.#isInDocument) this.#flaw("xml-malformed-tag", open, "<?xml");
      else if (!isFirst && !this.#problems.has("xml-junk-before-root")) {
        this.#flaw("xml-junk-before-root", open, "white space");
      }
    } else if (this.#strict && !startsName(target.charCodeAt(0))) this.#flaw("xml-malformed-tag", open, `<?${target}`);
    this.#skip("?>", open + 2);
    return true;
  }

  #scanCdata(open: number, final: boolean): boolean {
    const buffer = this.#buffer;
    if (this.#depth === 0) this.#flaw("xml-junk-before-root", open, "<![CDATA[");
    if (this.#wantedDepth === 0) {
      this.#skip("]]>", open + 9);
      return true;
    }
    const end = buffer.indexOf("]]>", open + 9);
    const length = (end === -1 ? buffer.length : end) - open - 9;
    if (length + this.#textLength > this.#limits.xmlTextLength + (end === -1 ? 3 : 0)) {
      this.#textTooLong();
      this.#skip("]]>", open + 9);
      return true;
    }
    if (end === -1) return final && this.#cut(open);
    this.#addCdata(open + 9, end);
    this.#at = end + 3;
    return true;
  }

  #addCdata(start: number, end: number): void {
    const raw = this.#buffer.slice(start, end);
    const text = this.#hasCarriageReturns ? this.#withLineFeeds(raw) : raw;
    if (text.includes("&")) this.#textIsPlain = false;
    this.#addDecoded(text, end - start);
  }

  // The document ends inside this tag.
  #cut(open: number): false {
    this.#at = open;
    return false;
  }

  #skip(until: string, from: number): void {
    this.#rounds.reset();
    this.#mode = skipping;
    this.#until = until;
    this.#at = from;
  }

  #skipUntil(): boolean {
    const until = this.#until;
    const found = this.#buffer.indexOf(until, this.#at);
    if (found === -1) {
      this.#at = Math.max(this.#at, this.#buffer.length - until.length + 1);
      return false;
    }
    if (until === "--") {
      // Only with `strict`: https://www.w3.org/TR/xml/#sec-comments "the string -- MUST NOT occur within comments".
      this.#at = found;
      if (found + 2 >= this.#buffer.length) return false;
      if (this.#buffer.charCodeAt(found + 2) !== greaterThan) this.#flaw("xml-malformed-tag", found, "--");
    }
    this.#at = found + (until === "--" ? 3 : until.length);
    this.#mode = content;
    return true;
  }

  #skipDoctype(final: boolean): boolean {
    const doctype = this.#doctype!;
    this.#at = doctype.skip(this.#buffer, this.#at, final);
    if (doctype.declaresEntities) {
      if (!this.#isInDocument) this.#report("xml-dtd-refused", this.#at);
      this.#stopped = true;
      return false;
    }
    if (doctype.done) this.#mode = content;
    return doctype.done;
  }

  // Passes over the rest of a start tag that is too long.
  #skipTag(): boolean {
    const buffer = this.#buffer;
    for (let at = this.#at; at < buffer.length; at++) {
      const character = buffer[at]!;
      if (this.#quote !== "") {
        const end = buffer.indexOf(this.#quote, at);
        if (end === -1) break;
        this.#quote = "";
        at = end;
      } else if (character === '"' || character === "'") this.#quote = character;
      else if (character === ">" || character === "<") {
        this.#at = character === ">" ? at + 1 : at;
        this.#mode = content;
        if (this.#selfClosing && character === ">") this.#pop();
        this.#selfClosing = false;
        return true;
      }
      this.#selfClosing = character === "/";
    }
    this.#at = buffer.length;
    return false;
  }

  #declareNamespaces(): void {
    const attributes = this.#attributes;
    for (let index = 0; index < attributes.count; index++) {
      if (!attributes.declares(index)) continue;
      const name = attributes.name(index);
      if (name === "xmlns") this.#namespaces.declare("", attributes.value(index), this.#depth + 1);
      else if (name.startsWith("xmlns:")) {
        this.#namespaces.declare(name.slice(6), attributes.value(index), this.#depth + 1);
      }
    }
  }

  #push(name: XmlName, attributes: XmlAttributes): void {
    if (this.#depth >= this.#limits.xmlDepth) {
      this.#limit("xml-depth", this.#limits.xmlDepth);
      return;
    }
    const depth = ++this.#depth;
    this.#open[depth] = name;
    this.#last = name;
    this.#outsideReported = false;
    this.#namespaces.resolve(name);
    if (!this.#handler.open(name, attributes)) {
      if (this.#wantedDepth !== 0 && depth === this.#wantedDepth + 1) {
        this.#isFresh = false;
        this.#children++;
      }
      return;
    }
    if (this.#wantedDepth !== 0) this.#keepOuterText();
    this.#wantedDepth = depth;
    this.#clearText();
  }

  #clearText(): void {
    this.#isFresh = true;
    this.#text = "";
    this.#textLength = 0;
    this.#textIsPlain = true;
    this.#childText = "";
    this.#children = 0;
    this.#textFlaw = undefined;
  }

  #ownText(): string | undefined {
    if (this.#textFlaw !== undefined) return undefined;
    // Lenient: `<loc><a>https://example.org/</a></loc>`.
    return this.#children === 1 && this.#text.trim() === "" ? this.#childText : this.#text;
  }

  #pop(implied = false): void {
    const depth = this.#depth;
    const name = this.#open[depth]!;
    if (this.#wantedDepth === depth) {
      // Lenient: where an element is not closed its text has no certain end, so it is not used.
      if (implied) {
        this.#isFresh = false;
        this.#textFlaw ??= "unclosed";
      }
      this.#handler.close(name, this.#ownText());
      this.#wantedDepth = 0;
      this.#textLength = 0;
      if (this.#outer.length > 0) this.#restoreOuterText();
    } else this.#handler.close(name, undefined);
    this.#last = name;
    this.#depth = depth - 1;
    this.#namespaces.leave(depth);
  }

  #addText(start: number, end: number): void {
    const length = end - start;
    if (this.#textLength + length > this.#limits.xmlTextLength) this.#textTooLong();
    else this.#addDecoded(this.#decodedText(start, end), length);
  }

  // The text of an element whose end tag stands here.
  #wholeText(end: number): string | undefined {
    const start = this.#at;
    if (this.#isFresh && end - start <= this.#limits.xmlTextLength) {
      const text = this.#decodedText(start, end);
      return this.#textFlaw === undefined ? text : undefined;
    }
    if (end > start) this.#addText(start, end);
    return this.#ownText();
  }

  #decodedText(start: number, end: number): string {
    const buffer = this.#buffer;
    if (this.#hasCarriageReturns) return this.#decodedSlowly(start, end);
    if (!this.#nextReference.isWithin(start, end)) return buffer.slice(start, end);
    // Nearly always one `&amp;` in a URL. Where a semicolon follows, it may have been escaped twice.
    const at = this.#nextReference.position;
    if (isAmp(buffer, at + 1) && !this.#nextReference.isWithin(at + 5, end)) {
      const semicolon = buffer.indexOf(";", at + 5);
      if (semicolon === -1 || semicolon >= end) return buffer.slice(start, at + 1) + buffer.slice(at + 5, end);
    }
    return this.#decodedSlowly(start, end);
  }

  #decodedSlowly(start: number, end: number): string {
    const raw = this.#withLineFeeds(this.#buffer.slice(start, end));
    if (!raw.includes("&")) return raw;
    this.#isFresh = false;
    this.#textIsPlain = false;
    return decodeReferences(raw, this);
  }

  #addDecoded(text: string, rawLength: number): void {
    this.#isFresh = false;
    this.#textLength += rawLength;
    if (this.#depth === this.#wantedDepth) this.#text = this.#text === "" ? text : this.#text + text;
    else this.#childText += text;
  }

  #textTooLong(): void {
    this.#isFresh = false;
    this.#textFlaw = "too-long";
    // Whatever follows is too long, too.
    this.#textLength = this.#limits.xmlTextLength + 1;
  }

  // https://www.w3.org/TR/xml/#sec-line-ends
  #withLineFeeds(raw: string): string {
    return raw.includes("\r") ? raw.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : raw;
  }

  #keepOuterText(): void {
    this.#outer.push({
      depth: this.#wantedDepth,
      text: this.#text,
      textLength: this.#textLength,
      childText: this.#childText,
      children: this.#children,
      flaw: this.#textFlaw,
      isPlain: this.#textIsPlain,
    });
  }

  #restoreOuterText(): void {
    const outer = this.#outer.pop()!;
    this.#wantedDepth = outer.depth;
    this.#text = outer.text;
    this.#textLength = outer.textLength;
    this.#childText = outer.childText;
    this.#children = outer.children;
    this.#textFlaw = outer.flaw;
    this.#textIsPlain = outer.isPlain;
    this.#isFresh = false;
  }

  // The buffer ends inside a text.
  #partialText(final: boolean): void {
    const { length } = this.#buffer;
    if (final) {
      if (this.#depth === 0 && length > this.#at) this.#outsideText(this.#at, length);
      this.#at = length;
    } else if (this.#depth === 0) {
      this.#at = skipSpace(this.#buffer, this.#at);
      // Enough to show it. Then it can go.
      if (length - this.#at > shownLength || this.#outsideReported) {
        this.#outsideText(this.#at, length);
        this.#at = length;
      }
    } else if (this.#wantedDepth !== 0 || this.#strict) {
      if (this.#textLength + length - this.#at <= this.#limits.xmlTextLength) return;
      if (this.#wantedDepth !== 0) this.#textTooLong();
      this.#at = length;
    } else this.#at = length;
  }

  // Text outside of the root. One run of it is one problem.
  #outsideText(start: number, end: number): void {
    if (this.#outsideReported) return;
    const first = skipSpace(this.#buffer, start);
    if (first >= end) return;
    this.#outsideReported = true;
    const text = this.#buffer.slice(first, Math.min(end, first + shownLength)).trimEnd();
    this.#flaw(this.#isAfterRoot ? "xml-junk-after-root" : "xml-junk-before-root", first, text);
    if (this.#isAfterRoot) this.#stopped = true;
  }

  #junkAfterRoot(open: number, final: boolean): boolean {
    if (!final && this.#buffer.length - open < shownLength) return false;
    this.#at = open;
    this.#flaw("xml-junk-after-root", open, this.#buffer.slice(open, open + shownLength));
    this.#stopped = true;
    return true;
  }

  #limit(code: ProblemCode, limit: number): void {
    this.#report(code, this.#at, undefined, limit);
    this.#stopped = true;
  }

  #checkText(start: number, end: number): void {
    const flaw = flawOfText(this.#buffer.slice(start, end), this.#wantedDepth !== 0);
    if (flaw !== undefined && !this.#stopped) this.#flaw("xml-malformed-tag", start, flaw);
  }

  #checkName(name: XmlName, at: number): void {
    this.#namespaces.resolve(name);
    const flaw = flawOfName(name);
    if (flaw !== undefined) this.#flaw("xml-malformed-tag", at, flaw);
  }

  #checkTag(name: XmlName, at: number): void {
    const flaw = flawOfTag(this.#attributes, (prefix) => this.#namespaces.lookup(prefix));
    if (flaw !== undefined) this.#flaw("xml-malformed-tag", at, flaw);
    else this.#checkName(name, at);
  }
}

// What the buffer starts with: content, something to be passed over, or the rest of a tag that is too long.
type Mode = typeof content | typeof skipping | typeof inDoctype | typeof inTag;
const content = 0;
const skipping = 1;
const inDoctype = 2;
const inTag = 3;

interface OuterText {
  readonly depth: number;
  readonly text: string;
  readonly textLength: number;
  readonly childText: string;
  readonly children: number;
  readonly flaw: TextFlaw | undefined;
  readonly isPlain: boolean;
}

function countLineEnds(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

// https://www.w3.org/TR/xml/#NT-NameStartChar, but for what is outside of ASCII: that is for `strict` to judge.
function startsName(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x3a || code >= 0x80
  );
}

const maxPiece = 64 * 1024;
function isPrintable(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code > 0x20 && code < 0x7f;
}

// White space that an end tag may have.
const maxEndTagSpace = 1024;
const shownLength = 200;
const exclamationMark = 0x21;
const hyphen = 0x2d;
const slash = 0x2f;
const greaterThan = 0x3e;
const questionMark = 0x3f;
const squareBracket = 0x5b;
