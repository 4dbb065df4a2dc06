// Tries the candidates of discovery one after another: robots.txt, well-known paths, links in the homepage, or the sitemaps
// that the caller gave.

import type { Store } from "../archive/contract.ts";
import { type Candidate, candidatesFor } from "../discover/candidates.ts";
import type { OrderedEvent } from "../model/event.ts";
import type { DocumentSource } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { hasNoResponse } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { atOrigin, movedOrigin } from "../model/url.ts";
import type { DiscoveryLog } from "./discovery-log.ts";
import type { EarlierRun } from "./earlier-run.ts";
import { takeTurn } from "./event-loop.ts";
import { type FollowRules, follow, Hop } from "./follow.ts";
import type { Frame, Frontier } from "./frontier.ts";
import type { HomepageFetch, LinksFound } from "./homepage-fetch.ts";
import type { IndexWalk } from "./index-walk.ts";
import type { Lookahead } from "./lookahead.ts";
import type { Prefetcher } from "./prefetcher.ts";
import type { Visit } from "./record.ts";
import type { Start } from "./target.ts";
import type { TimeBudget } from "./time-budget.ts";
import type { Visitor } from "./visit.ts";

export interface DiscoveryOptions {
  readonly start: Start;
  readonly settings: Settings;
  readonly rules: FollowRules;
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly lookahead: Lookahead;
  readonly visitor: Visitor;
  readonly indexWalk: IndexWalk;
  readonly homepage: HomepageFetch;
  readonly time: TimeBudget;
  readonly earlier: EarlierRun | undefined;
  /** An archive also knows what its run did not request. */
  readonly documents: DocumentSource | Store;
  readonly log: DiscoveryLog;
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  // Those that were not tried yet.
  #candidates: Candidate[] = [];
  #isAtRobots = false;
  // Whether it is known where well-known paths are asked for, and which are not.
  #isPlaced = false;
  #isSettled = false;
  // Well-known paths for which the answer of an earlier run is used.
  #notAsked = new Set<string>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** Adds what it finds to the children of the root. */
  async *run(root: Frame): AsyncGenerator<OrderedEvent, void> {
    const { start, settings } = this.#options;
    if (start.sitemaps !== undefined) {
      const given = start.sitemaps.map((url): Candidate => ({ url, by: "given" }));
      return yield* this.#tryAll(given, root);
    }
    yield* this.#tryAll(candidatesFor(start.homepage, settings), root);
    if (this.#usesHomepage) yield* this.#tryAll(await this.#homepageLinks(root), root);
  }

  /** Prefetches what will be read next. */
  lookAhead(): void {
    const { lookahead, indexWalk } = this.#options;
    // While robots.txt is read, its sitemaps come first: they may make the other candidates unnecessary.
    const candidates = this.#isAtRobots || !this.#isPlaced ? [] : this.#neededNow();
    lookahead.fill({ stack: indexWalk.stack, candidates });
  }

  async *#tryAll(candidates: readonly Candidate[], root: Frame): AsyncGenerator<OrderedEvent, void> {
    const { settings, log } = this.#options;
    this.#candidates = [...candidates];
    for (;;) {
      if (this.#candidates[0]?.by === "known-path" && !this.#isStopped) await this.#settle(root);
      const next = this.#candidates.shift();
      if (next === undefined || this.#isStopped) return;
      if (next.ifNeeded && hasReadable(root)) {
        log.skip(next);
        continue;
      }
      await takeTurn(settings.signal);
      const node = yield* this.#try(next, root);
      if (node !== undefined) root.children.push(node);
    }
  }

  // Links in the homepage and given sitemaps are declared: each has a node, also where it fails. robots.txt and well-known
  // paths are guesses: without a sitemap there is no node.
  async *#try(candidate: Candidate, root: Frame): AsyncGenerator<OrderedEvent, Sitemap | undefined> {
    const { rules, frontier, prefetcher, visitor, homepage, log, indexWalk } = this.#options;
    const { url, by } = candidate;
    this.#isAtRobots = by === "robots";
    const plain = Hop.first(url, this.#isAtRobots ? "robots" : "sitemap", rules);
    const isLeftOut = by === "known-path" && this.#isNotAsked(url) && !frontier.isKnown(plain.key);
    const notAsked = isLeftOut ? "guess" : undefined;
    const hop = isLeftOut ? Hop.first(url, "sitemap", rules, notAsked) : plain;
    if (frontier.exhausted() === undefined && !frontier.isKnown(hop.key)) {
      prefetcher.start(hop);
      this.lookAhead();
    }
    const stop = this.#isAtRobots && this.#triesHomepageEarly ? homepage.beginLater() : undefined;
    let visit: Visit;
    try {
      visit = yield* visitor.visit({ url, ...(notAsked && { notAsked }) }, { parent: root, by });
    } finally {
      stop?.();
    }
    // Where robots.txt got no answer, the homepage decides whether the website is down: then nothing else is requested.
    const reason = visit.type === "omitted" ? visit.result.reason : undefined;
    if (stop !== undefined && reason !== undefined && hasNoResponse(reason.code)) await homepage.get();
    this.#isAtRobots = false;
    log.add(candidate, visit);
    const { finalUrl = url, status } = visit.result;
    if (by === "robots" && !this.#isStopped) this.#beginHomepage(status === undefined ? url : finalUrl);
    visit = yield* visitor.goOn(visit, root, this.#candidates);
    switch (visit.type) {
      case "omitted":
        return undefined;
      case "node":
        return visit.node;
      case "frame":
        return yield* indexWalk.run(visit.frame);
    }
  }

  async #homepageLinks(root: Frame): Promise<readonly Candidate[]> {
    await this.#settle(root);
    const found = await this.#options.homepage.links();
    this.#options.log.addHomepage(found);
    return found.candidates;
  }

  // Beside the sitemaps of robots.txt, which was found at this URL.
  #beginHomepage(robots: string): void {
    const { homepage, earlier } = this.#options;
    const origin = this.#follow(robots);
    if (origin !== undefined) homepage.moveTo(atOrigin(homepage.url, origin));
    this.#isPlaced = !this.#usesHomepage && earlier === undefined;
    if (!this.#usesHomepage) return;
    const onRead = ({ place }: LinksFound) => {
      this.#follow(place);
      this.#isPlaced = earlier === undefined;
      this.lookAhead();
    };
    // A rejection reaches whoever asks for the links.
    homepage.links().then(onRead, () => undefined);
  }

  // Before the first well-known path: where they are asked for, and which are not.
  async #settle(root: Frame): Promise<void> {
    const { homepage, frontier, earlier } = this.#options;
    if (this.#isSettled) return;
    this.#isSettled = true;
    const found = this.#usesHomepage ? await homepage.links() : undefined;
    if (found !== undefined) {
      this.#follow(found.place);
      // A guess that leads to the homepage need not request it again.
      if (found.page !== undefined) frontier.abandon(found.page);
    }
    if (earlier !== undefined) await this.#leaveOut(earlier, root);
    for (const { url } of found?.candidates ?? []) this.#notAsked.delete(url);
    this.#isPlaced = true;
  }

  // Most well-known paths that led to no sitemap are not asked for again while the website is as it was: the same robots.txt, and a sitemap
  // wherever such a path led to one.
  async #leaveOut(earlier: EarlierRun, root: Frame): Promise<void> {
    const { rules, frontier } = this.#options;
    if (!earlier.isRobotsTheSame()) return;
    const hasSitemaps = hasReadable(root);
    const found: Hop[] = [];
    const notAsked = new Set<string>();
    for (const { url, by, ifNeeded } of this.#candidates) {
      if (by !== "known-path" || (ifNeeded && hasSitemaps)) continue;
      const hop = Hop.first(url, "sitemap", rules);
      const hadSitemap = await earlier.hadSitemap(hop);
      if (hadSitemap && !frontier.isKnown(hop.key)) found.push(hop);
      if (hadSitemap === false) notAsked.add(url);
    }
    if (found.length === 0 ? hasSitemaps : await this.#areThere(found)) this.#notAsked = notAsked;
  }

  async #areThere(hops: readonly Hop[]): Promise<boolean> {
    const { frontier, prefetcher, time } = this.#options;
    if (frontier.exhausted() !== undefined) return false;
    for (const hop of hops) prefetcher.start(hop);
    const peek = (hop: Hop) => time.fetched(hop.request, prefetcher.peek(hop));
    const known = (hop: Hop) => frontier.isKnown(hop.key) || undefined;
    const ways = await Promise.all(hops.map((hop) => follow(hop, peek, known)));
    return ways.every(({ outcome }) => outcome === "found" || outcome === "known");
  }

  #isNotAsked(url: string): boolean {
    return this.#notAsked.has(url) || this.#options.documents.wasNotAsked?.(url) === true;
  }

  // Where the website led to another origin of its own, its well-known paths are asked for there.
  #follow(place: string): string | undefined {
    const origin = movedOrigin(this.#options.homepage.url, place);
    if (origin === undefined) return undefined;
    this.#candidates = this.#candidates.map((candidate) =>
      candidate.by === "known-path" ? { ...candidate, url: atOrigin(candidate.url, origin) } : candidate,
    );
    return origin;
  }

