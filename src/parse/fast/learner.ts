// Observes the scanner: compares its state before and after each token, and adds what lies between to the paths if the
// matcher can follow it.
import type { RuleReader } from "../element-rule.ts";
import type { ScannerParts } from "../fast-path.ts";
import { isSpace, skipSpace } from "../xml-attributes.ts";
import { actionOf } from "./action.ts";
import { type PathNode, Paths } from "./paths.ts";
import { addTag, beginRun, isFull, type TagRun } from "./tag-run.ts";

export class Learner {
  readonly #parts: ScannerParts;
  #reader: RuleReader | undefined;
  /** The paths learned so far. */
  paths: Paths = new Paths();
  /** The node where the scanner is. Undefined if no path begins there. */
  here: PathNode | undefined;
  // Where it was after the last token.
  #version = -1;
  #at = 0;
  #depth = 0;
  #generation = 0;
  // The tag run that is being read.
  #run: TagRun | undefined;
  // The start of the CDATA section that was just read.
  #beforeCdata: PathNode | undefined;

  constructor(parts: ScannerParts) {
    this.#parts = parts;
  }

  /** The scanner is between two tokens. */
  observe(reader: RuleReader): void {
    const { cursor } = this.#parts;
    if (reader !== this.#reader) {
      this.#reader = reader;
      this.paths = new Paths();
      this.#leave();
    } else if (cursor.version !== this.#version || !reader.isInRoot) this.#leave();
    else if (cursor.at !== this.#at) this.#learn(reader);
    if (reader.isInRoot) this.here ??= this.#locate(reader);
    this.#note();
  }

  /** Whether a path may be followed from here: not while something is being learned. */
  get isReady(): boolean {
    return this.here !== undefined && this.here.edges.length > 0 && this.#run === undefined;
  }

  /** The matcher has read up to here. */
  moveTo(here: PathNode): void {
    this.here = here;
    this.#note();
  }

  #note(): void {
    const { cursor, elements } = this.#parts;
    this.#version = cursor.version;
    this.#at = cursor.at;
    this.#depth = elements.depth;
    this.#generation = elements.namespaces.generation;
  }

  /** The scanner reads on without being looked at. */
  leave(): void {
    this.#version = -1;
    this.#leave();
  }

  #leave(): void {
    this.here = undefined;
    this.#run = undefined;
    this.#beforeCdata = undefined;
  }

  #locate(reader: RuleReader): PathNode | undefined {
    const { elements, text } = this.#parts;
    const wants = text.depth !== 0;
    if (!text.isFresh || text.isNested || (wants && text.depth !== elements.depth)) return undefined;
    return this.paths.find(elements, wants, () => reader.rules);
  }

  // One token was read, perhaps with a text before it.
  #learn(reader: RuleReader): void {
    const { cursor, elements, text } = this.#parts;
    const { buffer, at: end } = cursor;
    const open = buffer.indexOf("<", this.#at);
    const tag = open === -1 || elements.namespaces.generation !== this.#generation ? undefined : this.#tagAt(open, end);
    const isRun = tag === "start" || tag === "end" || tag === "empty";
    if (this.#run !== undefined && (!isRun || skipSpace(buffer, this.#at) < open)) this.#finishRun(reader);
    const from = this.#beforeCdata ?? this.here;
    const isAfterCdata = this.#beforeCdata !== undefined;
    this.#beforeCdata = undefined;
    this.here = undefined;
    if (from === undefined || tag === undefined) this.#run = undefined;
    else if (isRun) {
      const isPossible = from.state!.wants ? tag === "end" && (!isAfterCdata || open === this.#at) : true;
      if (this.#run === undefined && isPossible) this.#run = beginRun(from, open, isAfterCdata);
      if (this.#run === undefined) return;
      if (tag === "start" && this.#isUnsure(reader)) {
        this.#run = undefined;
        return;
      }
      addTag(this.#run, elements.last, tag !== "end", open);
      if (tag === "empty") addTag(this.#run, elements.last, false, open);
      this.here = this.#locate(reader);
      if (this.here === undefined) this.#run = undefined;
      else if (text.depth !== 0 || isFull(this.#run)) this.#finishRun(reader, end);
    } else if (!from.state!.wants) {
      // A CDATA section does not belong to a tag run.
      if (tag === "attributes") this.#learnAttributes(reader, from, open);
    } else if (text.isCdata && open === this.#at) this.#beforeCdata = from;
  }

  // The kind of the token, judged by its effect; undefined if no path can hold it.
  #tagAt(open: number, end: number): "start" | "end" | "empty" | "attributes" | "cdata" | undefined {
    const { cursor, elements, attributes } = this.#parts;
    const { buffer } = cursor;
    const { raw } = elements.last;
    const rise = elements.depth - this.#depth;
    const rest = end - open - raw.length;
    if (buffer.startsWith(raw, open + 1)) {
      if (rise === 1 && rest === 2 && buffer[end - 1] === ">") return "start";
      if (rise === 0 && rest === 3 && buffer.startsWith("/>", end - 2)) return "empty";
      const isExpected = attributes.isRegular && rise === (attributes.selfClosing ? 0 : 1);
      return isExpected && isSpace(buffer.charCodeAt(open + 1 + raw.length)) ? "attributes" : undefined;
    }
    if (rise === -1 && rest === 3 && buffer.startsWith(`/${raw}>`, open + 1)) return "end";
    return rise === 0 && buffer.startsWith("<![CDATA[", open) ? "cdata" : undefined;
  }

  #learnAttributes(reader: RuleReader, from: PathNode, open: number): void {
    const { cursor, elements, attributes } = this.#parts;
    const { buffer, at: end } = cursor;
    const rule = reader.ruleOf(from.state!.rules.at(-1)!, elements.last);
    this.here = this.#locate(reader);
    // An empty element whose text is wanted has an empty text, which no path passes on.
    if (this.here === undefined || (attributes.selfClosing && rule.text !== undefined)) return;
    if (!attributes.selfClosing && this.#isUnsure(reader)) return;
    const isChecked = reader.urlsOnly && rule.isDetail;
    this.paths.addTag(from, { buffer, open, end, attributes, rule, isChecked }, this.here);
  }

  // Whether the meaning of the element that was just opened depends on what follows it.
  #isUnsure(reader: RuleReader): boolean {
    return reader.isEntryName(this.#parts.elements.last) && !reader.rules.at(-1)!.isEntry;
  }

  // The run ends after the last token, or before it.
  #finishRun(reader: RuleReader, end = this.#at): void {
    const run = this.#run!;
    const to = this.here;
    this.#run = undefined;
    if (to === undefined) return;
    const literal = this.#parts.cursor.buffer.slice(run.start, end);
    const action = actionOf(run, run.from.state!.rules, reader);
    if (run.isAfterCdata) this.paths.addRunAfterCdata(run.from, literal, action, to);
    else this.paths.addRun(run.from, literal, action, to);
  }
}
