// A row of the tables of problems.

/** One kind of problem. Its code, the key of the row, is in kebab-case and stable. */
export interface ProblemRow {
  /** Whether something that the website declares is missing, which makes `complete` false. */
  readonly loss?: true;
  /** If the entry was skipped: how a summary calls such entries, such as "invalid URLs". */
  readonly skipsEntry?: string;
  /** Whether the document is cut off, so that its last line or tag may be incomplete. */
  readonly cutOff?: true;
  /** Whether the failure is temporary, so that the request is retried. */
  readonly temporary?: true;
  /** Whether the host sent no response, and may be down. */
  readonly noResponse?: true;
  /** Whether our own policy forbids the request. */
  readonly refused?: true;
  /**
   * The fact, in one sentence without a full stop. `{value}`, `{limit}`, `{line}`, `{count}` and `{status}` are filled in;
   * `{limit ms}`, `{limit bytes}` and `{retryAfter time}` are also formatted. The part in `[…]` is omitted if its fact is unknown.
   */
  readonly message: string;
  /** Messages for specific values, used instead of `message`. */
  readonly messageFor?: Readonly<Record<string, string>>;
  /** Advice for the command line, such as a flag, which the program appends to the message. */
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
/** Nothing that the website declares is missing. */
export const note: RowOf = rowsThat({});
export const skipped = (skipsEntry: string): RowOf => rowsThat({ skipsEntry });
export const loss: RowOf = rowsThat({ loss: true });
/** The document ended too early. */
export const cut: RowOf = rowsThat({ loss: true, cutOff: true });
export const refused: RowOf = rowsThat({ loss: true, refused: true });
export const noResponse: RowOf = rowsThat({ loss: true, noResponse: true });
/** There was no complete response, but a retry may get one. */
export const outage: RowOf = rowsThat({ loss: true, noResponse: true, temporary: true });
