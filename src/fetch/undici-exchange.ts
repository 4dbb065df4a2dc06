// One request on one connection: what undici calls back becomes a response whose body is pulled. Nothing is read from the
// socket that nobody asked for, beyond one buffer. Written to the callbacks that undici 7 uses inside: the newer ones parse the
// headers a second time.
import type { Socket } from "node:net";
import type { Dispatcher, Client as UndiciConnection } from "undici";
import type { ClientResponse } from "../client.ts";
import type { HeaderList } from "../exchange.ts";
import { problem } from "../problem.ts";
import type { Cancellation } from "./cancellation.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";

export interface Connection {
  readonly client: UndiciConnection;
  /** Once it is open. */
  readonly socket: Socket | undefined;
  destroy(reason?: Error): Promise<void>;
}

export class UndiciExchange implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  /** Rejects with an error where no response came. */
  readonly response: Promise<ClientResponse>;
  readonly #connection: Connection;
  readonly #onSent: () => void;
  readonly #cancellation: Cancellation;
  readonly #onEnd: (reusable: boolean) => void;
  readonly #onCancel = () => this.#abort(toError(this.#cancellation.reason));
  #resolve!: (response: ClientResponse) => void;
  #reject!: (error: unknown) => void;
  // Given by undici: once the request goes out, and with the head of the response.
  #abortRequest: ((reason: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #paused = false;
  #interim = 0;
  #bytesBefore = 0;
  #received = 0;
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #reader: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: unknown): void } | undefined;
  #ended = false;
  #error: unknown;

  constructor(
    connection: Connection,
    cancellation: Cancellation,
    onSent: () => void,
    onEnd: (reusable: boolean) => void,
  ) {
    this.#connection = connection;
    this.#cancellation = cancellation;
    this.#onSent = onSent;
    this.#onEnd = onEnd;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    cancellation.add(this.#onCancel);
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abortRequest = abort;
    this.#bytesBefore = this.#connection.socket?.bytesRead ?? 0;
    this.#onSent();
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    this.#resume = resume;
    if (status >= 200) {
      this.#resolve({ status, headers: headerList(headers), body: this });
    } else if (++this.#interim > interimResponses) {
      this.#refuse(`more than ${interimResponses} interim responses`);
    }
    return true;
  }

  /** `false` holds the website back. */
  onData(chunk: Buffer): boolean {
    this.#received += chunk.length;
    const wire = (this.#connection.socket?.bytesRead ?? 0) - this.#bytesBefore;
    if (wire > framingBytes + framingRatio * this.#received) {
      this.#refuse("more framing than content");
      return false;
    }
    if (this.#reader !== undefined) {
      this.#reader.resolve({ done: false, value: chunk });
      this.#reader = undefined;
      return true;
    }
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    this.#paused = this.#queued >= queueBytes;
    return !this.#paused;
  }

  onComplete(): void {
    // A body without a length ends where the connection does; undici takes a reset for such an end.
    const error = this.#connection.socket?.errored;
    this.#end(error ?? undefined);
  }

  onError(error: Error): void {
    this.#end(this.#explain(error));
  }

  #refuse(value: string): void {
    this.#abortRequest?.(new ConnectionProblem(problem("http-protocol", { value })));
  }

  // undici has one error for a connection that was closed and for a response that it cannot take (an unasked 100 or 101),
  // and one for a body that is wrong and for one that ends too early. What differs is who ended it.
  #explain(error: Error & { code?: string }): Error {
    const isParserError = error.name === "HTTPParserError";
    if (!isParserError && error.code !== "UND_ERR_SOCKET") return error;
    const closedByWebsite = this.#connection.socket?.readableEnded === true;
    if (closedByWebsite) return isParserError ? new ConnectionProblem(problem("body-short")) : error;
    // The parser's own words stand in brackets at the end of a sentence.
    const value = /\(([^()]*)\)$/.exec(error.message)?.[1] ?? error.message;
    return new ConnectionProblem(problem("http-protocol", { value }));
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
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** Lets go of the connection, where the body is not at its end. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#queue.length = 0;
    this.#abort(new Error("The body is no longer wanted"));
    this.#error = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  #abort(reason: Error): void {
    if (this.#ended) return;
    if (this.#abortRequest === undefined) {
      // Still connecting: undici would go on until the end of that.
      this.#end(reason);
      void this.#connection.destroy(reason);
    } else {
      this.#abortRequest(reason);
    }
  }

  #end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancellation.remove(this.#onCancel);
    if (error === undefined) {
      this.#reader?.resolve({ done: true, value: undefined });
    } else {
      this.#reject(error);
      this.response.catch(() => {});
      this.#error = error instanceof ConnectionProblem ? error : new ConnectionProblem(problemOf(error, "body"));
      this.#reader?.reject(this.#error);
    }
    this.#reader = undefined;
    this.#onEnd(error === undefined);
  }
}

// Names in lower case. Latin-1 keeps every byte: whoever expects UTF-8 can still read it.
function headerList(raw: readonly Buffer[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    list.push([String(raw[at]?.toString("latin1")).toLowerCase(), String(raw[at + 1]?.toString("latin1"))]);
  }
  return list;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

// https://www.rfc-editor.org/rfc/rfc9110#name-informational-1xx sets no limit; 103 Early Hints comes once or twice.
const interimResponses = 10;

// What may be held for a reader who is slow, beyond what sockets hold.
const queueBytes = 64 * 1024;

// Chunked framing of one byte a chunk costs six bytes for each. What exceeds that is chunk extensions, which nobody
// reads. The allowance covers the head and what the socket has read ahead.
const framingBytes = 256 * 1024;
const framingRatio = 9;
