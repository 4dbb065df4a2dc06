// What reading costs, in processor time for each byte: for tests of growth. A busy machine makes everything slower, but never
// makes something quadratic out of something linear.
import { some } from "./long.ts";

// In microseconds. Shorter times are compared less exactly, and suspicious ones are measured again.
const enough = some(2000, 250);

/** A reader of a whole text. */
export type Read = (text: string) => void | Promise<void>;

/** Microseconds of processor time for each byte of `text`. */
async function costPerByte(text: string, read: Read): Promise<number> {
  let [spent, times] = [0, 0];
  // Very short times cannot be measured.
  for (; spent < enough && times < 30; times++) {
    const start = process.cpuUsage();
    await read(text);
    const { user, system } = process.cpuUsage(start);
    spent += user + system;
  }
  return spent / times / Buffer.byteLength(text);
}

/** Builds a text of about `length` characters from pieces of one kind. */
export function repeatedTo(length: number, piece: string): string {
  return piece.repeat(Math.max(1, Math.round(length / piece.length)));
}

/** Generous: quadratic time would cost sixteen times as much per byte in a text sixteen times as long. */
export const dearest = 8;

/**
 * How many times as much a byte costs in the large text. Measured until that is little, at most ten times: the least of each counts, because
 * whatever else a machine does makes reading slower, never faster.
 */
export async function growth(small: string, large: string, read: Read, most: number = dearest): Promise<number> {
  let [after, before] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 10 && ratio > Math.min(dearest / 2, most); attempt++) {
    after = Math.min(after, await costPerByte(large, read));
    // Measures the second run, when the engine has compiled the code.
    before = Math.min(before, await costPerByte(small, read));
    // Above 20 MB/s, nothing has to be proven: some documents are read a hundred times as fast.
    ratio = after / Math.max(before, 0.05);
  }
  return ratio;
}
