// One request for one URL: a turn, then the request, then again where a retry makes sense. The answer is a document, a
// redirect, or a failure; where a redirect leads is for the crawl to follow.
import type { Client } from "../client.ts";
import type { RequestEvent, ResponseEvent, RetryEvent } from "../event.ts";
import type {
  DocumentRequest,
  FailedFetch,
  FailureOutcome,
  Fetched,
  FetchedRedirect,
  HeaderList,
} from "../exchange.ts";
import type { Settings, Timeouts } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import { failureOf, isChallenge, isRedirect } from "../status.ts";
import { parseUrl, withoutCredentials } from "../url.ts";
import { refusalOf } from "./address-policy.ts";
import type { Cancellation } from "./cancellation.ts";
import { Clock } from "./clock.ts";
import { outcomeOfProblem } from "./outcome.ts";
import { type Head, HttpRequest, OutgoingRequest, type Pulled } from "./request.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { type Backoff, backoffDelay, isRetryable, retryAfterDelay, toDate } from "./retry.ts";
import type { Slot, Throttle } from "./throttle.ts";
import { WireBody } from "./wire-body.ts";

/** What all requests of a run share. */
export interface FetchContext {
  readonly settings: Settings;
  readonly client: Client;
  readonly throttle: Throttle;
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

    const { throttle, client, headers, settings, onEvent } = this.#context;
    const goesFirst = this.#attempts > 1 || this.#request.isRedirected === true;
    const slot = await throttle.acquire(target.hostname, this.#caller, goesFirst);
    const sent = headers(origin, this.#request.anonymous !== true);
    const outgoing = new OutgoingRequest(target, sent, allowPrivate, this.#attempts);
    const { firstByte, idle } = settings.timeout;
    const request = new HttpRequest(outgoing, { clock: this.#clock, firstByte, idle }, this.#caller);
    try {
      onEvent({ type: "request", url: this.#url, attempt: this.#attempts });
      const head = await request.send(client);
      if ("code" in head) {
        request.end();
        slot.release();
        return await this.#failOrRetry(outcomeOfProblem(head), head);
      }
      if (head.status === 200 && !isChallenge(head.status, head.headers)) {
        return await this.#document(request, head, slot);
      }
      this.#discard(request, head, slot);
      return isRedirect(head.status) ? this.#redirect(head) : await this.#refused(head);
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
    const { robotsBytes, documentBytes } = this.#context.settings.limits;
    const isRobots = this.#request.role === "robots";
    this.#pending++;
    const body = new WireBody(first.done ? undefined : first.value, {
      request,
      rest: head.body,
      limit: isRobots ? robotsBytes : documentBytes,
      limitCode: isRobots ? "limit-robots-bytes" : "limit-document-bytes",
      onQuiet: () => slot.lend(),
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

  async #refused(head: Head): Promise<Fetched | undefined> {
    const { outcome, reason } = failureOf(head.status, head.headers);
    return this.#failOrRetry(outcome, reason, head);
  }

  async #failOrRetry(outcome: FailureOutcome, reason: Problem, head?: Head): Promise<FailedFetch | undefined> {
    const { settings, backoff, throttle, onEvent } = this.#context;
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
    return { outcome, ...this.#asked(), ...answer, reason };
  }

  #asked(): Pick<Fetched, "url" | "role" | "anonymous" | "attempts"> {
    const { role, anonymous } = this.#request;
    return { url: this.#url, role, ...(anonymous ? { anonymous } : {}), attempts: this.#attempts };
  }

  // Nobody waits for this; the slot is kept meanwhile.
  #discard(request: HttpRequest, head: Head, slot: Slot): void {
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
