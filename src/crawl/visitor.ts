// Visits one reference: asks for its document, reads it, and says what became of it. A finished sitemap, an index whose
// children are to be visited, or nothing that belongs into the tree.
import type { Candidate } from "../discover/candidates.ts";
import type { DiscoveryRecord, OrderedEvent } from "../event.ts";
import type { FailedFetch, Fetched, FetchedDocument } from "../exchange.ts";
import type { Settings } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import type { IndexSitemap, InvalidSitemap, Sitemap, SitemapReference } from "../sitemap.ts";
import { parseUrl, urlKey } from "../url.ts";
import type { Ahead } from "./ahead.ts";
import type { Frame, Frontier, Repeated } from "./frontier.ts";
import { type Reading, read } from "./read.ts";
import { RedirectWay } from "./redirect-way.ts";
import { nothingRead, type Tally } from "./tally.ts";
import type { TimeBudget } from "./time-budget.ts";

/** What discovery records of a candidate, beside its URL. */
export type Trace = Omit<DiscoveryRecord, "url" | "by">;

export type Visit =
  | { readonly type: "node"; readonly node: Sitemap; readonly trace: Trace }
  | { readonly type: "frame"; readonly frame: Frame; readonly trace: Trace }
  /** Not in the tree: a known path that holds no sitemap, or robots.txt that is not there. */
  | { readonly type: "left"; readonly trace: Trace; readonly failed?: FailedFetch };

/** Where a reference stands: below an index, or as a candidate of discovery. */
export interface Place {
  readonly parent: Frame;
  /** How discovery came to it; absent for what a sitemap names. */
  readonly by?: Candidate["by"] | undefined;
}

export interface VisitorOptions {
  readonly settings: Settings;
  readonly frontier: Frontier;
  readonly ahead: Ahead;
  readonly tally: Tally;
  readonly homepage: string;
  readonly time: TimeBudget;
  readonly omitMissing?: boolean | undefined;
  readonly setCrawlDelay?: ((url: string, milliseconds: number) => void) | undefined;
}

type Visiting = AsyncGenerator<OrderedEvent, Visit>;

/** What a guess came to that left no node: it is not fetched again where something leads there or declares it. */
interface Abandoned {
  readonly url: string;
  readonly trace: Trace & { readonly reason: Problem };
  readonly failed?: FailedFetch;
}

export class Visitor {
  readonly #options: VisitorOptions;
  readonly #homeHost: string;
  readonly #abandoned = new Map<string, Abandoned>();

  constructor(options: VisitorOptions) {
    this.#options = options;
    this.#homeHost = bareHost(options.homepage);
  }

  async *visit(reference: SitemapReference, place: Place): Visiting {
    const { frontier } = this.#options;
    const depth = place.parent.depth + 1;
    const isRobots = place.by === "robots";
    const refusal = isRobots ? undefined : (frontier.refusal(reference, depth) ?? refusedByName(reference.url));
    if (refusal !== undefined && !isGuess(place)) return yield* this.#refuse(reference, depth, refusal);
    // A guess that is known already costs nothing, and needs no budget.
    const repeated = this.#again(reference.url, reference, place);
    if (repeated !== undefined) return yield* repeated;
    if (refusal !== undefined) return { type: "left", trace: { outcome: "refused", reason: refusal } };

    let fetched = await this.#fetch(reference.url, isRobots ? "robots" : "sitemap");
    const way = new RedirectWay(reference.url);
    while (fetched.outcome === "known") {
      const target = fetched.url;
      const active = frontier.activeAt(target);
      if (active !== undefined) return yield* this.#refuse(reference, depth, problem("cycle"), active);
      const refused = refusedByName(target);
      if (refused !== undefined) return yield* this.#refuse(reference, depth, refused, target);
      const known = this.#again(target, reference, place);
      if (known !== undefined) return yield* known;
      const loop = way.follow(fetched);
      fetched = loop ?? (await this.#fetch(target, "sitemap"));
    }
    if (fetched.outcome !== "found") return yield* this.#fail(way.failure(fetched), reference, place);
    if (frontier.isActive(fetched.url)) {
      await this.#drop(fetched, place);
      return yield* this.#refuse(reference, depth, problem("cycle"), fetched.url);
    }
    return yield* this.#read({ ...fetched, problems: way.problems(fetched) }, reference, place);
  }

  async #fetch(url: string, role: "robots" | "sitemap"): Promise<Fetched> {
    return this.#options.time.fetched(url, this.#options.ahead.get(url, role));
  }

