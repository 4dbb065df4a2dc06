// Whether a host wants to be left alone: it said 429, or Retry-After with a failure that is temporary. It gets its pause, whoever
// was told and whatever becomes of that document.
//
// What would have to wait for longer than `limits.retryAfter` is given up. So is everything else, once the host has asked for a pause
// again and again, as often as a document is retried. After a pause, one request goes first.
import type { HeaderList } from "../exchange.ts";
import { isTemporary, type Problem, problem } from "../problem.ts";
import { Gate } from "./gate.ts";
import { type Backoff, gentleDelay, retryAfterDelay, toDate } from "./retry.ts";

/** What a host asks for. */
export interface Pause {
  /** How long nothing is sent to it, in milliseconds. */
  readonly delay: number;
  /** Nothing is sent to it any more: why. */
  readonly refusal: Problem | undefined;
}

export interface PolitenessOptions {
  readonly retries: number;
  readonly longestPause: number;
  readonly backoff: Backoff;
}

/** Whether a response asks for a pause. */
export function asksForPause(status: number, headers: HeaderList): boolean {
  return status === 429 || (isTemporary(`http-${status}`) && retryAfterDelay(headers, Date.now()) !== undefined);
}

export class Politeness {
  readonly gate: Gate = new Gate();
  readonly #options: PolitenessOptions;
  // How often it asked, requests that were under way at the same time counted as one.
  #rounds = 0;
  #lastAsked = 0;
  #refusal: { readonly until: number; readonly reason: Problem } | undefined;

  constructor(options: PolitenessOptions) {
    this.#options = options;
  }

  /** Why nothing is sent to it at the moment, where the pause is too long to wait for. */
  get refusal(): Problem | undefined {
    if (this.#refusal !== undefined && this.#refusal.until <= performance.now()) this.#refusal = undefined;
    return this.#refusal?.reason;
  }

  /** Whether one request has to find out before others follow. */
  get isDoubtful(): boolean {
    return this.#rounds > 0;
  }

  /** A response that asks for nothing. A server in trouble may only have forgotten to. */
  calm(status: number): void {
    if (status < 500) this.#rounds = 0;
  }

  /** A response that asks for a pause, to a request that was sent at `sentAt`. */
  asked(status: number, headers: HeaderList, sentAt: number): Pause {
    const now = performance.now();
    if (this.#rounds === 0 || sentAt >= this.#lastAsked) {
      this.#rounds++;
      this.#lastAsked = now;
    }
    const { retries, longestPause, backoff } = this.#options;
    const said = retryAfterDelay(headers, Date.now());
    const delay = gentleDelay(said, this.#rounds, backoff);
    const isTooLong = said !== undefined && said > longestPause;
    if (isTooLong || this.#rounds > retries + 1) {
      const reason = problem("rate-limited", { status, retryAfter: toDate(Date.now() + delay) });
      // Who asks again after each pause is not asked any more.
      const until = isTooLong ? now + delay : Number.POSITIVE_INFINITY;
      if (this.#refusal === undefined || until > this.#refusal.until) this.#refusal = { until, reason };
    }
    return { delay, refusal: this.#refusal?.reason };
  }
}
