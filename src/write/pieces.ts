// Joins many small texts into few large ones: writing a million short texts one by one would take longer than making
// them.

/** The same text in pieces of about 64 KB. */
export async function* inPieces(
  texts: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string, void, undefined> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length >= pieceLength) {
      yield piece;
      piece = "";
    }
  }
  if (piece !== "") yield piece;
}

const pieceLength = 64 * 1024;
