// Visits one reference: resolves it to a document, reads that, and records the result. The result is a finished sitemap, an
// index whose children are to be visited, or nothing (a guess without a sitemap).
import { type Candidate, isGuess as isGuessed } from "../discover/candidates.ts";
import { defined } from "../model/defined.ts";
import type { DiscoveryRecord, OrderedEvent, SitemapEvent } from "../model/event.ts";
import { header, type NotAsked } from "../model/exchange.ts";
import { boolean, unexpected } from "../model/option-checks.ts";
import { isLossy, notSitemap, type Problem, problem } from "../model/problem.ts";
import {
  type InvalidSitemap,
  isComplete,
  isReadSitemap,
  problemsOf,
  type Sitemap,
  type SitemapReference,
} from "../model/sitemap.ts";
import { bareHost, isRobotsUrl, parseUrl } from "../model/url.ts";
import type { ParseOutcome } from "../parse/entries.ts";
import type { Crawl } from "./engine.ts";
import type { Frame, Missing } from "./frontier.ts";
import { countsOf, type Reading, read, takeTurn } from "./read.ts";
import { type FoundDocument, follow, Hop, responseOf } from "./redirects.ts";

/** The result of a candidate, for the record of discovery. */
export type CandidateResult = Omit<DiscoveryRecord, "url" | "by">;

export type Visit =
  /** `next`: the next page of a feed. */
  | { readonly type: "node"; readonly node: Sitemap; readonly result: CandidateResult; readonly next?: NextPage }
  | { readonly type: "frame"; readonly frame: Frame; readonly result: CandidateResult }
  /** Not in the tree: a well-known path without a sitemap, or a missing robots.txt. */
  | { readonly type: "omitted"; readonly result: CandidateResult };

/** A sitemap to visit. */
export interface Reference extends SitemapReference {
  /** No request is sent: the response of an earlier run is used. */
  readonly notAsked?: NotAsked | undefined;
}

/** A reference, and where it comes from: an index, or discovery. */
export interface Declaration extends Reference {
  readonly parent: Frame;
  /** How discovery found it; absent for the children of an index. */
  readonly by?: Candidate["by"];
  /** It continues a feed: what the page before it lists. */
  readonly continues?: string | undefined;
}

type NextPage = Pick<Declaration, "url" | "continues">;

/** The measurements of a document: its size on the wire and after decompression, and its response. */
export type Measurements = Pick<SitemapEvent, "wireBytes" | "decodedBytes" | "response">;

export const nothingRead: Measurements = { wireBytes: 0, decodedBytes: 0 };

type Visiting = AsyncGenerator<OrderedEvent, Visit>;
type Recording = Generator<OrderedEvent, Visit>;

export class Visitor {
  /** Whether there was no loss so far. */
  complete = true;
  /** Sitemaps that could be read, at least in part. */
  readable = 0;
  invalid = 0;
  readonly #crawl: Crawl;
  readonly #homeHost: string;

  constructor(crawl: Crawl) {
    this.#crawl = crawl;
    this.#homeHost = websiteOf(crawl.start.homepage);
  }

  /** Visits a reference and, if it is a feed, its other pages, unless they are `listed` elsewhere. */
  async *visit(entry: Declaration, listed: readonly { readonly url: string }[]): Visiting {
    const { parent } = entry;
    const first = yield* this.#visit(entry);
    let last = first;
    while (last.type === "node" && last.next !== undefined) {
      const { node, next } = last;
      if (listed.some(({ url }) => url === next.url)) break;
      parent.children.push(node);
      await takeTurn(this.#crawl.settings.signal);
      last = yield* this.#visit({ ...next, parent });
    }
    return { ...last, result: first.result };
  }

  async *#visit(entry: Declaration): Visiting {
    const { frontier, rules, fetch, omitMissing } = this.#crawl;
    const isRobots = entry.by === "robots";
    const first = Hop.first(entry.url, isRobots ? "robots" : "sitemap", rules, entry.notAsked);
    const refusal = (hop: Hop): Problem | undefined => {
      if (hop === first) return frontier.refusal(hop.key, entry.parent.depth + 1) ?? refusedByName(hop.url);
      return frontier.isActive(hop) ? problem("cycle") : refusedByName(hop.url);
    };
    const known = (hop: Hop): Recording | undefined => {
      // A redirect of robots.txt leads to robots.txt, even if its target was declared as a sitemap.
      if (isRobots && hop !== first) return undefined;
      const node = frontier.visited(hop);
      const missing = frontier.missing(hop.key);
      const seen = node
        ? this.#repeated(entry, node)
        : missing && this.#missing(entry, { ...missing, keys: [first.key] });
      // A guess at a known URL costs nothing of the budget.
      if (seen !== undefined && hop === first && isGuess(entry)) return seen;
      const reason = isRobots ? undefined : refusal(hop);
      const url = hop === first ? entry.url : hop.url;
      return reason === undefined ? seen : this.#missing(entry, { url, keys: [], outcome: "refused", reason });
    };
    const followed = await follow<Recording>(first, fetch, known);
    if (!("outcome" in followed)) return yield* followed;
    if (followed.outcome === "found") return yield* this.#document(followed, entry);
    const { reason } = followed;
    if (reason.code === "archive-missing" && (omitMissing || isGuess(entry))) {
      return { type: "omitted", result: { outcome: "absent", reason } };
    }
    return yield* this.#missing(entry, followed);
  }

