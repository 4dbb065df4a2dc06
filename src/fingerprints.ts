// Which texts were seen, by fingerprints of 64 bits: memory that is bounded by their number, not by their length. A million
// need 16 MB; a Set of strings would keep what they were cut from alive. That two different texts among a million share a
// fingerprint happens in one set of 30 million.

/** The state of a fingerprint: what was read so far. */
export interface Fingerprint {
  readonly high: number;
  readonly low: number;
}

// Two hashes in the manner of FNV, each with a factor of its own. Where they start is drawn by lot: a website that knew it
// could make up URLs that all fall on one place of the table.
export const highFactor = 0x9e3779b1;
export const lowFactor = 0x5f356495;
const highStart = Math.trunc(Math.random() * 2 ** 32) | 0;
const lowStart = Math.trunc(Math.random() * 2 ** 32) | 0;

/** For each UTF-16 unit, in order: `high = Math.imul(high ^ unit, highFactor)`, and the same for `low`. */
export function fingerprint(text: string): Fingerprint {
  let high = highStart;
  let low = lowStart;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, highFactor);
    low = Math.imul(low ^ unit, lowFactor);
  }
  return { high, low };
}

/** A set of pairs of 32 bits: open addressing with linear probing, at most half full. */
export class Fingerprints {
  #slots = new Uint32Array(2 * 512);
  size = 0;

  /** False where it was there before. */
  add(high: number, low: number): boolean {
    // The last characters of a text have hardly reached the upper half of a hash: mixed once more, as at the end of MurmurHash3.
    const first = mix(high ^ (low >>> 15), 0x85ebca6b) >>> 0;
    const second = mix(low ^ (first >>> 13), 0xc2b2ae35) >>> 0 || 1;
    if (this.size * 4 >= this.#slots.length) this.#grow();
    if (!insert(this.#slots, first, second)) return false;
    this.size++;
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    // In large steps: what was outgrown waits for the garbage collector, and all of it together is then a third, not the same again.
    this.#slots = new Uint32Array(old.length * 4);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) insert(this.#slots, old[at]!, old[at + 1]!);
    }
  }
}

// `second` is never 0: that marks an empty slot.
function insert(slots: Uint32Array, first: number, second: number): boolean {
  const mask = slots.length - 1;
  for (let at = (first << 1) & mask; ; at = (at + 2) & mask) {
    if (slots[at + 1] === 0) {
      slots[at] = first;
      slots[at + 1] = second;
      return true;
    }
    if (slots[at] === first && slots[at + 1] === second) return false;
  }
}

function mix(hash: number, factor: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), factor);
  return mixed ^ (mixed >>> 15);
}
