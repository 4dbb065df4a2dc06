// What a row of the table of problems says.
//
// To add a problem, add one row to the file of its kind in this folder and run `npm run tables`: that writes the type
// `ProblemCode` and the tables of docs/problems.md. A test fails where they differ.

/** One kind of problem. Its code is the key of the row: kebab-case, one prefix for each family, and stable. */
export interface ProblemRow {
  /**
   * Something that the website declares is missing because of it, and a more patient, better connected or less limited reader
   * would have delivered it: `complete` is false. Not so for what nobody could use, and for what was repaired.
   */
  readonly loss?: true;
  /** An entry was skipped because of it. */
  readonly skipsEntry?: true;
  /** The document ended before its end: its last line or tag is not what the website meant. */
  readonly cutOff?: true;
  /** The request may succeed in a moment, and is retried. */
  readonly temporary?: true;
  /** The host sent no response: it may be down. */
  readonly noResponse?: true;
  /** Our own policy forbids the request. */
  readonly refused?: true;
  /**
   * The fact, in one sentence without a full stop. `{value}`, `{limit}`, `{line}`, `{status}` and `{retryAfter}` are filled
   * in; `{limit ms}` and `{limit bytes}` with a unit. What stands in `[…]` is left out where its fact is not known.
   */
  readonly message: string;
  /** Whole sentences in place of `message` for values that mean something special. */
  readonly messageFor?: Readonly<Record<string, string>>;
  /** Who has to do what, in sentences: "Site owner: …", or what the caller can do. Markdown. */
  readonly fix: string;
  /** What the program adds to the message: a flag that helps. */
  readonly hint?: string;
  readonly hintFor?: Readonly<Record<string, string>>;
}

export type ProblemRows = Readonly<Record<string, ProblemRow>>;

type RowOf = (message: string, fix: string, more?: Partial<ProblemRow>) => ProblemRow;

function rowsThat(traits: Partial<ProblemRow>): RowOf {
  return (message, fix, more) => ({ ...traits, message, fix, ...more });
}

// One maker of rows for each usual set of traits.
/** Repaired, ignored or accepted: nothing is missing. */
export const note: RowOf = rowsThat({});
export const skipped: RowOf = rowsThat({ skipsEntry: true });
export const loss: RowOf = rowsThat({ loss: true });
/** The document ended too early. */
export const cut: RowOf = rowsThat({ loss: true, cutOff: true });
export const refused: RowOf = rowsThat({ loss: true, refused: true });
export const noResponse: RowOf = rowsThat({ loss: true, noResponse: true });
/** No response, and the next attempt may get one. */
export const outage: RowOf = rowsThat({ loss: true, noResponse: true, temporary: true });
