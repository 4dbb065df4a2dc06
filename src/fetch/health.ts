// The health of one host: decides, without timers or I/O, whether it gets more requests and how long it asked to be left alone. The
// caller supplies all times, on the clock of performance.now().
// - 429, or Retry-After on a temporary failure, asks for a pause. During too long a pause, or after too many, requests are refused.
// - An origin that has never responded gets one request at a time after the first failure, and none after two failed documents.
import type { HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { hasNoResponse, isTemporary, type Problem, problem } from "../model/problem.ts";
import { type Backoff, mostFailures, OriginRecord, pauseDelay, retryAfterDelay, toDate } from "./retry.ts";

/** The pause that a host asks for. */
export interface Pause {
  /** How long to send nothing to the host, in milliseconds. */
  readonly delay: number;
  /** Why nothing more is sent to the host, if so. */
  readonly refusal: Problem | undefined;
}

export class HostHealth {
  readonly #settings: Pick<Settings, "retries" | "limits">;
  readonly #backoff: Backoff;
  readonly #origins = new Map<string, OriginRecord>();
  // How often in a row the host asked for a pause, and when it did so last.
  readonly #host: Probed & { pauses: number; pausedAt: number } = { isProbed: false, pauses: 0, pausedAt: 0 };
  #refusal: { readonly until: number; readonly reason: Problem } | undefined;

  constructor(settings: Pick<Settings, "retries" | "limits">, backoff: Backoff) {
    this.#settings = settings;
    this.#backoff = backoff;
  }

  origin(name: string): OriginRecord {
    const origin = this.#origins.get(name) ?? new OriginRecord(false);
    this.#origins.set(name, origin);
    return origin;
  }

  /** Returns why the origin gets no more requests, if so. */
  refusalOf(origin: string, now: number): Problem | undefined {
    if (this.#refusal !== undefined && this.#refusal.until <= now) this.#refusal = undefined;
    return this.#origins.get(origin)?.refusal ?? this.#refusal?.reason;
  }

  /** Whether a request is probing the host or the origin. Other requests must wait for its result. */
  isProbed(origin: string): boolean {
    return this.#doubtful(origin).some((doubt) => doubt.isProbed);
  }

  /** Starts a request. Call the returned function at its end: it tells whether the request was a probe that others wait for. */
  startRequest(origin: string): () => boolean {
    const probed = this.#doubtful(origin);
    for (const doubt of probed) doubt.isProbed = true;
    return () => {
      const ended = probed.splice(0);
      for (const doubt of ended) doubt.isProbed = false;
      return ended.length > 0;
    };
  }

  /** Records a response. `sentAt` is when the request was sent. */
  answered(name: string, status: number, headers: HeaderList, sentAt: number, now: number): Pause | undefined {
    const { hasAnswered, onlyErrors } = this.origin(name);
    const isFailing = !hasAnswered || onlyErrors > 0;
    this.#origins.set(name, new OriginRecord(true, status >= 500 && isFailing ? onlyErrors + 1 : 0));
    if (asksForPause(status, headers)) return this.#pause(status, headers, sentAt, now);
    // A server error does not end the pauses: the server may have omitted Retry-After by mistake.
    if (status < 500) this.#host.pauses = 0;
    return undefined;
  }

  /** Records that no response arrived within `elapsed` milliseconds. `isRetried` means that the request will be sent again. */
  failed(name: string, reason: Problem, elapsed: number, isRetried: boolean): void {
    if (!hasNoResponse(reason.code)) return;
    const origin = this.origin(name);
    origin.failures++;
    origin.wasted += elapsed;
    if (isRetried) origin.wasRetried = true;
    else origin.failedDocuments++;
    const isDown = origin.hasAnswered
      ? origin.failures >= mostFailures && origin.wasted >= mostWasted
      : origin.failedDocuments >= 2;
    if (isDown && !isRetried) origin.refusal = reason;
  }

  // Returns the host, the origin, both or neither: those for which a single request must first probe whether they respond again.
  #doubtful(name: string): Probed[] {
    const origin = this.#origins.get(name);
    const list: Probed[] = this.#host.pauses > 0 ? [this.#host] : [];
    if (origin !== undefined && origin.failures >= (origin.hasAnswered ? mostFailures : 1)) list.push(origin);
    return list;
  }

  #pause(status: number, headers: HeaderList, sentAt: number, now: number): Pause {
    const { retries, limits } = this.#settings;
    const host = this.#host;
    // Responses to concurrent requests that ask for a pause count as one pause.
    if (host.pauses === 0 || sentAt >= host.pausedAt) {
      host.pauses++;
      host.pausedAt = now;
    }
    const asked = retryAfterDelay(headers, Date.now());
    const delay = pauseDelay(asked, host.pauses, this.#backoff);
    const isTooLong = asked !== undefined && asked > limits.retryAfter;
    if (isTooLong || host.pauses > retries + 1) {
      const reason = problem("rate-limited", { status, retryAfter: toDate(Date.now() + delay) });
      // A host that asks again after each pause gets no more requests.
      const until = isTooLong ? now + delay : Number.POSITIVE_INFINITY;
      if (until > (this.#refusal?.until ?? 0)) this.#refusal = { until, reason };
    }
    return { delay, refusal: this.#refusal?.reason };
  }
}

interface Probed {
  isProbed: boolean;
}

function asksForPause(status: number, headers: HeaderList): boolean {
  return status === 429 || (isTemporary(`http-${status}`) && retryAfterDelay(headers, Date.now()) !== undefined);
}

// An origin that has responded before is given up only after failures that took this many milliseconds in total.
const mostWasted = 60_000;
