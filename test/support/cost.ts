// What reading costs, in processor time for each byte: for tests of growth. A busy machine makes everything slower, but never
// makes something quadratic out of something linear.
import { some } from "./long.ts";

// Microseconds. Less is compared less exactly, and what looks bad is measured again.
const enough = some(2000, 500);

/** A reader of a whole text. */
export type Read = (text: string) => void | Promise<void>;

/** Microseconds of processor time for each byte of `text`. */
async function costPerByte(text: string, read: Read): Promise<number> {
  let spent = 0;
  let times = 0;
  // What is too short cannot be measured.
  while (spent < enough && times < 30) {
    const start = process.cpuUsage();
    await read(text);
    const { user, system } = process.cpuUsage(start);
    spent += user + system;
    times++;
  }
  return spent / times / Buffer.byteLength(text);
}

/** Builds a text of about `length` characters from pieces of one kind. */
export function repeatedTo(length: number, piece: string): string {
  return piece.repeat(Math.max(1, Math.round(length / piece.length)));
}

export interface Growth {
  /** How many times as much a byte costs in the large one. */
  readonly ratio: number;
  /** Megabytes a second, in the large one. */
  readonly speed: number;
}

/** Generous bounds: what is linear stays well below the first and above the second, on a busy machine, too. */
export const dearest = 8;
export const slowest = 0.5;

/** Compares what a byte costs in two texts. Repeated where it looks bad: the machine may have been busy. */
export async function growth(small: string, large: string, read: Read): Promise<Growth> {
  let found: Growth = { ratio: Number.POSITIVE_INFINITY, speed: 0 };
  for (let attempt = 0; attempt < 6 && (found.ratio > dearest / 2 || found.speed < slowest * 2); attempt++) {
    const after = await costPerByte(large, read);
    // Second: the engine has then compiled what it will compile.
    const before = await costPerByte(small, read);
    found = {
      // Above twenty megabytes a second nothing has to be proven: some documents are read at a hundred times that.
      ratio: Math.min(found.ratio, after / Math.max(before, 0.05)),
      speed: Math.max(found.speed, 1 / after),
    };
  }
  return found;
}
