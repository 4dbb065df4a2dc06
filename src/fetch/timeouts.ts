// Timeouts: one for each wait, and one for all waits together. They run only while we wait for the website: not while a request
// is queued, the reader of the body is slow, or this process is suspended.
import { type Problem, problem } from "../model/problem.ts";

/** One wait: its limit in milliseconds, and the problem to report once that has passed. */
export interface Wait {
  readonly limit: number;
  readonly code: "timeout-connect" | "timeout-tls" | "timeout-first-byte" | "timeout-idle";
}

export class Clock {
  readonly #total: number;
  readonly #onExpire: (expired: Problem) => void;
  readonly #longestLate: number;
  #wait: Wait | undefined;
  #waitingSince = 0;
  #used = 0;
  // The next wait reuses the timer, because a body has a wait for each chunk.
  #timer: NodeJS.Timeout | undefined;
  #due = 0;
  #lastLook: NodeJS.Immediate | undefined;

  /**
   * `onExpire` is called when a wait takes too long. If a timer fires more than `longestLate` milliseconds late, the process was suspended
   * or busy.
   */
  constructor(total: number, onExpire: (expired: Problem) => void, longestLate = 1000) {
    this.#total = total;
    this.#onExpire = onExpire;
    this.#longestLate = longestLate;
  }

  /** Begins a wait, and ends the one before. */
  start(wait: Wait): void {
    this.stop();
    this.#wait = wait;
    this.#waitingSince = performance.now();
    this.#setTimer();
  }

  stop(): void {
    if (this.#wait === undefined) return;
    this.#wait = undefined;
    this.#used += performance.now() - this.#waitingSince;
    clearImmediate(this.#lastLook);
  }

  /** Ends all waits. Must be called after the last one, because a running timer keeps the process alive. */
  end(): void {
    this.stop();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #setTimer(): void {
    // Node.js warns about a negative time.
    const time = Math.max(0, Math.min(this.#left(), longestTimer));
    const due = performance.now() + time;
    if (this.#timer !== undefined && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#wait === undefined) return;
      // After a suspension, the wait starts again.
      if (performance.now() - due > this.#longestLate) this.#waitingSince = performance.now();
      // A timer may fire a fraction of a millisecond early.
      if (this.#left() >= 1) this.#setTimer();
      // Data that has already arrived is read first: it may have been there for a while.
      else this.#lastLook = setImmediate(() => this.#expire());
    }, time);
  }

  #left(): number {
    const waited = performance.now() - this.#waitingSince;
    return Math.min(this.#wait?.limit ?? 0, this.#total - this.#used) - waited;
  }

  #expire(): void {
    const { limit, code } = this.#wait as Wait;
    this.stop();
    const isTotal = this.#used + 1 > this.#total;
    this.#onExpire(isTotal ? problem("timeout-total", { limit: this.#total }) : problem(code, { limit }));
  }
}

/** setTimeout treats longer delays as 1 ms. */
export const longestTimer: number = 2 ** 31 - 1;
