// The body of a document as it comes off the wire: counted, capped, read a little ahead, and never throwing for what a
// website does.
//
// A body keeps its slot (see throttle.ts) while it comes in. The last byte gives the slot back, whether anybody has read
// it yet or not. A reader who does not ask for more for a second gives it back, too: the connection then waits, held by
// back-pressure, and others go on; so no order of reading can lock up the documents that wait for a slot.
import type { Body } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";
import type { HttpRequest } from "./request.ts";

export interface WireBodyOptions {
  readonly request: HttpRequest;
  readonly rest: AsyncIterator<Uint8Array>;
  readonly limit: number;
  readonly limitCode: "limit-document-bytes" | "limit-robots-bytes";
  /** How long ago the request went out, in milliseconds. */
  readonly sinceSent: () => number;
  /** The slot is no longer needed. */
  readonly onSlotFree: () => void;
  /** Nothing more happens. */
  readonly onEnd: () => void;
}

export class WireBody implements Body, AsyncIterator<Uint8Array> {
  problem: Problem | undefined;
  duration: number | undefined;
  readonly #options: WireBodyOptions;
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #received = 0;
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #wakeReader: (() => void) | undefined;
  #wakePump: (() => void) | undefined;

  /** `first` is the first piece, or undefined for an empty body. */
  constructor(first: Uint8Array | undefined, options: WireBodyOptions) {
    this.#options = options;
    if (first === undefined) this.#end();
    else void this.#pump(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const chunk = this.#queue.shift();
      if (chunk !== undefined) {
        this.#queued -= chunk.length;
        this.#wakePump?.();
        return { done: false, value: chunk };
      }
      // The caller's own signal, and nothing that the website did.
      if (this.#failure !== undefined) throw this.#failure.reason;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#queue.length = 0;
    this.#cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #pump(first: Uint8Array): Promise<void> {
    const { request, rest } = this.#options;
    try {
      this.#take(first);
      while (!this.#ended) {
        if (this.#queued >= readAhead) await this.#room();
        if (this.#ended) return;
        const pulled = await request.pull(rest);
        // The reader may have left meanwhile.
        if (this.#ended) return;
        if ("code" in pulled) this.problem = pulled;
        if ("code" in pulled || pulled.done) return this.#end();
        this.#take(pulled.value);
      }
    } catch (reason) {
      if (this.#ended) return;
      this.#failure = { reason };
      this.#end();
    }
  }

  #take(chunk: Uint8Array): void {
    const { limit, limitCode } = this.#options;
    const room = limit - this.#received;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#received += kept.length;
    if (kept.length > 0) {
      this.#queue.push(kept);
      this.#queued += kept.length;
      this.#wakeReader?.();
    }
    if (chunk.length <= room) return;
    this.problem = problem(limitCode, { limit });
    this.#cancel();
  }

  async #room(): Promise<void> {
    const timer = setTimeout(this.#options.onSlotFree, lendAfter);
    this.#options.request.whenStopped(() => this.#wakePump?.());
    await new Promise<void>((resolve) => {
      this.#wakePump = () => {
        if (this.#queued < readAhead || this.#ended || this.#options.request.stopped) resolve();
      };
    });
    this.#wakePump = undefined;
    clearTimeout(timer);
  }

  #cancel(): void {
    if (this.#ended) return;
    this.#options.request.cancel(this.#options.rest);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.duration = this.#options.sinceSent();
    this.#wakePump?.();
    this.#wakeReader?.();
    this.#options.request.end();
    this.#options.onSlotFree();
    this.#options.onEnd();
  }
}

// What is read before anybody asks for it: all of a small document, so that it does not hold its connection.
const readAhead = 128 * 1024;

// How long the reader may pause before another request may use the slot, in milliseconds.
const lendAfter = 1000;
