// Resolves the URLs of one document in one pass over each. If many have the same origin, only the first needs the URL
// parser.
import { type Fingerprint, FingerprintReader, Prefix } from "./fingerprints.ts";
import type { ProblemCode } from "./problem.ts";
import { originOf, protocolUrlLength } from "./url.ts";
import { resolveListedUrl } from "./url-forms.ts";

/**
 * `resolveListedUrl` for the many URLs of one document: one pass over each, and nothing is allocated. Origins that the
 * URL parser accepted are remembered. Nothing after the slash that follows an authority can make a URL invalid
 * (https://url.spec.whatwg.org/#path-state has no failure), so other URLs of the origin need no parser.
 */
export class UrlResolver {
  readonly #base: string | undefined;
  readonly #maxLength: number;
  readonly #plainLength: number;
  // `https://example.org/`, as written; the last one used comes first.
  readonly #origins: Prefix[] = [];
  /** The problem with the last URL: a repair, or why there is none. */
  problem: ProblemCode | undefined = undefined;

  /** Relative URLs are resolved against `base`; without one they are invalid. */
  constructor(base: string | undefined, maxLength: number) {
    this.#base = base;
    this.#maxLength = maxLength;
    this.#plainLength = Math.min(maxLength, protocolUrlLength);
  }

  /** The fingerprint of the last URL; valid until another one is resolved, by whatever resolver. */
  get fingerprint(): Fingerprint {
    return reader;
  }

  /** `text` must be trimmed. `isExact`: nothing around the URL is taken off. Sets `problem`. */
  resolve(text: string, isExact = false): string | undefined {
    if (text.length <= this.#plainLength) {
      reader.read(text);
      if (this.#isKnown() && !needsCare(text)) {
        this.problem = undefined;
        return text;
      }
    }
    const { url, problem } = resolveListedUrl(text, this.#base, this.#maxLength, isExact);
    this.problem = problem;
    if (url === undefined) return undefined;
    reader.read(url);
    if (url === text) this.#remember(text);
    return url;
  }

  // Whether the last text starts with a known origin.
  #isKnown(): boolean {
    const origins = this.#origins;
    for (let index = 0; index < origins.length; index++) {
      const origin = origins[index]!;
      if (!reader.startsWith(origin)) continue;
      if (index > 0) {
        origins[index] = origins[0]!;
        origins[0] = origin;
      }
      return true;
    }
    return false;
  }

  #remember(url: string): void {
    const origin = originOf(url);
    if (origin === undefined || this.#isKnown()) return;
    this.#origins.unshift(new Prefix(origin));
    if (this.#origins.length > rememberedOrigins) this.#origins.pop();
  }
}

// One for all resolvers: what it reads is used at once, and its memory would be most of what a small document takes.
const reader = new FingerprintReader();

// Pages, images and alternate pages rarely alternate between more hosts than this.
const rememberedOrigins = 4;

// What follows the URL may not belong to it: `]]>`.
function needsCare(text: string): boolean {
  return reader.hasControls || text.endsWith(">") || (reader.hasOthers && text.includes("\ufffd"));
}