  // One after the other: most of the time there is no room for the first.
  *#neededNow(): Generator<Candidate> {
    for (const candidate of this.#candidates) {
      // Whether an `ifNeeded` candidate is needed is known once everything below robots.txt was read.
      if (!candidate.ifNeeded && !this.#isNotAsked(candidate.url)) yield candidate;
    }
  }

  get #usesHomepage(): boolean {
    const { start, settings } = this.#options;
    return start.sitemaps === undefined && settings.useHomepage && !this.#isStopped;
  }

  // Not where robots.txt has to be known first.
  get #triesHomepageEarly(): boolean {
    const { strictRobots, useCrawlDelay } = this.#options.settings;
    return this.#usesHomepage && !strictRobots && !useCrawlDelay;
  }

  // https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.4: "the crawler MUST assume complete disallow". With `strictRobots`.
  get #isStopped(): boolean {
    return this.#options.settings.strictRobots && this.#options.log.isRobotsUnreachable;
  }
}

/** Whether robots.txt names a sitemap that can be read. It is the first child, visited before every well-known path. */
function hasReadable({ children }: Frame): boolean {
  const [robots] = children;
  if (robots?.kind !== "index" || robots.format !== "robots") return false;
  return robots.children.some(({ kind }) => kind !== "invalid");
}