  /** A budget is used up in the middle of an index: one node stands for all remaining children. */
  *cutOff(frame: Frame, { code, limit }: Problem): Generator<OrderedEvent, InvalidSitemap> {
    const reference = frame.references[frame.next] as SitemapReference;
    const count = frame.references.length - frame.next + frame.unlisted;
    const reason = problem(code, defined({ limit, count: count > 1 ? count : undefined }));
    return yield* this.#invalid({ ...reference, parent: frame }, { url: reference.url, reason, keys: [] });
  }

  /** The events of a finished sitemap: its problems, then the sitemap itself. */
  *report(sitemap: Sitemap, depth: number, facts: Measurements): Generator<OrderedEvent, void> {
    if (sitemap.kind === "invalid") this.invalid += sitemap.reason.count ?? 1;
    else if (isReadSitemap(sitemap)) this.readable += 1;
    const problems = problemsOf(sitemap);
    this.complete &&= isComplete(problems);
    for (const problem of problems) yield { type: "problem", url: sitemap.url, problem };
    yield { type: "sitemap", sitemap, depth, ...facts };
  }

  async *#document(found: FoundDocument, entry: Declaration): Visiting {
    const { prefetcher, frontier, earlier, robots, rules } = this.#crawl;
    const { url, keys, document } = found;
    const { parent } = entry;
    const isRobots = entry.by === "robots";
    const children = this.#children(entry, url);
    const { reading, cut, pageCount, listed, started, sameAs } = yield* this.#read(found, children, entry);
    prefetcher.drop(found);
    frontier.bytes += reading.wireBytes;
    const facts = factsOf(found, reading);
    const { status } = document;
    const result: CandidateResult = { outcome: "found", status, ...movedTo(entry.url, url) };
    if (sameAs !== undefined) return { type: "omitted", result: { ...result, outcome: "duplicate", sameAs } };

