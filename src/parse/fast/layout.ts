// The numbers that the matcher (matcher.wat) and TypeScript share. `npm run matcher` inserts them into the matcher by
// name: `{traceStart}` there stands for the number here. The factors of fingerprints come from fingerprints.ts in the same way.

/** The memory of the matcher, by address. */
export const layout = {
  /** Pages of 64 KB. */
  pages: 16,
  /** The result of a run: its last position and node, why it ended, and the ends of both lists of texts. */
  resultAt: 0,
  resultNode: 4,
  resultReason: 8,
  resultNarrow: 12,
  resultWide: 16,
  /** Accepted origins: the length, and from `originText` on the text. */
  originsStart: 64,
  originSize: 240,
  originText: 16,
  originsEnd: 1024,
  /** Short texts seen before: sixteen bytes each, two for each hash. */
  wordsStart: 4096,
  wordCount: 512,
  /** Nodes, edges, and the literals of edges. */
  graphStart: 12_288,
  graphEnd: 106_496,
  /** The steps of a run. */
  traceStart: 106_496,
  traceEnd: 286_720,
  /** The document, in UTF-8. Vectors are read beyond its end. */
  documentStart: 286_720,
  documentEnd: 548_864,
  /** A text with its references decoded. */
  scratchStart: 548_896,
  scratchEnd: 614_432,
  /** Wanted texts as JSON: first those of ASCII, then the others. */
  narrowStart: 614_464,
  narrowEnd: 811_072,
  wideStart: 811_104,
  wideEnd: 1_007_712,

  /** A node: the character that ends the text, and the first edge. */
  nodeDelimiter: 0,
  nodeEdge: 4,
  nodeSize: 8,

  /** An edge: the next edge of the node, its literal, its target node, its number, and the task for the text before it. */
  edgeNext: 0,
  edgeLiteral: 4,
  edgeLength: 8,
  edgeTarget: 12,
  edgeNumber: 16,
  edgeTask: 20,
  edgeSize: 24,

  /** Tasks for a text: it must be empty; it is a URL; a date; the URL of an entry; it is wanted; references are decoded. */
  mustBeEmpty: 1,
  isUrl: 2,
  isDate: 4,
  isKey: 8,
  isWanted: 16,
  hasMarkup: 32,
  /** Only whether there is something to report counts. */
  isChecked: 64,

  /** A step: the number of the edge, start and end of its text, its facts, and a fingerprint or the position of a word. */
  stepEdge: 0,
  stepStart: 4,
  stepEnd: 8,
  stepFlags: 12,
  stepHigh: 16,
  stepLow: 20,
  stepWord: 16,
  stepSize: 24,

  /** Facts about a text: it has a `&`, control characters, characters outside of ASCII; it may have to be trimmed. */
  hasReferences: 1,
  hasControls: 2,
  isWide: 4,
  hasSpace: 8,
  /** It is a URL of an accepted origin, or of one not accepted yet; a date; its references are decoded. */
  isAccepted: 16,
  isUnaccepted: 32,
  isUsualDate: 64,
  isDecoded: 128,
  /** It is a known word, or becomes one. */
  isKnownWord: 256,
  isNewWord: 512,
  /** There is nothing to report, and it is in no list. */
  isLeftOut: 1024,

  /** Why a run ended: no edge matches; more of the document is needed; or there is no room for another step. */
  nothingFits: 1,
  needsMore: 2,
  needsRoom: 3,
} as const;
