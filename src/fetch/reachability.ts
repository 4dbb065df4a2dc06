// Whether an origin answers at all, and what follows from that. An origin that has never answered gets one retry in
// all, one document at a time after the first failure, and no more requests after the second document that fails. An
// origin that answered before gets more: eight failures in a row end its retries, and a minute spent in vain ends its
// requests.
import { hasNoResponse, type Problem } from "../model/problem.ts";
import { Gate } from "./gate.ts";

export class Reachability {
  readonly gate: Gate = new Gate();
  /** Why no more requests are sent. */
  refusal: Problem | undefined;
  #hasAnswered: boolean;
  #retried = false;
  // Counted since the last answer.
  #failures = 0;
  #failedDocuments = 0;
  #wasted = 0;

  constructor(hasAnswered: boolean) {
    this.#hasAnswered = hasAnswered;
  }

  /** Whether one request has to go first. */
  get isDoubtful(): boolean {
    return this.#failures >= (this.#hasAnswered ? mostFailures : 1);
  }

  /** A response was received, with whatever status. */
  answered(): void {
    this.#hasAnswered = true;
    this.#failures = 0;
    this.#failedDocuments = 0;
    this.#wasted = 0;
    this.refusal = undefined;
  }

  /** An attempt failed after so many milliseconds. `isRetryable`: the failure is temporary. Returns whether it may be retried. */
  failed(reason: Problem, elapsed: number, isRetryable: boolean): boolean {
    if (!hasNoResponse(reason.code)) return isRetryable;
    this.#failures++;
    this.#wasted += elapsed;
    if (isRetryable && this.#takeRetry()) return true;
    this.#failedDocuments++;
    const isDown = this.#hasAnswered
      ? this.#failures >= mostFailures && this.#wasted >= mostWaste
      : this.#failedDocuments >= 2;
    if (isDown) this.refusal = reason;
    return false;
  }

  #takeRetry(): boolean {
    if (this.#hasAnswered) return this.#failures < mostFailures;
    const isFirst = !this.#retried;
    this.#retried = true;
    return isFirst;
  }
}

const mostFailures = 8;

// In milliseconds; the times of concurrent requests are added up.
const mostWaste = 60_000;
