// Decides whether to skip the requests for guesses that found nothing in the previous run. They are skipped while the
// website stays the same: robots.txt is unchanged, the sitemaps found then are still there, and the homepage names no
// others.

import type { Store } from "../archive/contract.ts";
import type { DocumentSource } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { type FollowRules, follow, Hop } from "./follow.ts";
import type { Frame, Frontier } from "./frontier.ts";
import type { Guesses } from "./guesses.ts";
import type { HomepageFetch } from "./homepage-fetch.ts";
import type { Prefetcher } from "./prefetcher.ts";
import type { TimeBudget } from "./time-budget.ts";

export interface UnaskedOptions {
  readonly guesses: Guesses | undefined;
  readonly isRobotsTheSame: (() => boolean) | undefined;
  readonly settings: Settings;
  /** An archive also knows what its run did not request. */
  readonly documents: DocumentSource | Store;
  readonly rules: FollowRules;
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly time: TimeBudget;
  readonly homepage: HomepageFetch;
}

export class UnaskedGuesses {
  readonly #options: UnaskedOptions;
  #isDecided = false;

  constructor(options: UnaskedOptions) {
    this.#options = options;
  }

  /** Whether the answer of an earlier run may be used for this guess; final once `decide` was called. */
  has(url: string): boolean {
    const { guesses, documents } = this.#options;
    return guesses?.isNotAsked(url) === true || documents.wasNotAsked?.(url) === true;
  }

  get isDecided(): boolean {
    return this.#isDecided;
  }

  /** Called before the first guess, when everything below robots.txt was read. `usesHomepage`: whether its links are read. */
  async decide(root: Frame, usesHomepage: boolean): Promise<void> {
    const { guesses, isRobotsTheSame, homepage } = this.#options;
    if (this.#isDecided) return;
    this.#isDecided = true;
    if (guesses === undefined) return;
    if (isRobotsTheSame?.() === false || !(await this.#isStillFound(root, guesses))) return guesses.askAll();
    if (!usesHomepage || guesses.isNotAsked(homepage.url)) return;
    for (const { url } of (await homepage.links()).candidates) guesses.ask(url);
  }

  async #isStillFound(root: Frame, { foundBefore }: Guesses): Promise<boolean> {
    const { settings, rules, frontier, prefetcher, time } = this.#options;
    const isNeeded = settings.useKnownPaths !== "if-needed" || !hasReadable(root);
    const hops = foundBefore
      .map((url) => Hop.first(url, "sitemap", rules))
      .filter(({ key }) => isNeeded && !frontier.isKnown(key));
    if (hops.length === 0) return hasReadable(root);
    if (frontier.exhausted() !== undefined) return false;
    for (const hop of hops) prefetcher.start(hop);
    const peek = (hop: Hop) => time.fetched(hop.request, prefetcher.peek(hop));
    const known = (hop: Hop) => frontier.isKnown(hop.key) || undefined;
    const ways = await Promise.all(hops.map((hop) => follow(hop, peek, known)));
    return ways.every(({ outcome }) => outcome === "found" || outcome === "known");
  }
}

/** Whether robots.txt names a sitemap that can be read. It is the first child, visited before every well-known path. */
export function hasReadable({ children }: Frame): boolean {
  const [robots] = children;
  if (robots?.kind !== "index" || robots.format !== "robots") return false;
  return robots.children.some(({ kind }) => kind !== "invalid");
}
