// The URLs of one document: resolved, and each taken only once, because the first declaration counts.
// This runs for every URL there is. So it makes one pass over the characters of a URL, straight from the text that holds it,
// and allocates nothing but the URL itself:
// - Origins that the URL parser accepted are remembered. Nothing that follows the slash after an authority can make a URL
//   unparseable (https://url.spec.whatwg.org/#path-state knows no failure), so its neighbours need no parser.
// - What was taken is remembered by its fingerprint, which is computed in the same pass.
import { type Fingerprint, Fingerprints, fingerprint, highFactor, lowFactor } from "../fingerprints.ts";
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
    const { high, low } = fingerprint(url);
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
    this.#origins.unshift({ text, ...fingerprint(text) });
    if (this.#origins.length > rememberedOrigins) this.#origins.pop();
  }
}

/** `https://example.org/` as the site wrote it, and the state of the hash behind it. */
interface Origin extends Fingerprint {
  readonly text: string;
}

// Pages, and the images and alternate pages between them, rarely take turns on more hosts than this.
const rememberedOrigins = 4;
