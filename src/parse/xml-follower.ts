// The shortcuts: what was there before is read without looking at its tags again. A glue is followed where it stands, one at a
// time, and teaches a path; what lies on known paths is found by the matcher and done here. The result is the same as without.
import { findMatcher, type Matcher, needsMore, needsTape, wordsPerStep } from "./matcher.ts";
import { hasControls, hasReferences, hasSpace, isDecoded, TextMark } from "./text-mark.ts";
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";
import { type XmlGlue, XmlGlues } from "./xml-glue.ts";
import type { XmlGlueHandler, XmlPlan } from "./xml-handler.ts";
import {
  attribute,
  beginning,
  glueAfterCdata,
  glueAfterSpace,
  glueAfterText,
  tagEnd,
  type XmlEdge,
  type XmlNode,
  XmlPaths,
} from "./xml-paths.ts";
import type { XmlText } from "./xml-text.ts";

export class XmlFollower {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #elements: XmlElements;
  readonly #attributes: XmlAttributes;
  readonly #limits: { readonly text: number; readonly url: number };
  readonly #matcher: Matcher | undefined;
  readonly #mark = new TextMark();
  /** What is learnt from the tags that are read. */
  readonly glues: XmlGlues = new XmlGlues();
  #paths: XmlPaths | undefined;
  // Where we are, if that is known.
  #here: XmlNode | undefined;
  // The buffer is in the memory of the matcher.
  #isLoaded = false;
  // A tag or CDATA section that was begun: the text before it starts there, and it itself there.
  #begun: XmlEdge | undefined;
  #begunAt = 0;
  #tagAt = 0;

  constructor(options: {
    cursor: XmlCursor;
    text: XmlText;
    elements: XmlElements;
    attributes: XmlAttributes;
    limits: { readonly text: number; readonly url: number };
  }) {
    this.#cursor = options.cursor;
    this.#text = options.text;
    this.#elements = options.elements;
    this.#attributes = options.attributes;
    this.#limits = options.limits;
    // `strict` looks at everything.
    this.#matcher = this.#cursor.strict ? undefined : findMatcher();
  }

  /** Something was read that can be part of no shortcut. */
  drop(): void {
    this.glues.drop();
    this.leavePath();
  }

  /** Something was read that no path knows. */
  leavePath(): void {
    this.#here = undefined;
  }

  /** Forgets what was learnt. */
  forget(): void {
    this.drop();
    this.#paths = undefined;
  }

  /** The cursor has another buffer. */
  renew(): void {
    this.#isLoaded = false;
  }

  /** Counts the line ends between two places of the buffer. Undefined where that is left to the caller. */
  get countLines(): ((from: number, to: number) => number) | undefined {
    return this.#isLoaded ? this.#matcher!.countLines : undefined;
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
      this.#followGlue(handler, glue, at);
      if (this.#here !== undefined && this.#here.edges.length > 0) break;
      at = this.#cursor.buffer.indexOf("<", this.#cursor.at);
      glue = at === -1 || this.#cursor.stopped ? undefined : this.#glueAt(this.#elements.last.glues, at);
    }
    return true;
  }

  #followGlue(handler: XmlGlueHandler, glue: XmlGlue, open: number): void {
    const cursor = this.#cursor;
    const text = this.#text;
    const elements = this.#elements;
    const from = this.#locate(handler);
    const isCdata = text.isCdata && open === cursor.at;
    const value = text.depth === 0 ? undefined : text.upTo(open);
    cursor.at = open;
    const wants = handler.follow(glue, value);
    elements.settle(glue);
    text.depth = wants ? elements.depth : 0;
    text.clear();
    cursor.at = open + glue.text.length;
    const to = this.#locate(handler, true);
    if (from === undefined || to === undefined) return;
    if (isCdata) this.#paths!.addCdata(from, glue, to);
    else this.#paths!.addGlue(from, glue, to);
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

  /** Before an element with attributes is opened: where that is, if it can be learnt. */
  beforeTag(): XmlNode | undefined {
    const handler = this.#elements.handler.follower;
    return handler === undefined || this.#text.depth !== 0 || !this.mayLearn ? undefined : this.#locate(handler);
  }

  /** After that, the cursor being behind the tag. */
  afterTag(from: XmlNode, open: number): void {
    const handler = this.#elements.handler.follower;
    const meaning = handler?.meaning;
    const to = handler === undefined ? undefined : this.#locate(handler, true);
    if (to === undefined || meaning === undefined) return;
    const { buffer, at: end } = this.#cursor;
    this.#paths!.addTag(from, { buffer, open, end, attributes: this.#attributes, meaning }, to);
  }

  #locate(handler: XmlGlueHandler, hasMoved = false): XmlNode | undefined {
    if (this.#matcher === undefined) return undefined;
    if (hasMoved || this.#here === undefined) {
      const text = this.#text;
      this.#paths ??= new XmlPaths();
      this.#here = text.isNested ? undefined : this.#paths.find(this.#elements, handler, text.depth !== 0);
    }
    return this.#here;
  }

