// A list of websites in batches, to save round trips.

// In milliseconds: websites of a slow list are passed on after this time.
const batchTime = 200;

/** Batches of `size`, or smaller ones if the list arrives slowly. */
export async function* batches<T>(
  list: AsyncIterable<T> | Iterable<T>,
  size: number,
): AsyncGenerator<readonly T[], void> {
  const iterator = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]();
  const batch: T[] = [];
  let isOver = false;
  try {
    while (!isOver) {
      let next: IteratorResult<T> | undefined;
      const coming = Promise.resolve(iterator.next());
      if (batch.length > 0) {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<undefined>((resolve) => {
          timer = setTimeout(() => resolve(undefined), batchTime);
        });
        next = await Promise.race([coming, late]).finally(() => clearTimeout(timer));
        if (next === undefined) yield batch.splice(0);
      }
      next ??= await coming;
      if (next.done) isOver = true;
      else batch.push(next.value);
      if (batch.length === size || (isOver && batch.length > 0)) yield batch.splice(0);
    }
  } finally {
    if (!isOver) await iterator.return?.();
  }
}