    const reason = whyInvalid(reading, entry);
    if (reason !== undefined) {
      // A document that is not a robots.txt may still be a sitemap at the URL it was found at.
      const known = isRobots ? keys.slice(0, 1) : keys;
      const failed: Missing = { url, keys: known, outcome: "failed", status, reason, ...facts };
      const isNone = reason.code === "not-a-sitemap" || reason.code === "empty" || isLinkToPage(entry, failed);
      const missing = isNone ? { ...failed, outcome: "not-a-sitemap" as const } : failed;
      return yield* this.#missing(entry, missing, { facts, started });
    }
    if (!started) yield { type: "start", url, depth: parent.depth + 1 };
    const problems = [...found.problems, ...reading.problems, ...(cut === undefined ? [] : [cut])];
    const complete = isComplete(problems);
    const notAsked = document.came === "not-asked" ? { notAsked: true as const } : {};
    const declared = { ...this.#declared(entry, url), ...notAsked, complete };
    const { outcome } = reading;
    if (outcome.kind === "pages") {
      // Past its end, a website may serve the last page again, with yet another `next`.
      const isAgain = listed !== undefined && pageCount > 0 && entry.continues === listed;
      if (isAgain) problems.push(problem("cycle", { value: "next" }));
      const node: Sitemap = { kind: "pages", format: outcome.format, ...declared, problems, pageCount };
      yield* this.#finish(node, parent.depth + 1, keys, facts);
      const next = pageCount > 0 && cut === undefined && !isAgain ? outcome.next : undefined;
      // A feed page that was already read would be a loop.
      const isNew = next !== undefined && !frontier.isKnown(Hop.first(next, "sitemap", rules).key);
      return { type: "node", node, result, ...(isNew && { next: { url: next, continues: listed } }) };
    }
    if (isRobots) yield* this.#takeCrawlDelay(reading, url);
    if (reading.robots) for (const each of [entry.url, url]) robots.set(each, reading.robots);
    // An index that also lists pages gets a child for them, at the same URL.
    const losses = problems.filter(({ code }) => isLossy(code));
    const own: Sitemap[] =
      pageCount === 0 ? [] : [{ kind: "pages", format: "xml", ...declared, problems: losses, pageCount }];
    const { references, unlisted } = children.end();
    const node = { ...(outcome as Extract<ParseOutcome, { kind: "index" }>), ...declared, problems };
    const marked = (await earlier?.marked(url, references)) ?? references;
    const frame = frameOf(node, { parent, keys, references: marked, unlisted, children: own, facts });
    return { type: "frame", frame, result };
  }

