// The URLs of one document: resolved, and each taken only once, because the first declaration counts. What was taken is
// remembered by its fingerprint, which resolving it has left.
import { Fingerprints } from "../fingerprints.ts";
import type { ProblemCode } from "../problem.ts";
import { UrlResolver } from "../url-resolver.ts";

export class UrlCollector {
  readonly #resolver: UrlResolver;
  readonly #taken = new Fingerprints();
  /** What there is to say about the last text: a repair where there was a URL, the reason where there was none. */
  problem: ProblemCode | undefined = undefined;

  /** Relative URLs are resolved against `base`; without one they are invalid. */
  constructor(base: string | undefined, maxLength: number) {
    this.#resolver = new UrlResolver(base, maxLength);
  }

  /** Nothing more will be taken. */
  finish(): void {
    this.#taken.finish();
  }

  /** How many URLs were taken. */
  get size(): number {
    return this.#taken.size;
  }

  /** Takes the URL that stands in `text` between `from` and `to`, trimmed. Sets `problem`. */
  take(text: string, from = 0, to: number = text.length): string | undefined {
    const resolver = this.#resolver;
    const url = resolver.resolve(from === 0 && to === text.length ? text : text.slice(from, to));
    this.problem = resolver.problem;
    if (url === undefined) return undefined;
    const { high, low } = resolver.fingerprint;
    return this.takeKnown(url, high, low);
  }

  /** Takes a URL of which everything is known. Sets `problem` only where it was taken before: `url-repeated`. */
  takeKnown(url: string, high: number, low: number): string | undefined {
    if (this.#taken.add(high, low)) return url;
    this.problem = "url-repeated";
    return undefined;
  }
}
