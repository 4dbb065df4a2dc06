// Answers requests from the network: waits for a slot of the host, sends the request, and retries temporary failures. The result is a
// document, a redirect or a failure; the crawl follows redirects. Nothing that a website does makes this throw.
import type { Client } from "../model/client.ts";
import type { FetchEvent } from "../model/event.ts";
import type { DocumentRequest, DocumentSource, FailedFetch, FailureOutcome, Fetched } from "../model/exchange.ts";
import { number } from "../model/option-checks.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { failureOf, fetchedEvent, isChallenge, isDocument, isRedirect, outcomeOfProblem } from "../model/status.ts";
import { parseUrl, withoutCredentials } from "../model/url.ts";
import { FollowingController, sleep } from "./abort.ts";
import { policyRefusal } from "./address-policy.ts";
import { ResponseBody } from "./body.ts";
import { BuiltInClient } from "./client.ts";
import { secureContextOf } from "./connect.ts";
import type { Pause } from "./health.ts";
import { HostLimiter, type SharedLimits, type Slot } from "./limiter.ts";
import type { Lookup } from "./lookup.ts";
import { proxyChoice } from "./proxy.ts";
import { type RestRequest, requestForRest } from "./range.ts";
import { type Head, HttpRequest } from "./request.ts";
import { type RequestHeaders, requestHeaders } from "./request-headers.ts";
import { type Backoff, backoffDelay, defaultBackoff, mayRetry, toDate } from "./retry.ts";

export interface FetcherOptions {
  readonly settings: Settings;
  /** The URLs that the caller gave: the homepage, or the sitemaps. */
  readonly start: readonly string[];
  readonly onEvent?: FetchContext["onEvent"] | undefined;
  /** Limits that several crawls share. */
  readonly shared?: SharedLimits | undefined;
}

/** Parts that tests replace. */
export interface FetcherParts {
  readonly lookup?: Lookup | undefined;
  readonly backoff?: Partial<Backoff>;
  /** How long the reader of a body may pause before the slot is lent, in milliseconds. */
  readonly lendAfter?: number;
}

/** Throws a `SitemapError` if no client can be created with these settings, because of the proxy or certificates. */
export function expectUsable(settings: Settings): void {
  if (settings.client !== undefined) return;
  proxyChoice(settings.proxy);
  secureContextOf(settings);
}

/** What all requests of a run share. */
interface FetchContext {
  readonly settings: Settings;
  readonly client: Client;
  readonly hosts: HostLimiter;
  readonly headers: RequestHeaders;
  /** The origins of the URLs that the caller gave, which may be on private addresses. */
  readonly trustedOrigins: ReadonlySet<string>;
  readonly backoff: Backoff;
  readonly lendAfter: number;
  readonly closing: AbortSignal;
  readonly onEvent: (event: FetchEvent) => void;
}

export class Fetcher implements DocumentSource {
  readonly #context: FetchContext;
  readonly #closing = new AbortController();
  readonly #ownClient: BuiltInClient | undefined;

  constructor({ settings, start, shared, onEvent = () => {} }: FetcherOptions, parts: FetcherParts = {}) {
    const startUrls = start.flatMap((url) => parseUrl(url) ?? []);
    if (settings.client === undefined) this.#ownClient = new BuiltInClient(settings, parts.lookup ?? shared?.lookup);
    const backoffs = { ...defaultBackoff, ...parts.backoff };
    this.#context = {
      settings,
      client: settings.client ?? (this.#ownClient as Client),
      hosts: new HostLimiter(settings, backoffs, shared),
      headers: requestHeaders(settings, startUrls),
      trustedOrigins: new Set(startUrls.flatMap(bothSchemes)),
      backoff: backoffs,
      lendAfter: parts.lendAfter ?? 1000,
      closing: this.#closing.signal,
      onEvent,
    };
  }

