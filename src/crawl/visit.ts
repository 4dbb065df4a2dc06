// Visits one reference: resolves it, reads the document, and records the result. The result is a finished sitemap, an
// index whose children are to be visited, or nothing (a guess without a sitemap).
import type { OrderedEvent } from "../model/event.ts";
import type { Settings } from "../model/options.ts";
import { isLossy, type Problem, problem } from "../model/problem.ts";
import { type InvalidSitemap, isComplete, type Sitemap } from "../model/sitemap.ts";
import type { Children } from "./children.ts";
import type { EarlierRun } from "./earlier-run.ts";
import { takeTurn } from "./event-loop.ts";
import { type FollowRules, type FoundDocument, Hop } from "./follow.ts";
import type { Frame, Frontier } from "./frontier.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { type ReadDocument, type Reading, read } from "./read.ts";
import {
  type CandidateResult,
  isGuess,
  isLinkToPage,
  movedTo,
  type Place,
  type Recorder,
  type Reference,
  type Visit,
} from "./record.ts";
import { resolve } from "./resolve.ts";
import { factsOf } from "./tally.ts";
import type { TimeBudget } from "./time-budget.ts";

export interface VisitorOptions {
  readonly settings: Settings;
  readonly rules: FollowRules;
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly recorder: Recorder;
  readonly time: TimeBudget;
  readonly read?: ReadDocument | undefined;
  readonly earlier?: EarlierRun | undefined;
  /** Absent where nothing is requested. */
  readonly setCrawlDelay?: ((url: string, milliseconds: number) => void) | undefined;
}

type Visiting = AsyncGenerator<OrderedEvent, Visit>;

/** The content of a document that was read. */
interface Content {
  readonly reading: Reading;
  readonly pageCount: number;
  /** Whether the `start` event was sent. */
  readonly started: boolean;
  /** The budget that ended the reading, if one did. */
  readonly cut: Problem | undefined;
  /** A guess whose content is in the tree already: nothing was told of it. */
  readonly sameAs?: string | undefined;
}

export class Visitor {
  readonly #options: VisitorOptions;

  constructor(options: VisitorOptions) {
    this.#options = options;
  }

  async *visit(reference: Reference, place: Place): Visiting {
    const { rules, frontier, prefetcher, recorder, time } = this.#options;
    const fetch = (hop: Parameters<Prefetcher["get"]>[0]) => time.fetched(hop.request, prefetcher.get(hop));
    const resolved = await resolve(reference, place, { frontier, rules, fetch });
    if (resolved.outcome === "found") return yield* this.#document(resolved, reference, place);
    if (resolved.outcome !== "known") return yield* recorder.failed(reference, place, resolved);
    const { known } = resolved;
    switch (known.type) {
      case "refused":
        return yield* recorder.refused(reference, place, known.url, known.reason);
      case "repeated":
        return yield* recorder.repeated(reference, place, known.repeated);
      case "abandoned":
        return yield* recorder.abandoned(reference, place, known.abandoned);
    }
  }

  /**
   * After a visit that found a feed: visits its other pages, which stand beside it, and returns the last visit. A page that is `listed`
   * is read where it is listed.
   */
  async *goOn(visit: Visit, parent: Frame, listed: readonly { readonly url: string }[]): Visiting {
    let last = visit;
    while (last.type === "node" && last.next !== undefined) {
      const { node, next } = last;
      if (listed.some(({ url }) => url === next.url)) break;
      parent.children.push(node);
      await takeTurn(this.#options.settings.signal);
      last = yield* this.visit(next, { parent, continues: true });
    }
    return last;
  }

  async *#document(found: FoundDocument, reference: Reference, place: Place): Visiting {
    const { recorder, prefetcher, frontier, earlier } = this.#options;
    const depth = place.parent.depth + 1;
    const isNotAsked = found.document.came === "not-asked";
    const declared = { ...recorder.declared(reference, found.url), ...(isNotAsked ? { notAsked: true as const } : {}) };
    const children = frontier.children(found.url, place.parent);
    const content = yield* this.#read(found, children, place);
    const { sameAs } = content;
    await prefetcher.drop(found.document);
    const { reading, cut, pageCount } = content;
    frontier.takeBytes(reading.wireBytes);
    const facts = factsOf(found, reading);
    const result: CandidateResult = {
      outcome: "found",
      status: found.document.status,
      ...movedTo(reference.url, found.url),
    };

    if (sameAs !== undefined) return { type: "omitted", result: { ...result, outcome: "duplicate", sameAs } };

    const reason = whyInvalid(reading, place);
    const isNoSitemap = reason?.code === "not-a-sitemap" || reason?.code === "empty";
    const { response } = facts;
    if (reason !== undefined && ((isNoSitemap && isGuess(place)) || isLinkToPage(place, reason, response))) {
      // A document that is not a robots.txt may still be a sitemap at the URL it was found at.
      const keys = place.by === "robots" ? found.keys.slice(0, 1) : found.keys;
      return recorder.abandon(reference, {
        url: found.url,
        result: { ...result, outcome: "not-a-sitemap", reason },
        keys,
        response,
      });
    }
    if (!content.started) yield { type: "start", url: declared.url, depth };
    if (reason !== undefined) {
      const node: InvalidSitemap = { kind: "invalid", ...declared, reason };
      yield* recorder.finish(node, depth, found.keys, facts);
      return { type: "node", node, result: { ...result, outcome: isNoSitemap ? "not-a-sitemap" : "failed", reason } };
    }
    const problems = [...found.problems, ...reading.problems, ...(cut === undefined ? [] : [cut])];
    const complete = isComplete(problems);
    if (reading.outcome.kind === "pages") {
      const { format } = reading.outcome;
      const node: Sitemap = { kind: "pages", format, ...declared, complete, problems, pageCount };
      yield* recorder.finish(node, depth, found.keys, facts);
      const next = pageCount > 0 && cut === undefined ? this.#next(reading.outcome.next) : undefined;
      return { type: "node", node, result, ...(next === undefined ? {} : { next }) };
    }
    const isRobots = place.by === "robots";
    if (isRobots) yield* this.#takeCrawlDelay(reading, found.url);
    // An index that also lists pages gets a child for them, at the same URL.
    const losses = problems.filter(({ code }) => isLossy(code));
    const own: Sitemap[] =
      pageCount === 0 ? [] : [{ kind: "pages", format: "xml", ...declared, complete, problems: losses, pageCount }];
    const { references, unlisted } = children.end();
    const frame: Frame = {
      node: { kind: "index", format: isRobots ? "robots" : "xml", ...declared, complete, problems },
      parent: place.parent,
      depth,
      keys: found.keys,
      references: (await earlier?.marked(found.url, references)) ?? references,
      unlisted,
      next: 0,
      children: own,
      facts,
    };
    return { type: "frame", frame, result };
  }

