// Every parser input is also run cut into pieces: any way of cutting a text must give the same result.
import fc from "fast-check";
import { expectSame } from "./expect-same.ts";

/** Runs `parse` on the text whole, one character at a time and with random cuts, expects equal results and returns it. */
export function inEveryCut<T>(text: string, parse: (pieces: string[]) => T): T {
  const whole = parse([text]);
  expectSame(parse([...splitAt(text, range(text.length))]), whole);
  const places = fc.array(fc.nat({ max: text.length }), { maxLength: 8 });
  fc.assert(
    fc.property(places, (cuts) => {
      expectSame(parse([...splitAt(text, cuts)]), whole);
    }),
    { numRuns: 10 },
  );
  return whole;
}

function* splitAt(text: string, cuts: number[]): Generator<string> {
  let from = 0;
  for (const cut of [...cuts, text.length].sort((a, b) => a - b)) {
    yield text.slice(from, cut);
    from = cut;
  }
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
