// One crawl: puts its parts together, begins and ends it, and tells what it found. Candidates become documents, documents
// become entries, references become candidates again. Events come in declared order, whatever arrived first: documents are
// prefetched (lookahead.ts), but read one after another.
import type { RunCounts, Store } from "../archive/contract.ts";
import { FollowingController } from "../fetch/abort.ts";
import type { OrderedEvent, Totals } from "../model/event.ts";
import type { DocumentSource, Fetched } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { isComplete } from "../model/sitemap.ts";
import { Discovery } from "./discovery.ts";
import { DiscoveryLog } from "./discovery-log.ts";
import type { EarlierRun } from "./earlier-run.ts";
import { followRules } from "./follow.ts";
import { type Frame, Frontier } from "./frontier.ts";
import { HomepageFetch } from "./homepage-fetch.ts";
import { IndexWalk } from "./index-walk.ts";
import { Lookahead } from "./lookahead.ts";
import { Prefetcher } from "./prefetcher.ts";
import type { ReadDocument } from "./read.ts";
import { Recorder } from "./record.ts";
import { refusedByName } from "./resolve.ts";
import { nothingRead, Tally } from "./tally.ts";
import type { Start } from "./target.ts";
import { TimeBudget } from "./time-budget.ts";
import { unreachableWebsite } from "./unreachable.ts";
import { Visitor } from "./visit.ts";

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
  readonly earlier?: EarlierRun | undefined;
  readonly setCrawlDelay?: ((url: string, milliseconds: number) => void) | undefined;
  /** Problems of the website as a whole that are known before the crawl begins. */
  readonly problems?: readonly Problem[] | undefined;
  /** How many requests were sent. */
  readonly requestCount: () => number;
  /** How many documents came from where: fetched, not modified, not asked for… */
  readonly came: () => Totals["came"];
  /** Called for each response that an earlier, interrupted run had kept. */
  readonly onResumed?: ((fetched: Fetched) => void) | undefined;
}

/** Runs a crawl. Throws the reason of `settings.signal`, and what the caller's own functions throw; nothing else. */
export function runCrawl(options: EngineOptions): AsyncGenerator<OrderedEvent, void> {
  return new Engine(options).run();
}

class Engine {
  readonly #options: EngineOptions;
  readonly #frontier: Frontier;
  readonly #prefetcher: Prefetcher;
  readonly #time: TimeBudget;
  readonly #homepage: HomepageFetch;
  readonly #discovery: Discovery;
  readonly #log: DiscoveryLog;
  readonly #tally = new Tally();
  readonly #abort: FollowingController;
  readonly #startedAt = Date.now();

  constructor(options: EngineOptions) {
    const { settings, source, store, read, omitMissing, setCrawlDelay, start, startUrls, earlier } = options;
    const { limits, signal } = settings;
    this.#abort = new FollowingController(signal);
    const tally = this.#tally;
    const rules = followRules(limits, startUrls, source);
    const frontier = new Frontier({ ...settings, omitMissing });
    const time = new TimeBudget({ milliseconds: limits.time, store, signal });
    const log = new DiscoveryLog(options.problems);
    const prefetcher = new Prefetcher({
      source,
      store,
      cookies: rules.cookies,
      signal: this.#abort.signal,
      isWanted: ({ key, readKey, url }) =>
        !frontier.isKnown(key) && !frontier.isKnown(readKey) && refusedByName(url) === undefined,
      onRoom: () => this.#discovery.lookAhead(),
      onResumed: options.onResumed,
    });
    const homepage = new HomepageFetch({
      url: start.homepage,
      rules,
      fetch: (hop) => time.fetched(hop.request, prefetcher.get(hop)),
      read: (document) => time.read(document),
      drop: (document) => prefetcher.drop(document),
    });
    const recorder = new Recorder({ frontier, tally, homepage: start.homepage, omitMissing });
    const visitor = new Visitor({
      settings,
      rules,
      frontier,
      prefetcher,
      recorder,
      time,
      read,
      earlier,
      setCrawlDelay,
    });
    const lookAhead = () => this.#discovery.lookAhead();
    const indexWalk = new IndexWalk({ signal, frontier, time, recorder, visitor, tally, lookAhead });
    const lookahead = new Lookahead({ frontier, prefetcher, rules, maxDepth: limits.depth });
    this.#options = options;
    this.#frontier = frontier;
    this.#prefetcher = prefetcher;
    this.#time = time;
    this.#homepage = homepage;
    this.#log = log;
    this.#discovery = new Discovery({
      start,
      settings,
      rules,
      frontier,
      prefetcher,
      lookahead,
      visitor,
      indexWalk,
      homepage,
      time,
      earlier,
      documents: store ?? source,
      log,
    });
  }

  async *run(): AsyncGenerator<OrderedEvent, void> {
    const { signal, limits } = this.#options.settings;
    signal?.throwIfAborted();
    const endOfTime = () => {
      this.#time.end();
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
      await this.#prefetcher.close();
    }
  }

  async *#website(): AsyncGenerator<OrderedEvent, void> {
    const { start, store, counts, requestCount, came } = this.#options;
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
    yield* this.#discovery.run(root);
    const tally = this.#tally;
    const { records } = this.#log;
    const unreachable = unreachableWebsite(records, this.#homepage.outcome);
    if (unreachable !== undefined && start.sitemaps === undefined) this.#log.addUnreachable();
    const { problems } = this.#log;
    yield* tally.finish(
      { ...root.node, complete: isComplete(problems), problems, children: root.children },
      0,
      nothingRead,
    );
    // An archive that holds more than was read would not give the same tree: it is left as one that was cut off.
    if (!this.#time.leftUnread) await store?.finish(counts);
    yield {
      type: "finished",
      complete: tally.complete,
      totals: {
        // The root stands for the website; it is not a document.
        sitemaps: tally.readable - 1,
        invalid: tally.invalid,
        pages: this.#frontier.pages,
        requests: requestCount(),
        came: came(),
        wireBytes: this.#frontier.bytes,
        duration: Date.now() - this.#startedAt,
      },
      discovery: records,
      reachable: unreachable === undefined,
      ...(unreachable === undefined ? {} : { unreachable }),
    };
  }
}
