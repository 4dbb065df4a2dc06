// A set of texts, stored as 64-bit fingerprints: a million texts need 16 MB, however long they are. Of 30 million sets
// of that size, fewer than one is expected to have two texts with the same fingerprint.

/** A 64-bit fingerprint, as two 32-bit integers. */
export interface Fingerprint {
  readonly high: number;
  readonly low: number;
}

/** Computes the fingerprint of one text at a time into its fields. Encoding a text first is twice as fast as reading its characters. */
export class FingerprintReader implements Fingerprint {
  #bytes = new Uint8Array(8 * 1024);
  #words = new Int32Array(this.#bytes.buffer);
  high = 0;
  low = 0;
  /** Whether the last text has control characters: C0 or DEL. */
  hasControls = false;
  /** Whether the last text has non-ASCII characters. */
  hasOthers = false;

  read(text: string): void {
    // A UTF-16 unit has at most three bytes in UTF-8. Up to three spaces fill the last word.
    if (text.length * 3 + 3 > this.#bytes.length) this.#grow(text.length * 3 + 3);
    const bytes = this.#bytes;
    const words = this.#words;
    const length = encoder.encodeInto(text, bytes).written;
    bytes[length] = space;
    bytes[length + 1] = space;
    bytes[length + 2] = space;
    const count = (length + 3) >> 2;
    let high = highStart ^ length;
    let low = lowStart;
    let controls = 0;
    for (let index = 0; index < count; index++) {
      const word = words[index]!;
      // This sets the upper bit of each byte that is less than 0x20, or is 0x7f.
      const del = word ^ 0x7f7f7f7f;
      controls |= ((word - 0x20202020) & ~word) | ((del - 0x01010101) & ~del);
      high = Math.imul(high ^ word, highFactor);
      high ^= high >>> 15;
      low = Math.imul(low ^ word, lowFactor);
      low ^= low >>> 13;
    }
    this.high = high;
    this.low = low;
    this.hasControls = (controls & 0x80808080) !== 0;
    this.hasOthers = length !== text.length;
  }

  /** Whether the last text starts with a prefix. */
  startsWith(prefix: Prefix): boolean {
    const { words, tail } = prefix;
    const ownWords = this.#words;
    for (let index = 0; index < words.length; index++) {
      if (ownWords[index] !== words[index]) return false;
    }
    const own = this.#bytes;
    const from = words.length * 4;
    for (let index = 0; index < tail.length; index++) {
      if (own[from + index] !== tail[index]) return false;
    }
    return true;
  }

  #grow(size: number): void {
    this.#bytes = new Uint8Array((size + 3) & ~3);
    this.#words = new Int32Array(this.#bytes.buffer);
  }
}

/** A text to compare with the beginnings of others. It must not end in a space. */
export class Prefix {
  readonly words: Int32Array;
  readonly tail: Uint8Array;

  constructor(text: string) {
    const bytes = encoder.encode(text);
    const whole = bytes.length & ~3;
    this.words = new Int32Array(bytes.slice(0, whole).buffer);
    this.tail = bytes.slice(whole);
  }
}

const encoder = new TextEncoder();
const space = 0x20;
export const highFactor = 0x9e3779b1;
export const lowFactor = 0x5f356495;
// The start values are random, because a website that knew them could construct URLs that all collide.
const highStart = Math.trunc(Math.random() * 2 ** 32) | 0;
const lowStart = Math.trunc(Math.random() * 2 ** 32) | 0;

/** The start value of all fingerprints: a seed shared with the WASM tokenizer. */
export const fingerprintStart: Fingerprint = { high: highStart, low: lowStart };

/** A set of pairs of 32-bit integers: open addressing with linear probing, at most seven eighths full. */
export class Fingerprints {
  // The table is created on first use, because most documents are small, and have pages or sitemaps, but not both.
  #slots: Int32Array = noSlots;
  size = 0;
  // The sums of all pairs.
  #firstSum = 0;
  #secondSum = 0;

  /** Equal for sets with the same texts, in whatever order they were added. */
  get identity(): string {
    return `${this.size} ${this.#firstSum} ${this.#secondSum}`;
  }

  has(high: number, low: number): boolean {
    const first = mix(high ^ (low >>> 15), 0x85ebca6b);
    const second = mix(low ^ (first >>> 13), 0xc2b2ae35) || 1;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (slotOf(first, second) << 1) & mask;
    while (this.size > 0 && slots[at + 1] !== 0) {
      if (slots[at] === first && slots[at + 1] === second) return true;
      at = (at + 2) & mask;
    }
    return false;
  }

  /** Adds a fingerprint. Returns false if it was already in the set. */
  add(high: number, low: number): boolean {
    // The last characters of a text hardly affect the upper half of a hash, so it is mixed once more, as in MurmurHash3.
    const first = mix(high ^ (low >>> 15), 0x85ebca6b);
    const second = mix(low ^ (first >>> 13), 0xc2b2ae35) || 1;
    if (this.size * 16 >= this.#slots.length * 7) this.#grow();
    if (!insert(this.#slots, first, second)) return false;
    this.size++;
    this.#firstSum = (this.#firstSum + first) | 0;
    this.#secondSum = (this.#secondSum + second) | 0;
    return true;
  }

  /** Releases the table, so that another set may reuse it. Call this when nothing more will be added or looked up. */
  finish(): void {
    const { length } = this.#slots;
    if (length > 0 && length <= largestSpare) spare.set(length, this.#slots.fill(0));
    this.#slots = noSlots;
  }

  #grow(): void {
    const old = this.#slots;
    const length = tableSizes.find((size) => size > old.length) ?? old.length * 2;
    const slots = spare.get(length) ?? new Int32Array(length);
    spare.delete(length);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) insert(slots, old[at]!, old[at + 1]!);
    }
    this.finish();
    this.#slots = slots;
  }
}

// Empty tables to reuse, by length: if left to the garbage collector, those of a large website would pile up.
const spare = new Map<number, Int32Array>();
const largestSpare = 131_072;

// Table sizes in 32-bit words. The steps are large, because growing copies the table.
const tableSizes: readonly number[] = [128, 512, 2048, 8192, 32_768, 131_072, 1_048_576, 4_194_304];
const noSlots = new Int32Array(0);

// `second` is never 0, which marks an empty slot.
function insert(slots: Int32Array, first: number, second: number): boolean {
  const mask = slots.length - 1;
  for (let at = (slotOf(first, second) << 1) & mask; ; at = (at + 2) & mask) {
    if (slots[at + 1] === 0) {
      slots[at] = first;
      slots[at + 1] = second;
      return true;
    }
    if (slots[at] === first && slots[at + 1] === second) return false;
  }
}

function slotOf(first: number, second: number): number {
  return (Math.imul(first, firstFactor) + Math.imul(second, secondFactor)) >>> 4;
}

const firstFactor = Math.trunc(Math.random() * 2 ** 31) * 2 + 1;
const secondFactor = Math.trunc(Math.random() * 2 ** 31) * 2 + 1;

/** Spreads a hash over all of its bits. If the factor is odd, different hashes stay different. */
export function mix(hash: number, factor: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), factor);
  return mixed ^ (mixed >>> 15);
}
