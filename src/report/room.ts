// How much room the report has for the texts of a website: their length and their number. All reports stay below one
// size; if texts take more bytes than usual (other alphabets, or many characters that HTML escapes), each of them, and
// the number of examples, gets less.

/** The size limit of a report, in bytes. */
export const mostBytes = 300_000;

export interface Room {
  /** Characters of a URL, a value or a sentence. */
  readonly text: number;
  /** The same, in lists that are long. */
  readonly textInRow: number;
  /** Of the name of a section. */
  readonly name: number;
  readonly tiles: number;
  readonly rows: number;
  /** For each rule. */
  readonly examples: number;
  readonly places: number;
  /** Characters of all examples. */
  readonly allExamples: number;
}

/** From the usual room to what is enough for any website. */
export const rooms: readonly [Room, ...Room[]] = [
  { text: 200, textInRow: 100, name: 48, tiles: 450, rows: 200, examples: 20, places: 10, allExamples: 12_000 },
  { text: 120, textInRow: 70, name: 40, tiles: 450, rows: 200, examples: 12, places: 6, allExamples: 6000 },
  { text: 70, textInRow: 50, name: 30, tiles: 400, rows: 200, examples: 6, places: 4, allExamples: 3000 },
  { text: 40, textInRow: 30, name: 20, tiles: 300, rows: 150, examples: 3, places: 2, allExamples: 1500 },
  { text: 20, textInRow: 20, name: 12, tiles: 200, rows: 100, examples: 2, places: 1, allExamples: 0 },
];
