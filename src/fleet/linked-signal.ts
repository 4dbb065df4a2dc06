// A signal that follows others, and can be detached. `AbortSignal.any` leaves something behind in each of them, which
// adds up if one of them lives as long as a fleet.

export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Detaches it from the others. */
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
