// One request to a client, with timeouts: the head of a response, then its body chunk by chunk, or a problem. Whatever the client does, a
// timeout or a signal ends the request.
import { isUint8Array } from "node:util/types";
import type { Client, ClientRequest, ClientResponse } from "../model/client.ts";
import { type HeaderList, header } from "../model/exchange.ts";
import type { Timeouts } from "../model/options.ts";
import { isKnownCode, type Problem, problem, problemFrom, withCause } from "../model/problem.ts";
import type { FollowingController } from "./abort.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";
import { Clock } from "./timeouts.ts";

/** A chunk of a body, its end, or why there is no more. */
export type Pulled = { done: false; value: Uint8Array } | { done: true } | Problem;

export interface Head {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: AsyncIterator<Uint8Array>;
  /** Whether the client has already removed the content encoding. */
  readonly isDecoded: boolean;
}

export class HttpRequest {
  readonly #controller: FollowingController;
  readonly #timeouts: Timeouts;
  readonly #clock: Clock;
  readonly #whenEnded: (() => void)[] = [];
  #isEnded = false;
  #expired: Problem | undefined;
  // The body of the response, to be released if the request is aborted.
  #body: AsyncIterator<Uint8Array> | undefined;
  // Settles the current wait.
  #resolve: ((result: unknown) => void) | undefined;

