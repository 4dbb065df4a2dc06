// Carries out a trace: passes the texts that the matcher found to their rules, and makes the calls of the tags.
import type { RuleReader } from "../element-rule.ts";
import type { ScannerParts } from "../fast-path.ts";
import { TextFacts } from "../text-facts.ts";
import { noAttributes } from "../xml-attributes.ts";
import type { Action } from "./action.ts";
import { layout } from "./layout.ts";
import { MatchedAttributes } from "./matched-attributes.ts";
import type { Matcher } from "./matcher.ts";
import {
  attribute,
  beginning,
  type PathEdge,
  type PathNode,
  runAfterCdata,
  runAfterSpace,
  runAfterText,
  tagEnd,
} from "./paths.ts";

export class Player {
  readonly #parts: ScannerParts;
  readonly #matcher: Matcher;
  readonly #attributes: MatchedAttributes;
  readonly #facts = new TextFacts();
  readonly #acceptOrigin: (origin: string) => void;
  // The next text of each list.
  #narrow = 0;
  #wide = 0;
  /** A tag or CDATA section that has not ended: the text before it starts at `begunAt`. */
  begun: PathEdge | undefined = undefined;
  begunAt = 0;
  // Where it begins itself.
  #tagAt = 0;

  constructor(parts: ScannerParts, matcher: Matcher) {
    this.#parts = parts;
    this.#matcher = matcher;
    this.#attributes = new MatchedAttributes(parts.cursor);
    this.#acceptOrigin = (origin) => matcher.acceptOrigin(origin);
  }

  /** Plays this many words of the trace. Positions are those in the matcher's memory. */
  play(edges: readonly PathEdge[], reader: RuleReader, length: number): void {
    const { trace } = this.#matcher;
    const { cursor } = this.#parts;
    this.#narrow = 0;
    this.#wide = 0;
    let at = 0;
    for (; at < length && !cursor.stopped; at += stepWords) {
      const edge = edges[trace[at + stepEdge]!]!;
      const end = trace[at + stepEnd]!;
      switch (edge.kind) {
        case runAfterSpace:
          if (edge.from.takesStray) this.#takeStray(reader, edge.from, trace[at + stepStart]!, end);
          this.#call(reader, edge.action!, end);
          break;
        case runAfterText:
          this.#takeText(reader, edge.action!, at);
          this.#call(reader, edge.action!, end);
          break;
        case runAfterCdata:
          this.#takeCdata(reader, edge.action!, at);
          this.begun = undefined;
          this.#call(reader, edge.action!, end + cdataEnd);
          break;
        case beginning:
          this.begun = edge;
          this.begunAt = trace[at + stepStart]!;
          this.#tagAt = end;
          this.#attributes.clear();
          break;
        case attribute:
          this.#addAttribute(edge, at);
          break;
        case tagEnd: {
          this.#addAttribute(edge, at);
          if (this.begun!.from.takesStray) this.#takeStray(reader, this.begun!.from, this.begunAt, this.#tagAt);
          cursor.at = this.#tagAt;
          const { open, close } = edge.rule!;
          if (open !== undefined) open(reader.target, this.#attributes);
          if (edge.isEmpty && close !== undefined) close(reader.target);
          this.begun = undefined;
          break;
        }
      }
    }
    if (at < length) this.#matcher.forgetWords();
  }

  // Between entries there is hardly ever more than white space.
  #takeStray(reader: RuleReader, { state }: PathNode, start: number, end: number): void {
    if (this.#matcher.isBlank(start, end)) return;
    reader.takeStrayBytes(state!.rules.at(-1)!, this.#matcher.decode(start, end), start);
  }

  #takeText(reader: RuleReader, { textRule }: Action, at: number): void {
    if (textRule === undefined) return;
    const { trace } = this.#matcher;
    const { cursor, text } = this.#parts;
    const flags = trace[at + stepFlags]!;
    const value = this.#value(at, flags);
    if ((flags & needsCare) === 0 || (flags & layout.isDecoded) !== 0) {
      cursor.at = trace[at + stepEnd]!;
      textRule.text!(reader.target, value, this.#factsAt(this.#facts, at, flags));
    } else {
      // Problems with references are reported from the start of the text.
      cursor.at = trace[at + stepStart]!;
      text.add(value, true);
      cursor.at = trace[at + stepEnd]!;
      reader.takeText(textRule, text.value, text.value === value);
      text.clear();
    }
  }

  #takeCdata(reader: RuleReader, { textRule }: Action, at: number): void {
    if (textRule === undefined) return;
    const { trace } = this.#matcher;
    const { cursor, text } = this.#parts;
    const flags = trace[at + stepFlags]!;
    const value = this.#value(at, flags);
    cursor.at = trace[at + stepEnd]! + cdataEnd;
    if ((flags & needsCare) === 0) {
      textRule.text!(reader.target, value, this.#factsAt(this.#facts, at, flags));
    } else {
      text.addCdata(value, true);
      reader.takeText(textRule, text.value, text.value === value);
      text.clear();
    }
  }

  #addAttribute({ name, from }: PathEdge, at: number): void {
    if (!from.isWanted) return;
    const flags = this.#matcher.trace[at + stepFlags]!;
    const isRaw = (flags & (layout.hasReferences | layout.hasControls)) !== 0 && (flags & layout.isDecoded) === 0;
    this.#factsAt(this.#attributes.add(name, this.#value(at, flags), isRaw), at, flags);
  }

  // The next text. As written, unless its flags say that it is decoded.
  #value(at: number, flags: number): string {
    const { trace, narrow, wide, words } = this.#matcher;
    if (trace[at + stepStart] === trace[at + stepEnd]) return "";
    if ((flags & layout.isLeftOut) !== 0) return leftOut;
    if ((flags & layout.isKnownWord) !== 0) return words[trace[at + stepWord]!]!;
    const value = (flags & layout.isWide) === 0 ? narrow[this.#narrow++]! : wide[this.#wide++]!;
    if ((flags & layout.isNewWord) !== 0) words[trace[at + stepWord]!] = value;
    return value;
  }

  #factsAt(facts: TextFacts, at: number, flags: number): TextFacts {
    const { trace } = this.#matcher;
    facts.isUrl = (flags & layout.isAccepted) !== 0;
    facts.acceptOrigin = (flags & layout.isUnaccepted) !== 0 ? this.#acceptOrigin : undefined;
    facts.isDate = (flags & layout.isUsualDate) !== 0;
    facts.high = trace[at + stepHigh]!;
    facts.low = trace[at + stepLow]!;
    return facts;
  }

  #call({ target }: RuleReader, { calls, offsets }: Action, start: number): void {
    const { cursor } = this.#parts;
    // The end of an entry may end the document (a limit).
    for (let index = 0; index < calls.length && !cursor.stopped; index++) {
      cursor.at = start + offsets[index]!;
      const call = calls[index]!;
      call(target, noAttributes);
    }
  }
}

const needsCare = layout.hasReferences | layout.hasControls | layout.hasSpace;
// The length of `]]>`.
const cdataEnd = 3;
// In 32-bit words.
const stepWords = layout.stepSize >> 2;
const stepEdge = layout.stepEdge >> 2;
const stepStart = layout.stepStart >> 2;
const stepEnd = layout.stepEnd >> 2;
const stepFlags = layout.stepFlags >> 2;
const stepHigh = layout.stepHigh >> 2;
const stepLow = layout.stepLow >> 2;
const stepWord = layout.stepWord >> 2;
// Stands for a text that nobody wants to have.
const leftOut = "-";
