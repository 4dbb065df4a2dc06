// Does what a trace says: hands the texts that the matcher found to their rules, and calls what the tags lead to.
import type { RuleReader } from "../element-rule.ts";
import type { ScannerParts } from "../fast-path.ts";
import { TextFacts } from "../text-facts.ts";
import { noAttributes } from "../xml-attributes.ts";
import type { Action } from "./action.ts";
import { MatchedAttributes } from "./matched-attributes.ts";
import {
  hasControls,
  hasReferences,
  hasSpace,
  isDate,
  isDecoded,
  isKnownUrl,
  isUrlOfNewOrigin,
  type Matcher,
  wordsPerStep,
} from "./matcher.ts";
import { attribute, beginning, type PathEdge, runAfterCdata, runAfterSpace, runAfterText, tagEnd } from "./paths.ts";

export class Player {
  readonly #parts: ScannerParts;
  readonly #matcher: Matcher;
  readonly #attributes: MatchedAttributes;
  readonly #facts = new TextFacts();
  readonly #acceptOrigin: (origin: string) => void;
  /** A tag or CDATA section that was begun and has not ended: the text before it starts at `begunAt`. */
  begun: PathEdge | undefined = undefined;
  begunAt = 0;
  // Where it begins itself.
  #tagAt = 0;

  constructor(parts: ScannerParts, matcher: Matcher) {
    this.#parts = parts;
    this.#matcher = matcher;
    this.#attributes = new MatchedAttributes(parts.cursor);
    this.#acceptOrigin = (origin) => matcher.remember(origin);
  }

  /** Plays the first words of the trace. */
  play(edges: readonly PathEdge[], reader: RuleReader, length: number): void {
    const { trace, decoded } = this.#matcher;
    const { cursor, text } = this.#parts;
    const { buffer } = cursor;
    const facts = this.#facts;
    for (let at = 0; at < length && !cursor.stopped; at += wordsPerStep) {
      const edge = edges[trace[at]!]!;
      const start = trace[at + 1]!;
      const end = trace[at + 2]!;
      const flags = trace[at + 3]!;
      switch (edge.kind) {
        case runAfterSpace:
          this.#call(reader, edge.action!, end);
          break;
        case runAfterText: {
          const { textRule } = edge.action!;
          if (textRule !== undefined) {
            if ((flags & needsCare) === 0) {
              this.#readFacts(facts, at);
              cursor.at = end;
              textRule.text!(reader.target, buffer.slice(start, end), facts);
            } else if ((flags & isDecoded) !== 0) {
              this.#readFacts(facts, at);
              cursor.at = end;
              textRule.text!(reader.target, decoded.slice(trace[at + 6], trace[at + 7]), facts);
            } else {
              // References are reported from where the text starts.
              cursor.at = start;
              text.add(start, end, true);
              cursor.at = end;
              reader.takeText(textRule, text.value);
              text.clear();
            }
          }
          this.#call(reader, edge.action!, end);
          break;
        }
        case runAfterCdata: {
          const { textRule } = edge.action!;
          cursor.at = end + 3;
          if (textRule !== undefined) {
            if ((flags & needsCare) === 0) {
              this.#readFacts(facts, at);
              textRule.text!(reader.target, buffer.slice(start, end), facts);
            } else {
              text.addCdata(start, end, true);
              reader.takeText(textRule, text.value);
              text.clear();
            }
          }
          this.begun = undefined;
          this.#call(reader, edge.action!, end + 3);
          break;
        }
        case beginning:
          this.begun = edge;
          this.begunAt = start;
          this.#tagAt = end;
          this.#attributes.clear();
          break;
        case attribute:
          this.#addAttribute(edge, at);
          break;
        case tagEnd: {
          this.#addAttribute(edge, at);
          cursor.at = this.#tagAt;
          const { open, close } = edge.rule!;
          if (open !== undefined) open(reader.target, this.#attributes);
          if (edge.isEmpty && close !== undefined) close(reader.target);
          this.begun = undefined;
          break;
        }
      }
    }
  }

  #call({ target }: RuleReader, { calls, offsets }: Action, start: number): void {
    const { cursor } = this.#parts;
    for (let index = 0; index < calls.length; index++) {
      cursor.at = start + offsets[index]!;
      calls[index]!(target, noAttributes);
    }
  }

  #addAttribute({ name }: PathEdge, at: number): void {
    const { trace, decoded } = this.#matcher;
    const flags = trace[at + 3]!;
    const isClean = (flags & (hasReferences | hasControls)) === 0;
    const value =
      !isClean && (flags & isDecoded) !== 0
        ? decoded.slice(trace[at + 6], trace[at + 7])
        : this.#parts.cursor.buffer.slice(trace[at + 1], trace[at + 2]);
    this.#readFacts(this.#attributes.add(name, value, !isClean && (flags & isDecoded) === 0), at);
  }

  #readFacts(facts: TextFacts, at: number): void {
    const { trace } = this.#matcher;
    const flags = trace[at + 3]!;
    facts.isUrl = (flags & isKnownUrl) !== 0;
    facts.acceptOrigin = (flags & isUrlOfNewOrigin) !== 0 ? this.#acceptOrigin : undefined;
    facts.isDate = (flags & isDate) !== 0;
    facts.high = trace[at + 4]!;
    facts.low = trace[at + 5]!;
  }
}

const needsCare = hasReferences | hasControls | hasSpace;
