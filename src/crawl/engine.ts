// The crawl itself: candidates become documents, documents become entries, references become candidates again. Everything
// is told in declared order, whatever arrived first. Fetching runs ahead of reading (lookahead.ts); what may be visited is
// decided elsewhere (frontier.ts). An explicit stack instead of recursion: a website chooses how deep its indexes go.
import { setMaxListeners } from "node:events";
import { type Candidate, candidatesFor } from "../discover/candidates.ts";
import type { DiscoveryRecord, OrderedEvent, Totals } from "../event.ts";
import type { DocumentSource, Fetched, FetchedDocument } from "../exchange.ts";
import { isUnreachable as hasNoAnswer } from "../fetch/reachability.ts";
import type { Settings } from "../options.ts";
import { type Problem, ProblemLog } from "../problem.ts";
import { type IndexSitemap, isComplete, type Sitemap } from "../sitemap.ts";
import type { Store } from "../store/contract.ts";
import type { SavedReadings } from "../store/readings.ts";
import { pauseWhenDue } from "./event-loop.ts";
import { type FollowRules, Hop } from "./follow.ts";
import { type Frame, Frontier } from "./frontier.ts";
import type { Guesses } from "./guesses.ts";
import { HomepageFetch } from "./homepage-fetch.ts";
import { Lookahead } from "./lookahead.ts";
import { Prefetcher } from "./prefetcher.ts";
import type { Document, ReadDocument } from "./read.ts";
import { Recorder, type Trace, type Visit } from "./record.ts";
import { refusedByName } from "./resolve.ts";
import { nothingRead, Tally } from "./tally.ts";
import { TimeBudget } from "./time-budget.ts";
import type { TrustedChildren } from "./trusted-children.ts";
import { hasReadable, UnaskedGuesses } from "./unasked-guesses.ts";
import { unreachableWebsite } from "./unreachable.ts";
import { Visitor } from "./visit.ts";

/** Where to begin: a homepage to discover from, or sitemaps that are given. URLs without credentials. */
export interface Start {
  /** Ends in a slash; the URL of the root. */
  readonly homepage: string;
  readonly sitemaps?: readonly string[] | undefined;
}

export interface EngineOptions {
  readonly start: Start;
  readonly settings: Settings;
  readonly source: DocumentSource;
  /** The origins that the operator named. */
  readonly startOrigins: ReadonlySet<string>;
  /** Keeps what was fetched, so that it can be read again. */
  readonly store?: Store | undefined;
  /** What the source does not hold was left out on purpose: so it is, in a replay of a crawl that ran to its end. */
  readonly omitMissing?: boolean | undefined;
  /** How documents are read, where that is not as usual. */
  readonly read?: ReadDocument | undefined;
  /** What was read, for the archive. */
  readonly readings?: (() => SavedReadings) | undefined;
  /** Places where the run before found nothing. */
  readonly guesses?: Guesses | undefined;
  /** Children of indexes that need not be asked for. */
  readonly trusted?: TrustedChildren | undefined;
  /** Whether robots.txt is what it was in the run before. */
  readonly isRobotsTheSame?: (() => boolean) | undefined;
  readonly setCrawlDelay?: ((url: string, milliseconds: number) => void) | undefined;
  /** What is wrong with the website as a whole, where that is known before. */
  readonly problems?: readonly Problem[] | undefined;
  /** How many requests were made. */
  readonly requestCount: () => number;
  /** How many documents came how. */
  readonly came: () => Totals["came"];
  /** Told of what the run before had kept. */
  readonly onResumed?: ((fetched: Fetched) => void) | undefined;
}

/** Runs a crawl. Throws the reason of `settings.signal`, and what the caller's own functions throw; nothing else. */
export function runCrawl(options: EngineOptions): AsyncGenerator<OrderedEvent, void> {
  return new Engine(options).run();
}

