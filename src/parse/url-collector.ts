// The URLs of one document: resolved, and each taken only once, because the first declaration counts.
// This runs for every URL there is. So it makes one pass over the characters of a URL, straight from the text that holds it,
// and allocates nothing but the URL itself:
// - Origins that the URL parser accepted are remembered. Nothing that follows the slash after an authority can make a URL
//   unparseable (https://url.spec.whatwg.org/#path-state knows no failure), so its neighbours need no parser.
// - What was taken is remembered by fingerprints of 64 bits. A million URLs need 16 MB; a Set of strings would keep the whole
//   document alive. That two different URLs among a million share one happens in one document of 30 million.
import type { ProblemCode } from "../problem.ts";
import { protocolUrlLength, resolveUrl } from "../url.ts";

export class UrlCollector {
  readonly #base: string | undefined;
  readonly #maxLength: number;
  readonly #plainLength: number;
  readonly #taken = new Fingerprints();
  // The last one used comes first.
  readonly #origins: Origin[] = [];
  /**
   * What there is to say about the last text: a repair where there was a URL, the reason where there was none. Where there
   * is neither, the URL was taken before.
   */
  problem: ProblemCode | undefined = undefined;

  /** Relative URLs are resolved against `base`; without one they are invalid. */
  constructor(base: string | undefined, maxLength: number) {
    this.#base = base;
    this.#maxLength = maxLength;
    this.#plainLength = Math.min(maxLength, protocolUrlLength);
  }

  /** How many URLs were taken. */
  get size(): number {
    return this.#taken.size;
  }

  /** Takes the URL that stands in `text` between `from` and `to`, trimmed. Sets `problem`. */
  take(text: string, from = 0, to: number = text.length): string | undefined {
    const origins = this.#origins;
    for (let index = 0; index < origins.length; index++) {
      const origin = origins[index]!;
      const path = from + origin.text.length;
      // Comparing a slice is faster than `startsWith`.
      if (path > to || to - from > this.#plainLength || text.slice(from, path) !== origin.text) continue;
      if (index > 0) {
        origins[index] = origins[0]!;
        origins[0] = origin;
      }
      return this.#takeKnown(text, from, path, to, origin);
    }
    return this.#takeUnknown(text.slice(from, to));
  }

  #takeKnown(text: string, from: number, path: number, to: number, origin: Origin): string | undefined {
    let { high, low } = origin;
    for (let at = path; at < to; at++) {
      const code = text.charCodeAt(at);
      if (code < 0x20 || code === 0x7f || code === 0xfffd) {
        this.problem = "url-invalid";
        return undefined;
      }
      high = Math.imul(high ^ code, highFactor);
      low = Math.imul(low ^ code, lowFactor);
    }
    this.problem = undefined;
    return this.#taken.add(high, low) ? text.slice(from, to) : undefined;
  }

  #takeUnknown(text: string): string | undefined {
    const { url, problem } = resolveUrl(text, this.#base, this.#maxLength);
    this.problem = problem;
    if (url === undefined) return undefined;
    const { high, low } = hash(url);
    if (url === text) this.#remember(text);
    if (this.#taken.add(high, low)) return url;
    this.problem = undefined;
    return undefined;
  }

  #remember(url: string): void {
    // Where no slash follows, as in `https://example.org?x`, it is not worth the while.
    const slash = url.indexOf("/", url.indexOf("//") + 2);
    const text = url.slice(0, slash + 1);
    if (slash < 0 || /[?#\\]/.test(text) || this.#origins.some((origin) => origin.text === text)) return;
    this.#origins.unshift(hash(text));
    if (this.#origins.length > rememberedOrigins) this.#origins.pop();
  }
}

/** `https://example.org/` as the site wrote it, and the state of the hash behind it. */
interface Origin {
  readonly text: string;
  readonly high: number;
  readonly low: number;
}

// Pages, and the images and alternate pages between them, rarely take turns on more hosts than this.
const rememberedOrigins = 4;

// Two hashes in the manner of FNV, each with a factor of its own. Where they start is drawn by lot: a website that knew it
// could make up URLs that all fall on one place of the table.
const highFactor = 0x9e3779b1;
const lowFactor = 0x5f356495;
const highStart = Math.trunc(Math.random() * 2 ** 32) | 0;
const lowStart = Math.trunc(Math.random() * 2 ** 32) | 0;

function hash(text: string): Origin {
  let high = highStart;
  let low = lowStart;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, highFactor);
    low = Math.imul(low ^ code, lowFactor);
  }
  return { text, high, low };
}

/** A set of pairs of 32 bits: open addressing with linear probing, at most half full. */
class Fingerprints {
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
