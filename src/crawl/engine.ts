// One crawl: opens what it needs, tries the candidates of discovery one after another, and visits the sitemaps below each index depth
// first. Events come in declared order, regardless of arrival order: documents are prefetched (prefetch.ts), but read one after another.
import type { Store } from "../archive/store.ts";
import { FollowingController } from "../fetch/abort.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import { defined } from "../model/defined.ts";
import type { CrawlEvent, OrderedEvent, Totals } from "../model/event.ts";
import type { DocumentSource, Fetched } from "../model/exchange.ts";
import { type IndexSitemap, isComplete, type Sitemap } from "../model/sitemap.ts";
import { responseEvent } from "../model/status.ts";
import type { RobotsGroups } from "../parse/robots.ts";
import { noneCame, type RunOptions } from "./crawl.ts";
import { Discovery } from "./discovery.ts";
import { type Frame, Frontier } from "./frontier.ts";
import { robotsIn } from "./host-robots.ts";
import { Prefetcher } from "./prefetch.ts";
import type { Prepared } from "./prepare.ts";
import type { Revalidator } from "./previous.ts";
import { newCounts, takeTurn } from "./read.ts";
import { type FollowRules, follow, followRules, Hop } from "./redirects.ts";
import { type TimeBudget, timeBudget } from "./time-budget.ts";
import { frameOf, nothingRead, Visitor } from "./visit.ts";

/** The shared state of one crawl. */
export interface Crawl extends Prepared, Pick<RunOptions, "read" | "filter" | "omitMissing" | "problems"> {
  /** Where documents come from: the `fetcher`, unless nothing is fetched. */
  readonly source: DocumentSource;
  readonly fetcher: Fetcher | undefined;
  readonly store: Store | undefined;
  /** The counts for the archive. */
  readonly counts: ReturnType<typeof newCounts> | undefined;
  /** Requests only what may have changed since an earlier run. */
  readonly earlier: Revalidator | undefined;
  /** The requests so far, and how documents were obtained. */
  readonly asked: Pick<Totals, "requests" | "came">;
  /** Called for each response stored by the run that is being resumed. */
  readonly onResumed: (fetched: Fetched) => void;
  readonly rules: FollowRules;
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly time: TimeBudget;
  readonly signal: AbortSignal;
  /** Each robots.txt that was read for its sitemaps, by URL; undefined if it could not be reached. */
  readonly robots: Map<string, RobotsGroups | undefined>;
  /** The response for one hop; a failure if the time limit is reached. */
  readonly fetch: (hop: Hop) => Promise<Fetched>;
  /** To be called when there may be more to prefetch, or room for it. */
  readonly lookAhead: () => void;
}

type MadeByEngine = "rules" | "frontier" | "prefetcher" | "time" | "signal" | "robots" | "fetch" | "lookAhead";

/** Opens what the crawl needs: the network, and archives if there are any. */
export async function* runCrawl(options: RunOptions): AsyncGenerator<OrderedEvent, void> {
  const { source, read, filter, omitMissing, problems, shared } = options;
  let { storage } = options;
  let fetcher: Fetcher | undefined;
  try {
    const { save, resume, previous } = options.prepared.settings;
    if (source === undefined && (save ?? resume ?? previous) !== undefined)
      storage ??= await (await import("./storage.ts")).openStorage(options.prepared);
    const { store, previous: archives, prepared = options.prepared } = storage ?? {};
    const { settings, startUrls } = prepared;
    const asked = { requests: 0, came: noneCame() };
    const onEvent = (event: CrawlEvent) => {
      if (event.type === "request") asked.requests += 1;
      if (event.type === "response" && event.outcome === "found") asked.came[event.came] += 1;
      settings.onEvent?.(event);
      options.onSideEvent?.(event);
    };
    // How a document was obtained is known only after comparing it with an earlier one, so the revalidator reports it.
    const onRequest = (event: CrawlEvent) => (archives && event.type === "response" ? undefined : onEvent(event));
    if (source === undefined) {
      const { Fetcher } = await import("../fetch/fetcher.ts");
      fetcher = new Fetcher({ settings, start: startUrls, onEvent: onRequest, shared });
    }
    const earlier =
      fetcher && archives && (await import("./previous.ts")).revalidator(fetcher, archives, settings, onEvent);
    const counts = store && newCounts(settings);
    const onResumed = (fetched: Fetched) => onEvent(responseEvent(fetched));
    const given = { read, filter, omitMissing, problems, source: fetcher ?? (source as DocumentSource) };
    const engine = new Engine({ ...prepared, ...given, fetcher, store, counts, earlier, asked, onResumed });
    for await (const event of engine.run()) {
      settings.onEvent?.(event);
      yield event;
    }
  } finally {
    await fetcher?.close();
    if (options.storage === undefined) await storage?.store?.close();
    await storage?.previous?.close();
  }
}

