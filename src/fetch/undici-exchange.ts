// One request on one connection: turns undici's callbacks into a response whose body is pulled. Beyond one buffer,
// nothing is read from the socket before the reader asks for it. Uses the callbacks that undici 7 uses internally: the
// newer ones parse the headers a second time.
import type { Dispatcher } from "undici";
import type { ClientRequest, ClientResponse } from "../model/client.ts";
import type { HeaderList } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";
import type { UndiciConnection } from "./undici-connection.ts";

export class UndiciExchange implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  /** Rejects if there is no response. */
  readonly response: Promise<ClientResponse>;
  readonly #connection: UndiciConnection;
  readonly #request: ClientRequest;
  readonly #mostBytes: number;
  readonly #onEnd: (isWhole: boolean) => void;
  readonly #onCancel = () => this.#abort(toError(this.#request.signal.reason));
  #resolve!: (response: ClientResponse) => void;
  #reject!: (error: unknown) => void;
  // Passed by undici when the request is sent, and with the head of the response.
  #abortRequest: ((reason: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #paused = false;
  #interim = 0;
  #hasHead = false;
  // The body has no length: it ends with the connection.
  #endsWithConnection = false;
  // The website was about to close the connection when the request came, and its answer may still follow.
  #isTimeout = false;
  #receivedBefore = 0;
  #content = 0;
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #reader: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: unknown): void } | undefined;
  #ended = false;
  #error: unknown;

  /** `mostBytes`: limit of all received bytes, including framing. `onEnd` is called once; `isWhole`: the response is complete, and nothing follows it. */
  constructor(
    connection: UndiciConnection,
    request: ClientRequest,
    mostBytes: number,
    onEnd: (isWhole: boolean) => void,
  ) {
    this.#connection = connection;
    this.#request = request;
    this.#mostBytes = mostBytes;
    this.#onEnd = onEnd;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal.addEventListener("abort", this.#onCancel, { once: true });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abortRequest = abort;
    this.#receivedBefore = this.#connection.transport?.received ?? 0;
    this.#connection.exchange = this;
    this.#request.onSent?.();
  }

  /**
   * Counts all received bytes, including those that undici skips silently: line ends, reason phrases, chunk extensions,
   * zeros.
   */
  onReceive(): void {
    const received = (this.#connection.transport?.received ?? 0) - this.#receivedBefore;
    if (!this.#hasHead) {
      if (received > headBytes)
        this.#refuse(problem("http-protocol", { value: "the head of the response is too long" }));
    } else if (received > headBytes + framingRatio * this.#content) {
      this.#refuse(problem("http-protocol", { value: "more framing than content" }));
    } else if (received > headBytes + this.#mostBytes) {
      this.#refuse(problem("limit-document-bytes", { limit: this.#mostBytes }));
    }
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    this.#resume = resume;
    if (status >= 200) {
      this.#hasHead = true;
      this.#isTimeout = status === 408;
      const headers = headerList(raw);
      this.#endsWithConnection = !headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name));
      this.#resolve({ status, headers, body: this });
    } else if (++this.#interim > interimResponses) {
      this.#refuse(problem("http-protocol", { value: `more than ${interimResponses} interim responses` }));
    }
    return true;
  }

  /** Returns `false` to pause the socket. */
  onData(chunk: Buffer): boolean {
    this.#content += chunk.length;
    if (this.#reader !== undefined) {
      this.#reader.resolve({ done: false, value: chunk });
      this.#reader = undefined;
      return true;
    }
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    this.#paused = this.#queued >= queueBytes && this.#connection.transport?.isOver === false;
    return !this.#paused;
  }

  onComplete(): void {
    // undici takes every end of a connection, even a reset, for the end of such a body.
    const isWhole = !this.#endsWithConnection || this.#connection.transport?.hasEnded === true;
    this.#end(isWhole ? undefined : new ConnectionProblem(problem("body-reset")));
  }

  onError(error: Error): void {
    this.#end(this.#explain(error));
  }

  #refuse(reason: Problem): void {
    this.#abortRequest?.(new ConnectionProblem(reason));
  }

  // undici uses one error for a closed connection and for a response it cannot parse (an unexpected 100 or 101), and
  // one for a broken body and for one that ends early. The difference is who ended the connection.
  #explain(error: Error & { code?: string }): Error {
    const first = this.#connection.transport?.error;
    if (this.#connection.transport?.wasReset === true) return Object.assign(new Error("reset"), { code: "ECONNRESET" });
    if (error.code === "UND_ERR_SOCKET" && first !== undefined && first !== error) return first;
    const isParserError = error.name === "HTTPParserError";
    if (!isParserError && error.code !== "UND_ERR_SOCKET") return error;
    const closedByWebsite = this.#connection.transport?.socket.readableEnded === true;
    if (closedByWebsite) return isParserError ? new ConnectionProblem(problem("body-short")) : error;
    // llhttp's own message is in brackets at the end of undici's.
    const value = /\(([^()]*)\)$/.exec(error.message)?.[1] ?? error.message;
    return new ConnectionProblem(problem("http-protocol", { value }));
  }

  /** Whether the website is held back. */
  get isPaused(): boolean {
    return this.#paused;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#queued -= chunk.length;
      if (this.#paused && this.#queued < queueBytes) {
        this.#paused = false;
        this.#resume?.();
        if (!this.#paused) this.#connection.transport?.releaseEnd();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** Releases the connection if the body is not at its end. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#queue.length = 0;
    this.#abort(new Error("The body is no longer wanted"));
    this.#error = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  #abort(reason: Error): void {
    if (this.#ended) return;
    if (this.#abortRequest === undefined) {
      // Still connecting: undici would wait for the connection first.
      this.#end(reason);
      void this.#connection.destroy(reason);
    } else {
      this.#abortRequest(reason);
    }
  }

  #end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#request.signal.removeEventListener("abort", this.#onCancel);
    if (error === undefined) {
      this.#reader?.resolve({ done: true, value: undefined });
    } else {
      this.#reject(error);
      this.response.catch(() => {});
      this.#error = error instanceof ConnectionProblem ? error : new ConnectionProblem(problemOf(error, "body"));
      this.#reader?.reject(this.#error);
    }
    this.#reader = undefined;
    this.#onEnd(error === undefined && !this.#isTimeout);
  }
}

// Latin-1 keeps every byte, so that UTF-8 can still be decoded later.
function headerList(raw: readonly Buffer[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    list.push([String(raw[at]?.toString("latin1")), String(raw[at + 1]?.toString("latin1"))]);
  }
  return list;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

// https://www.rfc-editor.org/rfc/rfc9110#name-informational-1xx sets no limit; 103 Early Hints comes once or twice.
const interimResponses = 10;

// How much is held for a slow reader, besides the socket's own buffers.
const queueBytes = 64 * 1024;

// The limit before the end of a head, including interim responses and what the socket has read ahead.
const headBytes = 256 * 1024;

// One-byte chunks cost six bytes of framing each. More than that are chunk extensions, which nobody reads.
const framingRatio = 9;
