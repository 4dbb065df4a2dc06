// The URLs of one document: resolved, and each taken only once, because the first declaration counts.
// This runs for every URL there is. So it makes one pass over a URL and allocates nothing but the URL itself:
// - Origins that the URL parser accepted are remembered. Nothing that follows the slash after an authority can make a URL
//   unparseable (https://url.spec.whatwg.org/#path-state knows no failure), so its neighbours need no parser.
// - What was taken is remembered by its fingerprint, which is computed in the same pass.
import { FingerprintReader, Fingerprints, Prefix } from "../fingerprints.ts";
import type { ProblemCode } from "../problem.ts";
import { protocolUrlLength, resolveUrl } from "../url.ts";

export class UrlCollector {
  readonly #base: string | undefined;
  readonly #maxLength: number;
  readonly #plainLength: number;
  readonly #taken = new Fingerprints();
  // The last one used comes first.
  readonly #origins: Prefix[] = [];
  readonly #reader = new FingerprintReader();
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
    const url = from === 0 && to === text.length ? text : text.slice(from, to);
    if (url.length > this.#plainLength) return this.#takeUnknown(url);
    const reader = this.#reader;
    reader.read(url);
    if (!this.#isKnown()) return this.#takeUnknown(url);
    if (reader.hasControls || (reader.hasOthers && url.includes("\ufffd"))) {
      this.problem = "url-invalid";
      return undefined;
    }
    this.problem = undefined;
    return this.#taken.add(reader.high, reader.low) ? url : undefined;
  }

  // Whether what was read starts with an origin that was accepted before.
  #isKnown(): boolean {
    const origins = this.#origins;
    for (let index = 0; index < origins.length; index++) {
      const origin = origins[index]!;
      if (!this.#reader.startsWith(origin)) continue;
      if (index > 0) {
        origins[index] = origins[0]!;
        origins[0] = origin;
      }
      return true;
    }
    return false;
  }

  #takeUnknown(text: string): string | undefined {
    const { url, problem } = resolveUrl(text, this.#base, this.#maxLength);
    this.problem = problem;
    if (url === undefined) return undefined;
    this.#reader.read(url);
    if (url === text) this.#remember(text);
    if (this.#taken.add(this.#reader.high, this.#reader.low)) return url;
    this.problem = undefined;
    return undefined;
  }

  #remember(url: string): void {
    // Where no slash follows, as in `https://example.org?x`, it is not worth the while.
    const slash = url.indexOf("/", url.indexOf("//") + 2);
    const text = url.slice(0, slash + 1);
    if (slash < 0 || /[?#\\]/.test(text) || this.#isKnown()) return;
    this.#origins.unshift(new Prefix(text));
    if (this.#origins.length > rememberedOrigins) this.#origins.pop();
  }
}

// Pages, and the images and alternate pages between them, rarely take turns on more hosts than this.
const rememberedOrigins = 4;
