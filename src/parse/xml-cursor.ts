// Where the scanner is in a document, and what there is to say about that place.
import type { ProblemCode, ProblemLog } from "../problem.ts";
import type { ReferenceFlaw, ReferenceWatcher } from "./entities.ts";

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

  /** Lets go of what was read. */
  forget(): void {
    this.settle();
    this.buffer = this.at < this.buffer.length ? this.buffer.slice(this.at) : "";
    this.at = 0;
    this.#from = 0;
    this.version++;
  }

  /** Counts the lines up to where it is. */
  settle(): void {
    this.#pass(this.at, countLineEnds(this.buffer, this.#from, this.at));
  }

  /** Goes on to a place with so many line ends between where it was last settled and there. */
  passTo(at: number, lineEnds: number): void {
    this.#pass(at, lineEnds);
    this.at = at;
  }

  /** Goes back to a place that was passed. */
  backTo(at: number): void {
    this.#pass(at, -countLineEnds(this.buffer, at, this.#from));
    this.at = at;
  }

  #pass(at: number, lines: number): void {
    this.#lines += lines;
    this.#offset += at - this.#from;
    this.#from = at;
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
    const line = this.#lines + countLineEnds(this.buffer, this.#from, at) + 1;
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
  onReference(flaw: ReferenceFlaw, value: string, at: number): void {
    this.flawAt(this.at + at, flaw, value);
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
