// The crawl itself: candidates become documents, documents become entries, references become candidates again. Everything
// is told in declared order, whatever arrived first. Fetching runs ahead of reading (ahead.ts); what may be visited is
// decided elsewhere (frontier.ts). An explicit stack instead of recursion: a website chooses how deep its indexes go.
import { setMaxListeners } from "node:events";
import { type Candidate, candidatesFor } from "../discover/candidates.ts";
import { linksInHeaders } from "../discover/homepage-links.ts";
import type { DiscoveryRecord, OrderedEvent } from "../event.ts";
import type { DocumentSource, FailedFetch, Fetched } from "../exchange.ts";
import type { Settings } from "../options.ts";
import { type Problem, ProblemLog } from "../problem.ts";
import type { IndexSitemap, Sitemap, SitemapReference } from "../sitemap.ts";
import { Ahead } from "./ahead.ts";
import { type Frame, Frontier } from "./frontier.ts";
import { linksInBody } from "./homepage.ts";
import { nothingRead, Tally } from "./tally.ts";
import { TimeBudget } from "./time-budget.ts";
import { refusedByName, Visitor } from "./visitor.ts";

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
  /** Keeps what was fetched, so that it can be read again. */
  readonly keep?: ((fetched: Fetched) => Promise<Fetched>) | undefined;
  /** What the source does not hold was left out on purpose: so it is, in a replay of a crawl that ran to its end. */
  readonly omitMissing?: boolean | undefined;
  readonly setCrawlDelay?: ((url: string, milliseconds: number) => void) | undefined;
  /** What is wrong with the website as a whole, where that is known before. */
  readonly problems?: readonly Problem[] | undefined;
  /** How many requests were made. */
  readonly requestCount: () => number;
}

/** Runs a crawl. Throws the reason of `settings.signal`, and what the caller's own functions throw; nothing else. */
export function runCrawl(options: EngineOptions): AsyncGenerator<OrderedEvent, void> {
  return new Engine(options).run();
}

