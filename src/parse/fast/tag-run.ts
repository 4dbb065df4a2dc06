// What stands between two texts of a document is nearly always the same: `</loc>\n    <lastmod>`. A tag run is such a piece: tags
// without attributes, and nothing but white space between them.
import type { XmlName } from "../xml-name.ts";
import type { PathNode } from "./paths.ts";

export interface TagRun {
  /** The place in the document from which it leads on. */
  readonly from: PathNode;
  /** All of the text before it is one CDATA section. */
  readonly isAfterCdata: boolean;
  /** Where it begins in the buffer. */
  readonly start: number;
  /** The elements that are opened and closed, in order. */
  readonly names: XmlName[];
  /** Whether the element of this index is opened; otherwise it is closed. */
  readonly opens: boolean[];
  /** Where their tags begin, from the beginning of the run. */
  readonly offsets: number[];
}

export function beginRun(from: PathNode, start: number, isAfterCdata: boolean): TagRun {
  return { from, isAfterCdata, start, names: [], opens: [], offsets: [] };
}

export function addTag(run: TagRun, name: XmlName, opens: boolean, at: number): void {
  run.names.push(name);
  run.opens.push(opens);
  run.offsets.push(at - run.start);
}

/** Whether it is long enough to be kept as it is. */
export function isFull(run: TagRun): boolean {
  return run.names.length >= maxTags;
}

const maxTags = 16;