class Engine {
  readonly #options: EngineOptions;
  readonly #settings: Settings;
  readonly #frontier: Frontier;
  readonly #rules: FollowRules;
  readonly #prefetcher: Prefetcher;
  readonly #lookahead: Lookahead;
  readonly #time: TimeBudget;
  readonly #recorder: Recorder;
  readonly #visitor: Visitor;
  readonly #homepage: HomepageFetch;
  readonly #unasked: UnaskedGuesses;
  readonly #tally = new Tally();
  readonly #abort = new AbortController();
  readonly #startedAt = Date.now();
  readonly #discovery: DiscoveryRecord[] = [];
  readonly #rootProblems = new ProblemLog();
  #candidates: Candidate[] = [];
  // The indexes whose children are being visited, from the candidate down.
  readonly #stack: Frame[] = [];
  #isAtRobots = false;

  constructor(options: EngineOptions) {
    const { settings, source, store, read, omitMissing, setCrawlDelay, start, startOrigins, trusted } = options;
    const { limits } = settings;
    this.#options = options;
    this.#settings = settings;
    for (const known of options.problems ?? []) this.#rootProblems.addProblem(known);
    const frontier = new Frontier({ ...settings, omitMissing });
    // Each document on its way listens.
    setMaxListeners(0, this.#abort.signal);
    const rules: FollowRules = { limits, startOrigins, tellsApart: (url) => source.tellsApart?.(url) === true };
    const prefetcher = new Prefetcher({
      source,
      store,
      signal: this.#abort.signal,
      isWanted: (hop) => !frontier.isKnown(hop.key) && refusedByName(hop.url) === undefined,
      onRoom: () => this.#lookAhead(),
      onResumed: options.onResumed,
    });
    const time = new TimeBudget(limits.time, store);
    const recorder = new Recorder({ frontier, tally: this.#tally, homepage: start.homepage, omitMissing });
    this.#frontier = frontier;
    this.#rules = rules;
    this.#prefetcher = prefetcher;
    this.#time = time;
    const { homepage } = start;
    this.#homepage = new HomepageFetch({
      url: homepage,
      rules,
      fetch: (hop) => time.fetched(hop.request, prefetcher.get(hop)),
      isNotAsked: () => this.#unasked.isDecided && this.#unasked.has(homepage),
      read: (document) => this.#untilStopped(document),
      drop: (document) => prefetcher.drop(document),
    });
    this.#unasked = new UnaskedGuesses({
      guesses: options.guesses,
      isRobotsTheSame: options.isRobotsTheSame,
      settings,
      documents: store ?? source,
      rules,
      frontier,
      prefetcher,
      time,
      homepage: this.#homepage,
    });
    this.#recorder = recorder;
    this.#lookahead = new Lookahead({ frontier, prefetcher, rules, maxDepth: limits.depth });
    this.#visitor = new Visitor({
      settings,
      rules,
      frontier,
      prefetcher,
      recorder,
      time,
      read,
      trusted,
      setCrawlDelay,
    });
  }

  async *run(): AsyncGenerator<OrderedEvent, void> {
    const { signal, limits } = this.#settings;
    const onAbort = () => this.#abort.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", onAbort, { once: true });
    const endOfTime = () => {
      this.#time.end();
      this.#abort.abort(new Error("The time for this website is up"));
    };
    if (limits.time === 0) endOfTime();
    // setTimeout takes longer times for none at all.
    const timer = limits.time < 2 ** 31 ? setTimeout(endOfTime, limits.time) : undefined;
    try {
      yield* this.#website();
    } catch (error) {
      // Whatever fails because of the caller's signal fails with its reason.
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      // Leaving the loop early comes here too: end the fetches first, they are what closing would wait for.
      this.#abort.abort(new Error("The crawl is over"));
      await this.#prefetcher.close();
    }
  }

  async *#website(): AsyncGenerator<OrderedEvent, void> {
    const { homepage, sitemaps } = this.#options.start;
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
    if (sitemaps === undefined) {
      yield* this.#tryAll(candidatesFor(homepage, this.#settings), root);
      if (this.#usesHomepage) yield* this.#tryAll(await this.#homepageLinks(root), root);
    } else {
      yield* this.#tryAll(
        sitemaps.map((url): Candidate => ({ url, by: "given" })),
        root,
      );
    }
    const problems = this.#rootProblems.toArray();
    const complete = isComplete(problems);
    yield* this.#tally.finish({ ...root.node, complete, problems, children: root.children }, 0, nothingRead);
    const unreachable = unreachableWebsite(this.#discovery, this.#homepage.outcome);
    // An archive that holds more than was read would not give the same tree: it stays one that was cut off.
    if (!this.#time.leftUnread) await this.#options.store?.finish(this.#options.readings?.());
    yield {
      type: "finished",
      complete: this.#tally.complete,
      totals: {
        // The root was made for the website; nobody read it.
        sitemaps: this.#tally.readable - 1,
        invalid: this.#tally.invalid,
        pages: this.#frontier.pages,
        requests: this.#options.requestCount(),
        came: this.#options.came(),
        wireBytes: this.#frontier.bytes,
        duration: Date.now() - this.#startedAt,
      },
      discovery: this.#discovery,
      reachable: unreachable === undefined,
      ...(unreachable === undefined ? {} : { unreachable }),
    };
  }

  async *#tryAll(candidates: readonly Candidate[], root: Frame): AsyncGenerator<OrderedEvent, void> {
    this.#candidates = [...candidates];
    for (let next = this.#candidates.shift(); next !== undefined && !this.#isStopped; next = this.#candidates.shift()) {
      if (next.ifNeeded && hasReadable(root)) {
        this.#discovery.push({ url: next.url, by: next.by, outcome: "skipped" });
        continue;
      }
      await this.#takeTurn();
      if (next.by === "known-path") await this.#unasked.decide(root, this.#usesHomepage);
      const node = yield* this.#try(next, root);
      if (node !== undefined) root.children.push(node);
    }
  }

  // A place where a sitemap may be. What the homepage and the caller name is declared: it has a node whatever comes of it.
  // robots.txt and known paths are guesses: where there is no sitemap there is no node.
  async *#try(candidate: Candidate, root: Frame): AsyncGenerator<OrderedEvent, Sitemap | undefined> {
    const { url, by } = candidate;
    this.#isAtRobots = by === "robots";
    const plain = Hop.first(url, this.#isAtRobots ? "robots" : "sitemap", this.#rules);
    const isLeftOut = by === "known-path" && this.#unasked.has(url) && !this.#frontier.isKnown(plain.key);
    const notAsked = isLeftOut ? "guess" : undefined;
    const hop = isLeftOut ? Hop.first(url, "sitemap", this.#rules, notAsked) : plain;
    if (this.#frontier.exhausted() === undefined && !this.#frontier.isKnown(hop.key)) {
      this.#prefetcher.start(hop);
      this.#lookAhead();
    }
    const stop = this.#isAtRobots && this.#triesHomepageEarly ? this.#homepage.beginLater() : undefined;
    let visit: Visit;
    try {
      visit = yield* this.#visitor.visit({ url, ...(notAsked && { notAsked }) }, { parent: root, by });
    } finally {
      stop?.();
    }
    // Whether anything else is asked of the website is for the homepage to say.
    const isSilent = stop !== undefined && visit.type === "omitted" && hasNoAnswer(visit.trace.reason);
    if (isSilent) await this.#homepage.get();
    this.#isAtRobots = false;
    this.#discovery.push({ url, by, ...visit.trace });
    switch (visit.type) {
      case "omitted":
        this.#noteFailure(candidate, visit.trace);
        return undefined;
      case "node":
        if (by === "robots") this.#noteFailure(candidate, visit.trace);
        return visit.node;
      case "frame":
        return yield* this.#descend(visit.frame);
    }
  }

  // Visits everything below an index, depth first, and returns the finished index.
  async *#descend(top: Frame): AsyncGenerator<OrderedEvent, IndexSitemap> {
    const stack = this.#stack;
    stack.push(top);
    this.#frontier.enter(top);
    for (;;) {
      const frame = stack.at(-1) as Frame;
      const reference = frame.references[frame.next];
      await this.#takeTurn();
      const spent = reference && (this.#time.over ?? this.#frontier.exhausted());
      if (spent !== undefined) {
        frame.children.push(yield* this.#recorder.cutOff(frame, spent));
        frame.next = frame.references.length;
      } else if (reference !== undefined) {
        frame.next += 1;
        this.#lookAhead();
        const visit = yield* this.#visitor.visit(reference, { parent: frame });
        if (visit.type === "node") frame.children.push(visit.node);
        if (visit.type === "frame") {
          stack.push(visit.frame);
          this.#frontier.enter(visit.frame);
        }
        continue;
      }
      stack.pop();
      const node: IndexSitemap = { ...frame.node, children: frame.children };
      this.#frontier.leave(frame, node);
      yield* this.#tally.finish(node, frame.depth, frame.facts);
      const parent = stack.at(-1);
      if (parent === undefined) return node;
      parent.children.push(node);
    }
  }

  // Timers and signals act while there is nothing to wait for, too.
  async #takeTurn(): Promise<void> {
    const pause = pauseWhenDue();
    if (pause === undefined) return;
    await pause;
    this.#settings.signal?.throwIfAborted();
  }

  #lookAhead(): void {
    const { homepage } = this.#options.start;
    // What robots.txt names matters more than guesses, and may make them needless.
    const guesses = this.#isAtRobots
      ? { candidates: [], homepage: undefined }
      : {
          // Whether these are needed is known once robots.txt and what it names were read.
          candidates: this.#candidates.filter(({ ifNeeded, url }) => !ifNeeded && !this.#unasked.has(url)),
          homepage: this.#usesHomepage && !this.#unasked.has(homepage) ? homepage : undefined,
        };
    this.#lookahead.fill({ stack: this.#stack, ...guesses });
  }

  async #homepageLinks(root: Frame): Promise<readonly Candidate[]> {
    await this.#unasked.decide(root, this.#usesHomepage);
    const { candidates, problems, isUnreachable } = await this.#homepage.links();
    if (isUnreachable) this.#rootProblems.add("homepage-unreachable");
    for (const problem of problems) this.#rootProblems.addProblem(problem);
    return candidates;
  }

  // A document ends where the time is up, and in an error where the caller's signal says so.
  #untilStopped(document: FetchedDocument): Document {
    const timed = this.#time.read(document);
    const isCut = () => {
      this.#settings.signal?.throwIfAborted();
      return timed.isCut();
    };
    return { ...timed, isCut };
  }

  #noteFailure({ url, by }: Candidate, trace: Trace): void {
    const { outcome, status } = trace;
    if (by === "robots" && isUnreachable(trace)) {
      // What came with status 200 has a node that says what is wrong with it.
      this.#rootProblems.add("robots-unreachable", status === undefined || status < 300 ? {} : { status });
    } else if (by === "known-path" && outcome === "failed") {
      this.#rootProblems.add("known-path-unreachable", { value: url });
    }
  }

  get #usesHomepage(): boolean {
    return this.#options.start.sitemaps === undefined && this.#settings.useHomepage && !this.#isStopped;
  }

  // Not where robots.txt has to be known first.
  get #triesHomepageEarly(): boolean {
    return this.#usesHomepage && !this.#settings.strictRobots && !this.#settings.useCrawlDelay;
  }

  // As RFC 9309 asks of crawlers, where that is wanted.
  get #isStopped(): boolean {
    return this.#settings.strictRobots && this.#rootProblems.has("robots-unreachable");
  }
}

// https://www.rfc-editor.org/rfc/rfc9309#name-access-results: 4xx is "unavailable", nothing is restricted; server and
// network errors are "unreachable". So is 429, which asks us to come back.
function isUnreachable({ outcome, status, reason }: Trace): boolean {
  if (outcome !== "failed" && outcome !== "blocked" && outcome !== "refused") return false;
  return status === undefined || status === 429 || status < 400 || status >= 500 || reason?.code === "bot-check";
}
