// The redirects from a declared URL to its document, however they were come by. A document may be on its way by another URL
// when it is asked for; what is told of the way must not depend on who came first.
import type { FailedFetch, FetchedDocument, Hop, KnownDocument } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";
import { urlKey } from "../url.ts";

export class RedirectWay {
  readonly #start: string;
  // Every URL on the way.
  readonly #urls: string[];
  readonly #problems: Problem[] = [];
  // The URL that was asked for last.
  #asked: string;

  constructor(start: string) {
    this.#start = start;
    this.#asked = start;
    this.#urls = [start];
  }

  /** A redirect to a document that has to be asked for by its own URL; where that was passed before, the failure. */
  follow(known: KnownDocument): FailedFetch | undefined {
    if (this.#isOwn(known)) this.#problems.push(...known.problems);
    this.#urls.push(...this.#hopsOf(known).map(({ url }) => url));
    const back = this.#urls.find((url) => urlKey(url) === urlKey(known.url));
    this.#asked = known.url;
    this.#urls.push(known.url);
    if (back === undefined) return undefined;
    const { requestedUrl, url, hops, attempts } = known;
    return { outcome: "failed", requestedUrl, url, hops, attempts, reason: problem("redirect-loop", { value: back }) };
  }

  /** What is worth saying about the way to the document. A document that came by another way has nothing of ours to say. */
  problems(fetched: FetchedDocument): readonly Problem[] {
    return this.#isOwn(fetched) ? [...this.#problems, ...fetched.problems] : this.#problems;
  }

  /** The failure as seen from the start: redirects that lead back lead back to the first URL on the way that they passed. */
  failure(failed: FailedFetch): FailedFetch {
    if (failed.reason.code !== "redirect-loop") return failed;
    const { requestedUrl, hops, attempts, reason } = failed;
    const passed = [...hops.map(({ url }) => url), failed.url];
    const back = passed.indexOf(reason.value ?? "");
    const circle = new Set(passed.slice(Math.max(back, 0)).map(urlKey));
    const onTheWay = [...this.#urls, ...this.#hopsOf(failed).map(({ url }) => url), failed.url];
    const value = onTheWay.find((url) => circle.has(urlKey(url))) ?? failed.url;
    const last: Hop = { url: failed.url, status: failed.status ?? 302, headers: [] };
    return {
      outcome: "failed",
      requestedUrl,
      // They end nowhere.
      url: this.#start,
      hops: [...hops, last],
      attempts,
      reason: problem("redirect-loop", { value }),
    };
  }

  #isOwn({ requestedUrl }: FetchedDocument | KnownDocument): boolean {
    return urlKey(requestedUrl) === urlKey(this.#asked);
  }

  // Those that come after what was asked for: the exchange may have begun elsewhere.
  #hopsOf({ hops }: KnownDocument | FailedFetch): readonly Hop[] {
    const own = hops.findIndex(({ url }) => urlKey(url) === urlKey(this.#asked));
    return hops.slice(own + 1);
  }
}
