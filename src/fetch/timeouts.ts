// Timeouts: one for each wait, and one for all waits together. They run only while we wait for the website: not while a request
// is queued, nor while the reader of the body is slow, nor while this process does not run.
import { type Problem, problem } from "../model/problem.ts";

/** One wait: its limit in milliseconds, and the problem once that has passed. */
export interface Wait {
  readonly limit: number;
  readonly code: "timeout-connect" | "timeout-tls" | "timeout-first-byte" | "timeout-idle";
}

export class Clock {
  readonly #total: number;
  readonly #shortest: number;
  readonly #onExpire: (expired: Problem) => void;
  #wait: Wait | undefined;
  #waitingSince = 0;
  #used = 0;
  // One timer serves all waits: it is set for the shortest limit, and set again if it fires too early. Most requests end
  // before that, and no timer has to be set for each chunk of a body.
  #timer: NodeJS.Timeout | undefined;
  #due = 0;
  #lastLook: NodeJS.Immediate | undefined;

  /** `shortest`: no wait has a shorter limit. `onExpire` is called once, and only during a wait. */
  constructor(total: number, shortest: number, onExpire: (expired: Problem) => void) {
    this.#total = total;
    this.#shortest = shortest;
    this.#onExpire = onExpire;
  }

  /** Begins a wait, and ends the one before. */
  start(wait: Wait): void {
    this.stop();
    this.#wait = wait;
    this.#waitingSince = performance.now();
    if (this.#timer === undefined && this.#lastLook === undefined)
      this.#setTimer(Math.min(this.#shortest, wait.limit, this.#total - this.#used));
  }

  stop(): void {
    if (this.#wait === undefined) return;
    this.#wait = undefined;
    this.#used += performance.now() - this.#waitingSince;
  }

  /** Must be called at the end: a running timer keeps the process alive. */
  end(): void {
    this.stop();
    clearTimeout(this.#timer);
    clearImmediate(this.#lastLook);
    this.#timer = undefined;
    this.#lastLook = undefined;
  }

  #setTimer(delay: number): void {
    if (delay === Number.POSITIVE_INFINITY) return;
    const time = Math.min(Math.max(delay, 0), longestTimer);
    this.#due = performance.now() + time;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // So late that this process cannot have run: it was stopped, or somebody's code kept it busy. The wait begins again.
      if (performance.now() - this.#due > longestLate) this.#waitingSince = performance.now();
      this.#check(false);
    }, time);
  }

  #check(isLastLook: boolean): void {
    this.#lastLook = undefined;
    if (this.#wait === undefined) return;
    const waited = performance.now() - this.#waitingSince;
    const ofWait = this.#wait.limit - waited;
    const ofTotal = this.#total - this.#used - waited;
    // A timer may fire a fraction of a millisecond early.
    if (ofTotal >= 1 && ofWait >= 1) this.#setTimer(Math.min(this.#shortest, ofWait, ofTotal));
    // What has arrived is read first: it may have been there for long.
    else if (!isLastLook) this.#lastLook = setImmediate(() => this.#check(true));
    else {
      const { limit, code } = this.#wait;
      this.end();
      this.#onExpire(ofTotal < 1 ? problem("timeout-total", { limit: this.#total }) : problem(code, { limit }));
    }
  }
}

// In milliseconds: a timer that fires later than that shows that this process did not run.
const longestLate = 1000;

/** setTimeout treats longer delays as 1 ms. */
export const longestTimer: number = 2 ** 31 - 1;
