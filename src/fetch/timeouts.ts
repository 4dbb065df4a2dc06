// The timeouts of one attempt: one for each wait, and one for the whole attempt. They run only while we wait for the
// website: not while a request is queued, nor while the reader of the body is slow, nor while this process does not run.
import { type Problem, problem } from "../model/problem.ts";

/** One wait: its limit in milliseconds, and the problem once that has passed. */
export interface Wait {
  readonly limit: number;
  readonly code: "timeout-first-byte" | "timeout-idle";
}

/** One clock for each attempt. */
export class Clock {
  /** Called once, and only during a wait. */
  onExpire: (expired: Problem) => void = () => {};
  readonly #total: number;
  readonly #shortest: number;
  #wait: Wait | undefined;
  #waitingSince = 0;
  #used = 0;
  // One timer serves all waits of an attempt: it is set for the shortest limit, and set again if it fires too early.
  // Most attempts end before that, and no timer has to be set for each chunk of a body.
  #timer: NodeJS.Timeout | undefined;
  #due = 0;
  #lastLook: NodeJS.Immediate | undefined;

  /** `shortest`: no wait has a shorter limit. */
  constructor(total: number, shortest: number) {
    this.#total = total;
    this.#shortest = shortest;
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
    this.#timer = setTimeout(() => this.#onTimer(), time);
  }

  #onTimer(): void {
    this.#timer = undefined;
    // So late that this process cannot have run: it was stopped, or somebody's code kept it busy. The wait begins again.
    if (performance.now() - this.#due > longestLate) this.#waitingSince = performance.now();
    this.#check(false);
  }

  #check(isLastLook: boolean): void {
    if (this.#wait === undefined) return;
    const waited = performance.now() - this.#waitingSince;
    const ofWait = this.#wait.limit - waited;
    const ofTotal = this.#total - this.#used - waited;
    // A timer may fire a fraction of a millisecond early.
    if (ofTotal >= 1 && ofWait >= 1) this.#setTimer(Math.min(this.#shortest, ofWait, ofTotal));
    else if (!isLastLook) this.#lastLook = setImmediate(() => this.#look());
    else if (ofTotal < 1) this.#expire(problem("timeout-total", { limit: this.#total }));
    else this.#expire(problem(this.#wait.code, { limit: this.#wait.limit }));
  }

  // After what has arrived was read: it may have been there for long.
  #look(): void {
    this.#lastLook = undefined;
    this.#check(true);
  }

  #expire(expired: Problem): void {
    this.end();
    this.onExpire(expired);
  }
}

/** In milliseconds: a timer that fires later than that shows that this process did not run. */
export const longestLate = 1000;

/** setTimeout treats longer delays as 1 ms. */
export const longestTimer: number = 2 ** 31 - 1;
