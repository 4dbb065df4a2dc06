// The body of a document as received: counted, limited, and never throwing because of a website. It pulls one chunk in advance, so that a
// small document is complete as soon as it has arrived. If the reader pauses for a second, its slot (hosts.ts) is lent to another request,
// so that no order of reading can deadlock. If it breaks, the next attempt's body continues it, but only if that begins with the same bytes:
// the reader may have used them already.
import { crc32 } from "node:zlib";
import type { Body, BodyEnd } from "../model/exchange.ts";
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
  /** Shared by all attempts. */
  readonly end: BodyEnd;
  /** The body of another attempt, after this one broke at a length; undefined if there is none. */
  readonly retry: (reason: Problem, length: number) => Promise<ResponseBody | undefined>;
  /** Ends that attempt, if its body was not returned yet. */
  readonly abort: () => void;
}

type Chunk = { done: false; value: Uint8Array } | { done: true; value: undefined };

export class ResponseBody implements Body, AsyncIterator<Uint8Array> {
  readonly end: BodyEnd;
  readonly #options: ResponseBodyOptions;
  #first: Uint8Array | undefined;
  #ahead: Promise<Pulled> | undefined;
  #received = 0;
  // Of everything pulled, which is up to a chunk more than received.
  #length = 0;
  #checksum = 0;
  #retried: ResponseBody | undefined;
  #isLeft = false;
  readonly #lending: NodeJS.Timeout;

  /** `first` is the first chunk, or undefined for an empty body. */
  constructor(first: Uint8Array | undefined, options: ResponseBodyOptions) {
    const { request } = options;
    this.#options = options;
    this.end = options.end;
    this.#first = first;
    this.#lending = setTimeout(options.lendSlot, lendAfter);
    request.whenEnded(() => {
      this.end.duration = options.sinceSent();
      clearTimeout(this.#lending);
    });
    if (first === undefined) request.end();
    else {
      this.#count(first);
      this.#ahead = this.#pull();
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Rejects only with the reason of the caller's signal. */
  async next(): Promise<Chunk> {
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
    const pulling = this.#retried === undefined ? this.#pullOrRetry() : this.#retried.next();
    // The rejection reaches the next call of `next`, if there is one.
    pulling.catch(() => {});
    return pulling;
  }

  async #pullOrRetry(): Promise<Pulled> {
    const { request, rest, retry } = this.#options;
    const pulled = await request.pull(rest);
    if (!("code" in pulled)) {
      if (pulled.done) request.end();
      else this.#count(pulled.value);
      return pulled;
    }
    request.end();
    const retried = await retry(pulled, this.#length);
    this.#retried = retried;
    const more = retried && (await after(retried, this.#length, this.#checksum));
    if (more === undefined) {
      await retried?.return();
      if (!this.#isLeft) this.end.problem = pulled;
      return pulled;
    }
    return more.length > 0 ? { done: false, value: more } : this.#pull();
  }

  #count(chunk: Uint8Array): void {
    this.#checksum = checksumWith(chunk, this.#length, this.#checksum);
    this.#length += chunk.length;
  }

  #take(chunk: Uint8Array): Chunk {
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
    this.#isLeft = true;
    this.#ahead = undefined;
    this.#options.request.cancel(this.#options.rest);
    void this.#retried?.return();
    this.#options.abort();
  }
}

// The rest of the chunk in which a beginning of this length ends; undefined if it is not the same beginning.
async function after(body: ResponseBody, length: number, checksum: number): Promise<Uint8Array | undefined> {
  let [at, found] = [0, 0];
  for (;;) {
    const { done, value } = await body.next();
    if (done) return undefined;
    const known = value.subarray(0, length - at);
    found = checksumWith(known, at, found);
    at += known.length;
    if (at === length) return found === checksum ? value.subarray(known.length) : undefined;
  }
}

function checksumWith(chunk: Uint8Array, at: number, before: number): number {
  return at < checkedBytes ? crc32(chunk.subarray(0, checkedBytes - at), before) : before;
}

// Entries are added at the beginning or at the end: a megabyte tells whether the beginning is the same.
const checkedBytes = 1024 * 1024;

// How long the reader may pause before the slot is lent, in milliseconds.
const lendAfter = 1000;
