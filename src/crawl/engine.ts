// One crawl. Discovery tries candidates one after another: robots.txt, well-known paths, links in the homepage, or the sitemaps that the
// caller gave. Below each index, sitemaps are visited depth first. Events come in declared order, whatever arrived first: documents are
// prefetched (prefetch.ts), but read one after another.
import type { RunCounts, Store } from "../archive/contract.ts";
import { type Candidate, candidatesFor } from "../discover/candidates.ts";
import { FollowingController } from "../fetch/abort.ts";
import type { OrderedEvent, Totals } from "../model/event.ts";
import type { DocumentSource, Fetched } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { hasNoResponse, type Problem } from "../model/problem.ts";
import { type IndexSitemap, isComplete, type Sitemap } from "../model/sitemap.ts";
import { atOrigin, movedOrigin } from "../model/url.ts";
import { DiscoveryLog } from "./discovery-log.ts";
import { type FollowRules, follow, followRules, Hop } from "./follow.ts";
import { type Frame, Frontier } from "./frontier.ts";
import { Homepage } from "./homepage.ts";
import { Prefetcher } from "./prefetch.ts";
import type { Start } from "./prepare.ts";
import type { Revalidator } from "./previous.ts";
import { type ReadDocument, takeTurn } from "./read.ts";
import { TimeBudget } from "./time-budget.ts";
import { nothingRead, type Visit, Visitor } from "./visit.ts";

export interface EngineOptions {
  readonly start: Start;
  readonly settings: Settings;
  readonly source: DocumentSource;
  /** The URLs that the caller gave. */
  readonly startUrls: readonly string[];
  /** Keeps what was fetched, so that it can be read again. */
  readonly store?: Store | undefined;
  /** Leave out sitemaps that the source does not hold: in a replay of a crawl that ran to its end, they were left out on purpose. */
  readonly omitMissing?: boolean | undefined;
  /** Reads documents in place of `read`. */
  readonly read?: ReadDocument | undefined;
  /** What was counted, for the archive. */
  readonly counts?: RunCounts | undefined;
  /** Says what need not be requested. */
  readonly earlier?: Revalidator | undefined;
  /** Absent where nothing is requested. */
  readonly setCrawlDelay?: ((url: string, milliseconds: number) => void) | undefined;
  /** Problems of the website as a whole that are known before the crawl begins. */
  readonly problems?: readonly Problem[] | undefined;
  /** What was requested so far, and where documents came from. */
  readonly asked: Pick<Totals, "requests" | "came">;
  /** Called for each response that an earlier, interrupted run had kept. */
  readonly onResumed?: ((fetched: Fetched) => void) | undefined;
}

/** What the parts of one crawl share. */
export interface Crawl extends EngineOptions {
  readonly rules: FollowRules;
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly time: TimeBudget;
  /** The answer for one hop; a failure where time is up. */
  readonly fetch: (hop: Hop) => Promise<Fetched>;
}

/** Runs a crawl. Throws the reason of `settings.signal`, and what the caller's own functions throw; nothing else. */
export function runCrawl(options: EngineOptions): AsyncGenerator<OrderedEvent, void> {
  return new Engine(options).run();
}

class Engine {
  readonly #crawl: Crawl;
  readonly #homepage: Homepage;
  readonly #visitor: Visitor;
  readonly #log: DiscoveryLog;
  readonly #abort: FollowingController;
  readonly #startedAt = Date.now();
  // The indexes whose children are being visited, from the outermost to the innermost.
  readonly #stack: Frame[] = [];
  // Those that were not tried yet.
  #candidates: Candidate[] = [];
  #isAtRobots = false;
  // Whether it is known where well-known paths are asked for, and which are not.
  #isPlaced = false;
  #isSettled = false;
  // Well-known paths for which the answer of an earlier run is used.
  #notAsked = new Set<string>();

