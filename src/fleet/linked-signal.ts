// A signal that follows others for as long as somebody needs it. `AbortSignal.any` would leave something behind in each of them, which
// adds up where one of them lives as long as a fleet.

export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Lets go of the others. */
  unlink(): void;
}

export function linkedSignal(others: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const links = others.map((other) => {
    const abort = () => controller.abort(other.reason);
    if (other.aborted) abort();
    else other.addEventListener("abort", abort, { once: true });
    return () => other.removeEventListener("abort", abort);
  });
  return {
    signal: controller.signal,
    unlink() {
      for (const unlink of links) unlink();
    },
  };
}
