// Generators that end with a result.

/** Yields what `each` makes of every item, and returns the result of the source. If the caller stops early, so does the source. */
export async function* mapped<Item, Result, Made>(
  source: AsyncGenerator<Item, Result>,
  each: (item: Item) => Iterable<Made>,
): AsyncGenerator<Made, Result, undefined> {
  try {
    let step = await source.next();
    for (; !step.done; step = await source.next()) yield* each(step.value);
    return step.value;
  } finally {
    await source.return(undefined as never);
  }
}
