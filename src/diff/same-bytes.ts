// Whether two documents have the same bytes. Cheaper than a digest of both: most differences are near the beginning,
// and the rest is then not compared.

/**
 * Compares bytes that can be read any number of times with others that can be read once. If they differ, it returns the
 * others again: the equal part comes from the first.
 */
export async function compareBytes(
  known: AsyncIterable<Uint8Array>,
  others: AsyncIterable<Uint8Array>,
): Promise<{ readonly same: true } | { readonly same: false; readonly others: AsyncIterable<Uint8Array> }> {
  const ones = known[Symbol.asyncIterator]();
  const rest = others[Symbol.asyncIterator]();
  let left = nothing;
  let right = nothing;
  let passed = 0;
  try {
    for (;;) {
      if (left.length === 0) left = await next(ones);
      if (right.length === 0) right = await next(rest);
      const length = Math.min(left.length, right.length);
      if (length === 0 && left.length === right.length) return { same: true };
      const isSame = length > 0 && Buffer.compare(left.subarray(0, length), right.subarray(0, length)) === 0;
      if (!isSame) return { same: false, others: joined(known, passed, right, rest) };
      left = left.subarray(length);
      right = right.subarray(length);
      passed += length;
    }
  } catch (error) {
    await rest.return?.();
    throw error;
  } finally {
    await ones.return?.();
  }
}

/** The first bytes of one, then a piece, then the rest of another. */
async function* joined(
  known: AsyncIterable<Uint8Array>,
  length: number,
  piece: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  try {
    let left = length;
    if (left > 0) {
      for await (const bytes of known) {
        yield bytes.subarray(0, left);
        left -= bytes.length;
        if (left <= 0) break;
      }
    }
    if (piece.length > 0) yield piece;
    for (let bytes = await next(rest); bytes.length > 0; bytes = await next(rest)) yield bytes;
  } finally {
    await rest.return?.();
  }
}

// Empty at the end, and only there.
async function next(bytes: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  for (;;) {
    const step = await bytes.next();
    if (step.done) return nothing;
    if (step.value.length > 0) return step.value;
  }
}

const nothing: Uint8Array = new Uint8Array(0);