  // Yields the pages as they are read. `started`: whether the `start` event was sent. `cut`: the budget that ended the reading, if one did.
  // `sameAs`: the URL of a sitemap in the tree with the same content as this guess, which is then not reported.
  async *#read(
    { document, url, keys }: FoundDocument,
    children: { add(references: readonly SitemapReference[]): void },
    entry: Declaration,
  ) {
    const { settings, frontier, time, counts, filter, read: readDocument = read } = this.#crawl;
    const isListed = filter?.lists(url, entry.parent.node.format) ?? true;
    const isRobots = entry.by === "robots";
    // Discovery needs each sitemap once.
    const isUndeclared = entry.by !== undefined && entry.by !== "given" && !isRobots;
    let pageCount = 0;
    let firstPage: string | undefined;
    // The first ones and the last are enough to recognize the same list.
    const first: string[] = [];
    let last: string | undefined;
    let cut: Problem | undefined;
    // Held back until the end, because the same content may already be in the tree.
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
      for (const { url } of pages.slice(0, mostCompared - first.length)) first.push(url);
      last = pages.at(-1)?.url ?? last;
      const events: OrderedEvent[] = [];
      if (firstPage === undefined && pages[0] !== undefined) {
        firstPage = pages[0].url;
        if (isUndeclared && frontier.mayContain(firstPage)) held = [];
        events.push({ type: "start", url, depth: entry.parent.depth + 1 });
      }
      const taken = take(pages.length);
      if (taken > 0) events.push({ type: "pages", url, pages: taken === pages.length ? pages : pages.slice(0, taken) });
      if (held === undefined) yield* this.#list(events, isListed);
      else held.push(...events);
      if (filter?.isCut) cut ??= problem("limit-pages", { limit: filter.settings.limit });
      step = await reading.next(cut === undefined);
    }
    const { outcome } = step.value;
    const isCounted = cut === undefined && !isRobots && !document.anonymous;
    const counted = isCounted ? countsOf(step.value, pageCount) : undefined;
    if (counted !== undefined) counts?.documents.set(url, counted);
    take(step.value.untoldPages ?? 0);
    const isTold = firstPage !== undefined && held === undefined;
    const sameAs = isUndeclared && !isTold ? frontier.sameAs(step.value, keys) : undefined;
    if (sameAs !== undefined) frontier.takePages(-pageCount);
    else if (held !== undefined) yield* this.#list(held, isListed);
    if (!isRobots && outcome.kind !== "invalid") frontier.contains(url, step.value, firstPage);
    const isPaged = outcome.kind === "pages" && outcome.next !== undefined;
    const listed = isPaged ? JSON.stringify([pageCount, last, first]) : undefined;
    return { reading: step.value, pageCount, listed, started: firstPage !== undefined, cut, sameAs };
  }

  // Collects the children of an index while it is read: those that the filter, `recurse` and `recurseList` accept, up to the number that
  // the budget for documents can reach. The rest are only counted, because a website can list any number.
  #children({ parent, by }: Declaration, url: string) {
    const { settings, filter, frontier, omitMissing } = this.#crawl;
    const { recurse, recurseList } = settings;
    const context = { parent: url, ancestors: [...urlsAbove(parent), url], depth: parent.depth + 2 };
    // Each uses up a document, unless it is missing; one more is kept to report what was cut off.
    const most = omitMissing ? Number.POSITIVE_INFINITY : frontier.documentsLeft + 1;
    const listed: SitemapReference[] = [];
    let unlisted = 0;
    const take = (reference: SitemapReference) => {
      if (filter?.follows(reference, by === "robots") === false) return;
      // Must be a boolean: a promise would always be true, and the result of `match` never.
      if (recurse !== undefined && !boolean("the result of recurse", recurse(reference, context))) return;
      if (listed.length < most) listed.push(reference);
      else unlisted += 1;
    };
    return {
      add(references: readonly SitemapReference[]): void {
        // `recurseList` is called with all of them.
        for (const reference of references) recurseList === undefined ? take(reference) : listed.push(reference);
      },
      /** After the last reference: those to visit, in order, and how many more were counted. */
      end(): { readonly references: SitemapReference[]; readonly unlisted: number } {
        const chosen: unknown = recurseList === undefined ? [] : recurseList(listed.splice(0), context);
        if (!isReferences(chosen)) throw unexpected("the result of recurseList", "a list of children", chosen);
        for (const reference of chosen) take(reference);
        return { references: listed, unlisted };
      },
    };
  }

  // The pages that the filter lets through.
  async *#list(events: readonly OrderedEvent[], isListed: boolean): AsyncGenerator<OrderedEvent, void> {
    const { filter } = this.#crawl;
    for (const event of events) {
      if (event.type !== "pages" || filter === undefined) yield event;
      else if (isListed) {
        const pages = await filter.pages(event.pages);
        yield* filter.newProblems();
        if (pages.length > 0) yield { ...event, pages };
      }
    }
  }

  // Not respecting the delay is a problem of this run, not of the document.
  *#takeCrawlDelay(reading: Reading, url: string): Generator<OrderedEvent, void> {
    const { settings, fetcher } = this.#crawl;
    const limit = fetcher && reading.robots?.delayFor(settings.userAgent);
    if (limit === undefined) return;
    if (settings.useCrawlDelay) fetcher?.setCrawlDelay(url, limit);
    else if (limit > settings.delay.milliseconds)
      yield { type: "problem", url, problem: problem("crawl-delay", { limit }) };
  }

  // Visited before: it gets another node, but is not fetched again, and its pages are not reported again.
  *#repeated(entry: Declaration, known: Sitemap): Recording {
    const { frontier } = this.#crawl;
    const { parent, by, continues } = entry;
    const result: CandidateResult = { outcome: "duplicate", ...movedTo(entry.url, known.url) };
    // Sitemaps declared twice are shown twice; candidates of discovery that are already known are not.
    if (continues !== undefined || (by !== undefined && by !== "given")) return { type: "omitted", result };
    const reason = frontier.exhausted(frontier.sizeOf(known));
    if (reason !== undefined)
      return yield* this.#missing(entry, { url: known.url, keys: [], outcome: "refused", reason });
    const depth = parent.depth + 1;
    const { declaredUrl: _, lastModified: __, ...rest } = known;
    const node = { ...rest, ...this.#declared(entry, known.url) } as Sitemap;
    yield { type: "start", url: node.url, depth };
    yield* this.#finish(node, depth, [], nothingRead);
    return { type: "node", node, result };
  }

  // There is no sitemap, now or in an earlier visit. If one was declared, a node says why. A guess gets no node, but is remembered,
  // unless it was not requested: if it is declared later, it will be.
  *#missing(entry: Declaration, missing: Missing, content?: { facts: Measurements; started: boolean }): Recording {
    const { url, outcome, status, reason } = missing;
    const result: CandidateResult = { outcome, ...defined({ status }), ...movedTo(entry.url, url), reason };
    const isRead = content !== undefined && outcome === "failed";
    if ((isGuess(entry) && !isRead) || isLinkToPage(entry, missing)) {
      if (!entry.notAsked) this.#crawl.frontier.abandon(missing);
      return { type: "omitted", result };
    }
    return { type: "node", node: yield* this.#invalid(entry, missing, content), result };
  }

  *#invalid(
    entry: Declaration,
    { url, reason, keys, response }: Pick<Missing, "url" | "reason" | "keys" | "response">,
    { facts, started } = { facts: { ...nothingRead, ...defined({ response }) }, started: false },
  ): Generator<OrderedEvent, InvalidSitemap> {
    const node: InvalidSitemap = { kind: "invalid", ...this.#declared(entry, url), reason };
    const depth = entry.parent.depth + 1;
    if (!started) yield { type: "start", url, depth };
    yield* this.#finish(node, depth, keys, facts);
    return node;
  }

  // A sitemap without children to visit is finished.
  *#finish(node: Sitemap, depth: number, keys: readonly string[], facts: Measurements): Generator<OrderedEvent, void> {
    this.#crawl.frontier.finish(node, keys);
    yield* this.report(node, depth, facts);
  }

  // The fields that every node has.
  #declared(reference: SitemapReference, url: string) {
    // Most sitemaps are on the host of the homepage: those need no URL parser.
    const isAtHome = url.startsWith(this.#crawl.start.homepage) || websiteOf(url) === this.#homeHost;
    const declaredUrl = reference.url === url ? undefined : reference.url;
    const offHost = isAtHome ? undefined : (true as const);
    return { url, ...defined({ declaredUrl, lastModified: reference.lastModified, offHost }) };
  }
}

