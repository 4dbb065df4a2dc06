// The pages of a sitemap have consecutive numbers: a run.

/** Which run a number is in, by the first number of each. */
export function runAt(starts: readonly number[], number: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}
