// The URLs of one document, resolved in one pass over each. Where many are of one origin, all but the first need no parser.
import { type Fingerprint, FingerprintReader, Prefix } from "./fingerprints.ts";
import type { ProblemCode } from "./problem.ts";
import { originOf, protocolUrlLength } from "./url.ts";
import { resolveListedUrl } from "./url-forms.ts";

/**
 * `resolveListedUrl` for the many URLs of one document: one pass over each, and nothing is allocated. Origins that the URL parser
 * accepted are remembered. Nothing that follows the slash after an authority can make a URL unparseable
 * (https://url.spec.whatwg.org/#path-state knows no failure), so its neighbours need no parser.
 */
export class UrlResolver {
  readonly #base: string | undefined;
  readonly #maxLength: number;
  readonly #plainLength: number;
  readonly #reader = new FingerprintReader();
  // `https://example.org/`, as written; the last one used comes first.
  readonly #origins: Prefix[] = [];
  /** What there is to say about the URL resolved last, or why there is none. */
  problem: ProblemCode | undefined = undefined;

  /** Relative URLs are resolved against `base`; without one they are invalid. */
  constructor(base: string | undefined, maxLength: number) {
    this.#base = base;
    this.#maxLength = maxLength;
    this.#plainLength = Math.min(maxLength, protocolUrlLength);
  }

  /** Of the URL resolved last. */
  get fingerprint(): Fingerprint {
    return this.#reader;
  }

  /** `text` has to be trimmed. Sets `problem`. */
  resolve(text: string): string | undefined {
    const reader = this.#reader;
    if (text.length <= this.#plainLength) {
      reader.read(text);
      if (this.#isKnown() && !needsCare(text, reader)) {
        this.problem = undefined;
        return text;
      }
    }
    const { url, problem } = resolveListedUrl(text, this.#base, this.#maxLength);
    this.problem = problem;
    if (url === undefined) return undefined;
    reader.read(url);
    if (url === text) this.#remember(text);
    return url;
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

  #remember(url: string): void {
    const origin = originOf(url);
    if (origin === undefined || this.#isKnown()) return;
    this.#origins.unshift(new Prefix(origin));
    if (this.#origins.length > rememberedOrigins) this.#origins.pop();
  }
}

// Pages, and the images and alternate pages between them, rarely take turns on more hosts than this.
const rememberedOrigins = 4;

function needsCare(text: string, reader: FingerprintReader): boolean {
  return reader.hasControls || mayEndInMarkup(text) || (reader.hasOthers && text.includes("\ufffd"));
}

/** Whether something may stand behind the URL that does not belong to it: `]]>`. */
function mayEndInMarkup(text: string): boolean {
  return text.charCodeAt(text.length - 1) === greaterThan;
}

const greaterThan = 0x3e;
