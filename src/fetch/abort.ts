// Waits that an AbortSignal can end, and controllers that follow other signals. Listeners are removed, because the signal of a crawl
// lives long, and in Node 20 the results of `AbortSignal.any` would stay in memory for as long.
import { setMaxListeners } from "node:events";
import { longestTimer } from "./timeouts.ts";

/** A controller that aborts when any of the given signals does, until `release` is called. */
export class FollowingController extends AbortController {
  readonly #followed: readonly AbortSignal[];

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    super();
    this.#followed = signals.filter((signal) => signal !== undefined);
    for (const signal of this.#followed) {
      if (signal.aborted) this.abort(signal.reason);
      // Any number of requests may follow one signal, but Node.js warns about more than ten listeners.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", this.#onAbort);
    }
  }

  release(): void {
    for (const signal of this.#followed) signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = ({ target }: Event): void => this.abort((target as AbortSignal).reason);
}

/** Waits until `begin` calls back. If the signal aborts first, calls the function that `begin` returned, and rejects with the reason. */
export function waitFor<T>(
  signal: AbortSignal,
  begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      leave();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    const stop = () => signal.removeEventListener("abort", onAbort);
    const leave = begin(
      (value) => {
        stop();
        resolve(value);
      },
      (reason) => {
        stop();
        reject(reason);
      },
    );
  });
}

/** Returns the promise's result, or rejects if the signal is aborted first. */
export function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return waitFor(signal, (resolve, reject) => {
    promise.then(resolve, reject);
    return () => {};
  });
}

/** Waits for a time, or rejects if the signal is aborted first. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return waitFor(signal, (resolve) => {
    const timer = setTimeout(resolve, Math.min(milliseconds, longestTimer));
    return () => clearTimeout(timer);
  });
}
