// Splits a text at lone surrogates, which cannot be written as UTF-8.

export interface CheckedPiece {
  readonly text: string;
  readonly isWellFormed: boolean;
}

/** `half`: the first half of a surrogate pair at the end of the text; the other half may be in the next one. */
export function wellFormedPieces(text: string, maxLength: number): { pieces: CheckedPiece[]; half: string } {
  const half = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : "";
  const length = text.length - half.length;
  const pieces: CheckedPiece[] = [];
  for (let from = 0; from < length; ) {
    let to = Math.min(from + maxLength, length);
    if (to < length && isHighSurrogate(text.charCodeAt(to - 1))) to--;
    const piece = from === 0 && to === text.length ? text : text.slice(from, to);
    pieces.push({ text: piece, isWellFormed: isWellFormed(piece) });
    from = to;
  }
  return { pieces, half };
}

function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

// `isWellFormed` is newer than some browsers.
function isWellFormed(text: string & { isWellFormed?(): boolean }): boolean {
  return text.isWellFormed?.() ?? !loneSurrogate.test(text);
}

const loneSurrogate = /\p{Surrogate}/u;