class Engine {
  readonly #options: EngineOptions;
  readonly #settings: Settings;
  readonly #frontier: Frontier;
  readonly #ahead: Ahead;
  readonly #time: TimeBudget;
  readonly #visitor: Visitor;
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
    const { settings, source, keep, omitMissing, setCrawlDelay, start } = options;
    this.#options = options;
    this.#settings = settings;
    for (const known of options.problems ?? []) this.#rootProblems.addProblem(known);
    this.#frontier = new Frontier(settings);
    // Each document on its way listens.
    setMaxListeners(0, this.#abort.signal);
    const { concurrency } = settings;
    this.#ahead = new Ahead({ source, keep, concurrency, signal: this.#abort.signal, onRoom: () => this.#plan() });
    this.#time = new TimeBudget(settings.limits.time, keep);
    this.#visitor = new Visitor({
      settings,
      frontier: this.#frontier,
      ahead: this.#ahead,
      tally: this.#tally,
      homepage: start.homepage,
      time: this.#time,
      omitMissing,
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
      await this.#ahead.close();
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
      next: 0,
      ahead: 0,
      children: [],
      size: nothingRead,
    };
    yield { type: "start", url: homepage, depth: 0 };
    if (sitemaps === undefined) {
      yield* this.#tryAll(candidatesFor(homepage, this.#settings), root);
      if (this.#usesHomepage) yield* this.#tryAll(await this.#homepageLinks(homepage), root);
    } else {
      yield* this.#tryAll(
        sitemaps.map((url): Candidate => ({ url, by: "given" })),
        root,
      );
    }
    const { complete } = this.#rootProblems;
    const problems = this.#rootProblems.toArray();
    yield* this.#tally.finish({ ...root.node, complete, problems, children: root.children }, 0, nothingRead);
    yield {
      type: "finished",
      complete: this.#tally.complete,
      totals: {
        // The root was made for the website; nobody read it.
        sitemaps: this.#tally.readable - 1,
        invalid: this.#tally.invalid,
        pages: this.#frontier.pages,
        requests: this.#options.requestCount(),
        wireBytes: this.#frontier.bytes,
        duration: Date.now() - this.#startedAt,
      },
      discovery: this.#discovery,
    };
  }

  async *#tryAll(candidates: readonly Candidate[], root: Frame): AsyncGenerator<OrderedEvent, void> {
    this.#candidates = [...candidates];
    for (let next = this.#candidates.shift(); next !== undefined && !this.#isStopped; next = this.#candidates.shift()) {
      const node = yield* this.#try(next, root);
      if (node !== undefined) root.children.push(node);
    }
  }

  // A place where a sitemap may be. What the homepage and the caller name is declared: it has a node whatever comes of it.
  // robots.txt and known paths are guesses: where there is no sitemap there is no node.
  async *#try(candidate: Candidate, root: Frame): AsyncGenerator<OrderedEvent, Sitemap | undefined> {
    const { url, by } = candidate;
    this.#isAtRobots = by === "robots";
    if (this.#frontier.exhausted() === undefined && !this.#frontier.isVisited(url)) {
      this.#ahead.start(url, by === "robots" ? "robots" : "sitemap");
      this.#plan();
    }
    const visit = yield* this.#visitor.visit({ url }, { parent: root, by });
    this.#isAtRobots = false;
    this.#discovery.push({ url, by, ...visit.trace });
    switch (visit.type) {
      case "left":
        if (visit.failed !== undefined) this.#noteFailure(candidate, visit.failed);
        return undefined;
      case "node":
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
      if (reference !== undefined) {
        frame.next += 1;
        this.#plan();
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
      yield* this.#tally.finish(node, frame.depth, frame.size);
      const parent = stack.at(-1);
      if (parent === undefined) return node;
      parent.children.push(node);
    }
  }

  // What can be seen to come next is fetched ahead, nearest first. An index may come between, and with it documents that come
  // before those that were fetched ahead: so the nearer the end of the budget for documents, the less is fetched ahead.
  #plan(): void {
    const most = this.#frontier.documentsLeft / 2;
    const hasRoomFor = (url: string) => this.#ahead.waiting < most && this.#ahead.hasRoomFor(url);
    const isDone = (url: string) => this.#frontier.isActive(url) || this.#frontier.isVisited(url);
    for (const frame of this.#stack.toReversed()) {
      if (frame.depth > this.#settings.limits.depth) continue;
      for (frame.ahead = Math.max(frame.ahead, frame.next); frame.ahead < frame.references.length; frame.ahead += 1) {
        const { url } = frame.references[frame.ahead] as SitemapReference;
        if (!hasRoomFor(url)) return;
        if (!isDone(url) && refusedByName(url) === undefined) this.#ahead.start(url, "sitemap");
      }
    }
    // What robots.txt names matters more than guesses, and may make them needless.
    if (this.#isAtRobots) return;
    for (const { url, by } of this.#candidates) {
      if (!hasRoomFor(url)) return;
      if (!isDone(url)) this.#ahead.start(url, by === "robots" ? "robots" : "sitemap");
    }
    const { homepage } = this.#options.start;
    if (this.#usesHomepage && hasRoomFor(homepage)) this.#ahead.start(homepage, "homepage");
  }

  async #homepageLinks(homepage: string): Promise<Candidate[]> {
    const fetched = await this.#time.fetched(homepage, this.#ahead.get(homepage, "homepage"));
    if (fetched.outcome === "failed" && fetched.reason.code !== "archive-missing") {
      this.#rootProblems.add("homepage-unreachable");
    }
    if (fetched.outcome !== "found") return [];
    const inBody = await linksInBody(this.#time.read(fetched));
    await this.#ahead.drop(fetched, "homepage");
    return [...linksInHeaders(fetched.headers, fetched.url), ...inBody];
  }

  #noteFailure({ url, by }: Candidate, failed: FailedFetch): void {
    const { outcome, status } = failed;
    if (by === "robots" && isUnreachable(failed)) {
      this.#rootProblems.add("robots-unreachable", status === undefined ? {} : { status });
    } else if (by === "known-path" && outcome === "failed") {
      this.#rootProblems.add("known-path-unreachable", { value: url });
    }
  }

  get #usesHomepage(): boolean {
    return this.#options.start.sitemaps === undefined && this.#settings.useHomepage && !this.#isStopped;
  }

  // As RFC 9309 asks of crawlers, where that is wanted.
  get #isStopped(): boolean {
    return this.#settings.strictRobots && this.#rootProblems.has("robots-unreachable");
  }
}

// https://www.rfc-editor.org/rfc/rfc9309#name-access-results: 4xx is "unavailable", nothing is restricted; server and
// network errors are "unreachable". So is 429, which asks us to come back.
function isUnreachable({ outcome, status, reason }: FailedFetch): boolean {
  if (outcome === "absent") return false;
  return status === undefined || status === 429 || status < 400 || status >= 500 || reason.code === "bot-check";
}
