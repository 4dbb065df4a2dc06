// What stands between two texts of a document is nearly always the same: `</loc>\n    <lastmod>`. A glue is such a piece,
// seen once and understood; where it is met again one comparison replaces the reading of its tags.
import type { XmlPlan } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";

/** A piece of a document that holds only tags without attributes, and what they do. */
export interface XmlGlue {
  readonly text: string;
  /** The elements that are opened and closed, in order. */
  readonly names: readonly XmlName[];
  /** Whether the element of this index is opened; otherwise it is closed. */
  readonly opens: readonly boolean[];
  /** Where their tags begin, from the beginning of the glue. */
  readonly offsets: readonly number[];
  /** Those of the closed elements that were open before, innermost first. */
  readonly closes: readonly XmlName[];
  /** Those of the opened elements that stay open, outermost first. */
  readonly stays: readonly XmlName[];
  /** How much deeper than before it gets at most. */
  readonly rise: number;
  /** The tag that comes last. */
  readonly last: XmlName;
  /** The state of the namespaces in which its names were last resolved. */
  generation: number;
  /** What the handler made of it where it was last followed. */
  plan: XmlPlan | undefined;
}

/** Puts together glues while their tags are read for the first time, and finds them again. */
export class XmlGlues {
  #after: XmlName | undefined;
  #from = 0;
  #names: XmlName[] = [];
  #opens: boolean[] = [];
  #offsets: number[] = [];
  #credit = initialCredit;

  /** Whether the glue stands in the buffer at this place. */
  standsAt(glue: XmlGlue, buffer: string, at: number): boolean {
    const { text } = glue;
    // Two characters tell most other tags apart.
    const end = text.length - 2;
    if (at + text.length > buffer.length) return false;
    if (buffer.charCodeAt(at + end) !== text.charCodeAt(end)) return false;
    if (buffer.charCodeAt(at + 2) !== text.charCodeAt(2)) return false;
    // A search that succeeds at once takes half the time of `startsWith`. One that does not runs on through the buffer:
    // it may happen only now and then, or a document could be made in which it always does.
    if (this.#credit < costOfMiss) return buffer.startsWith(text, at);
    if (buffer.indexOf(text, at) === at) {
      if (this.#credit < initialCredit) this.#credit++;
      return true;
    }
    this.#credit -= costOfMiss;
    return false;
  }

  get started(): boolean {
    return this.#after !== undefined;
  }

  /** From here on every tag is added, or the glue dropped. `after` is the tag that came before. */
  start(after: XmlName, from: number): void {
    this.#after = after.shared ? after : undefined;
    this.#from = from;
    this.#names = [];
    this.#opens = [];
    this.#offsets = [];
  }

  /** Does nothing where no glue was started. */
  add(name: XmlName, opens: boolean, at: number): void {
    if (!name.shared) this.#after = undefined;
    if (this.#after === undefined) return;
    this.#names.push(name);
    this.#opens.push(opens);
    this.#offsets.push(at - this.#from);
  }

  drop(): void {
    this.#after = undefined;
  }

  /** Whether it is long enough to be kept as it is. */
  get full(): boolean {
    return this.#names.length >= maxTags;
  }

  /** Keeps the glue: it ends before `end`. */
  finish(buffer: string, end: number): void {
    const after = this.#after;
    this.#after = undefined;
    if (after === undefined || this.#names.length === 0 || end - this.#from > maxLength) return;
    const glue: XmlGlue = {
      // A copy: a part of the buffer would keep all of it.
      text: ` ${buffer.slice(this.#from, end)}`.slice(1),
      names: this.#names,
      opens: this.#opens,
      offsets: this.#offsets,
      ...effectOf(this.#names, this.#opens),
      last: this.#names.at(-1)!,
      generation: -1,
      plan: undefined,
    };
    after.glues.unshift(glue);
    if (after.glues.length > alternatives) after.glues.pop();
  }
}

function effectOf(names: readonly XmlName[], opens: readonly boolean[]): Pick<XmlGlue, "closes" | "stays" | "rise"> {
  const closes: XmlName[] = [];
  const stays: XmlName[] = [];
  let rise = 0;
  names.forEach((name, index) => {
    if (opens[index]) stays.push(name);
    else if (stays.length > 0) stays.pop();
    else closes.push(name);
    rise = Math.max(rise, stays.length - closes.length);
  });
  return { closes, stays, rise };
}

// In searches that succeed.
const initialCredit = 16 * 1024;
const costOfMiss = 1024;
const maxTags = 16;
const maxLength = 512;
// Entries of one document differ in the fields they have: `loc` is followed by `lastmod` here, by the next entry there.
const alternatives = 4;