  async *#read(fetched: FetchedDocument, reference: SitemapReference, place: Place): Visiting {
    const { settings, frontier, tally, time } = this.#options;
    const depth = place.parent.depth + 1;
    const declared = this.#declared(reference, fetched.url);
    const keys = keysOf(reference.url, fetched.url);
    const references: SitemapReference[] = [];
    let pageCount = 0;
    let started = false;
    let cut: Problem | undefined;
    const reading = read({ ...time.read(fetched), isRobots: place.by === "robots" }, settings);
    let step = await reading.next();
    while (!step.done) {
      for (const sitemap of step.value.sitemaps) references.push(sitemap);
      // In place of robots.txt a sitemap is none.
      const pages = place.by === "robots" ? [] : step.value.pages;
      if (!started && pages.length > 0) yield { type: "start", url: declared.url, depth };
      started ||= pages.length > 0;
      const taken = frontier.takePages(pages.length);
      pageCount += taken;
      if (taken > 0)
        yield { type: "pages", url: declared.url, pages: taken === pages.length ? pages : pages.slice(0, taken) };
      if (taken < pages.length) cut = problem("limit-pages", { limit: settings.limits.pages });
      step = await reading.next(cut === undefined);
    }
    await this.#drop(fetched, place);
    const result = step.value;
    frontier.takeBytes(result.wireBytes);
    const trace: Trace = { outcome: "found", status: fetched.status, ...movedTo(reference.url, fetched.url) };

    const reason = whyInvalid(result, place);
    const isNoSitemap = reason?.code === "not-a-sitemap" || reason?.code === "empty";
    if (reason !== undefined && isNoSitemap && isGuess(place)) {
      // What is no robots.txt may be a sitemap all the same.
      const none = place.by === "robots" ? keysOf(reference.url) : keys;
      return this.#abandon(none, { url: fetched.url, trace: { ...trace, outcome: "not-a-sitemap", reason } });
    }
    if (!started) yield { type: "start", url: declared.url, depth };
    if (reason !== undefined) {
      const node: InvalidSitemap = { kind: "invalid", ...declared, reason };
      frontier.finish(node, keys);
      yield* tally.finish(node, depth, result);
      return { type: "node", node, trace: { ...trace, outcome: isNoSitemap ? "not-a-sitemap" : "failed", reason } };
    }
    const problems = [...fetched.problems, ...result.problems, ...(cut === undefined ? [] : [cut])];
    const complete = result.complete && cut === undefined;
    if (result.outcome.kind === "pages") {
      const { format } = result.outcome;
      const node: Sitemap = { kind: "pages", format, ...declared, complete, problems, pageCount };
      frontier.finish(node, keys);
      yield* tally.finish(node, depth, result);
      return { type: "node", node, trace };
    }
    const isRobots = place.by === "robots";
    if (isRobots) this.#takeCrawlDelay(result, fetched.url);
    // An index that lists pages too keeps them in a child of its own, at the same URL.
    const own: Sitemap[] =
      pageCount === 0 ? [] : [{ kind: "pages", format: "xml", ...declared, complete, problems: [], pageCount }];
    const frame: Frame = {
      node: { kind: "index", format: isRobots ? "robots" : "xml", ...declared, complete, problems },
      parent: place.parent,
      depth,
      keys,
      references: frontier.wanted(references, declared.url, place.parent),
      next: 0,
      ahead: 0,
      children: own,
      size: result,
    };
    return { type: "frame", frame, trace };
  }

  // What is known of a document without asking for it, if anything is.
  #again(url: string, reference: SitemapReference, place: Place): Visiting | undefined {
    const repeated = this.#options.frontier.again(url, place.parent.depth + 1);
    if (repeated !== undefined) return this.#repeat(reference, place, repeated);
    const abandoned = this.#abandoned.get(urlKey(url));
    return abandoned === undefined ? undefined : this.#giveUp(reference, place, abandoned);
  }

  #abandon(keys: readonly string[], abandoned: Abandoned): Visit {
    for (const key of keys) this.#abandoned.set(key, abandoned);
    const { trace, failed } = abandoned;
    return { type: "left", trace, ...(failed === undefined ? {} : { failed }) };
  }

  // A guess came to nothing here before. Another guess does, too; what is declared has a node that says so.
  async *#giveUp(reference: SitemapReference, place: Place, { url, trace, failed }: Abandoned): Visiting {
    const { finalUrl: _, ...rest } = trace;
    const moved = { ...rest, ...movedTo(reference.url, url) };
    if (isGuess(place)) return { type: "left", trace: moved, ...(failed === undefined ? {} : { failed }) };
    return yield* this.#invalid(reference, place, url, moved);
  }

  // Seen before: shown here too, from the one fetch. Its pages are not told a second time.
  async *#repeat(reference: SitemapReference, place: Place, { node: known, whole }: Repeated): Visiting {
    const { frontier, tally } = this.#options;
    const trace: Trace = { outcome: "duplicate", ...movedTo(reference.url, known.url) };
    // What a sitemap or the caller declares is shown twice; discovery looks for what is not there yet.
    if (place.by !== undefined && place.by !== "given") return { type: "left", trace };
    const depth = place.parent.depth + 1;
    const { declaredUrl: _, lastModified: __, ...rest } = known;
    const node = { ...rest, ...this.#declared(reference, known.url) } as Sitemap;
    yield { type: "start", url: node.url, depth };
    if (node.kind === "index" && !whole) {
      return { type: "frame", frame: visitAgain(node, reference, place.parent), trace };
    }
    frontier.finish(node, []);
    yield* tally.finish(node, depth, nothingRead);
    return { type: "node", node, trace };
  }

  // Not to be followed, for reasons of our own.
  async *#refuse(reference: SitemapReference, depth: number, reason: Problem, url: string = reference.url): Visiting {
    const { tally } = this.#options;
    const node: InvalidSitemap = { kind: "invalid", ...this.#declared(reference, url), reason };
    yield { type: "start", url: node.url, depth };
    yield* tally.finish(node, depth, nothingRead);
    return { type: "node", node, trace: { outcome: "refused", ...movedTo(reference.url, url), reason } };
  }

  async *#fail(failed: FailedFetch, reference: SitemapReference, place: Place): Visiting {
    const { omitMissing } = this.#options;
    const { outcome, status, reason, url } = failed;
    await this.#drop(failed, place);
    if (reason.code === "archive-missing" && (omitMissing || isGuess(place))) {
      return { type: "left", trace: { outcome: "absent", reason } };
    }
    const withStatus = status === undefined ? {} : { status };
    const trace = { outcome, ...withStatus, ...movedTo(reference.url, url), reason };
    if (isGuess(place)) return this.#abandon(keysOfFailure(reference.url, url, reason), { url, trace, failed });
    return yield* this.#invalid(reference, place, url, trace);
  }

  async *#invalid(reference: SitemapReference, place: Place, url: string, trace: Abandoned["trace"]): Visiting {
    const { frontier, tally } = this.#options;
    const node: InvalidSitemap = { kind: "invalid", ...this.#declared(reference, url), reason: trace.reason };
    const depth = place.parent.depth + 1;
    frontier.finish(node, keysOfFailure(reference.url, url, trace.reason));
    yield { type: "start", url: node.url, depth };
    yield* tally.finish(node, depth, nothingRead);
    return { type: "node", node, trace };
  }

  // Sitemaps of one website mostly lie on one host: its URLs need no parser.
  #isAtHome(url: string): boolean {
    if (url.startsWith(this.#options.homepage)) return true;
    return bareHost(url) === this.#homeHost;
  }

  async #drop(fetched: FetchedDocument | FailedFetch, { by }: Place): Promise<void> {
    await this.#options.ahead.drop(fetched, by === "robots" ? "robots" : "sitemap");
  }

  #takeCrawlDelay(reading: Reading, url: string): void {
    const { settings, setCrawlDelay } = this.#options;
    const delay = settings.useCrawlDelay ? reading.crawlDelay(settings.userAgent) : undefined;
    if (delay !== undefined) setCrawlDelay?.(url, delay);
  }

  #declared(
    reference: SitemapReference,
    url: string,
  ): Pick<Sitemap, "url" | "declaredUrl" | "lastModified" | "offHost"> {
    return {
      url,
      ...(reference.url === url ? {} : { declaredUrl: reference.url }),
      ...(reference.lastModified === undefined ? {} : { lastModified: reference.lastModified }),
      ...(this.#isAtHome(url) ? {} : { offHost: true }),
    };
  }
}

