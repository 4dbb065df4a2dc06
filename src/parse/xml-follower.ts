// The shortcuts: what was there before is read without looking at its tags again.
// A glue is followed where it stands; entries that are alike are read round by round. The result is the same as without.
import { isSpace, standsAt, type XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";
import { type XmlGlue, XmlGlues } from "./xml-glue.ts";
import type { XmlGlueHandler } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";
import { XmlRounds, type XmlStep } from "./xml-rounds.ts";
import type { XmlText } from "./xml-text.ts";

export class XmlFollower {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #elements: XmlElements;
  readonly #attributes: XmlAttributes;
  /** What is learnt from the tags that are read. */
  readonly glues: XmlGlues = new XmlGlues();
  readonly rounds: XmlRounds = new XmlRounds();

  constructor(options: { cursor: XmlCursor; text: XmlText; elements: XmlElements; attributes: XmlAttributes }) {
    this.#cursor = options.cursor;
    this.#text = options.text;
    this.#elements = options.elements;
    this.#attributes = options.attributes;
  }

  /** Something was read that can be part of no shortcut. */
  drop(): void {
    this.glues.drop();
    this.rounds.reset();
  }

  /** Forgets the rounds that were found. */
  forget(): void {
    this.drop();
    this.rounds.steps = [];
  }

  /** Whether tags may be learnt here. `strict` looks at everything. */
  get mayLearn(): boolean {
    const { depth, handler } = this.#elements;
    if (depth === 0 || this.#cursor.strict || handler.follower === undefined) return false;
    return this.#text.depth === 0 || this.#text.depth === depth;
  }

  /** At a `<`: where something stands that was there before, takes the text before it and goes on behind it, as far as it goes. */
  follow(open: number): boolean {
    const { glues } = this.#elements.last;
    if (glues.length === 0 || this.glues.started || !this.mayLearn) return false;
    let at = open;
    let glue = this.#glueAt(glues, at);
    if (glue === undefined) return false;
    const handler = this.#elements.handler.follower!;
    while (glue !== undefined) {
      if (this.#followGlue(handler, glue, at)) this.#goRounds(handler);
      at = this.#cursor.buffer.indexOf("<", this.#cursor.at);
      glue = at === -1 || this.#cursor.stopped ? undefined : this.#glueAt(this.#elements.last.glues, at);
    }
    return true;
  }

  // Returns whether a round ends with it.
  #followGlue(handler: XmlGlueHandler, glue: XmlGlue, open: number): boolean {
    const text = this.#text;
    const elements = this.#elements;
    const hasText = text.depth !== 0;
    const value = hasText ? text.upTo(open) : undefined;
    this.#cursor.at = open;
    const wants = handler.follow(glue, value);
    elements.settle(glue);
    text.depth = wants ? elements.depth : 0;
    text.clear();
    this.#cursor.at = open + glue.text.length;
    return this.rounds.addGlue(glue, hasText, wants, elements.depth);
  }

  // The glue that stands here, if there is one. The one that stood here last is tried first.
  #glueAt(glues: XmlGlue[], open: number): XmlGlue | undefined {
    for (let index = 0; index < glues.length; index++) {
      const glue = glues[index]!;
      if (!this.glues.standsAt(glue, this.#cursor.buffer, open) || !this.#elements.fits(glue)) continue;
      if (index > 0) {
        glues[index] = glues[0]!;
        glues[0] = glue;
      }
      return glue;
    }
    return undefined;
  }

  // Reads entries that are like the one before, as long as there are any. What is open is the same after each of them, so
  // it is not kept up to date in between, but only where a round breaks off.
  #goRounds(handler: XmlGlueHandler): void {
    const { steps } = this.rounds;
    for (;;) {
      for (let index = 0; index < steps.length; index++) {
        if (!this.#cursor.stopped && this.#repeat(handler, steps[index]!)) continue;
        this.#leaveRound(handler, steps, index);
        return;
      }
      this.rounds.succeed();
    }
  }

  #repeat(handler: XmlGlueHandler, { glue, plan, hasText, tag, meaning }: XmlStep): boolean {
    if (glue === undefined) return this.#repeatTag(handler, tag!, meaning!);
    return glue.plan === plan && this.#repeatGlue(handler, glue, hasText);
  }

  #repeatGlue(handler: XmlGlueHandler, glue: XmlGlue, hasText: boolean): boolean {
    const cursor = this.#cursor;
    const open = cursor.buffer.indexOf("<", cursor.at);
    if (open === -1) return false;
    if (!this.glues.standsAt(glue, cursor.buffer, open)) return hasText && this.#repeatCdata(handler, glue, open);
    if (hasText) {
      const text = this.#text;
      const value = text.upTo(open);
      text.lookForSpace(open);
      cursor.at = open;
      handler.repeat(glue, value);
      text.isTrimmed = false;
      text.clear();
    } else {
      cursor.at = open;
      handler.repeat(glue, undefined);
    }
    cursor.at = open + glue.text.length;
    return true;
  }

  // The text is one CDATA section, and nothing else.
  #repeatCdata(handler: XmlGlueHandler, glue: XmlGlue, open: number): boolean {
    const cursor = this.#cursor;
    const { buffer } = cursor;
    if (open !== cursor.at || !buffer.startsWith("<![CDATA[", open)) return false;
    const end = buffer.indexOf("]]>", open + 9);
    if (end === -1 || this.#text.exceeds(end - open - 9) || !this.glues.standsAt(glue, buffer, end + 3)) return false;
    this.#text.addCdata(open + 9, end, true);
    cursor.at = end + 3;
    handler.repeat(glue, this.#text.value);
    this.#text.clear();
    cursor.at = end + 3 + glue.text.length;
    return true;
  }

  #repeatTag(handler: XmlGlueHandler, tag: XmlName, meaning: object): boolean {
    const cursor = this.#cursor;
    const { buffer } = cursor;
    const open = buffer.indexOf("<", cursor.at);
    const nameEnd = open + 1 + tag.raw.length;
    if (open === -1 || nameEnd >= buffer.length || !isSpace(buffer.charCodeAt(nameEnd))) return false;
    if (!standsAt(tag.raw, buffer, open + 1)) return false;
    const end = this.#attributes.scan(open, nameEnd);
    if (end === -1 || !this.#attributes.isSimple) return false;
    cursor.at = open;
    handler.repeatTag(meaning, this.#attributes);
    cursor.at = end;
    return true;
  }

  // Brings up to date what is open, after the first steps of a round.
  #leaveRound(handler: XmlGlueHandler, steps: readonly XmlStep[], count: number): void {
    const elements = this.#elements;
    let wants = this.#text.depth !== 0;
    for (let index = 0; index < count; index++) {
      const { glue, tag } = steps[index]!;
      if (glue === undefined) elements.last = tag!;
      else elements.settle(glue);
      wants = glue !== undefined && handler.settle(glue);
    }
    this.#text.depth = wants ? elements.depth : 0;
    this.rounds.fail();
  }
}
