// The homepage of a website: fetched once, and read for its links at the end. Where robots.txt does not answer, it is asked for
// early: one more try, by which a website that is down is told from one whose robots.txt is.
import type { Fetched } from "../exchange.ts";
import { type Followed, type FollowRules, follow, Hop } from "./follow.ts";

// How long robots.txt may take before the homepage is asked for beside it, in milliseconds. Waiting for one after the other
// would take too long, where both are silent.
const patience = 5000;

export class HomepageFetch {
  readonly #url: string;
  readonly #rules: FollowRules;
  readonly #fetch: (hop: Hop) => Promise<Fetched>;
  #result: Promise<Followed<never>> | undefined;
  #outcome: Followed<never> | undefined;

  /** `fetch` answers for one hop. */
  constructor(url: string, rules: FollowRules, fetch: (hop: Hop) => Promise<Fetched>) {
    this.#url = url;
    this.#rules = rules;
    this.#fetch = fetch;
  }

  /** What came of it, where it was asked for. */
  get outcome(): Followed<never> | undefined {
    return this.#outcome;
  }

  /** Rejects when the crawl is aborted. */
  get(): Promise<Followed<never>> {
    this.#result ??= this.#follow();
    return this.#result;
  }

  /** Begins in a while, unless the function that is returned is called before. */
  beginLater(): () => void {
    const timer = setTimeout(() => {
      // Whoever asks for it gets the rejection.
      this.get().catch(() => undefined);
    }, patience);
    return () => clearTimeout(timer);
  }

  async #follow(): Promise<Followed<never>> {
    const first = Hop.first(this.#url, "homepage", this.#rules);
    this.#outcome = await follow<never>(first, this.#fetch, () => undefined);
    return this.#outcome;
  }
}
