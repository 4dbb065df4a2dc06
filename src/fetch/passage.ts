// The way of one request to its document: a turn for each step, redirects by hand, retries where they make sense.
import type { Client } from "../client.ts";
import type { RequestEvent, ResponseEvent, RetryEvent } from "../event.ts";
import type {
  DocumentRequest,
  FailedFetch,
  FailureOutcome,
  Fetched,
  HeaderList,
  Hop,
  KnownDocument,
} from "../exchange.ts";
import type { Settings, Timeouts } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import { urlKey, withoutCredentials } from "../url.ts";
import { refusalOf } from "./address-policy.ts";
import type { Cancellation } from "./cancellation.ts";
import { Clock } from "./clock.ts";
import { failureOf, isChallenge, outcomeOfProblem } from "./outcome.ts";
import { isRedirect, redirectTarget } from "./redirect.ts";
import { type Head, HttpRequest, OutgoingRequest, type Pulled } from "./request.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { type Backoff, backoffDelay, isRetryable, retryAfterDelay, toDate } from "./retry.ts";
import type { Slot, Throttle } from "./throttle.ts";
import { WireBody } from "./wire-body.ts";

/** What all requests of a run share. */
export interface Surroundings {
  readonly settings: Settings;
  readonly client: Client;
  readonly throttle: Throttle;
  readonly headers: RequestHeaders;
  readonly startOrigins: ReadonlySet<string>;
  readonly backoff: Backoff;
  readonly onEvent: (event: RequestEvent | RetryEvent | ResponseEvent) => void;
}

export class Passage {
  readonly #around: Surroundings;
  readonly #request: DocumentRequest;
  readonly #caller: Cancellation;
  readonly #onEnd: () => void;
  readonly #requestedUrl: string;
  readonly #hops: Hop[] = [];
  readonly #problems: Problem[] = [];
  // The keys of the URLs of this chain, where there is a redirect.
  #visited: Set<string> | undefined;
  // The URL as it is told, and as it is asked for.
  #url: string;
  #target: URL | undefined;
  #trusted = false;
  #attempts = 1;
  #clock: Clock;
  // This passage itself, bodies that still come in, and bodies that are being discarded.
  #holders = 1;

  /** `onEnd` is called when nothing happens any more: after the last byte of the body, or its end by the reader. */
  constructor(around: Surroundings, request: DocumentRequest, caller: Cancellation, onEnd: () => void) {
    this.#around = around;
    this.#request = request;
    this.#caller = caller;
    this.#onEnd = onEnd;
    this.#clock = newClock(around.settings.timeout);
    this.#requestedUrl = withoutCredentials(request.url);
    this.#url = this.#requestedUrl;
    try {
      this.#target = new URL(this.#url);
      this.#trusted = around.startOrigins.has(this.#target.origin);
    } catch {
      this.#target = undefined;
    }
  }

  /** Rejects only with the caller's reason. */
  async go(): Promise<Fetched> {
    try {
      for (let fetched: Fetched | undefined; ; ) {
        fetched = await this.#step();
        if (fetched !== undefined) return fetched;
      }
    } finally {
      this.#release();
    }
  }

  // One request. Undefined where it goes on: with a redirect or a retry.
  async #step(): Promise<Fetched | undefined> {
    const target = this.#target;
    if (target === undefined) return this.#fail("failed", problem("url-invalid", { value: this.#url }));
    const { origin } = target;
    const allowPrivate = this.#allowsPrivate(origin);
    const refusal = refusalOf(target, allowPrivate);
    if (refusal !== undefined) return this.#fail("refused", refusal);

