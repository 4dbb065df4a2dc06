// The one place at which reading XML can be made faster: between two tokens. What stands behind it is in fast/; the parser gives
// the same results without it, only later.
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlElements } from "./xml-elements.ts";
import type { XmlText } from "./xml-text.ts";

export interface FastPath {
  /**
   * The cursor stands between two tokens. Reads on from there as far as the document repeats itself, and brings cursor, elements,
   * text and handler to where the scanner would have brought them. Returns true if only more of the document can tell how it goes on.
   */
  advance(): boolean;
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
}

export type CreateFastPath = (parts: ScannerParts) => FastPath;

/** Leaves everything to the scanner. */
export const noFastPath: CreateFastPath = () => ({ advance: () => false });