  // Yields the pages as they are read.
  async *#read(
    { document, url, keys }: FoundDocument,
    children: Children,
    place: Place,
  ): AsyncGenerator<OrderedEvent, Content> {
    const { settings, frontier, time, read: readDocument = read } = this.#options;
    const isRobots = place.by === "robots";
    let pageCount = 0;
    let firstPage: string | undefined;
    let cut: Problem | undefined;
    // Told at the end, because the same may be in the tree already.
    let held: OrderedEvent[] | undefined;
    const take = (count: number) => {
      const taken = frontier.takePages(count);
      pageCount += taken;
      if (taken < count) cut = problem("limit-pages", { limit: settings.limits.pages });
      return taken;
    };
    const reading = readDocument({ ...time.read(document), url, isRobots }, settings);
    let step = await reading.next();
    while (!step.done) {
      children.add(step.value.sitemaps);
      // A sitemap served at /robots.txt is not accepted.
      const pages = isRobots ? [] : step.value.pages;
      const events: OrderedEvent[] = [];
      if (firstPage === undefined && pages[0] !== undefined) {
        firstPage = pages[0].url;
        if (isUndeclared(place) && frontier.mayContain(firstPage)) held = [];
        events.push({ type: "start", url, depth: place.parent.depth + 1 });
      }
      const taken = take(pages.length);
      if (taken > 0) events.push({ type: "pages", url, pages: taken === pages.length ? pages : pages.slice(0, taken) });
      if (held === undefined) yield* events;
      else held.push(...events);
      step = await reading.next(cut === undefined);
    }
    take(step.value.untoldPages ?? 0);
    const isTold = firstPage !== undefined && held === undefined;
    const sameAs = isUndeclared(place) && !isTold ? frontier.sameAs(step.value, keys) : undefined;
    if (sameAs !== undefined) frontier.takePages(-pageCount);
    else if (held !== undefined) yield* held;
    if (!isRobots && step.value.outcome.kind !== "invalid") frontier.contains(url, step.value, firstPage);
    return { reading: step.value, pageCount, started: firstPage !== undefined, cut, sameAs };
  }

  // The next page of a feed. What was read before would be a loop.
  #next(url: string | undefined): Reference | undefined {
    const { frontier, rules } = this.#options;
    return url === undefined || frontier.isKnown(Hop.first(url, "sitemap", rules).key) ? undefined : { url };
  }

  // That it is not kept is said of this run, and not of the document.
  *#takeCrawlDelay(reading: Reading, url: string): Generator<OrderedEvent, void> {
    const { settings, setCrawlDelay } = this.#options;
    const limit = setCrawlDelay && reading.crawlDelay(settings.userAgent);
    if (limit === undefined) return;
    if (settings.useCrawlDelay) setCrawlDelay?.(url, limit);
    else if (limit > settings.delay.milliseconds)
      yield { type: "problem", url, problem: problem("crawl-delay", { limit }) };
  }
}

// Found by discovery, which needs each sitemap once.
function isUndeclared({ by }: Place): boolean {
  return by !== undefined && by !== "robots" && by !== "given";
}

function whyInvalid({ outcome }: Reading, { by }: Place): Problem | undefined {
  if (outcome.kind === "invalid") return outcome.reason;
  const isRobots = outcome.kind === "index" && outcome.format === "robots";
  if (isRobots === (by === "robots")) return undefined;
  return problem("not-a-sitemap", { value: isRobots ? "robots.txt" : "a sitemap in place of robots.txt" });
}
