// The URLs of one document: resolved, and each taken once, because the first declaration counts. Known URLs are
// remembered by the fingerprint that resolving them computes.
import { Fingerprints } from "../model/fingerprints.ts";
import type { ProblemCode } from "../model/problem.ts";
import { UrlResolver } from "../model/url-resolver.ts";

export class UrlCollector {
  readonly #resolver: UrlResolver;
  readonly #taken = new Fingerprints();
  /** The problem with the last text: a repair if there was a URL, else the reason. */
  problem: ProblemCode | undefined = undefined;
  /** The last URL, if it was taken before. */
  repeated: string | undefined = undefined;

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

  /** Takes the URL in `text` between `from` and `to`, trimmed. `isExact`: nothing around it is taken off. Sets `problem`. */
  take(text: string, from = 0, to: number = text.length, isExact = false): string | undefined {
    const resolver = this.#resolver;
    this.repeated = undefined;
    const url = resolver.resolve(from === 0 && to === text.length ? text : text.slice(from, to), isExact);
    this.problem = resolver.problem;
    if (url === undefined) return undefined;
    const { high, low } = resolver.fingerprint;
    return this.takeKnown(url, high, low);
  }

  /** Takes a URL whose facts are known. Sets `problem` only if it was taken before: `url-repeated`. */
  takeKnown(url: string, high: number, low: number): string | undefined {
    const isNew = this.#taken.add(high, low);
    this.repeated = isNew ? undefined : url;
    if (isNew) return url;
    this.problem = "url-repeated";
    return undefined;
  }
}
