// The pauses that a host asks for, with 429 or with Retry-After on a temporary failure. They apply to the whole host,
// whatever happens to the document. Requests that would have to wait longer than `limits.retryAfter` fail; so do all
// requests, once the host has asked for a pause as often as a document is retried. After a pause, one request goes
// first.
import type { HeaderList } from "../model/exchange.ts";
import { isTemporary, type Problem, problem } from "../model/problem.ts";
import { Gate } from "./gate.ts";
import { type Backoff, gentleDelay, retryAfterDelay, toDate } from "./retry.ts";

/** What a host asks for. */
export interface Pause {
  /** How long to send nothing to the host, in milliseconds. */
  readonly delay: number;
  /** Why nothing more is sent to the host. */
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
  // How often the host asked; requests that ran at the same time count once.
  #rounds = 0;
  #lastAsked = 0;
  #refusal: { readonly until: number; readonly reason: Problem } | undefined;

  constructor(options: PolitenessOptions) {
    this.#options = options;
  }

  /** Why nothing is sent to the host now, if its pause is too long to wait for. */
  get refusal(): Problem | undefined {
    if (this.#refusal !== undefined && this.#refusal.until <= performance.now()) this.#refusal = undefined;
    return this.#refusal?.reason;
  }

  /** Whether one request has to go first. */
  get isDoubtful(): boolean {
    return this.#rounds > 0;
  }

  /** A response that asks for no pause. A failing server may simply have omitted it. */
  calm(status: number): void {
    if (status < 500) this.#rounds = 0;
  }

  /** A response that asks for a pause; its request was sent at `sentAt`. */
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
      // A host that asks again after each pause gets no more requests.
      const until = isTooLong ? now + delay : Number.POSITIVE_INFINITY;
      if (this.#refusal === undefined || until > this.#refusal.until) this.#refusal = { until, reason };
    }
    return { delay, refusal: this.#refusal?.reason };
  }
}
