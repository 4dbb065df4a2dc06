// The position of the scanner in a document, for reading and for reporting problems.
import type { DocumentProblemCode } from "../../model/problem-code.ts";
import type { DocumentProblems } from "../../model/problem-log.ts";
import type { ReferenceFlaw, ReferenceWatcher } from "./text.ts";

/** Something that positions refer to, such as a buffer. */
export interface XmlSource {
  /** How many line ends there are between two positions. */
  countLineEnds(from: number, to: number): number;
}

export class XmlCursor implements ReferenceWatcher {
  readonly #problems: DocumentProblems;
  /** Whether the first flaw ends the document. */
  readonly strict: boolean;
  /** The text that is being read, and the position of its first unread character. */
  buffer = "";
  at = 0;
  /** Whether reading has stopped. */
  stopped = false;
  /** How many problems were reported. */
  reports = 0;
  // Characters and line ends are counted up to `#from`; `#offset` and `#lines` are the counts.
  #from = 0;
  #offset = 0;
  #lines: number;
  #source: XmlSource | undefined;
  // Line ends between `at` and the position of a problem.
  #linesInside = 0;

  constructor(problems: DocumentProblems, strict: boolean, linesBefore: number) {
    this.#problems = problems;
    this.strict = strict;
    this.#lines = linesBefore;
  }

  stop(): void {
    this.stopped = true;
  }

  /** How far the document was read. This number only grows, so it identifies a position. */
  get position(): number {
    return this.#offset + this.at - this.#from;
  }

  /** Switches from the buffer, which must be empty, to this source: from now on, all positions refer to it. */
  enter(source: XmlSource, at: number): void {
    this.#settle();
    this.#source = source;
    this.at = at;
    this.#from = at;
  }

  /** Switches back from the source, which was read up to `at`, to the buffer. */
  leave(at: number): void {
    this.at = at;
    this.takeRest();
    this.#source = undefined;
  }

  /** Empties the buffer. Returns the unread part. */
  takeRest(): string {
    this.#settle();
    const rest = this.at < this.buffer.length ? this.buffer.slice(this.at) : "";
    this.buffer = "";
    this.at = 0;
    this.#from = 0;
    return rest;
  }

  // Counts the characters and line ends that were read.
  #settle(): void {
    this.#lines += this.#lineEnds(this.#from, this.at);
    this.#offset += this.at - this.#from;
    this.#from = this.at;
  }

  #lineEnds(from: number, to: number): number {
    return this.#source?.countLineEnds(from, to) ?? countLineEnds(this.buffer, from, to);
  }

  /** Whether a problem with this code was reported before. */
  has(code: DocumentProblemCode): boolean {
    return this.#problems.has(code);
  }

  /** Adds a problem at the position `at`. */
  report(code: DocumentProblemCode, value?: string, limit?: number): void {
    this.#reportAt(this.at, code, value, limit);
  }

  #reportAt(at: number, code: DocumentProblemCode, value?: string, limit?: number): void {
    this.reports++;
    if (this.#problems.has(code)) {
      this.#problems.add(code);
      return;
    }
    const line = this.#lines + this.#lineEnds(this.#from, at) + this.#linesInside + 1;
    this.#problems.addAt(line, code, value, limit);
  }

  /** Adds a problem that makes the document not well-formed. */
  flawAt(at: number, code: DocumentProblemCode, value?: string, limit?: number): void {
    this.#reportAt(at, code, value, limit);
    if (!this.strict || this.stopped) return;
    this.#reportAt(at, "xml-not-well-formed");
    this.stopped = true;
  }

  /** Reports a flaw in a text or value that starts at the cursor. */
  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void {
    this.#linesInside = this.#problems.has(flaw) ? 0 : countLineEnds(raw, 0, at);
    this.flawAt(this.at, flaw, value);
    this.#linesInside = 0;
  }

  onSpelling(name: string): void {
    this.report("xml-element-name", `${name}=`);
  }

  /** Adds the problem that a limit was reached, and stops. */
  limit(code: DocumentProblemCode, limit: number): void {
    this.report(code, undefined, limit);
    this.stopped = true;
  }
}

function countLineEnds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
