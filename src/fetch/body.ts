// The body of a document as received: counted, limited, and never throwing because of a website. It pulls one chunk in advance, so that a
// small document is complete as soon as it has arrived. If the reader pauses for a second, the slot (limiter.ts) is lent to another
// request, so that no order of reading can deadlock. If the body breaks, another request may continue it (range.ts).
import type { Body, BodyEnd } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { HttpRequest, Pulled } from "./request.ts";

export interface ResponseBodyOptions {
  readonly request: HttpRequest;
  /** The chunks after the first one. */
  readonly chunks: AsyncIterator<Uint8Array>;
  readonly limit: number;
  readonly limitCode: "limit-document-bytes" | "limit-robots-bytes";
  /** Milliseconds since the request was sent. */
  readonly sinceSent: () => number;
  /** Lets another request use the slot. */
  readonly lendSlot: () => void;
  /** How long the reader may pause before the slot is lent, in milliseconds. */
  readonly lendAfter: number;
  /** How the body ended, shared by all attempts. */
  readonly end: BodyEnd;
  /** Where this body begins in the document, which is not 0 if it continues a body that broke. */
  readonly offset: number;
  /** Requests the rest of the document, after this body broke at `offset`. Returns undefined if that is not possible. */
  readonly continueAt: (offset: number, reason: Problem) => Promise<ResponseBody | undefined>;
  /** Aborts the attempt that `continueAt` started, if its body was not returned yet. */
  readonly abort: () => void;
}

type Chunk = { done: false; value: Uint8Array } | { done: true; value: undefined };

export class ResponseBody implements Body, AsyncIterator<Uint8Array> {
  readonly end: BodyEnd;
  readonly #options: ResponseBodyOptions;
  #first: Uint8Array | undefined;
  #ahead: Promise<Pulled> | undefined;
  #received = 0;
  // The offset after everything that was pulled, which may be one chunk ahead of what the reader has received.
  #offset: number;
  #continuation: ResponseBody | undefined;
  #isCanceled = false;
  readonly #lending: NodeJS.Timeout;

  /** `first` is the first chunk, or undefined for an empty body. */
  constructor(first: Uint8Array | undefined, options: ResponseBodyOptions) {
    const { request } = options;
    this.#options = options;
    this.end = options.end;
    this.#first = first;
    this.#offset = options.offset + (first?.length ?? 0);
    this.#lending = setTimeout(options.lendSlot, options.lendAfter);
    request.whenEnded(() => {
      this.end.duration = options.sinceSent();
      clearTimeout(this.#lending);
    });
    if (first === undefined) request.end();
    else this.#ahead = this.#pull();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns the next chunk. Rejects only with the reason of the caller's signal, or an error of the caller's functions. */
  async next(): Promise<Chunk> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return this.#limited(first);
    const pulled = await this.#ahead;
    if (pulled === undefined || "code" in pulled || pulled.done) return { done: true, value: undefined };
    this.#ahead = this.#pull();
    return this.#limited(pulled.value);
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#first = undefined;
    this.#cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  #pull(): Promise<Pulled> {
    const pulling = this.#continuation === undefined ? this.#pullOrContinue() : this.#continuation.next();
    // The rejection reaches the next call of `next`, if there is one.
    pulling.catch(() => {});
    return pulling;
  }

  async #pullOrContinue(): Promise<Pulled> {
    const { request, chunks, continueAt } = this.#options;
    const pulled = await request.pull(chunks);
    if (!("code" in pulled)) {
      if (pulled.done) request.end();
      else this.#offset += pulled.value.length;
      return pulled;
    }
    request.end();
    this.#continuation = await continueAt(this.#offset, pulled);
    if (this.#continuation !== undefined) return this.#continuation.next();
    if (!this.#isCanceled) this.end.problem = pulled;
    return pulled;
  }

  #limited(chunk: Uint8Array): Chunk {
    const { limit, limitCode } = this.#options;
    const room = limit - this.#received;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#received += kept.length;
    if (chunk.length > room) {
      this.end.problem = problem(limitCode, { limit });
      this.#cancel();
    } else this.#lending.refresh();
    return kept.length > 0 ? { done: false, value: kept } : { done: true, value: undefined };
  }

  #cancel(): void {
    this.#isCanceled = true;
    this.#ahead = undefined;
    this.#options.request.cancel(this.#options.chunks);
    void this.#continuation?.return();
    this.#options.abort();
  }
}