    const { throttle, client, headers, settings, onEvent } = this.#around;
    const first = this.#attempts > 1 || this.#hops.length > 0;
    const slot = await throttle.acquire(target.hostname, this.#caller, first);
    const outgoing = new OutgoingRequest(target, headers(origin, this.#trusted), allowPrivate);
    const { firstByte, idle } = settings.timeout;
    const request = new HttpRequest(outgoing, { clock: this.#clock, firstByte, idle }, this.#caller);
    try {
      onEvent({ type: "request", url: this.#url, attempt: this.#attempts });
      const head = await request.send(client, settings.client === undefined);
      if ("code" in head) {
        request.end();
        slot.release();
        return await this.#failOrRetry(outcomeOfProblem(head), head);
      }
      if (head.status === 200 && !isChallenge(head.status, head.headers)) {
        return await this.#document(request, head, slot);
      }
      this.#discard(request, head, slot);
      return isRedirect(head.status) ? this.#redirect(head, target) : await this.#refused(head);
    } catch (error) {
      request.end();
      slot.release();
      throw error;
    }
  }

  async #document(request: HttpRequest, head: Head, slot: Slot): Promise<Fetched | undefined> {
    // An attempt whose body breaks before its first byte brought nothing: it is like one without a response.
    const first: Pulled = await request.pull(head.body);
    if ("code" in first) {
      request.end();
      slot.release();
      return this.#failOrRetry("failed", first, head);
    }
    const { robotsBytes, documentBytes } = this.#around.settings.limits;
    const isRobots = this.#request.role === "robots";
    this.#holders++;
    const body = new WireBody(first.done ? undefined : first.value, {
      request,
      rest: head.body,
      limit: isRobots ? robotsBytes : documentBytes,
      limitCode: isRobots ? "limit-robots-bytes" : "limit-document-bytes",
      onQuiet: () => slot.release(),
      onEnd: () => this.#release(),
    });
    return {
      outcome: "found",
      requestedUrl: this.#requestedUrl,
      url: this.#url,
      status: head.status,
      headers: head.headers,
      hops: this.#hops,
      attempts: this.#attempts,
      problems: this.#problems,
      body,
    };
  }

  #redirect({ status, headers }: Head, from: URL): Fetched | undefined {
    const { limits } = this.#around.settings;
    const redirect = redirectTarget(headers, from.href, limits.urlLength);
    if ("code" in redirect) return this.#fail(outcomeOfProblem(redirect), redirect, { status, headers });
    const { target } = redirect;
    this.#visited ??= new Set();
    this.#visited.add(urlKey(from.href));
    const limit = this.#request.role === "robots" ? limits.robotsRedirects : limits.redirects;
    if (this.#hops.length >= limit)
      return this.#fail("failed", problem("limit-redirects", { limit }), { status, headers });
    if (this.#visited.has(urlKey(target.href))) {
      return this.#fail("failed", problem("redirect-loop", { value: target.href }), { status, headers });
    }
    this.#hops.push({ url: this.#url, status, headers });
    if (redirect.problem !== undefined) this.#problems.push(redirect.problem);
    if (from.protocol === "https:" && target.protocol === "http:") {
      this.#problems.push(problem("redirect-downgrade", { value: target.href }));
    }
    // What left the start's origin does not come back: whoever it went through may have chosen where to.
    if (target.origin !== from.origin) this.#trusted = false;
    this.#url = target.href;
    this.#target = target;
    return this.#request.isKnown?.(target.href) === true ? this.#known() : undefined;
  }

  #known(): KnownDocument {
    return {
      outcome: "known",
      requestedUrl: this.#requestedUrl,
      url: this.#url,
      hops: this.#hops,
      attempts: this.#attempts,
      problems: this.#problems,
    };
  }

  async #refused(head: Head): Promise<Fetched | undefined> {
    const { outcome, reason } = failureOf(head.status, head.headers);
    return this.#failOrRetry(outcome, reason, head);
  }

  async #failOrRetry(outcome: FailureOutcome, reason: Problem, head?: Head): Promise<FailedFetch | undefined> {
    const { settings, backoff, throttle, onEvent } = this.#around;
    const answer = head && { status: head.status, headers: head.headers };
    const retryable = isRetryable(reason);
    const asked = retryable && head !== undefined ? retryAfterDelay(head.headers, Date.now()) : undefined;
    if (asked !== undefined && asked > settings.limits.retryAfter) {
      const facts = { status: head?.status ?? 0, retryAfter: toDate(Date.now() + asked) };
      return this.#fail(outcome, problem("rate-limited", facts), answer);
    }
    if (!retryable || this.#attempts > settings.retries) return this.#fail(outcome, reason, answer);
    const delay = asked ?? backoffDelay(this.#attempts, backoff);
    onEvent({ type: "retry", url: this.#url, attempt: this.#attempts, delay, reason });
    // Too many requests: that concerns everybody who wants something from this host.
    if (head?.status === 429) throttle.pause(this.#target?.hostname ?? "", delay);
    else await sleep(delay, this.#caller);
    this.#attempts++;
    this.#clock.end();
    this.#clock = newClock(settings.timeout);
    return undefined;
  }

  #fail(outcome: FailureOutcome, reason: Problem, answer?: { status: number; headers: HeaderList }): FailedFetch {
    return {
      outcome,
      requestedUrl: this.#requestedUrl,
      url: this.#url,
      ...(answer === undefined ? {} : { status: answer.status, headers: answer.headers }),
      hops: this.#hops,
      attempts: this.#attempts,
      reason,
    };
  }

  // Nobody waits for this; the slot is kept meanwhile.
  #discard(request: HttpRequest, head: Head, slot: Slot): void {
    this.#holders++;
    void request.discard(head).then(() => {
      slot.release();
      this.#release();
    });
  }

  #release(): void {
    this.#holders--;
    if (this.#holders > 0) return;
    this.#clock.end();
    this.#onEnd();
  }

  #allowsPrivate(origin: string): boolean {
    const { network } = this.#around.settings;
    if (network === "allow-private") return true;
    return network === "default" && this.#around.startOrigins.has(origin);
  }
}

function newClock({ total, firstByte, idle }: Timeouts): Clock {
  return new Clock(total, Math.min(firstByte, idle));
}

function sleep(milliseconds: number, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    if (cancellation.cancelled) return reject(cancellation.reason);
    const onCancel = () => {
      clearTimeout(timer);
      reject(cancellation.reason);
    };
    const timer = setTimeout(() => {
      cancellation.remove(onCancel);
      resolve();
    }, milliseconds);
    cancellation.add(onCancel);
  });
}
