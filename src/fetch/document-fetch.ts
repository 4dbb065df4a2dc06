// Fetches one URL: waits for a slot, sends the request, and retries temporary failures. The result is a document, a redirect or
// a failure; the crawl follows redirects.
import type { Client } from "../model/client.ts";
import type { RequestEvent, ResponseEvent, RetryEvent } from "../model/event.ts";
import type { DocumentRequest, FailedFetch, FailureOutcome, Fetched, FetchedRedirect } from "../model/exchange.ts";
import type { Settings, Timeouts } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { failureOf, isChallenge, isRedirect, outcomeOfProblem } from "../model/status.ts";
import { parseUrl, withoutCredentials } from "../model/url.ts";
import { refusalOf } from "./address-policy.ts";
import type { Head } from "./answer.ts";
import { WireBody } from "./body.ts";
import type { Cancellation } from "./cancellation.ts";
import type { HostRecords } from "./host-records.ts";
import type { Pause } from "./politeness.ts";
import { HttpRequest, OutgoingRequest, type Pulled } from "./request.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { type Backoff, backoffDelay, isRetryable, toDate } from "./retry.ts";
import type { SharedLimits } from "./shared-limits.ts";
import type { Throttle } from "./throttle.ts";
import { Clock } from "./timeouts.ts";
import { acquireTurn, type Turn } from "./turn.ts";

/** What all requests of a run share. */
export interface FetchContext {
  readonly settings: Settings;
  readonly client: Client;
  readonly throttle: Throttle;
  /** Limits that several crawls share. */
  readonly shared: SharedLimits | undefined;
  readonly hosts: HostRecords;
  readonly headers: RequestHeaders;
  /** May be on private addresses: those of the URLs that the caller gave. */
  readonly trustedOrigins: ReadonlySet<string>;
  readonly backoff: Backoff;
  readonly onEvent: (event: RequestEvent | RetryEvent | ResponseEvent) => void;
}

export class DocumentFetch {
  readonly #context: FetchContext;
  readonly #request: DocumentRequest;
  readonly #caller: Cancellation;
  readonly #onEnd: () => void;
  readonly #url: string;
  readonly #target: URL | null;
  #attempts = 1;
  // When the request of this attempt was sent and answered.
  #sentAt = 0;
  #answered: Pick<Fetched, "receivedAt" | "firstByte"> = {};
  #clock: Clock;
  // Counts what is still running: this fetch, the body being received, bodies being discarded.
  #pending = 1;

  /** `onEnd` is called when nothing is running any more: after the last byte of the body, or when its reader leaves. */
  constructor(context: FetchContext, request: DocumentRequest, caller: Cancellation, onEnd: () => void) {
    this.#context = context;
    this.#request = request;
    this.#caller = caller;
    this.#onEnd = onEnd;
    this.#clock = newClock(context.settings.timeout);
    this.#url = withoutCredentials(request.url);
    this.#target = parseUrl(this.#url);
  }

  /** Rejects only with the caller's reason. */
  async run(): Promise<Fetched> {
    try {
      for (let fetched: Fetched | undefined; ; ) {
        fetched = await this.#attempt();
        if (fetched !== undefined) return fetched;
      }
    } finally {
      this.#release();
    }
  }

  // Undefined if it has to be retried.
  async #attempt(): Promise<Fetched | undefined> {
    const target = this.#target;
    if (target === null) return this.#fail("failed", problem("url-invalid", { value: this.#url }));
    const { origin } = target;
    const allowPrivate = this.#allowsPrivate(origin);
    const refusal = refusalOf(target, allowPrivate);
    if (refusal !== undefined) return this.#fail("refused", refusal);

