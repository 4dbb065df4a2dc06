// How many of all pages may be bad, judged by a sample.

/**
 * The largest share that may be bad, with a confidence of 95 %, if `bad` of `judged` in a random sample are: the upper
 * bound of Clopper and Pearson. For 300 without a bad one: 1 %.
 */
export function upperBound(bad: number, judged: number): number {
  if (judged === 0 || bad >= judged) return 1;
  let low = bad / judged;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (atMost(bad, judged, middle) > 1 - confidence) low = middle;
    else high = middle;
  }
  return high;
}

// The probability of seeing at most this many bad ones, if this share is bad.
function atMost(bad: number, judged: number, share: number): number {
  let sum = 0;
  let logTerm = judged * Math.log1p(-share);
  for (let count = 0; count <= bad; count++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((judged - count) / (count + 1)) + Math.log(share) - Math.log1p(-share);
  }
  return sum;
}

const confidence = 0.95;
