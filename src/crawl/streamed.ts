// Turns calls into a stream, for crawls and checks.
import { FollowingController } from "../fetch/abort.ts";

/** Thrown to end the work after the caller left the loop. */
export const enough: Error = new Error("The caller left the loop");

/**
 * Yields what `work` passes to `emit` and `tell`, and returns its result. `emit` waits until the caller asks for the next item, so that a
 * slow caller holds back the work; `tell` does not wait. The work gets a signal that follows the given one. Leaving the loop aborts it, and
 * waits for the end of the work.
 */
export async function* streamed<T, Result>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal, emit: (item: T) => Promise<void>, tell: (item: T) => void) => Promise<Result>,
): AsyncGenerator<T, Result> {
  const items: T[] = [];
  let taken: { readonly resolve: () => void; readonly reject: (reason: unknown) => void } | undefined;
  let ended: { readonly result: Result } | { readonly error: unknown } | undefined;
  let hasLeft = false;
  let wake = () => {};
  const tell = (item: T) => {
    items.push(item);
    wake();
  };
  const emit = (item: T) =>
    new Promise<void>((resolve, reject) => {
      if (hasLeft) return reject(enough);
      taken = { resolve, reject };
      tell(item);
    });
  const abort = new FollowingController(signal);
  const working = work(abort.signal, emit, tell)
    .then(
      (result) => (ended = { result }),
      (error: unknown) => (ended = { error }),
    )
    .then(() => wake());
  try {
    while (items.length > 0 || ended === undefined) {
      if (items.length > 0) yield items.shift() as T;
      else if (taken !== undefined) {
        taken.resolve();
        taken = undefined;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
    if ("error" in ended) throw ended.error;
    return ended.result;
  } finally {
    hasLeft = true;
    abort.abort(enough);
    abort.release();
    taken?.reject(enough);
    await working;
  }
}
