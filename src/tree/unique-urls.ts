// A set of URLs in memory that is bounded by their number, not by their length: 64 bits of each are kept. Two different URLs
// are taken for one with a probability of 1 in 30 million for a website of a million pages; the hash starts from a random
// value, so that no website can choose URLs that meet.
import { randomBytes } from "node:crypto";

export class UniqueUrls {
  readonly #seed = randomBytes(8);
  readonly #seedLow = this.#seed.readInt32LE(0);
  readonly #seedHigh = this.#seed.readInt32LE(4);
  #slots = new Int32Array(2 * 1024);
  #size = 0;

  /** Whether the URL is new; it is not from now on. */
  add(url: string): boolean {
    let low = this.#seedLow;
    let high = this.#seedHigh;
    for (let index = 0; index < url.length; index += 1) {
      const unit = url.charCodeAt(index);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ unit, 0x5bd1e995);
      high = (high << 13) | (high >>> 19);
    }
    low ^= high >>> 15;
    low = Math.imul(low, 0x2c1b3c6d);
    high ^= low >>> 12;
    high = Math.imul(high, 0x297a2d39);
    // Zero marks an empty slot.
    if (low === 0 && high === 0) low = 1;
    if (!insert(this.#slots, low, high)) return false;
    this.#size += 1;
    // At most half full, or the search for a free slot grows long.
    if (this.#size * 4 > this.#slots.length) this.#grow();
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    const next = new Int32Array(old.length * 2);
    for (let index = 0; index < old.length; index += 2) {
      const low = old[index] as number;
      const high = old[index + 1] as number;
      if (low !== 0 || high !== 0) insert(next, low, high);
    }
    this.#slots = next;
  }
}

// Open addressing; a slot is two numbers.
function insert(slots: Int32Array, low: number, high: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const foundLow = slots[2 * slot];
    const foundHigh = slots[2 * slot + 1];
    if (foundLow === low && foundHigh === high) return false;
    if (foundLow === 0 && foundHigh === 0) {
      slots[2 * slot] = low;
      slots[2 * slot + 1] = high;
      return true;
    }
  }
}