  /** `controller` ends the request; the client gets its signal. */
  constructor(controller: FollowingController, timeouts: Timeouts) {
    this.#controller = controller;
    this.#timeouts = timeouts;
    this.#clock = new Clock(timeouts.total, (expired) => {
      this.#expired = expired;
      controller.abort(new Error(expired.message));
    });
    controller.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (controller.signal.aborted) this.#onAbort();
  }

  /** Calls back once, when the request has ended. */
  whenEnded(callback: () => void): void {
    if (this.#isEnded) callback();
    else this.#whenEnded.push(callback);
  }

  /** Sends the request. Rejects only with the signal's reason. */
  async send(client: Client, request: Omit<ClientRequest, "signal" | "onSent">): Promise<Head | Problem> {
    if (this.#isEnded) return this.#abortResult();
    const { firstByte: limit } = this.#timeouts;
    const code = "timeout-first-byte";
    let hasHead = false;
    // The client may call this at once. After the head has arrived, a call must not restart the timeout.
    const onSent = () => {
      if (!hasHead && !this.#isEnded) this.#clock.start({ limit, code });
    };
    this.#clock.start({ limit: client.tellsWhenSent === true ? Number.POSITIVE_INFINITY : limit, code });
    const answer = sendChecked(client, { ...request, signal: this.#controller.signal, onSent });
    try {
      const head = await this.#wait(answer);
      if ("body" in head) this.#body = head.body;
      return head;
    } finally {
      hasHead = true;
      // A client that ignores its signal may still respond.
      if (this.#isEnded) void answer.then((late) => "body" in late && release(late.body));
    }
  }

  /** Returns the next chunk of a body, skipping empty ones. Rejects only with the signal's reason. */
  pull(body: AsyncIterator<Uint8Array>): Promise<Pulled> {
    if (this.#isEnded) return this.#abortResult();
    this.#clock.start({ limit: this.#timeouts.idle, code: "timeout-idle" });
    return this.#wait(nextChunk(body));
  }

  /** Releases an unwanted body. A short one is first read to its end, so that its connection can be reused. */
  discard({ headers, body }: Head): void {
    const isShort = Number(header(headers, "content-length") ?? 0) <= discardBytes;
    const timer = setTimeout(() => this.cancel(body), discardTime);
    this.whenEnded(() => clearTimeout(timer));
    if (isShort) void readToEnd(body).then((isRead) => (isRead ? this.end() : this.cancel(body)));
    else this.cancel(body);
  }

  /** Releases a body before its end. */
  cancel(body: AsyncIterator<Uint8Array>): void {
    if (this.#isEnded) return;
    this.#settle({ done: true });
    this.#body = undefined;
    release(body);
    this.#controller.abort(new Error("The body is no longer wanted"));
  }

  /** Ends the request. Must be called, except after `discard` and `cancel`. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#body = undefined;
    this.#clock.end();
    this.#controller.release();
    for (const callback of this.#whenEnded) callback();
  }

  readonly #onAbort = (): void => {
    const body = this.#body;
    this.end();
    if (body !== undefined) release(body);
    if (this.#resolve !== undefined) this.#settle(this.#abortResult());
  };

  // `promise` never rejects. All chunks share one callback, because new ones would keep each other and the chunks alive.
  #wait<T>(promise: Promise<T>): Promise<T | Problem> {
    // The caller's client may have aborted the request while it created the promise.
    if (this.#isEnded) return this.#abortResult();
    return new Promise<unknown>((resolve) => {
      this.#resolve = resolve;
      void promise.then(this.#onResult);
    }) as Promise<T | Problem>;
  }

  readonly #onResult = (result: unknown): void => {
    if (this.#isEnded) return;
    this.#clock.stop();
    this.#settle(result);
  };

  #settle(result: unknown): void {
    this.#resolve?.(result);
    this.#resolve = undefined;
  }

  #abortResult(): Promise<Problem> {
    if (this.#expired !== undefined) return Promise.resolve(this.#expired);
    return Promise.reject(this.#controller.signal.reason);
  }
}

// Sends a request to the client, and checks the response. The client may be the caller's, and its mistakes are reported as problems. Never
// rejects.
async function sendChecked(client: Client, request: ClientRequest): Promise<Head | Problem> {
  try {
    const answer: unknown = await client.request(request);
    if (typeof answer !== "object" || answer === null) return clientFailed("it returned no response");
    if ("code" in answer) return checkedProblem(answer);
    const { status, headers, body, decoded } = answer as Partial<ClientResponse>;
    const isStatus = Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 999;
    if (status === undefined || !isStatus) return clientFailed("the response lacks a status");
    const list = headerList(headers, decoded === true);
    if (list === undefined) return clientFailed("the response lacks headers, or one is not text");
    const bytes = bytesOf(body);
    if (bytes === undefined) return clientFailed("the response lacks a body of bytes");
    const encoding = header(list, "content-encoding") ?? header(list, "transfer-encoding");
    const length = Number(header(list, "content-length"));
    // Not every client notices that a body ended early. With an encoding, the length is not checked: a client may have
    // removed the encoding without saying so, and the length counts the encoded bytes.
    const whole = length > 0 && encoding === undefined ? withLength(bytes, length) : bytes;
    return { status, headers: list, body: whole, isDecoded: decoded === true };
  } catch (error) {
    return problemOfError(error, "head");
  }
}

function problemOfError(error: unknown, where: "head" | "body"): Problem {
  const found = problemOf(error, where);
  return error instanceof ConnectionProblem ? found : withCause(found, error);
}

function clientFailed(value: string): Problem {
  return problem("client-failed", { value });
}

// Returns the headers with names in lower case. If the client removed a content encoding, drops the headers about the encoded bytes, and
// adds `connection: close`, because `fetch` does not report compressed data that is cut off.
function headerList(given: unknown, isDecoded: boolean): HeaderList | undefined {
  const pairs = pairsOf(given);
  if (pairs === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const pair of pairs) {
    if (!Array.isArray(pair) || typeof pair[0] !== "string" || typeof pair[1] !== "string") return undefined;
    headers.push([pair[0].toLowerCase(), pair[1]]);
  }
  if (!isDecoded || header(headers, "content-encoding") === undefined) return headers;
  return [...headers.filter(([name]) => !aboutEncoded.has(name)), ["connection", "close"]];
}

const aboutEncoded: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);

function pairsOf(given: unknown): Iterable<unknown> | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  if (Symbol.iterator in given) return given as Iterable<unknown>;
  return Object.entries(given).flatMap(([name, values]) =>
    values === undefined ? [] : [values].flat().map((value: unknown) => [name, value]),
  );
}

function bytesOf(body: unknown): AsyncIterator<Uint8Array> | undefined {
  if (body === null || isUint8Array(body)) return chunks(body === null ? [] : [body]);
  const stream = body as Partial<AsyncIterable<Uint8Array>> | undefined;
  return typeof stream?.[Symbol.asyncIterator] === "function" ? stream[Symbol.asyncIterator]?.() : undefined;
}

/** Yields the same body. Throws at its end if there were fewer than `length` bytes; calls `onLonger` if there are more. */
export function withLength(
  body: AsyncIterator<Uint8Array>,
  length: number,
  onLonger: () => void = () => {},
): AsyncIterator<Uint8Array, undefined> {
  let left = length;
  return {
    async next() {
      const { done, value } = await body.next();
      if (done === true && left > 0) throw new ConnectionProblem(problem("body-short"));
      if (done === true) return { done, value: undefined };
      left -= value.length;
      if (left < 0) onLonger();
      return { done: false, value };
    },
    async return() {
      await body.return?.();
      return { done: true, value: undefined };
    },
  };
}

async function* chunks(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}

async function nextChunk(body: AsyncIterator<Uint8Array>): Promise<Pulled> {
  try {
    for (;;) {
      const { done, value } = await body.next();
      if (done === true) return { done };
      if (!isUint8Array(value)) return clientFailed("a piece of the body is not a Uint8Array");
      if (value.length > 0) return { done: false, value };
    }
  } catch (error) {
    return problemOfError(error, "body");
  }
}

async function readToEnd(body: AsyncIterator<Uint8Array>): Promise<boolean> {
  for (let left = discardBytes; left >= 0; ) {
    const pulled = await nextChunk(body);
    if ("code" in pulled) return false;
    if (pulled.done) return true;
    left -= pulled.value.length;
  }
  return false;
}

function release(body: AsyncIterator<Uint8Array>): void {
  try {
    body.return?.()?.then(undefined, () => {});
  } catch {
    // The body of a custom client may throw.
  }
}

// The limits for discarding a body, in bytes and milliseconds. Most error pages are smaller, and cheaper to read than a new connection.
const discardBytes = 64 * 1024;
const discardTime = 500;

// Checks a problem that the caller's client returned. One with an unknown code becomes `client-failed`.
function checkedProblem(given: { readonly code: unknown; readonly message?: unknown }): Problem {
  const found = problemFrom(given, true);
  if (found !== undefined && isKnownCode(found.code)) return found;
  return problem("client-failed", { value: typeof given.message === "string" ? given.message : String(given.code) });
}
