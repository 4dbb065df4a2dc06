// Where the scanner is in a document, and what there is to say about that place.
import type { ProblemCode, ProblemLog } from "../problem.ts";
import type { ReferenceFlaw, ReferenceWatcher } from "./entities.ts";

/** Counts line ends between two places. */
export interface LineCounter {
  countLineEnds(from: number, to: number): number;
}

export class XmlCursor implements ReferenceWatcher {
  readonly #problems: ProblemLog;
  /** The first thing that is not well-formed ends the document. */
  readonly strict: boolean;
  /** What was not read yet starts at `at`. */
  buffer = "";
  at = 0;
  /** Which buffer this is: another number for each. Places in one buffer mean nothing in another. */
  version = 0;
  /** Nothing more will be read. */
  stopped = false;
  // What stands before this place of the buffer was let go; so many characters and line ends came before.
  #from = 0;
  #offset = 0;
  #lines: number;
  #lender: LineCounter | undefined;
  // Line ends between `at` and what is reported.
  #linesInside = 0;

  constructor(options: { problems: ProblemLog; strict: boolean; linesBefore?: number }) {
    this.#problems = options.problems;
    this.strict = options.strict;
    this.#lines = options.linesBefore ?? 0;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Adds to the end of the buffer. */
  append(piece: string): void {
    this.buffer += piece;
    this.version++;
  }

  /** Releases what was read. */
  forget(): void {
    this.#settle();
    this.buffer = this.at < this.buffer.length ? this.buffer.slice(this.at) : "";
    this.at = 0;
    this.#from = 0;
    this.version++;
  }

  /** How far the document was read: another number for each place. */
  get position(): number {
    return this.#offset + this.at - this.#from;
  }

  /** From now on somebody else reads: `at` is a place in their memory, and `lines` counts the line ends there. */
  lend(lines: LineCounter, at: number): void {
    this.#settle();
    this.#lender = lines;
    this.at = at;
    this.#from = at;
  }

  /** They have read up to here. The buffer is empty. */
  takeBack(at: number): void {
    this.at = at;
    this.#settle();
    this.#lender = undefined;
    this.at = 0;
    this.#from = 0;
    this.version++;
  }

  /** Leaves nothing in the buffer. Returns what was not read. */
  takeRest(): string {
    const rest = this.buffer.slice(this.at);
    this.#settle();
    this.buffer = "";
    this.at = 0;
    this.#from = 0;
    this.version++;
    return rest;
  }

  // Counts what was read.
  #settle(): void {
    this.#lines += this.#lineEnds(this.#from, this.at);
    this.#offset += this.at - this.#from;
    this.#from = this.at;
  }

  #lineEnds(from: number, to: number): number {
    return this.#lender?.countLineEnds(from, to) ?? countLineEnds(this.buffer, from, to);
  }

  /**
   * Goes on with a piece of which the first `joined` characters are at the end of the buffer already. Where nothing else is left there,
   * nothing has to be copied.
   */
  goOn(piece: string, joined: number): void {
    const left = this.buffer.length;
    this.version++;
    if (left > joined) {
      this.buffer += piece.slice(joined);
      return;
    }
    this.buffer = piece;
    this.at = joined - left;
    this.#from = this.at;
  }

  /** Whether this place of the buffer is the beginning of the document. */
  isBeginning(at: number): boolean {
    return this.#offset + at - this.#from === 0;
  }

  /** Whether there is a problem of this kind already. */
  has(code: ProblemCode): boolean {
    return this.#problems.has(code);
  }

  /** Adds a problem at the tag that is being read. */
  report(code: ProblemCode, value?: string, limit?: number): void {
    this.reportAt(this.at, code, value, limit);
  }

  reportAt(at: number, code: ProblemCode, value?: string, limit?: number): void {
    if (this.#problems.has(code)) {
      this.#problems.add(code);
      return;
    }
    const line = this.#lines + this.#lineEnds(this.#from, at) + this.#linesInside + 1;
    this.#problems.add(code, {
      line,
      ...(value === undefined ? {} : { value }),
      ...(limit === undefined ? {} : { limit }),
    });
  }

  /** Adds a problem because of which the document is not well-formed. */
  flawAt(at: number, code: ProblemCode, value?: string, limit?: number): void {
    this.reportAt(at, code, value, limit);
    if (!this.strict || this.stopped) return;
    this.reportAt(at, "xml-not-well-formed");
    this.stopped = true;
  }

  /** In a text or a value that starts where the cursor is. */
  onReference(flaw: ReferenceFlaw, value: string, at: number, raw: string): void {
    this.#linesInside = this.#problems.has(flaw) ? 0 : countLineEnds(raw, 0, at);
    this.flawAt(this.at, flaw, value);
    this.#linesInside = 0;
  }

  /** Adds the problem that a limit was reached, and stops. */
  limit(code: ProblemCode, limit: number): void {
    this.reportAt(this.at, code, undefined, limit);
    this.stopped = true;
  }
}

function countLineEnds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
