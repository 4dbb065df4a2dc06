// The time that a check may take. When it is up, the check ends with what it has found; what it did not judge is said.
import { pauseWhenDue } from "../crawl/event-loop.ts";

export class CheckTime {
  readonly #until: number;
  readonly #signal: AbortSignal | undefined;
  #isUp = false;

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.#until = performance.now() + milliseconds;
    this.#signal = signal;
  }

  get left(): number {
    return Math.max(0, this.#until - performance.now());
  }

  get isUp(): boolean {
    this.#isUp ||= this.left === 0;
    return this.#isUp;
  }

  /** Lets timers, signals and other websites act, if that is due. Rejects with the reason of an aborted signal. */
  turn(): Promise<void> | undefined {
    return pauseWhenDue()?.then(() => this.#signal?.throwIfAborted());
  }
}
