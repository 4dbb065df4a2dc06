// Yields single items from batches. Written by hand, because a generator that yields each item costs three times as
// much. Calls queue as they do with a generator, so that several workers can share one iterator.

/** `next` and `return` settle in the order of their calls: with several callers, no item is lost and none comes twice. */
export function flatten<T>(source: AsyncGenerator<readonly T[], void>): AsyncIterableIterator<T, undefined> {
  let batch: readonly T[] = [];
  let at = 0;
  // Calls that wait for a batch, or for an earlier call.
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  function queue(call: () => Promise<IteratorResult<T, undefined>>): Promise<IteratorResult<T, undefined>> {
    waiting += 1;
    const result = last.then(call);
    const settled = () => {
      waiting -= 1;
    };
    last = result.then(settled, settled);
    return result;
  }
  async function advance(): Promise<IteratorResult<T, undefined>> {
    while (at >= batch.length) {
      const step = await source.next();
      if (step.done) return { value: undefined, done: true };
      batch = step.value;
      at = 0;
    }
    return { value: take(), done: false };
  }
  function take(): T {
    const value = batch[at] as T;
    at += 1;
    return value;
  }
  async function end(): Promise<IteratorResult<T, undefined>> {
    batch = [];
    await source.return();
    return { value: undefined, done: true };
  }

  const iterator: AsyncIterableIterator<T, undefined> = {
    next: () => (waiting === 0 && at < batch.length ? Promise.resolve({ value: take(), done: false }) : queue(advance)),
    return: () => queue(end),
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
