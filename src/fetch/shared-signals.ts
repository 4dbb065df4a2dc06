// Many requests that share one signal: a single listener each signal, where a listener for each request would be hundreds
// (Node warns from eleven on).

export class SharedSignals {
  readonly #followers = new Map<AbortSignal, Set<AbortController>>();

  /** Aborts the controller with the signal, until the function that is returned is called. */
  follow(signal: AbortSignal, controller: AbortController): () => void {
    let followers = this.#followers.get(signal);
    if (followers === undefined) {
      followers = new Set();
      this.#followers.set(signal, followers);
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    followers.add(controller);
    return () => {
      followers.delete(controller);
      if (followers.size > 0 || this.#followers.get(signal) !== followers) return;
      this.#followers.delete(signal);
      signal.removeEventListener("abort", this.#onAbort);
    };
  }

  readonly #onAbort = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    const followers = this.#followers.get(signal) ?? [];
    this.#followers.delete(signal);
    for (const controller of [...followers]) controller.abort(signal.reason);
  };
}
