// Every parser input is also run cut into pieces: any way of cutting a text must give the same result.
import { expectSame } from "./expect-same.ts";
import { isLong, some } from "./long.ts";
import { Random } from "./random.ts";

/** Runs `parse` on the text whole, one character at a time and with random cuts, expects equal results and returns it. */
export function inEveryCut<T>(text: string, parse: (pieces: string[]) => T): T {
  const whole = parse([text]);
  // Usually, only a part of a long text is passed one character at a time.
  const [from, to] = isLong ? [0, text.length] : [text.length % 7, (text.length % 7) + mostSingle];
  expectSame(parse([text.slice(0, from), ...text.slice(from, to), text.slice(to)]), whole);
  const random = new Random(text.length);
  for (let run = 0; run < some(10, 2); run++) {
    const cuts = Array.from({ length: 1 + random.below(8) }, () => random.below(text.length + 1));
    expectSame(parse([...splitAt(text, cuts)]), whole);
  }
  return whole;
}

const mostSingle = 1000;

/** A text or bytes in pieces of this length. */
export function inPieces<Whole extends { length: number; slice(from: number, to: number): Whole }>(
  whole: Whole,
  size: number,
): Whole[] {
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, n) => whole.slice(n * size, (n + 1) * size));
}

function* splitAt(text: string, cuts: number[]): Generator<string> {
  let from = 0;
  for (const cut of [...cuts, text.length].sort((a, b) => a - b)) {
    yield text.slice(from, cut);
    from = cut;
  }
}