  constructor(options: EngineOptions) {
    const { settings, source, store, startUrls, omitMissing } = options;
    this.#abort = new FollowingController(settings.signal);
    const { signal } = this.#abort;
    const rules = followRules(settings.limits, startUrls, source, settings.rewrite);
    const frontier = new Frontier(settings.limits, omitMissing);
    const time = new TimeBudget(settings, store);
    const prefetcher = new Prefetcher({ ...options, rules, frontier, signal, onRoom: () => this.#lookAhead() });
    const fetch = (hop: Hop) => time.fetched(hop.request, prefetcher.get(hop));
    this.#crawl = { ...options, rules, frontier, time, prefetcher, fetch };
    this.#homepage = new Homepage(this.#crawl);
    this.#visitor = new Visitor(this.#crawl);
    this.#log = new DiscoveryLog(options.problems);
  }

  async *run(): AsyncGenerator<OrderedEvent, void> {
    const { settings, time, prefetcher } = this.#crawl;
    const { signal, limits } = settings;
    signal?.throwIfAborted();
    const endOfTime = () => {
      time.end();
      this.#abort.abort(new Error("The time for this website is up"));
    };
    if (limits.time === 0) endOfTime();
    // setTimeout treats longer delays as 1 ms.
    const timer = limits.time < 2 ** 31 ? setTimeout(endOfTime, limits.time) : undefined;
    try {
      yield* this.#website();
    } catch (error) {
      // Whatever fails because of the caller's signal fails with its reason.
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#abort.release();
      // Also reached when the caller leaves the loop early. Fetches are aborted first, because closing waits for them.
      this.#abort.abort(new Error("The crawl is over"));
      await prefetcher.close();
    }
  }

  async *#website(): AsyncGenerator<OrderedEvent, void> {
    const { start, store, counts, asked, frontier, time } = this.#crawl;
    const { homepage } = start;
    const root: Frame = {
      node: { kind: "index", format: "website", url: homepage, complete: true, problems: [] },
      parent: undefined,
      depth: 0,
      keys: [],
      references: [],
      unlisted: 0,
      next: 0,
      children: [],
      facts: nothingRead,
    };
    yield { type: "start", url: homepage, depth: 0 };
    yield* this.#discover(root);
    const { records } = this.#log;
    const unreachable = this.#log.unreachable(this.#homepage.outcome);
    if (unreachable !== undefined && start.sitemaps === undefined) this.#log.addUnreachable();
    const { problems } = this.#log;
    const node: Sitemap = { ...root.node, complete: isComplete(problems), problems, children: root.children };
    yield* this.#visitor.report(node, 0, nothingRead);
    // An archive that holds more than was read would not give the same tree: it is left as one that was cut off.
    if (!time.leftUnread) await store?.finish(counts);
    const { complete, readable, invalid } = this.#visitor;
    yield {
      type: "finished",
      complete,
      totals: {
        // The root stands for the website; it is not a document.
        sitemaps: readable - 1,
        invalid,
        pages: frontier.pages,
        ...asked,
        wireBytes: frontier.bytes,
        duration: Date.now() - this.#startedAt,
      },
      discovery: records,
      reachable: unreachable === undefined,
      ...(unreachable === undefined ? {} : { unreachable }),
    };
  }

  // Adds what it finds to the children of the root.
  async *#discover(root: Frame): AsyncGenerator<OrderedEvent, void> {
    const { start, settings } = this.#crawl;
    if (start.sitemaps !== undefined) {
      const given = start.sitemaps.map((url): Candidate => ({ url, by: "given" }));
      return yield* this.#tryAll(given, root);
    }
    yield* this.#tryAll(candidatesFor(start.homepage, settings), root);
    if (!this.#usesHomepage) return;
    await this.#settle(root);
    const found = await this.#homepage.links();
    this.#log.addHomepage(found);
    yield* this.#tryAll(found.candidates, root);
  }

  async *#tryAll(candidates: readonly Candidate[], root: Frame): AsyncGenerator<OrderedEvent, void> {
    this.#candidates = [...candidates];
    for (;;) {
      if (this.#candidates[0]?.by === "known-path" && !this.#isStopped) await this.#settle(root);
      const next = this.#candidates.shift();
      if (next === undefined || this.#isStopped) return;
      if (next.ifNeeded && hasReadable(root)) {
        this.#log.skip(next);
        continue;
      }
      await takeTurn(this.#crawl.settings.signal);
      const node = yield* this.#try(next, root);
      if (node !== undefined) root.children.push(node);
    }
  }

  // Links in the homepage and given sitemaps are declared: each has a node, also where it fails. robots.txt and well-known
  // paths are guesses: without a sitemap there is no node.
  async *#try(candidate: Candidate, root: Frame): AsyncGenerator<OrderedEvent, Sitemap | undefined> {
    const { rules, frontier, prefetcher } = this.#crawl;
    const { url, by } = candidate;
    this.#isAtRobots = by === "robots";
    const plain = Hop.first(url, this.#isAtRobots ? "robots" : "sitemap", rules);
    const isLeftOut = by === "known-path" && this.#isNotAsked(url) && !frontier.isKnown(plain.key);
    const notAsked = isLeftOut ? "guess" : undefined;
    const hop = isLeftOut ? Hop.first(url, "sitemap", rules, notAsked) : plain;
    if (frontier.exhausted() === undefined && !frontier.isKnown(hop.key)) {
      prefetcher.start(hop);
      this.#lookAhead();
    }
    const stop = this.#isAtRobots && this.#triesHomepageEarly ? this.#homepage.beginLater() : undefined;
    let visit: Visit;
    try {
      visit = yield* this.#visitor.visit({ url, ...(notAsked && { notAsked }) }, { parent: root, by });
    } finally {
      stop?.();
    }
    // Where robots.txt got no answer, the homepage decides whether the website is down: then nothing else is requested.
    const reason = visit.type === "omitted" ? visit.result.reason : undefined;
    if (stop !== undefined && reason !== undefined && hasNoResponse(reason.code)) await this.#homepage.get();
    this.#isAtRobots = false;
    this.#log.add(candidate, visit);
    const { finalUrl = url, status } = visit.result;
    if (by === "robots" && !this.#isStopped) this.#beginHomepage(status === undefined ? url : finalUrl);
    visit = yield* this.#visitor.goOn(visit, root, this.#candidates);
    if (visit.type === "frame") return yield* this.#walk(visit.frame);
    return visit.type === "node" ? visit.node : undefined;
  }

  // Visits everything below an index, and returns it. With a stack of its own: a website chooses how deep its indexes go.
  async *#walk(top: Frame): AsyncGenerator<OrderedEvent, IndexSitemap> {
    const { settings, frontier, time } = this.#crawl;
    const stack = this.#stack;
    stack.push(top);
    frontier.enter(top);
    for (;;) {
      const frame = stack.at(-1) as Frame;
      const reference = frame.references[frame.next];
      await takeTurn(settings.signal);
      const spent = reference && (time.over ?? frontier.exhausted());
      if (spent !== undefined) {
        frame.children.push(yield* this.#visitor.cutOff(frame, spent));
        frame.next = frame.references.length;
      } else if (reference !== undefined) {
        frame.next += 1;
        this.#lookAhead();
        const first = yield* this.#visitor.visit(reference, { parent: frame });
        const visit = yield* this.#visitor.goOn(first, frame, frame.references);
        if (visit.type === "node") frame.children.push(visit.node);
        if (visit.type === "frame") {
          stack.push(visit.frame);
          frontier.enter(visit.frame);
        }
        continue;
      }
      stack.pop();
      const node: IndexSitemap = { ...frame.node, children: frame.children };
      frontier.leave(frame, node);
      yield* this.#visitor.report(node, frame.depth, frame.facts);
      const parent = stack.at(-1);
      if (parent === undefined) return node;
      parent.children.push(node);
    }
  }

  // Prefetches what will be read next.
  #lookAhead(): void {
    // While robots.txt is read, its sitemaps come first: they may make the other candidates unnecessary.
    const candidates = this.#isAtRobots || !this.#isPlaced ? [] : this.#neededNow();
    this.#crawl.prefetcher.fill(this.#stack, candidates);
  }

  // One after the other: most of the time there is no room for the first.
  *#neededNow(): Generator<Candidate> {
    for (const candidate of this.#candidates) {
      // Whether an `ifNeeded` candidate is needed is known once everything below robots.txt was read.
      if (!candidate.ifNeeded && !this.#isNotAsked(candidate.url)) yield candidate;
    }
  }

  // Beside the sitemaps of robots.txt, which was found at this URL.
  #beginHomepage(robots: string): void {
    const mayLookAhead = this.#crawl.earlier === undefined;
    const origin = this.#follow(robots);
    if (origin !== undefined) this.#homepage.moveTo(atOrigin(this.#homepage.url, origin));
    this.#isPlaced = !this.#usesHomepage && mayLookAhead;
    if (!this.#usesHomepage) return;
    // A rejection reaches whoever asks for the links.
    this.#homepage.links().then(
      ({ place }) => {
        this.#follow(place);
        this.#isPlaced = mayLookAhead;
        this.#lookAhead();
      },
      () => undefined,
    );
  }

  // Before the first well-known path: where they are asked for, and which are not.
  async #settle(root: Frame): Promise<void> {
    const { frontier, earlier } = this.#crawl;
    if (this.#isSettled) return;
    this.#isSettled = true;
    const found = this.#usesHomepage ? await this.#homepage.links() : undefined;
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
  async #leaveOut(earlier: Revalidator, root: Frame): Promise<void> {
    const { rules, frontier } = this.#crawl;
    if (!earlier.isRobotsTheSame) return;
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
    const { frontier, prefetcher, time } = this.#crawl;
    if (frontier.exhausted() !== undefined) return false;
    for (const hop of hops) prefetcher.start(hop);
    const peek = (hop: Hop) => time.fetched(hop.request, prefetcher.peek(hop));
    const known = (hop: Hop) => frontier.isKnown(hop.key) || undefined;
    const ways = await Promise.all(hops.map((hop) => follow(hop, peek, known)));
    return ways.every(({ outcome }) => outcome === "found" || outcome === "known");
  }

  // An archive also knows what its run did not request.
  #isNotAsked(url: string): boolean {
    const { store, source } = this.#crawl;
    return this.#notAsked.has(url) || (store ?? source).wasNotAsked?.(url) === true;
  }

  // Where the website led to another origin of its own, its well-known paths are asked for there.
  #follow(place: string): string | undefined {
    const origin = movedOrigin(this.#homepage.url, place);
    if (origin === undefined) return undefined;
    this.#candidates = this.#candidates.map((candidate) =>
      candidate.by === "known-path" ? { ...candidate, url: atOrigin(candidate.url, origin) } : candidate,
    );
    return origin;
  }

  get #usesHomepage(): boolean {
    const { start, settings } = this.#crawl;
    return start.sitemaps === undefined && settings.useHomepage && !this.#isStopped;
  }

  // Not where robots.txt has to be known first.
  get #triesHomepageEarly(): boolean {
    const { strictRobots, useCrawlDelay } = this.#crawl.settings;
    return this.#usesHomepage && !strictRobots && !useCrawlDelay;
  }

  // https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.4: "the crawler MUST assume complete disallow". With `strictRobots`.
  get #isStopped(): boolean {
    return this.#crawl.settings.strictRobots && this.#log.isRobotsUnreachable;
  }
}

// Whether robots.txt names a sitemap that can be read. It is the first child, visited before every well-known path.
function hasReadable({ children }: Frame): boolean {
  const [robots] = children;
  if (robots?.kind !== "index" || robots.format !== "robots") return false;
  return robots.children.some(({ kind }) => kind !== "invalid");
}
