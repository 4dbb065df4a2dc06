// Reads files of JSON lines, which other programs may have changed.
import { createReadStream } from "node:fs";

/** A line. `isEnded` is false for a last line without a line end: the process that wrote it may have been killed. */
export interface FileLine {
  readonly text: string;
  /** Where the next line begins, in bytes. */
  readonly end: number;
  readonly isEnded: boolean;
}

/** Yields the lines of a file. A line that is too long is cut off, so it is not JSON any more. */
export async function* linesIn(file: string, longest: number = longestLine): AsyncGenerator<FileLine, void> {
  let open: Buffer[] = [];
  let length = 0;
  let end = 0;
  const keep = (part: Buffer) => {
    if (part.length > 0 && length <= longest) open.push(part);
    length += part.length;
  };
  const line = (isEnded: boolean): FileLine => {
    const bytes = open.length === 1 && length <= longest ? open[0]! : Buffer.concat(open, Math.min(length, longest));
    end += length + Number(isEnded);
    [open, length] = [[], 0];
    return { text: bytes.toString(), end, isEnded };
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, to));
      yield line(true);
      from = to + 1;
    }
    keep(chunk.subarray(from));
  }
  if (length > 0) yield line(false);
}

/** The longest line that is read, in bytes: far more than a page or a summary needs. */
export const longestLine: number = 32 * 2 ** 20;
