// Divides a long text of URLs into ranges at line ends: each is read as a document of its own, so that memory depends
// on the range and not on the text.
import { type FileHandle, open } from "node:fs/promises";

export interface Range {
  readonly start: number;
  /** The last byte; absent if the range goes to the end. */
  readonly end?: number;
}

const rangeLength = 16 * 1024 * 1024;
const blockLength = 64 * 1024;
const lineFeed = 10;

/** One range for the whole file if it is short, or does not begin like a text of URLs. */
export async function lineRanges(file: string, length: number = rangeLength): Promise<readonly Range[]> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const ranges: Range[] = [];
    if (size > length && (await isListOfUrls(handle))) {
      for (let start = 0; start < size; ) {
        const end = await endOfLine(handle, start + length);
        ranges.push(end === undefined ? { start } : { start, end: end - 1 });
        start = end ?? size;
      }
    }
    return ranges.length === 0 ? [{ start: 0 }] : ranges;
  } finally {
    await handle.close();
  }
}

async function isListOfUrls(handle: FileHandle): Promise<boolean> {
  const start = Buffer.alloc(4096);
  await handle.read(start, 0, start.length, 0);
  return /^(?:\ufeff|\s)*https?:\/\//i.test(start.toString());
}

/** Where the line after this position begins; undefined if there is none. */
async function endOfLine(handle: FileHandle, from: number): Promise<number | undefined> {
  const block = Buffer.alloc(blockLength);
  for (let at = from; ; at += block.length) {
    const { bytesRead } = await handle.read(block, 0, block.length, at);
    if (bytesRead === 0) return undefined;
    const end = block.subarray(0, bytesRead).indexOf(lineFeed);
    if (end !== -1) return at + end + 1;
  }
}
