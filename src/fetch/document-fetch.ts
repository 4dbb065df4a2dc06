// Fetches one URL: waits for a slot, sends the request, and retries temporary failures. The result is a document, a redirect or
// a failure; the crawl follows redirects.
import type { Client } from "../client.ts";
import type { RequestEvent, ResponseEvent, RetryEvent } from "../event.ts";
import type { DocumentRequest, FailedFetch, FailureOutcome, Fetched, FetchedRedirect } from "../exchange.ts";
import type { Settings, Timeouts } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import { failureOf, isChallenge, isRedirect } from "../status.ts";
import { parseUrl, withoutCredentials } from "../url.ts";
import { refusalOf } from "./address-policy.ts";
import type { Cancellation } from "./cancellation.ts";
import { Clock } from "./clock.ts";
import type { Admission, HostRecords } from "./host-records.ts";
import { outcomeOfProblem } from "./outcome.ts";
import type { Pause } from "./politeness.ts";
import { type Head, HttpRequest, OutgoingRequest, type Pulled } from "./request.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { type Backoff, backoffDelay, isRetryable, toDate } from "./retry.ts";
import type { Applicant, SharedLimits } from "./shared-limits.ts";
import type { Slot, Throttle } from "./throttle.ts";
import { WireBody } from "./wire-body.ts";

/** What all requests of a run share. */
export interface FetchContext {
  readonly settings: Settings;
  readonly client: Client;
  readonly throttle: Throttle;
  /** Limits that other crawls count for, too. */
  readonly shared: SharedLimits | undefined;
  readonly hosts: HostRecords;
  readonly headers: RequestHeaders;
  readonly startOrigins: ReadonlySet<string>;
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
  // When the request of this attempt went out, and when it was answered.
  #sentAt = 0;
  #answered: Pick<Fetched, "receivedAt" | "firstByte"> = {};
  #clock: Clock;
  // This fetch itself, a body that still comes in, and bodies that are being discarded.
  #pending = 1;

  /** `onEnd` is called when nothing happens any more: after the last byte of the body, or its end by the reader. */
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

  // Undefined where it has to be tried again.
  async #attempt(): Promise<Fetched | undefined> {
    const target = this.#target;
    if (target === null) return this.#fail("failed", problem("url-invalid", { value: this.#url }));
    const { origin } = target;
    const allowPrivate = this.#allowsPrivate(origin);
    const refusal = refusalOf(target, allowPrivate);
    if (refusal !== undefined) return this.#fail("refused", refusal);

    const { throttle, shared, client, headers, settings, onEvent } = this.#context;
    const turn = await this.#turn(target, allowPrivate);
    if ("code" in turn) return this.#giveUp(turn);
    const { admission, slot } = turn;
    let request: HttpRequest | undefined;
    try {
      const sent = { ...headers(origin, this.#request.anonymous !== true), ...this.#request.conditional };
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
        // Before the next one gets the slot.
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

  // The host's own word first, then a place in the line; what was learned while waiting there counts, too.
  async #turn(target: URL, isTrusted: boolean): Promise<{ admission: Admission; slot: Turn } | Problem> {
    const { hosts, throttle, shared } = this.#context;
    const goesFirst = this.#attempts > 1 || this.#request.isRedirected === true;
    for (;;) {
      const admitted = hosts.admit(target, this.#caller);
      // Without a wait where there is none: whoever asks next sees that this place is taken.
      const admission = admitted instanceof Promise ? await admitted : admitted;
      if ("code" in admission) return admission;
      try {
        const slot = await throttle.acquire(target.hostname, this.#caller, goesFirst, () => admission.isStale);
        if (slot !== undefined && shared === undefined) return { admission, slot: ownTurn(slot) };
        if (slot !== undefined) {
          const isKnown = hosts.hasAnswered(target);
          const applicant = { target, isTrusted, isRetry: this.#attempts > 1, isKnown };
          const turn = await sharedTurn(slot, shared as SharedLimits, applicant, this.#caller);
          if (!admission.isStale) return { admission, slot: turn };
          turn.release();
        }
      } catch (error) {
        admission.end();
        throw error;
      }
      admission.end();
    }
  }

  async #document(request: HttpRequest, head: Head, slot: Turn): Promise<Fetched | undefined> {
    // An attempt whose body breaks before its first byte brought nothing: it is like one without a response.
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
    // A pause is for the whole host: there, everybody waits for their turn.
    if (pause === undefined) await sleep(delay, this.#caller);
    this.#attempts++;
    this.#clock.end();
    this.#clock = newClock(settings.timeout);
    return undefined;
  }

  #wantsRetry(reason: Problem): boolean {
    return isRetryable(reason) && this.#attempts <= this.#context.settings.retries;
  }

  // The host is known not to answer, or not to want to.
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

  // In milliseconds; fractions of them tell nobody anything.
  #sinceSent(): number {
    return Math.round(performance.now() - this.#sentAt);
  }

  // Nobody waits for this; the slot is kept meanwhile.
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
    return network === "default" && this.#context.startOrigins.has(origin);
  }
}

/** The right to one request, by all limits there are. */
interface Turn extends Slot {
  /** The response began. */
  answered(): void;
}

function ownTurn(slot: Slot): Turn {
  return { ...slot, answered: () => {} };
}

async function sharedTurn(slot: Slot, shared: SharedLimits, applicant: Applicant, caller: Cancellation): Promise<Turn> {
  try {
    const other = await shared.acquire(applicant, caller);
    return {
      answered: () => other.answered(),
      lend() {
        other.lend();
        slot.lend();
      },
      release() {
        other.release();
        slot.release();
      },
    };
  } catch (error) {
    slot.release();
    throw error;
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