class Engine {
  readonly #crawl: Crawl;
  readonly #discovery: Discovery;
  readonly #visitor: Visitor;
  readonly #abort: FollowingController;
  readonly #startedAt = Date.now();
  // The indexes whose children are being visited, from the outermost to the innermost.
  readonly #stack: Frame[] = [];

  constructor(options: Omit<Crawl, MadeByEngine>) {
    const { settings, source, store, startUrls, filter } = options;
    this.#abort = new FollowingController(settings.signal);
    const { signal } = this.#abort;
    const rules = followRules(settings.limits, startUrls, source, settings.rewrite);
    const frontier = new Frontier(settings.limits, filter);
    const time = timeBudget(settings, store);
    const lookAhead = () => {
      prefetcher.fill(this.#stack, this.#discovery.upcoming(), this.#discovery.isGuessing);
    };
    const prefetcher = new Prefetcher({ ...options, rules, frontier, signal, lookAhead });
    const fetch = (hop: Hop) => time.fetched(hop.request, prefetcher.get(hop));
    this.#crawl = { ...options, rules, frontier, time, signal, prefetcher, robots: new Map(), fetch, lookAhead };
    this.#discovery = new Discovery(this.#crawl);
    this.#visitor = new Visitor(this.#crawl);
  }

  /** Throws only the reason of `settings.signal`, and errors from the caller's functions. */
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
      // If the caller's signal caused the failure, its reason is thrown.
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
    const { start, store, counts, asked, frontier, time, filter } = this.#crawl;
    const { homepage } = start;
    const root = frameOf({ kind: "index", format: "website", url: homepage, complete: true, problems: [] });
    await filter?.begin(homepage, (origin) => this.#robotsOf(origin));
    yield { type: "start", url: homepage, depth: 0 };
    yield* this.#walk(root);
    const unreachable = this.#discovery.unreachable();
    const { records: discovery } = this.#discovery;
    const problems = this.#discovery.problems.toArray();
    const node: Sitemap = { ...root.node, complete: isComplete(problems), problems, children: root.children };
    yield* this.#visitor.report(node, 0, nothingRead);
    const { complete, readable, invalid } = this.#visitor;
    // An archive with more documents than were read would give a different tree, so it is left unfinished.
    const isLimited = filter?.reached === true && !complete;
    if (!time.leftUnread() && !isLimited) await store?.finish(counts);
    const totals = {
      sitemaps: readable,
      invalid,
      pages: frontier.pages,
      ...asked,
      wireBytes: frontier.bytes,
      duration: Date.now() - this.#startedAt,
    };
    const reachable = unreachable === undefined;
    const filtered = filter?.counts;
    yield { type: "finished", complete, totals, discovery, reachable, ...defined({ unreachable, filtered }) };
  }

  async #robotsOf(origin: string): Promise<RobotsGroups | undefined> {
    const { robots, rules, fetch, prefetcher, settings } = this.#crawl;
    const url = `${origin}/robots.txt`;
    if (robots.has(url)) return robots.get(url);
    const found = await follow(Hop.first(url, "robots", rules), fetch);
    const groups = await robotsIn(found, settings);
    if (found.outcome === "found") prefetcher.drop(found);
    return groups;
  }

  // Visits the candidates of discovery and everything below them, depth first. A stack, because a website chooses the depth.
  async *#walk(root: Frame): AsyncGenerator<OrderedEvent, void> {
    const { settings, frontier, time, lookAhead } = this.#crawl;
    const [discovery, visitor, stack] = [this.#discovery, this.#visitor, this.#stack];
    for (;;) {
      await takeTurn(settings.signal);
      const frame = stack.at(-1);
      const candidate = frame === undefined ? await discovery.next(root) : undefined;
      const reference = frame === undefined ? candidate : frame.references[frame.next];
      const spent = frame && reference && (time.over() ?? frontier.exhausted());
      if (reference !== undefined && spent === undefined) {
        const parent = frame ?? root;
        parent.next += 1;
        lookAhead();
        const visit = yield* visitor.visit({ ...reference, parent }, frame?.references ?? discovery.candidates);
        if (candidate !== undefined) discovery.took(candidate, visit);
        if (visit.type === "node") parent.children.push(visit.node);
        if (visit.type !== "frame") continue;
        stack.push(visit.frame);
        frontier.enter(visit.frame);
        continue;
      }
      if (frame === undefined) return;
      if (spent !== undefined) frame.children.push(yield* visitor.cutOff(frame, spent));
      stack.pop();
      const node: IndexSitemap = { ...frame.node, children: frame.children };
      frontier.leave(frame, node);
      yield* visitor.report(node, frame.depth, frame.facts);
      frame.parent?.children.push(node);
    }
  }
}
