// The new places of pages by their old ones: added in any order, read in the order of the old side.

import type { Scratch } from "../archive/scratch.ts";
import { Buckets } from "./buckets.ts";
import { RecordLists } from "./record-lists.ts";

export class PlacePairs {
  readonly #buckets: Buckets;
  readonly #lists: RecordLists;
  #openBucket = -1;
  #open: Uint32Array = new Uint32Array(0);

  /** `places`: the number of pages of the old side. */
  constructor(scratch: Scratch, places: number) {
    this.#buckets = new Buckets(places);
    this.#lists = new RecordLists(scratch, this.#buckets.count, 2);
  }

  put(before: number, after: number): void {
    const bucket = this.#buckets.of(before);
    const at = this.#lists.next(bucket);
    const words = this.#lists.buffer(bucket);
    words[at] = before % this.#buckets.size;
    words[at + 1] = after;
  }

  /** Writes full buffers. Undefined if there is nothing to wait for. */
  flush(): Promise<void> | undefined {
    return this.#lists.isWaiting ? this.#lists.flush() : undefined;
  }

  /** Nothing more is added. */
  async finish(): Promise<void> {
    await this.#lists.finish();
  }

  /** Must be called and awaited before `at`; undefined if there is nothing to wait for. */
  open(before: number): Promise<void> | undefined {
    const bucket = this.#buckets.of(before);
    return bucket === this.#openBucket ? undefined : this.#load(bucket);
  }

  /** Only for places that were added. */
  at(before: number): number {
    return this.#open[before % this.#buckets.size]!;
  }

  async #load(bucket: number): Promise<void> {
    if (this.#open.length === 0) this.#open = new Uint32Array(this.#buckets.size);
    for await (const words of this.#lists.read(bucket)) {
      for (let at = 0; at < words.length; at += 2) this.#open[words[at]!] = words[at + 1]!;
    }
    this.#openBucket = bucket;
  }
}
