// Lets one request through at a time, where others depend on its result.
import type { Cancellation } from "./cancellation.ts";

export class Gate {
  #isTaken = false;
  #waiting: Set<() => void> | undefined;

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Must be released with the returned function; a second call of it does nothing. */
  take(): () => void {
    this.#isTaken = true;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#isTaken = false;
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const wake of waiting) wake();
    };
  }

  /** Waits until it was released; somebody else may have entered by then. Rejects with the reason of the cancellation. */
  given(cancellation: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      if (cancellation.cancelled) return reject(cancellation.reason);
      const onCancel = () => {
        this.#waiting?.delete(wake);
        reject(cancellation.reason);
      };
      const wake = () => {
        cancellation.remove(onCancel);
        resolve();
      };
      this.#waiting ??= new Set();
      this.#waiting.add(wake);
      cancellation.add(onCancel);
    });
  }
}
