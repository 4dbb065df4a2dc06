// One request to a client, with timeouts: the head of a response, then its body chunk by chunk, or a problem. Whatever
// the client does, this ends when a timeout or the caller says so.
import { isUint8Array } from "node:util/types";
import type { Client, ClientRequest } from "../model/client.ts";
import { header } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { ask, type Head } from "./answer.ts";
import { Cancellation, cancellationBy, signalOf } from "./cancellation.ts";
import { problemOf } from "./failure.ts";
import type { Clock, Wait } from "./timeouts.ts";

/** A chunk of a body, its end, or why there is no more. */
export type Pulled = { done: false; value: Uint8Array } | { done: true } | Problem;

export interface RequestClocks {
  /** Shared by all requests of an attempt: those of the redirects on the way to a document. */
  readonly clock: Clock;
  readonly firstByte: number;
  readonly idle: number;
}

/** A request as clients get it. */
export class OutgoingRequest implements ClientRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
  readonly attempt: number;
  /** The name was resolved for this attempt. */
  readonly isLookedUp: boolean;
  readonly cancellation: Cancellation = new Cancellation();
  onSent: () => void = () => {};
  #signal: AbortSignal | undefined;

  constructor(
    target: URL,
    headers: Readonly<Record<string, string>>,
    allowPrivate: boolean,
    attempt: number,
    isLookedUp = false,
  ) {
    this.url = target.hash === "" ? target.href : target.href.slice(0, -target.hash.length);
    this.headers = headers;
    this.allowPrivate = allowPrivate;
    this.attempt = attempt;
    this.isLookedUp = isLookedUp;
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.cancellation);
    return this.#signal;
  }
}

/** What ends a request. Ours need no signal for it, which would be a tenth of what a small request costs. */
export function cancellationOf(request: ClientRequest): Cancellation {
  return request instanceof OutgoingRequest ? request.cancellation : cancellationBy(request.signal);
}

export class HttpRequest {
  readonly #request: OutgoingRequest;
  readonly #clocks: RequestClocks;
  readonly #caller: Cancellation;
  #expired: Problem | undefined;
  // The function that settles the current wait.
  #waiting: { resolve(result: unknown): void; reject(reason: unknown): void } | undefined;
  #whenStopped: (() => void) | undefined;

  constructor(request: OutgoingRequest, clocks: RequestClocks, caller: Cancellation) {
    this.#request = request;
    this.#clocks = clocks;
    this.#caller = caller;
    clocks.clock.onExpire = (expired) => {
      this.#expired = expired;
      this.#onStop();
    };
    caller.add(this.#onStop);
  }

  /** Whether a timeout or the caller has ended this. */
  get stopped(): boolean {
    return this.#expired !== undefined || this.#caller.cancelled;
  }

  /** Calls back once, if a timeout or the caller ends this. */
  whenStopped(callback: () => void): void {
    this.#whenStopped = callback;
  }

  /** Rejects only with the caller's reason. */
  async send(client: Client): Promise<Head | Problem> {
    if (this.stopped) return this.#stopResult();
    const limit = this.#clocks.firstByte;
    let hasHead = false;
    // Called before the request: a client may send at once. A late call must not turn the clock back.
    this.#request.onSent = () => {
      if (!hasHead) this.#startClock(limit, "timeout-first-byte");
    };
    this.#startClock(client.tellsWhenSent === true ? Number.POSITIVE_INFINITY : limit, "timeout-first-byte");
    const answer = ask(client, this.#request);
    try {
      return await this.#wait(answer);
    } finally {
      hasHead = true;
      // A client that ignores its signal may still answer.
      if (this.stopped) void answer.then((late) => "body" in late && letGo(late.body));
    }
  }

  /** The next chunk of a body that is not empty. Rejects only with the caller's reason. */
  pull(body: AsyncIterator<Uint8Array>): Promise<Pulled> {
    if (this.stopped) return this.#stopResult();
    this.#startClock(this.#clocks.idle, "timeout-idle");
    return this.#wait(next(body));
  }

  /** Reads the rest of an unwanted body, if it is short, so that its connection can be reused. */
  async discard({ headers, body }: Head): Promise<void> {
    if (!(Number(header(headers, "content-length") ?? 0) <= discardBytes)) return this.cancel(body);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, discardTime);
      this.whenStopped(resolve);
    });
    if (!(await Promise.race([readToEnd(body), late]))) this.cancel(body);
    clearTimeout(timer);
    this.end();
  }

  /** Releases a body before its end. */
  cancel(body: AsyncIterator<Uint8Array>): void {
    letGo(body);
    this.#request.cancellation.cancel(new Error("The body is no longer wanted"));
    this.end();
  }

  /** Must be called at the end, except after `discard` and `cancel`. */
  end(): void {
    this.#caller.remove(this.#onStop);
  }

  readonly #onStop = (): void => {
    this.#clocks.clock.end();
    this.end();
    const { cancelled, reason } = this.#caller;
    this.#request.cancellation.cancel(cancelled ? reason : new Error(this.#expired?.message));
    if (this.#waiting !== undefined) this.#settle(this.#stopResult());
    this.#whenStopped?.();
  };

  // A clock that is started after the end would never be stopped.
  #startClock(limit: number, code: Wait["code"]): void {
    if (!this.stopped) this.#clocks.clock.start({ limit, code });
  }

  // Runs once for each chunk. The callbacks are created once: new ones for each chunk would keep each other and the
  // chunks alive until the next major garbage collection.
  #wait<T>(promise: Promise<T>): Promise<T | Problem> {
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      promise.then(this.#onResult, this.#onFailure);
    }) as Promise<T | Problem>;
  }

  readonly #onResult = (result: unknown): void => {
    if (this.stopped) return;
    this.#clocks.clock.stop();
    this.#settle(result);
  };

  readonly #onFailure = (reason: unknown): void => {
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
  };

  #settle(result: unknown): void {
    this.#waiting?.resolve(result);
    this.#waiting = undefined;
  }

  #stopResult(): Promise<Problem> {
    if (this.#expired === undefined) return Promise.reject(this.#caller.reason);
    return Promise.resolve(this.#expired);
  }
}

function next(body: AsyncIterator<Uint8Array>): Promise<Pulled> {
  const failed = (error: unknown) => problemOf(error, "body");
  try {
    return body.next().then((result): Pulled | Promise<Pulled> => {
      if (result.done === true) return { done: true };
      if (!isUint8Array(result.value)) {
        return problem("client-failed", { value: "a piece of the body is not a Uint8Array" });
      }
      return result.value.length > 0 ? { done: false, value: result.value } : next(body);
    }, failed);
  } catch (error) {
    // The body of a client of the caller's own.
    return Promise.resolve(failed(error));
  }
}

async function readToEnd(body: AsyncIterator<Uint8Array>): Promise<boolean> {
  for (let left = discardBytes; left >= 0; ) {
    const pulled = await next(body);
    if ("code" in pulled) return false;
    if (pulled.done) return true;
    left -= pulled.value.length;
  }
  return false;
}

function letGo(body: AsyncIterator<Uint8Array>): void {
  try {
    body.return?.()?.then(undefined, () => {});
  } catch {
    // The body of a client of the caller's own.
  }
}

// Most error pages are smaller, and reading one costs less than a new connection.
const discardBytes = 64 * 1024;
const discardTime = 500;
