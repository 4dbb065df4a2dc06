// Scans a URL once, for the positions of its parts and for two fingerprints: one of the exact spelling, and one that is the same for all
// spellings that probably mean one page. A plain URL allocates nothing, because a website may have millions.
import { FingerprintReader } from "../../model/fingerprints.ts";

export class UrlScan {
  /** The end of the host: the start of the path, query or fragment, or the end. */
  hostEnd = 0;
  /** The start of the query, with its question mark; -1 if there is none. */
  query = -1;
  /** The start of the fragment, with its `#`; -1 if there is none. */
  fragment = -1;
  /** The fingerprint of the page, the same for all spellings. */
  pageHigh = 0;
  pageLow = 0;
  /** The fingerprint of this spelling. Together, the fingerprints of page and spelling identify the exact URL. */
  spelling = 0;

  /** Scans a URL, which must be absolute, with http or https. */
  read(url: string): void {
    if (this.#scan(url) < 128) return;
    // A URL with other characters than ASCII is scanned again after `toLowerCase`, which knows all alphabets.
    const lower = url.toLowerCase();
    if (lower === url || lower.length !== url.length) return;
    this.#scan(lower);
    const { pageHigh, pageLow } = this;
    this.#scan(url);
    this.pageHigh = pageHigh;
    this.pageLow = pageLow;
  }

  // Returns the bitwise OR of all character codes, which is less than 128 if the URL is ASCII.
  #scan(url: string): number {
    const { length } = url;
    const host = url.indexOf("//") + 2;
    let codes = 0;
    let spelling = seeds[0]!;
    // The scheme is part of the spelling, not of the page.
    for (let at = 0; at < host; at++) spelling = added(spelling, url.charCodeAt(at) | 32, factors.spelling);
    let high = seeds[1]!;
    let low = seeds[2]!;
    let at = host;
    // The page has the same fingerprint with and without `www.`.
    const mayBeWww = (url.charCodeAt(host) | 32) === 0x77;
    const skipped = mayBeWww && url.slice(host, host + 4).toLowerCase() === "www." ? host + 4 : host;
    for (; at < length; at++) {
      const code = url.charCodeAt(at);
      if (code === slash || code === question || code === numberSign) break;
      const lower = lowerOf(code);
      codes |= code;
      spelling = added(spelling, lower, factors.spelling);
      if (at < skipped) continue;
      high = added(high, lower, factors.high);
      low = added(low, lower, factors.low);
    }
    this.hostEnd = at;
    let before = 0;
    // A slash is hashed when something follows it: one at the end of the path makes no difference.
    for (; at < length; at++) {
      const code = url.charCodeAt(at);
      if (code === question || code === numberSign) break;
      if (before === slash) {
        high = added(high, slash, factors.high);
        low = added(low, slash, factors.low);
      }
      codes |= code;
      spelling = added(spelling, code, factors.spelling);
      if (code !== slash) {
        const lower = lowerOf(code);
        high = added(high, lower, factors.high);
        low = added(low, lower, factors.low);
      }
      before = code;
    }
    // `https://example.org` and `https://example.org/` are one spelling: no path is the path `/`.
    if (at === this.hostEnd) spelling = added(spelling, slash, factors.spelling);
    this.query = -1;
    this.fragment = -1;
    if (at < length) {
      // Parameters may come in any order, so their fingerprints are added up.
      if (url.charCodeAt(at) === question) this.query = at;
      let parameterHigh = 0;
      let parameterLow = 0;
      let sumHigh = 0;
      let sumLow = 0;
      for (; at < length; at++) {
        const code = url.charCodeAt(at);
        const isFragment = code === numberSign && this.fragment < 0;
        const isParameter = (code === ampersand || code === question) && this.fragment < 0;
        if (isFragment) this.fragment = at;
        if (isFragment || isParameter) {
          sumHigh = (sumHigh + mixed(parameterHigh)) | 0;
          sumLow = (sumLow + mixed(parameterLow)) | 0;
          parameterHigh = seeds[isFragment ? 3 : 1]!;
          parameterLow = seeds[isFragment ? 3 : 2]!;
        }
        codes |= code;
        spelling = added(spelling, code, factors.spelling);
        if (isParameter) continue;
        const lower = lowerOf(code);
        parameterHigh = added(parameterHigh, lower, factors.high);
        parameterLow = added(parameterLow, lower, factors.low);
      }
      high ^= (sumHigh + mixed(parameterHigh)) | 0;
      low ^= (sumLow + mixed(parameterLow)) | 0;
    }
    this.spelling = mixed(spelling);
    this.pageHigh = mixed(high);
    this.pageLow = mixed(low ^ (this.pageHigh >>> 7));
    return codes;
  }
}

// Adds a character to a fingerprint.
function added(hash: number, code: number, factor: number): number {
  const result = Math.imul(hash ^ code, factor);
  return result ^ (result >>> 15);
}

function lowerOf(code: number): number {
  return code >= upperA && code <= upperZ ? code + 32 : code;
}

/** Applies the last step of MurmurHash3, so that every bit of the result depends on all bits of `hash`. */
export function mixed(hash: number): number {
  let result = hash ^ (hash >>> 16);
  result = Math.imul(result, 0x85ebca6b);
  result ^= result >>> 13;
  result = Math.imul(result, 0xc2b2ae35);
  return result ^ (result >>> 16);
}

/** Combines the fingerprints of a URL into one number. */
export function urlNumber(spelling: number, pageLow: number): number {
  return (spelling >>> 0) * 2 ** 21 + (pageLow >>> 11);
}

/** Returns a fingerprint of a short text, such as a language. It is never 0. */
export function textHash(text: string): number {
  let result = seeds[3]!;
  for (let at = 0; at < text.length; at++) result = added(result, text.charCodeAt(at), factors.spelling);
  return mixed(result) || 1;
}

/** Returns a fingerprint of a text as one number. */
export function textNumber(text: string): number {
  reader.read(text);
  return (reader.high >>> 0) * 2 ** 21 + (reader.low >>> 11);
}

const reader = new FingerprintReader();
const slash = 0x2f;
const question = 0x3f;
const numberSign = 0x23;
const ampersand = 0x26;
const upperA = 0x41;
const upperZ = 0x5a;

const factors = { spelling: 0x9e3779b1, high: 0x5f356495, low: 0x2c1b3c6d } as const;
// The seeds are random in each process, so that a website cannot construct collisions. No output may depend on them.
const seeds = Int32Array.from({ length: 4 }, () => Math.trunc(Math.random() * 2 ** 32) | 0);
