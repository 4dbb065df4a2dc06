// One request to a client, under a clock: gives the head of a response, then its body piece by piece, or a problem. Whatever
// the client does or fails to do, this ends when a clock or the caller says so.
import type { Client, ClientRequest } from "../client.ts";
import { type HeaderList, header } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";
import type { Clock, Wait } from "./clock.ts";
import { problemOf } from "./failure.ts";

export interface Head {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: AsyncIterator<Uint8Array>;
}

/** A piece of a body, its end, or why there is no more. */
export type Pulled = { done: false; value: Uint8Array } | { done: true } | Problem;

export interface RequestClocks {
  /** Shared by all requests of an attempt: those of the redirects on the way to a document. */
  readonly clock: Clock;
  /** To the head of a response, where the client has no clock of its own for that. */
  readonly firstByte: number;
  readonly idle: number;
}

export class HttpRequest {
  readonly #controller = new AbortController();
  readonly #clocks: RequestClocks;
  readonly #caller: AbortSignal;
  #expired: Problem | undefined;
  #stop: (() => void) | undefined;
  #whenStopped: (() => void) | undefined;

  constructor(clocks: RequestClocks, caller: AbortSignal) {
    this.#clocks = clocks;
    this.#caller = caller;
    clocks.clock.onExpire = (expired) => {
      this.#expired = expired;
      this.#onStop();
    };
    caller.addEventListener("abort", this.#onStop, { once: true });
  }

  /** Whether a clock or the caller has ended this. */
  get stopped(): boolean {
    return this.#expired !== undefined || this.#caller.aborted;
  }

  /** Calls back once, where this is ended by a clock or the caller. */
  whenStopped(callback: () => void): void {
    this.#whenStopped = callback;
  }

  /** Rejects only with the caller's reason. */
  async send(client: Client, request: Omit<ClientRequest, "signal">): Promise<Head | Problem> {
    const answer = ask(client, { ...request, signal: this.#controller.signal });
    const wait: Wait = { limit: this.#clocks.firstByte, code: "timeout-first-byte" };
    try {
      return await this.#wait(answer, wait);
    } finally {
      // A client that does not mind its signal may still come up with a response.
      if (this.stopped) void answer.then((late) => "body" in late && letGo(late.body));
    }
  }

  /** The next piece of a body that is not empty. Rejects only with the caller's reason. */
  async pull(body: AsyncIterator<Uint8Array>): Promise<Pulled> {
    const wait: Wait = { limit: this.#clocks.idle, code: "timeout-idle" };
    for (;;) {
      const pulled = await this.#wait(next(body), wait);
      if ("code" in pulled || pulled.done || pulled.value.length > 0) return pulled;
    }
  }

  /** Reads on to the end of a body that nobody wants, if that is near, so that its connection can be used again. */
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

  /** Lets go of a body that is not at its end. */
  cancel(body: AsyncIterator<Uint8Array>): void {
    letGo(body);
    this.#controller.abort(new Error("The body is no longer wanted"));
    this.end();
  }

  /** Has to be called at the end, except after `discard` and `cancel`. */
  end(): void {
    this.#caller.removeEventListener("abort", this.#onStop);
  }

  readonly #onStop = (): void => {
    this.#clocks.clock.end();
    this.end();
    this.#controller.abort(this.#caller.aborted ? this.#caller.reason : new Error(this.#expired?.message));
    this.#stop?.();
    this.#whenStopped?.();
  };

  #wait<T>(promise: Promise<T>, wait: Wait): Promise<T | Problem> {
    if (this.stopped) return this.#stopResult();
    return new Promise((resolve, reject) => {
      this.#stop = () => this.#stopResult().then(resolve, reject);
      this.#clocks.clock.start(wait);
      promise.then((value) => {
        if (this.stopped) return;
        this.#clocks.clock.stop();
        this.#stop = undefined;
        resolve(value);
      }, reject);
    });
  }

  #stopResult(): Promise<Problem> {
    if (this.#expired === undefined) return Promise.reject(this.#caller.reason);
    return Promise.resolve(this.#expired);
  }
}

async function ask(client: Client, request: ClientRequest): Promise<Head | Problem> {
  try {
    const answer = await client.request(request);
    if ("code" in answer) return answer;
    const { status, headers, body } = answer;
    if (!Number.isInteger(status) || !Array.isArray(headers) || typeof body?.[Symbol.asyncIterator] !== "function") {
      return problem("client-failed", { value: "the response lacks a status, headers or a body" });
    }
    return { status, headers, body: body[Symbol.asyncIterator]() };
  } catch (error) {
    return problemOf(error, "head");
  }
}

async function next(body: AsyncIterator<Uint8Array>): Promise<Pulled> {
  try {
    const { done, value } = await body.next();
    return done === true ? { done } : { done: false, value };
  } catch (error) {
    return problemOf(error, "body");
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
    // The body of a client of the user's own.
  }
}

// A page that says "404" is smaller as a rule, and costs less than a new connection.
const discardBytes = 64 * 1024;
const discardTime = 500;