    const { throttle, shared, client, headers, settings, onEvent } = this.#context;
    const isRetry = this.#attempts > 1;
    const turn = await acquireTurn(this.#context, {
      target,
      isTrusted: allowPrivate,
      isRetry,
      goesFirst: isRetry || this.#request.isRedirected === true,
      caller: this.#caller,
    });
    if ("code" in turn) return this.#giveUp(turn);
    const { admission, slot } = turn;
    let request: HttpRequest | undefined;
    try {
      const { anonymous, conditional, cookie } = this.#request;
      const own = headers(origin, anonymous !== true);
      const cookies = [own["cookie"], cookie?.()].filter((each) => each !== undefined).join("; ");
      const sent = { ...own, ...conditional, ...(cookies === "" ? {} : { cookie: cookies }) };
      const outgoing = new OutgoingRequest(target, sent, allowPrivate, this.#attempts, shared !== undefined);
      const { firstByte, idle } = settings.timeout;
      request = new HttpRequest(outgoing, { clock: this.#clock, firstByte, idle }, this.#caller);
      onEvent({ type: "request", url: this.#url, attempt: this.#attempts });
      admission.sent();
      this.#sentAt = performance.now();
      const head = await request.send(client);
      slot.answered();
      this.#answered = { receivedAt: new Date().toISOString(), firstByte: this.#sinceSent() };
      if ("code" in head) {
        request.end();
        // Before the slot is released: the next request depends on it.
        const mayRetry = admission.failed(head, this.#wantsRetry(head));
        slot.release();
        admission.end();
        return await this.#failOrRetry(outcomeOfProblem(head), head, mayRetry);
      }
      const pause = admission.answered(head.status, head.headers);
      if (pause !== undefined && pause.refusal === undefined) {
        throttle.pause(target.hostname, pause.delay);
        shared?.pause(target, pause.delay);
      }
      admission.end();
      if (head.status === 200 && !isChallenge(head.status, head.headers)) {
        return await this.#document(request, head, slot);
      }
      this.#discard(request, head, slot);
      return isRedirect(head.status) ? this.#redirect(head) : await this.#refused(head, pause);
    } catch (error) {
      request?.end();
      slot.release();
      throw error;
    } finally {
      admission.end();
    }
  }

  async #document(request: HttpRequest, head: Head, slot: Turn): Promise<Fetched | undefined> {
    // A body that breaks before its first byte counts as no response.
    const first: Pulled = await request.pull(head.body);
    if ("code" in first) {
      request.end();
      slot.release();
      return this.#failOrRetry("failed", first, this.#wantsRetry(first), head);
    }
    const { robotsBytes, documentBytes } = this.#context.settings.limits;
    const isRobots = this.#request.role === "robots";
    this.#pending++;
    const body = new WireBody(first.done ? undefined : first.value, {
      request,
      rest: head.body,
      limit: isRobots ? robotsBytes : documentBytes,
      limitCode: isRobots ? "limit-robots-bytes" : "limit-document-bytes",
      sinceSent: () => this.#sinceSent(),
      onSlotFree: () => slot.lend(),
      onEnd: () => {
        slot.release();
        this.#release();
      },
    });
    return { outcome: "found", ...this.#asked(), status: head.status, headers: head.headers, body };
  }

  #redirect({ status, headers }: Head): FetchedRedirect {
    return { outcome: "redirect", ...this.#asked(), status, headers };
  }

  async #refused(head: Head, pause: Pause | undefined): Promise<Fetched | undefined> {
    const { outcome, reason } = failureOf(head.status, head.headers);
    if (pause?.refusal === undefined) return this.#failOrRetry(outcome, reason, this.#wantsRetry(reason), head, pause);
    const facts = { status: head.status, retryAfter: toDate(Date.now() + pause.delay) };
    return this.#fail(outcome, problem("rate-limited", facts), head);
  }

  async #failOrRetry(
    outcome: FailureOutcome,
    reason: Problem,
    isRetried: boolean,
    head?: Head,
    pause?: Pause,
  ): Promise<FailedFetch | undefined> {
    if (!isRetried) return this.#fail(outcome, reason, head);
    const { settings, backoff, onEvent } = this.#context;
    const delay = pause?.delay ?? backoffDelay(this.#attempts, backoff);
    onEvent({ type: "retry", url: this.#url, attempt: this.#attempts, delay, reason });
    // A pause applies to the whole host: the throttle waits for it.
    if (pause === undefined) await sleep(delay, this.#caller);
    this.#attempts++;
    this.#clock.end();
    this.#clock = newClock(settings.timeout);
    return undefined;
  }

  #wantsRetry(reason: Problem): boolean {
    return isRetryable(reason) && this.#attempts <= this.#context.settings.retries;
  }

  // The host does not answer, or refuses further requests: none was sent.
  #giveUp(reason: Problem): FailedFetch {
    return { ...this.#fail(outcomeOfProblem(reason), reason), attempts: this.#attempts - 1 };
  }

  #fail(outcome: FailureOutcome, reason: Problem, head?: Head): FailedFetch {
    const answer = head && { status: head.status, headers: head.headers };
    return { outcome, ...this.#asked(), ...answer, reason };
  }

  #asked(): Pick<Fetched, "url" | "role" | "anonymous" | "attempts" | "receivedAt" | "firstByte"> {
    const { role, anonymous } = this.#request;
    return { url: this.#url, role, ...(anonymous ? { anonymous } : {}), attempts: this.#attempts, ...this.#answered };
  }

  // In whole milliseconds.
  #sinceSent(): number {
    return Math.round(performance.now() - this.#sentAt);
  }

  // Not awaited; the slot is kept meanwhile.
  #discard(request: HttpRequest, head: Head, slot: Turn): void {
    this.#pending++;
    void request.discard(head).then(() => {
      slot.release();
      this.#release();
    });
  }

  #release(): void {
    this.#pending--;
    if (this.#pending > 0) return;
    this.#clock.end();
    this.#onEnd();
  }

  #allowsPrivate(origin: string): boolean {
    const { network } = this.#context.settings;
    if (network === "allow-private") return true;
    return network === "default" && this.#context.trustedOrigins.has(origin);
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