/** Why a URL is no sitemap by its name: robots.txt is where a crawl begins. Named by a sitemap it would begin anew. */
export function refusedByName(url: string): Problem | undefined {
  return /^https?:\/\/[^/?#]*\/robots\.txt$/i.test(url) ? problem("not-a-sitemap", { value: "robots.txt" }) : undefined;
}

// A guess that comes to nothing leaves no node; what somebody declared does.
function isGuess({ by }: Place): boolean {
  return by === "known-path" || by === "robots";
}

function whyInvalid({ outcome }: Reading, { by }: Place): Problem | undefined {
  if (outcome.kind === "invalid") return outcome.reason;
  const isRobots = outcome.kind === "index" && outcome.format === "robots";
  if (isRobots === (by === "robots")) return undefined;
  return problem("not-a-sitemap", { value: isRobots ? "robots.txt" : "a sitemap in place of robots.txt" });
}

// An index whose subtree has to be visited anew, from what is known of its children.
function visitAgain({ children, ...node }: IndexSitemap, reference: SitemapReference, parent: Frame): Frame {
  const isOwn = (child: Sitemap) => child.kind === "pages" && child.url === node.url;
  return {
    node,
    parent,
    depth: parent.depth + 1,
    keys: keysOf(reference.url, node.url),
    references: children
      .filter((child) => !isOwn(child))
      .map(({ url, declaredUrl, lastModified }) => ({
        url: declaredUrl ?? url,
        ...(lastModified === undefined ? {} : { lastModified }),
      })),
    next: 0,
    ahead: 0,
    children: children.filter(isOwn),
    size: nothingRead,
  };
}

function keysOf(...urls: string[]): string[] {
  return [...new Set(urls.map(urlKey))];
}

// Too many redirects from here need not be too many from where they ended.
function keysOfFailure(declared: string, url: string, { code }: Problem): string[] {
  return code === "limit-redirects" ? keysOf(declared) : keysOf(declared, url);
}

// `www.example.org` and `example.org` are one website to everybody but a parser of URLs.
function bareHost(url: string): string {
  return parseUrl(url)?.host.replace(/^www\./, "") ?? "";
}

function movedTo(declared: string, url: string): { finalUrl?: string } {
  return declared === url ? {} : { finalUrl: url };
}
