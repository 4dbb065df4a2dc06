// A tag run: tags without attributes, with nothing but white space between them, such as `</loc>\n    <lastmod>`. What
// stands between two texts of a sitemap is nearly always one of a few tag runs.
import type { XmlName } from "../xml-name.ts";
import type { PathNode } from "./paths.ts";

export interface TagRun {
  /** The node from which it leads on. */
  readonly from: PathNode;
  /** The whole text before it is one CDATA section. */
  readonly isAfterCdata: boolean;
  /** Where it begins in the buffer. */
  readonly start: number;
  /** The elements that are opened and closed, in order. */
  readonly names: XmlName[];
  /** Whether the element with this index is opened; otherwise it is closed. */
  readonly opens: boolean[];
  /** Where their tags begin, relative to the run. */
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
