// The numbers that the matcher (matcher.wat) and TypeScript share. `npm run matcher` puts them into the matcher by their names:
// `{traceStart}` stands there for the number here.

/** The memory of the matcher, from address to address. */
export const layout = {
  /** Of 64 KB. */
  pages: 14,
  /** What a run leaves: where it ended, at which node, why, and the ends of both lists of texts. */
  resultAt: 0,
  resultNode: 4,
  resultReason: 8,
  resultNarrow: 12,
  resultWide: 16,
  /** Origins whose URLs were accepted: the length, and from `originText` on the text. */
  originsStart: 64,
  originSize: 240,
  originText: 16,
  originsEnd: 1024,
  /** Short texts that were seen before, sixteen bytes each, two for each hash. */
  wordsStart: 4096,
  wordCount: 512,
  /** Nodes, edges, and what edges look like in the document. */
  graphStart: 12_288,
  graphEnd: 106_496,
  /** The steps of a run. */
  traceStart: 106_496,
  traceEnd: 172_032,
  /** The document, in UTF-8. Vectors are read beyond its end. */
  documentStart: 172_032,
  documentEnd: 434_176,
  /** A text without its references. */
  scratchStart: 434_208,
  scratchEnd: 499_744,
  /** Wanted texts as JSON: those of ASCII, and the others. */
  narrowStart: 499_776,
  narrowEnd: 696_384,
  wideStart: 696_416,
  wideEnd: 893_024,

  /** A node: the character that ends the text, and the first edge. */
  nodeDelimiter: 0,
  nodeEdge: 4,
  nodeSize: 8,

  /** An edge: the next of the node, its literal, the node it leads to, its number, and what is to be done with the text before it. */
  edgeNext: 0,
  edgeLiteral: 4,
  edgeLength: 8,
  edgeTarget: 12,
  edgeNumber: 16,
  edgeTask: 20,
  edgeSize: 24,

  /** What is to be done with a text. It must be empty; it is a URL; a date; the URL of an entry; it is wanted; references are decoded. */
  mustBeEmpty: 1,
  isUrl: 2,
  isDate: 4,
  isKey: 8,
  isWanted: 16,
  hasMarkup: 32,

  /** A step: the number of the edge, where its text starts and ends, what was noticed, and a fingerprint or the place of a word. */
  stepEdge: 0,
  stepStart: 4,
  stepEnd: 8,
  stepFlags: 12,
  stepHigh: 16,
  stepLow: 20,
  stepWord: 16,
  stepSize: 24,

  /** What was noticed about a text. It has a `&`, control characters, characters outside of ASCII; something may have to be trimmed. */
  hasReferences: 1,
  hasControls: 2,
  isWide: 4,
  hasSpace: 8,
  /** It is a URL of an accepted origin, or would be if its origin were; a date; its references are decoded. */
  isAccepted: 16,
  isUnaccepted: 32,
  isUsualDate: 64,
  isDecoded: 128,
  /** It is a word that was seen before, or becomes one. */
  isKnownWord: 256,
  isNewWord: 512,

  /** Why a run ended: nothing fits; more of the document is needed; or there is no room for another step. */
  nothingFits: 1,
  needsMore: 2,
  needsRoom: 3,
} as const;
