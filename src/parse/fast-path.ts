// Where reading XML can be made faster. What stands behind it is in fast/; the parser gives the same results without it, only later.
import type { TextPiece } from "../utf8-text.ts";
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";
import type { XmlText } from "./xml-text.ts";

export interface FastPath {
  /** Reads a piece of the document: what it can by itself, everything else by `scan`. */
  write(piece: TextPiece): void;
  /** The document is over: hands to `scan` whatever was kept back. */
  flush(): void;
  /** Asked between two tokens: whether `scan` is to leave off here. */
  takesOver(): boolean;
}

/** The parts of a scanner. Everything that it knows between two tokens is in them. */
export interface ScannerParts {
  readonly cursor: XmlCursor;
  readonly text: XmlText;
  readonly elements: XmlElements;
  /** The attributes of the last tag. */
  readonly attributes: XmlAttributes;
  /** The longest text that is kept, and the longest URL about which there is nothing to say. */
  readonly limits: { readonly text: number; readonly url: number };
  /** Reads on with this text. What cannot be read yet stays in the cursor's buffer. */
  scan(text: string): void;
  /** Gives back what stayed in the buffer. */
  takeRest(): string;
}

export type CreateFastPath = (parts: ScannerParts) => FastPath;

/** Leaves everything to the scanner. */
export const noFastPath: CreateFastPath = ({ scan }) => ({
  write: (piece) => scan(String(piece)),
  flush() {},
  takesOver: () => false,
});
