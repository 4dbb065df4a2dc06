// Those who wait until a queue has something for them.

export class Sleepers {
  readonly #wakers = new Set<() => void>();

  /** Resolves when it is woken or the signal is aborted. */
  async sleep(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake);
        this.#wakers.delete(wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  /** There may be very many: for one site, only one is woken. */
  wakeOne(): void {
    const [wake] = this.#wakers;
    wake?.();
  }

  wakeAll(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
