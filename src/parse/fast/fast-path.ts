// The interface of the fast path; its implementation is in fast/. The parser gives the same results without it, but
// more slowly.
import type { Limits } from "../../model/options.ts";
import type { TextPiece } from "../../model/text.ts";
import type { XmlAttributes } from "../xml/attributes.ts";
import type { XmlCursor } from "../xml/cursor.ts";
import type { XmlElements } from "../xml/scanner.ts";
import type { XmlText } from "../xml/text.ts";

export interface FastPath {
  /** Reads a chunk of the document: what it knows by itself, everything else with `scan`. */
  write(piece: TextPiece): void;
  /** The document is over: passes what is left to `scan`. */
  flush(): void;
  /** Called between two tokens: whether `scan` has to stop here. */
  takesOver(): boolean;
}

/** The parts of a scanner. They hold its whole state between two tokens. */
export interface ScannerParts {
  readonly cursor: XmlCursor;
  readonly text: XmlText;
  readonly elements: XmlElements;
  /** The attributes of the last tag. */
  readonly attributes: XmlAttributes;
  readonly limits: Limits;
  /** The longest URL without a problem. */
  readonly longestUrl: number;
  /** Scans this text. What cannot be read yet stays in the cursor's buffer. */
  scan(text: string): void;
  /** Returns what stayed in the buffer. */
  takeRest(): string;
}

export type CreateFastPath = (parts: ScannerParts) => FastPath;

/** Leaves everything to the scanner. */
export const noFastPath: CreateFastPath = (scanner) => ({
  write: (piece) => scanner.scan(String(piece)),
  flush() {},
  takesOver: () => false,
});