  /** Goes along known paths, as far as they lead. Returns whether more of the document is needed to know how to go on. */
  run(): boolean {
    const here = this.#here;
    if (here === undefined || here.edges.length === 0 || !this.#text.isFresh) return false;
    const matcher = this.#matcher!;
    const paths = this.#paths!;
    const cursor = this.#cursor;
    this.#isLoaded ||= matcher.load(cursor.buffer);
    if (!this.#isLoaded) return false;
    matcher.use(paths);
    const handler = this.#elements.handler.follower!;
    let node = here;
    let reason = needsTape;
    while (reason === needsTape) {
      const length = matcher.run(cursor.at, node.address, this.#limits);
      const { at } = matcher;
      reason = matcher.reason;
      node = paths.nodeAt(matcher.node);
      this.#play(paths, handler, length);
      if (cursor.stopped) return false;
      cursor.at = at;
    }
    const begun = this.#begun;
    if (begun !== undefined) {
      // A tag or a CDATA section that does not end is read anew, from what stands before it.
      node = begun.from;
      cursor.at = this.#begunAt;
      this.#begun = undefined;
    }
    this.#stopAt(node, handler);
    return reason === needsMore && cursor.buffer.length - cursor.at <= patience;
  }

  // Does what is on the tape.
  #play({ edges }: XmlPaths, handler: XmlGlueHandler, length: number): void {
    const { tape, decoded } = this.#matcher!;
    const cursor = this.#cursor;
    const { buffer } = cursor;
    for (let at = 0; at < length && !cursor.stopped; at += wordsPerStep) {
      const edge = edges[tape[at]!]!;
      const start = tape[at + 1]!;
      const end = tape[at + 2]!;
      const flags = tape[at + 3]!;
      switch (edge.kind) {
        case glueAfterSpace:
          cursor.at = end;
          handler.repeat(edge.plan!, undefined);
          break;
        case glueAfterText: {
          const mark = this.#mark;
          readMark(mark, tape, at);
          cursor.at = end;
          if ((flags & needsCare) === 0) handler.repeatClean(edge.plan!, buffer.slice(start, end), mark);
          else if ((flags & isDecoded) !== 0) {
            handler.repeatClean(edge.plan!, decoded.slice(tape[at + 6], tape[at + 7]), mark);
          } else this.#playText(handler, edge.plan!, start, end);
          break;
        }
        case glueAfterCdata: {
          cursor.at = end + 3;
          if ((flags & needsCare) === 0) {
            readMark(this.#mark, tape, at);
            handler.repeatClean(edge.plan!, buffer.slice(start, end), this.#mark);
          } else {
            this.#text.addCdata(start, end, true);
            handler.repeat(edge.plan!, this.#text.value);
            this.#text.clear();
          }
          this.#begun = undefined;
          break;
        }
        case beginning:
          this.#begun = edge;
          this.#begunAt = start;
          this.#tagAt = end;
          this.#attributes.beginMatched();
          break;
        case attribute:
          this.#playAttribute(edge, tape, at);
          break;
        case tagEnd:
          this.#playAttribute(edge, tape, at);
          cursor.at = this.#tagAt;
          handler.repeatTag(edge.meaning!, this.#attributes, edge.isEmpty);
          this.#begun = undefined;
          break;
      }
    }
  }

  // A text that has to be decoded or trimmed, or has line ends.
  #playText(handler: XmlGlueHandler, plan: XmlPlan, start: number, end: number): void {
    this.#cursor.at = start;
    const value = this.#text.upTo(end);
    this.#cursor.at = end;
    handler.repeat(plan, value);
    this.#text.clear();
  }

  #playAttribute({ name }: XmlEdge, tape: Int32Array, at: number): void {
    const start = tape[at + 1]!;
    const end = tape[at + 2]!;
    const flags = tape[at + 3]!;
    let value: string | undefined;
    if ((flags & (hasReferences | hasControls)) === 0) value = this.#cursor.buffer.slice(start, end);
    else if ((flags & isDecoded) !== 0) value = this.#matcher!.decoded.slice(tape[at + 6], tape[at + 7]);
    readMark(this.#attributes.addMatched(name, start, end, value), tape, at);
  }

  // Brings up to date what is open.
  #stopAt(node: XmlNode, handler: XmlGlueHandler): void {
    if (node === this.#here) return;
    const { names, last, wants, position } = node.state!;
    this.#elements.resume(names, last);
    this.#text.depth = wants ? names.length : 0;
    handler.resume(position);
    this.#here = node;
  }
}

function readMark(mark: TextMark, tape: Int32Array, at: number): void {
  mark.flags = tape[at + 3]!;
  mark.high = tape[at + 4]!;
  mark.low = tape[at + 5]!;
}

const needsCare = hasReferences | hasControls | hasSpace;

// How much of a document may wait for more.
const patience = 64 * 1024;
