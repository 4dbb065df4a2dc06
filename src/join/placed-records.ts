// Records by place, such as the number of a page: added in any order, read back in about the order of the places. They are in
// buckets, one for each range of places; one bucket at a time is loaded.
import type { Scratch } from "../storage/scratch.ts";
import { RecordStore } from "./record-store.ts";

const smallestBucket = 4096;
const mostBuckets = 255;

export class PlacedRecords {
  readonly store: RecordStore;
  readonly #width: number;
  // Of a bucket, in places.
  readonly #size: number;
  #bucket = -1;
  #open = new Int32Array(0);

  /** `places`: how many there can be. `width`: words of a record. */
  constructor(scratch: Scratch, places: number, width: number) {
    let size = smallestBucket;
    while (places / size >= mostBuckets) size *= 2;
    this.#size = size;
    this.#width = width;
    this.store = new RecordStore(scratch, Math.floor(places / size) + 1, width + 1);
  }

  put(place: number, ...record: readonly number[]): void {
    this.store.add(Math.floor(place / this.#size), place % this.#size, ...record);
  }

  /** The words of a record, until the next call. Only for places that were added. */
  async at(place: number): Promise<Int32Array> {
    const width = this.#width;
    const bucket = Math.floor(place / this.#size);
    if (bucket !== this.#bucket) {
      if (this.#open.length === 0) this.#open = new Int32Array(this.#size * width);
      const { words, count } = await this.store.load(bucket);
      for (let at = 0, end = count * (width + 1); at < end; at += width + 1) {
        this.#open.set(words.subarray(at + 1, at + 1 + width), words[at]! * width);
      }
      this.#bucket = bucket;
    }
    const start = (place % this.#size) * width;
    return this.#open.subarray(start, start + width);
  }
}
