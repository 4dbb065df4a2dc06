// The body of a document as received: counted, limited, and never throwing because of a website. It pulls one chunk in advance, so that a
// small document is complete as soon as it has arrived. If the reader pauses for a second, its slot (hosts.ts) is lent to another request,
// so that no order of reading can deadlock.
import type { Body } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { HttpRequest, Pulled } from "./request.ts";

export interface ResponseBodyOptions {
  readonly request: HttpRequest;
  readonly rest: AsyncIterator<Uint8Array>;
  readonly limit: number;
  readonly limitCode: "limit-document-bytes" | "limit-robots-bytes";
  /** Milliseconds since the request was sent. */
  readonly sinceSent: () => number;
  /** Lets another request use the slot. */
  readonly lendSlot: () => void;
}

export class ResponseBody implements Body, AsyncIterator<Uint8Array> {
  problem: Problem | undefined;
  duration: number | undefined;
  readonly #options: ResponseBodyOptions;
  #first: Uint8Array | undefined;
  #ahead: Promise<Pulled> | undefined;
  #received = 0;
  readonly #lending: NodeJS.Timeout;

  /** `first` is the first chunk, or undefined for an empty body. */
  constructor(first: Uint8Array | undefined, options: ResponseBodyOptions) {
    const { request } = options;
    this.#options = options;
    this.#first = first;
    this.#lending = setTimeout(options.lendSlot, lendAfter);
    request.whenEnded(() => {
      this.duration = options.sinceSent();
      clearTimeout(this.#lending);
    });
    if (first === undefined) request.end();
    else this.#ahead = this.#pull();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Rejects only with the reason of the caller's signal. */
  async next(): Promise<IteratorResult<Uint8Array>> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return this.#take(first);
    const pulled = await this.#ahead;
    if (pulled === undefined || "code" in pulled || pulled.done) return { done: true, value: undefined };
    this.#ahead = this.#pull();
    return this.#take(pulled.value);
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#first = undefined;
    this.#cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  #pull(): Promise<Pulled> {
    const { request, rest } = this.#options;
    const pulling = request.pull(rest).then((pulled) => {
      if ("code" in pulled) this.problem = pulled;
      if ("code" in pulled || pulled.done) request.end();
      return pulled;
    });
    // The rejection reaches the next call of `next`, if there is one.
    pulling.catch(() => {});
    return pulling;
  }

  #take(chunk: Uint8Array): IteratorResult<Uint8Array> {
    const { limit, limitCode } = this.#options;
    const room = limit - this.#received;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#received += kept.length;
    if (chunk.length > room) {
      this.problem = problem(limitCode, { limit });
      this.#cancel();
    } else this.#lending.refresh();
    return kept.length > 0 ? { done: false, value: kept } : { done: true, value: undefined };
  }

  #cancel(): void {
    this.#ahead = undefined;
    this.#options.request.cancel(this.#options.rest);
  }
}

// How long the reader may pause before the slot is lent, in milliseconds.
const lendAfter = 1000;
