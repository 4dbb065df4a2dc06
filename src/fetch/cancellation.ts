// Cancels work, with a reason, once. Like an AbortSignal at a tenth of its cost: one request needs several, and many
// requests of a crawl follow one signal.

export class Cancellation {
  #reason: unknown;
  #cancelled = false;
  // Most have one listener; a set is made for the second.
  #listener: (() => void) | undefined;
  #others: Set<() => void> | undefined;

  get cancelled(): boolean {
    return this.#cancelled;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Only the first call counts. */
  cancel(reason: unknown): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#reason = reason;
    const listener = this.#listener;
    const others = this.#others ?? [];
    this.#listener = undefined;
    this.#others = undefined;
    listener?.();
    for (const other of others) other();
  }

  /** Called once, when it is cancelled; never if it is cancelled already. */
  add(listener: () => void): void {
    if (this.#cancelled) return;
    if (this.#listener === undefined) {
      this.#listener = listener;
    } else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  remove(listener: () => void): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }
}

/** Cancellations that follow AbortSignals, with one listener for each signal: Node warns from eleven on. */
class SignalFollowers {
  readonly #followers = new Map<AbortSignal, Set<Cancellation>>();

  follow(signal: AbortSignal, cancellation: Cancellation): void {
    let followers = this.#followers.get(signal);
    if (followers === undefined) {
      followers = new Set();
      this.#followers.set(signal, followers);
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    followers.add(cancellation);
  }

  unfollow(signal: AbortSignal, cancellation: Cancellation): void {
    const followers = this.#followers.get(signal);
    if (followers?.delete(cancellation) !== true || followers.size > 0) return;
    this.#followers.delete(signal);
    signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    const followers = [...(this.#followers.get(signal) ?? [])];
    this.#followers.delete(signal);
    for (const cancellation of followers) cancellation.cancel(signal.reason);
  };
}

/** Of all crawls: a caller may give one signal to any number of them. */
export const signalFollowers: SignalFollowers = new SignalFollowers();

/** An AbortSignal, for clients that need one. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  const controller = new AbortController();
  if (cancellation.cancelled) controller.abort(cancellation.reason);
  else cancellation.add(() => controller.abort(cancellation.reason));
  return controller.signal;
}

/** The same the other way round. */
export function cancellationBy(signal: AbortSignal): Cancellation {
  const cancellation = new Cancellation();
  if (signal.aborted) cancellation.cancel(signal.reason);
  else signal.addEventListener("abort", () => cancellation.cancel(signal.reason), { once: true });
  return cancellation;
}
