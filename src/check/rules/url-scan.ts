// Scans a URL once, for the positions of its parts and for two fingerprints: one of the exact spelling, and one that is the same for all
// spellings that probably mean one page.
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
    const hostStart = url.indexOf("//") + 2;
    const fragment = url.indexOf("#", hostStart);
    const queryEnd = fragment < 0 ? url.length : fragment;
    const mark = url.indexOf("?", hostStart);
    const hasQuery = mark >= 0 && mark < queryEnd;
    const pathEnd = hasQuery ? mark : queryEnd;
    const slash = url.indexOf("/", hostStart);
    this.hostEnd = slash >= 0 && slash < pathEnd ? slash : pathEnd;
    this.query = hasQuery ? mark : -1;
    this.fragment = fragment;

    const origin = url.slice(0, this.hostEnd).toLowerCase();
    // `https://example.org` and `https://example.org/` are one spelling: no path is the path `/`.
    const path = this.hostEnd === pathEnd ? "/" : url.slice(this.hostEnd, pathEnd);
    reader.read(origin + path + url.slice(pathEnd));
    this.spelling = mixed(reader.high);

    // A page has the same fingerprint whatever the case and the scheme, with and without `www.` and a slash at the end, and with its
    // parameters in any order.
    const host = origin.slice(origin.startsWith("www.", hostStart) ? hostStart + 4 : hostStart);
    const place = path.endsWith("/") ? path.slice(0, -1) : path;
    const query = url.slice(pathEnd, queryEnd).toLowerCase();
    const parameters = hasQuery ? `?${query.slice(1).split(/[&?]/).sort().join("&")}` : "";
    reader.read(host + place.toLowerCase() + parameters + url.slice(queryEnd).toLowerCase());
    this.pageHigh = mixed(reader.high);
    this.pageLow = mixed(reader.low ^ (this.pageHigh >>> 7));
  }
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
  reader.read(text);
  return mixed(reader.high) || 1;
}

/** Returns a fingerprint of a text as one number. */
export function textNumber(text: string): number {
  reader.read(text);
  return (reader.high >>> 0) * 2 ** 21 + (reader.low >>> 11);
}

const reader = new FingerprintReader();