const mostCompared = 100;

function isReferences(value: unknown): value is readonly SitemapReference[] {
  return Array.isArray(value) && value.every((item: Partial<SitemapReference> | null) => typeof item?.url === "string");
}

/** Why a URL cannot be a sitemap, judging by its name: a robots.txt must not be listed in a sitemap. */
export function refusedByName(url: string): Problem | undefined {
  return isRobotsUrl(url) ? notSitemap("robots.txt") : undefined;
}

function whyInvalid({ outcome }: Reading, { by }: Declaration): Problem | undefined {
  if (outcome.kind === "invalid") return outcome.reason;
  const isRobots = outcome.kind === "index" && outcome.format === "robots";
  if (isRobots === (by === "robots")) return undefined;
  return notSitemap(isRobots ? "robots.txt" : "a sitemap in place of robots.txt");
}

// Whether a failure leaves no node, because no sitemap was declared there.
function isGuess({ by }: Declaration): boolean {
  return by === "robots" || isGuessed(by);
}

// Whether the homepage's `rel="sitemap"` link leads to an HTML page, which is a sitemap for people.
function isLinkToPage({ by }: Declaration, { outcome, reason: { code, value }, response }: Missing): boolean {
  if ((by !== "homepage-link" && by !== "homepage-header") || outcome === "blocked") return false;
  if (code === "not-a-sitemap" && value === "html") return true;
  const isHtml = response?.status === 200 && /html/i.test(header(response.headers, "content-type") ?? "");
  // With these problems, its content is unknown, or XML.
  return isHtml && !/^(?:coding|charset|limit|body|timeout|xml-dtd)-/.test(code);
}

// The URL of a document after redirects, if different from the declared one.
function movedTo(declared: string, url: string): { finalUrl?: string } {
  return declared === url ? {} : { finalUrl: url };
}

function factsOf({ document, hops }: FoundDocument, { wireBytes, decodedBytes, charset }: Reading): Measurements {
  const { attempts, duration = document.duration } = document.body;
  const response = { ...responseOf(document, hops), ...defined({ attempts, duration, charset }) };
  return { wireBytes, decodedBytes, response };
}

/** A frame of which nothing was visited or read. */
export function frameOf(node: Frame["node"], given: Partial<Frame> = {}): Frame {
  const depth = given.parent === undefined ? 0 : given.parent.depth + 1;
  const empty = { keys: [], references: [], unlisted: 0, next: 0, ahead: 0, children: [], facts: nothingRead };
  return { node, parent: undefined, depth, ...empty, ...given };
}

function urlsAbove(frame: Frame): string[] {
  const urls: string[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) urls.unshift(at.node.url);
  return urls;
}

function websiteOf(url: string): string {
  return bareHost(parseUrl(url)?.host ?? "");
}
