// A row of the tables of problems.

/** One kind of problem. Its code is the key of the row: kebab-case, one prefix for each family, and stable. */
export interface ProblemRow {
  /** Something that the website declares is missing: `complete` is false. */
  readonly loss?: true;
  /** An entry was skipped because of it; why, for many entries: "invalid URLs". */
  readonly skipsEntry?: string;
  /** The document is cut off, so its last line or tag may be incomplete. */
  readonly cutOff?: true;
  /** A temporary failure: the request is retried. */
  readonly temporary?: true;
  /** The host sent no response: it may be down. */
  readonly noResponse?: true;
  /** Our own policy forbids the request. */
  readonly refused?: true;
  /**
   * The fact, in one sentence without a full stop. `{value}`, `{limit}`, `{line}`, `{status}` and `{retryAfter}` are filled
   * in; `{limit ms}` and `{limit bytes}` with a unit. The part in `[…]` is omitted if its fact is unknown.
   */
  readonly message: string;
  /** Messages for specific values, used instead of `message`. */
  readonly messageFor?: Readonly<Record<string, string>>;
  /** A flag that helps, which the program appends to the message. */
  readonly hint?: string;
  readonly hintFor?: Readonly<Record<string, string>>;
}

export type ProblemRows = Readonly<Record<string, ProblemRow>>;

type Row = ProblemRow;
export type RowOf = (message: string, more?: Partial<Row>) => Row;

function rowsThat(traits: Partial<Row>): RowOf {
  return (message, more) => ({ ...traits, message, ...more });
}

// One function for each common set of traits.
/** Repaired, ignored or accepted: nothing is missing. */
export const note: RowOf = rowsThat({});
export const skipped = (skipsEntry: string): RowOf => rowsThat({ skipsEntry });
export const loss: RowOf = rowsThat({ loss: true });
/** The document ended too early. */
export const cut: RowOf = rowsThat({ loss: true, cutOff: true });
export const refused: RowOf = rowsThat({ loss: true, refused: true });
export const noResponse: RowOf = rowsThat({ loss: true, noResponse: true });
/** No response, but a retry may get one. */
export const outage: RowOf = rowsThat({ loss: true, noResponse: true, temporary: true });