  /** Fetches a document; may run hundreds of times in parallel. Rejects only with a signal's reason or an error of `onEvent` or `retry`. */
  async fetch(request: DocumentRequest): Promise<Fetched> {
    const { settings, closing, onEvent } = this.#context;
    // The signal of a request follows that of its crawl.
    const signal = request.signal ?? settings.signal;
    signal?.throwIfAborted();
    closing.throwIfAborted();
    const fetching = new DocumentFetch(this.#context, request, signal);
    try {
      const fetched = await fetching.run();
      const event = fetchedEvent(fetched);
      if (event !== undefined) onEvent(event);
      return fetched;
    } catch (error) {
      // A signal was aborted, or the caller's `onEvent` or `retry` threw.
      fetching.abort(error);
      throw error;
    }
  }

  variesByCredentials(url: string): boolean {
    const origin = parseUrl(url)?.origin ?? "";
    const { headers } = this.#context;
    return JSON.stringify(headers(origin, true)) !== JSON.stringify(headers(origin, false));
  }

  hasRoomFor(url: string, isSpare?: boolean): boolean {
    const target = parseUrl(url);
    return target !== null && this.#context.hosts.hasRoomFor(target, isSpare);
  }

  /** Sets the Crawl-delay of the URL's host, up to a minute. Without `useCrawlDelay`, does nothing. */
  setCrawlDelay(url: string, milliseconds: number): void {
    const { settings, hosts } = this.#context;
    const target = parseUrl(url);
    if (!settings.useCrawlDelay || !(milliseconds > 0) || target === null) return;
    hosts.setLeastDelay(target, Math.min(milliseconds, longestCrawlDelay));
  }

  /** Ends all requests, including their bodies. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("The fetcher was closed", "AbortError"));
    this.#context.hosts.close();
    // The caller's own client stays open, because it may serve other crawls.
    await this.#ownClient?.close();
  }
}

// On the default ports, http and https are the same website.
function bothSchemes({ origin, port, hostname }: URL): readonly string[] {
  return port === "" ? [`http://${hostname}`, `https://${hostname}`] : [origin];
}

class DocumentFetch {
  readonly #context: FetchContext;
  readonly #request: DocumentRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #url: string;
  readonly #end = { attempts: 1 };
  // Ends the current attempt. Each attempt has its own controller, because the body of an earlier one may still be in use.
  #controller: FollowingController | undefined;
  // How long to wait before the next attempt, in milliseconds.
  #delay = 0;
  // When the request of this attempt was sent, and when the response arrived.
  #sentAt = 0;
  #times: Pick<Fetched, "receivedAt" | "firstByte"> = {};
  // The first response with a document, the offset where its body broke, and the request for the rest.
  #whole: Head | undefined;
  #offset = 0;
  #rest: RestRequest | undefined;

  constructor(context: FetchContext, request: DocumentRequest, signal: AbortSignal | undefined) {
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    this.#url = withoutCredentials(request.url);
  }

  /** Makes all attempts. Rejects like `fetch`. */
  async run(): Promise<Fetched> {
    const target = parseUrl(this.#url);
    if (target === null) return this.#fail("failed", problem("url-invalid", { value: this.#url }));
    const { settings, trustedOrigins, hosts } = this.#context;
    const { network } = settings;
    const allowPrivate = network === "allow-private" || (network === "default" && trustedOrigins.has(target.origin));
    const refusal = policyRefusal(target, allowPrivate);
    if (refusal !== undefined) return this.#fail("refused", refusal);
    for (;;) {
      const controller = new FollowingController(this.#signal, this.#context.closing);
      this.#controller = controller;
      if (this.#delay > 0) await sleep(this.#delay, controller.signal);
      const isRetry = this.#end.attempts > 1;
      const traits = { isRetry, isRedirected: this.#request.isRedirected === true, isTrusted: allowPrivate };
      const slot = await hosts.acquire(target, controller.signal, traits);
      if ("code" in slot) {
        controller.release();
        // No request was sent: the host does not respond, or refuses further requests.
        this.#end.attempts--;
        return this.#fail(outcomeOfProblem(slot), slot);
      }
      try {
        const fetched = await this.#send(controller, target, allowPrivate, slot);
        if (fetched !== undefined) return fetched;
      } catch (error) {
        slot.release();
        throw error;
      }
    }
  }

  /** Aborts the attempt or its body. */
  abort(reason: unknown): void {
    this.#controller?.abort(reason);
    this.#controller?.release();
  }

  // Returns undefined if the request must be sent again.
  async #send(
    controller: FollowingController,
    target: URL,
    allowPrivate: boolean,
    slot: Slot,
  ): Promise<Fetched | undefined> {
    const { client, settings, headers, onEvent } = this.#context;
    const request = new HttpRequest(controller, settings.timeout);
    const attempt = this.#end.attempts;
    const url = target.hash === "" ? target.href : target.href.slice(0, -target.hash.length);
    const { anonymous, conditional, cookie } = this.#request;
    const own = headers(target.origin, anonymous === true);
    const cookies = [own["cookie"], cookie?.()].filter((each) => each !== undefined).join("; ");
    const sent = { ...own, ...(this.#rest?.headers ?? conditional), ...(cookies === "" ? {} : { cookie: cookies }) };
    onEvent({ type: "request", url: this.#url, attempt });
    this.#sentAt = performance.now();
    const head = await request.send(client, { url, headers: sent, allowPrivate, attempt });
    const isResponse = !("code" in head);
    this.#times = { receivedAt: new Date().toISOString(), ...(isResponse && { firstByte: this.#sinceSent() }) };
    if (!isResponse) {
      // The failure is recorded before the slot is released, because the next request depends on it.
      const failed = this.#failOrRetry(outcomeOfProblem(head), head, slot);
      slot.release();
      request.end();
      return failed;
    }
    const { status } = head;
    const pause = slot.answered(status, head.headers);
    request.whenEnded(() => slot.release());
    const isWhole = isDocument(status) && !isChallenge(status, head.headers);
    const body = this.#rest === undefined ? isWhole && head.body : this.#rest.restIn(head);
    if (body) return this.#document(request, { ...head, body }, slot);
    // `discard` is not awaited, but the slot is kept until the rest has been discarded.
    request.discard(head);
    if (isRedirect(status)) return { outcome: "redirect", ...this.#exchange(), status, headers: head.headers };
    const { outcome, reason } = failureOf(status, head.headers);
    if (pause?.refusal === undefined) return this.#failOrRetry(outcome, reason, slot, head, pause);
    const retryAfter = toDate(Date.now() + pause.delay);
    return this.#fail(outcome, problem("rate-limited", { status, retryAfter }), head);
  }

  async #document(request: HttpRequest, head: Head, slot: Slot): Promise<Fetched | undefined> {
    // If the body breaks before its first byte, the whole attempt has failed.
    const first = await request.pull(head.body);
    if ("code" in first) {
      request.end();
      return this.#failOrRetry("failed", first, slot, head);
    }
    this.#whole ??= head;
    const { settings, lendAfter } = this.#context;
    const { robotsBytes, documentBytes } = settings.limits;
    const isRobots = this.#request.role === "robots";
    const body = new ResponseBody(first.done ? undefined : first.value, {
      request,
      chunks: head.body,
      limit: isRobots ? robotsBytes : documentBytes,
      limitCode: isRobots ? "limit-robots-bytes" : "limit-document-bytes",
      sinceSent: () => this.#sinceSent(),
      lendSlot: () => slot.lend(),
      lendAfter,
      end: this.#end,
      offset: this.#offset,
      continueAt: (offset, reason) => this.#continueAt(offset, reason, head, slot),
      abort: () => this.abort(new Error("The body is no longer wanted")),
    });
    return { outcome: "found", ...this.#exchange(), status: head.status, headers: head.headers, body };
  }

  async #continueAt(offset: number, reason: Problem, head: Head, slot: Slot): Promise<ResponseBody | undefined> {
    // Another attempt would take as long, or break at the same byte again.
    const isLast = reason.code === "timeout-total" || (reason.code === "body-short" && offset === this.#offset);
    const rest = this.#whole && requestForRest(this.#whole, offset);
    if (isLast || rest === undefined || this.#failOrRetry("failed", reason, slot, head) !== undefined) return undefined;
    this.#offset = offset;
    this.#rest = rest;
    try {
      const fetched = await this.run();
      return fetched.outcome === "found" ? (fetched.body as ResponseBody) : undefined;
    } catch (error) {
      this.abort(error);
      throw error;
    }
  }

  #failOrRetry(outcome: FailureOutcome, reason: Problem, slot: Slot, head?: Head, pause?: Pause) {
    const { settings, backoff, onEvent } = this.#context;
    const { attempts } = this.#end;
    const chosen = settings.retry?.(reason, attempts) ?? mayRetry(reason, attempts, settings.retries, slot.origin);
    // With anything but a boolean or a number, the retries might never end, or wait forever.
    if (typeof chosen !== "boolean") number("retry()", chosen);
    const isRetried = chosen !== false;
    if (head === undefined) slot.failed(reason, isRetried);
    if (!isRetried) return this.#fail(outcome, reason, head);
    const wait = typeof chosen === "number" ? chosen : backoffDelay(attempts, backoff);
    const delay = pause?.delay ?? wait;
    onEvent({ type: "retry", url: this.#url, attempt: attempts, delay, reason });
    // If the host asked for a pause, all of its requests wait anyway.
    this.#delay = pause === undefined ? delay : 0;
    this.#end.attempts++;
    return undefined;
  }

  #fail(outcome: FailureOutcome, reason: Problem, head?: Head): FailedFetch {
    const answer = head && { status: head.status, headers: head.headers };
    return { outcome, ...this.#exchange(), ...answer, reason };
  }

  #exchange(): Pick<Fetched, "url" | "role" | "anonymous" | "attempts" | "receivedAt" | "firstByte"> {
    const { role, anonymous } = this.#request;
    const { attempts } = this.#end;
    return { url: this.#url, role, ...(anonymous ? { anonymous } : {}), attempts, ...this.#times };
  }

  #sinceSent(): number {
    return Math.round(performance.now() - this.#sentAt);
  }
}

// The limit of `useCrawlDelay`, in milliseconds: some websites ask for hours.
const longestCrawlDelay = 60_000;
