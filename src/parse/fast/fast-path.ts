// The interface of the fast path; its implementation is in fast/. The parser gives the same results without it, but
// more slowly.
import type { TextPiece } from "../../model/text.ts";
import type { XmlScanner } from "../xml/scanner.ts";

export interface FastPath {
  /** Reads a chunk of the document: what it knows by itself, everything else with the scanner's `scan`. */
  write(piece: TextPiece): void;
  /** The document is over: passes what is left to `scan`. */
  flush(): void;
  /** Called between two tokens: whether `scan` has to stop here. */
  takesOver(): boolean;
}

/** Between two tokens, the scanner's public fields hold its whole state. */
export type CreateFastPath = (scanner: XmlScanner) => FastPath;

/** Leaves everything to the scanner. */
export const noFastPath: CreateFastPath = (scanner) => ({
  write: (piece) => scanner.scan(String(piece)),
  flush() {},
  takesOver: () => false,
});
