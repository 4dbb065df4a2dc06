// Whether an origin answers at all, and what follows from that for the next request.
//
// One that has never answered gets one retry in all, and is given up with the second document that fails; from the first failure
// on it is asked for one document at a time. One that answered before and no longer does gets more patience: eight failures in a row end
// its retries, and when a minute was spent in vain as well, it is given up.
import type { Problem, ProblemCode } from "../problem.ts";
import { Gate } from "./gate.ts";

export class Reachability {
  readonly gate: Gate = new Gate();
  /** Why it is not asked any more. */
  refusal: Problem | undefined;
  #hasAnswered: boolean;
  #retried = false;
  // All of these since the last answer.
  #failures = 0;
  #failedDocuments = 0;
  #wasted = 0;

  constructor(hasAnswered: boolean) {
    this.#hasAnswered = hasAnswered;
  }

  /** Whether one request has to find out before others follow. */
  get isDoubtful(): boolean {
    return this.#failures >= (this.#hasAnswered ? mostFailures : 1);
  }

  /** Something came, whatever it says. */
  answered(): void {
    this.#hasAnswered = true;
    this.#failures = 0;
    this.#failedDocuments = 0;
    this.#wasted = 0;
    this.refusal = undefined;
  }

  /** An attempt failed after so many milliseconds. `isRetryable`: the document would be tried again; tells whether it may. */
  failed(reason: Problem, elapsed: number, isRetryable: boolean): boolean {
    if (!isUnreachable(reason)) return isRetryable;
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

/** Whether a problem means that no response came from a host. */
export function isUnreachable(reason: Problem | undefined): boolean {
  return reason !== undefined && unreachable.has(reason.code);
}

const unreachable: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "dns-not-found",
  "dns-temporary",
  "timeout-connect",
  "timeout-tls",
  "timeout-first-byte",
  "timeout-total",
  "connection-refused",
  "connection-reset",
  "connection-failed",
  "tls-certificate",
  "tls-failed",
  "proxy-failed",
  "proxy-refused",
  "http-protocol",
]);

const mostFailures = 8;

// In milliseconds, the time of requests that ran side by side added up.
const mostWaste = 60_000;
