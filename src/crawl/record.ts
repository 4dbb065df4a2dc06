// Records the result of a visit: nodes of the tree, events, and the record of discovery.
import type { Candidate } from "../discover/candidates.ts";
import type { DiscoveryRecord, OrderedEvent } from "../model/event.ts";
import { header, type NotAsked } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { SitemapResponse } from "../model/response.ts";
import type { IndexSitemap, InvalidSitemap, Sitemap, SitemapReference } from "../model/sitemap.ts";
import { bareHost, parseUrl } from "../model/url.ts";
import type { FollowFailure } from "./follow.ts";
import type { Abandoned, Frame, Frontier, Repeated } from "./frontier.ts";
import { type DocumentFacts, nothingRead, type Tally } from "./tally.ts";

/** The result of a candidate, for the record of discovery. */
export type CandidateResult = Omit<DiscoveryRecord, "url" | "by">;

export type Visit =
  /** `next`: where a feed goes on. */
  | { readonly type: "node"; readonly node: Sitemap; readonly result: CandidateResult; readonly next?: Reference }
  | { readonly type: "frame"; readonly frame: Frame; readonly result: CandidateResult }
  /** Not in the tree: a well-known path without a sitemap, or a missing robots.txt. */
  | { readonly type: "omitted"; readonly result: CandidateResult };

/** A sitemap to visit. */
export interface Reference extends SitemapReference {
  /** The website is not asked: the answer of an earlier run is used. */
  readonly notAsked?: NotAsked | undefined;
}

/** Where a reference comes from: an index, or discovery. */
export interface Place {
  readonly parent: Frame;
  /** How discovery found it; absent for the children of an index. */
  readonly by?: Candidate["by"] | undefined;
  /** It continues the feed before it. */
  readonly continues?: boolean;
}

export interface RecorderOptions {
  readonly frontier: Frontier;
  readonly tally: Tally;
  readonly homepage: string;
  readonly omitMissing?: boolean | undefined;
}

type Recording = Generator<OrderedEvent, Visit>;
type Declared = Pick<Sitemap, "url" | "declaredUrl" | "lastModified" | "offHost">;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #homeHost: string;
  #lastReason: Problem | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#homeHost = websiteOf(options.homepage);
  }

  /** Not fetched, because of a limit or a cycle. */
  *refused(reference: Reference, place: Place, url: string, reason: Problem): Recording {
    const result: CandidateResult = { outcome: "refused", ...movedTo(reference.url, url), reason };
    if (isGuess(place)) return { type: "omitted", result };
    const node = this.#invalidAt(reference, url, reason);
    const depth = place.parent.depth + 1;
    yield { type: "start", url: node.url, depth };
    yield* this.finish(node, depth, [], nothingRead);
    return { type: "node", node, result };
  }

  /** A budget is used up in the middle of an index: one node stands for all remaining children. */
  *cutOff(frame: Frame, { count: _, message: __, ...spent }: Problem): Generator<OrderedEvent, InvalidSitemap> {
    const reference = frame.references[frame.next] as SitemapReference;
    const count = frame.references.length - frame.next + frame.unlisted;
    const { code, ...facts } = spent;
    const reason = problem(code, count > 1 ? { ...facts, count } : facts);
    const node = this.#invalidAt(reference, reference.url, reason);
    yield { type: "start", url: node.url, depth: frame.depth + 1 };
    yield* this.finish(node, frame.depth + 1, [], nothingRead);
    return node;
  }

  /** Visited before: it gets another node, but is not fetched again, and its pages are not reported again. */
  *repeated(reference: Reference, place: Place, { node: known, whole, keys }: Repeated): Recording {
    const result: CandidateResult = { outcome: "duplicate", ...movedTo(reference.url, known.url) };
    // What a sitemap or the caller declares is shown twice; a candidate of discovery that is known already is not.
    if (place.continues || (place.by !== undefined && place.by !== "given")) return { type: "omitted", result };
    const depth = place.parent.depth + 1;
    const { declaredUrl: _, lastModified: __, ...rest } = known;
    const node = { ...rest, ...this.declared(reference, known.url) } as Sitemap;
    yield { type: "start", url: node.url, depth };
    if (node.kind === "index" && !whole) return { type: "frame", frame: visitAgain(node, keys, place.parent), result };
    yield* this.finish(node, depth, [], nothingRead);
    return { type: "node", node, result };
  }

  /** There is no document. */
  *failed(reference: Reference, place: Place, failed: FollowFailure): Recording {
    const { outcome, status, reason, url, keys } = failed;
    if (reason.code === "archive-missing" && (this.#options.omitMissing || isGuess(place))) {
      return { type: "omitted", result: { outcome: "absent", reason } };
    }
    const result = { outcome, ...(status === undefined ? {} : { status }), ...movedTo(reference.url, url), reason };
    if (isGuess(place)) return this.abandon(reference, { url, result, keys, response: failed.response });
    return yield* this.#invalid(reference, place, { url, result, keys, response: failed.response });
  }

  /** An earlier guess at this URL found no sitemap. If it is declared now, it gets a node with the reason. */
  *abandoned(reference: Reference, place: Place, abandoned: Abandoned): Recording {
    const { url, result } = abandoned;
    const { finalUrl: _, ...rest } = result;
    const moved = { ...rest, ...movedTo(reference.url, url) };
    const isUndeclared = isGuess(place) || isLinkToPage(place, result.reason, abandoned.response);
    if (isUndeclared) return { type: "omitted", result: moved };
    return yield* this.#invalid(reference, place, { ...abandoned, result: moved });
  }

  /**
   * A guess that found no sitemap: no node. A guess that was not requested is not remembered: if it is declared later,
   * it is requested.
   */
  abandon({ notAsked }: Reference, abandoned: Abandoned): Visit {
    if (!notAsked) this.#options.frontier.abandon(abandoned);
    return { type: "omitted", result: abandoned.result };
  }

  /** A sitemap without children to visit is finished. */
  *finish(node: Sitemap, depth: number, keys: readonly string[], facts: DocumentFacts): Generator<OrderedEvent, void> {
    const { frontier, tally } = this.#options;
    frontier.finish(node, keys);
    yield* tally.finish(node, depth, facts);
  }

  /** The fields that every node has. */
  declared(reference: SitemapReference, url: string): Declared {
    return {
      url,
      ...(reference.url === url ? {} : { declaredUrl: reference.url }),
      ...(reference.lastModified === undefined ? {} : { lastModified: reference.lastModified }),
      ...(this.#isAtHome(url) ? {} : { offHost: true }),
    };
  }

  *#invalid(reference: Reference, place: Place, { url, result, keys, response }: Abandoned): Recording {
    const node = this.#invalidAt(reference, url, result.reason);
    const depth = place.parent.depth + 1;
    yield { type: "start", url: node.url, depth };
    yield* this.finish(node, depth, keys, { ...nothingRead, response });
    return { type: "node", node, result };
  }

  // Thousands of sitemaps may be refused for the same reason: they share one object.
  #invalidAt(reference: SitemapReference, url: string, reason: Problem): InvalidSitemap {
    const last = this.#lastReason;
    const isSame = last?.code === reason.code && JSON.stringify(last) === JSON.stringify(reason);
    if (!isSame) this.#lastReason = reason;
    return { kind: "invalid", ...this.declared(reference, url), reason: isSame ? last : reason };
  }

  // Most sitemaps are on the host of the homepage: those need no URL parser.
  #isAtHome(url: string): boolean {
    if (url.startsWith(this.#options.homepage)) return true;
    return websiteOf(url) === this.#homeHost;
  }
}

/** Whether a failure leaves no node: nobody declared that there is a sitemap. */
export function isGuess({ by }: Place): boolean {
  return by === "known-path" || by === "robots";
}

/** Whether a homepage links to an HTML page by `rel="sitemap"`: it is a sitemap for people. */
export function isLinkToPage({ by }: Place, { code, value }: Problem, response?: SitemapResponse): boolean {
  if (by !== "homepage-link" && by !== "homepage-header") return false;
  if (code === "not-a-sitemap" && value === "html") return true;
  return response?.status === 200 && /html/i.test(header(response.headers, "content-type") ?? "");
}

/** The URL where a document was found, if that is not the declared one. */
export function movedTo(declared: string, url: string): { finalUrl?: string } {
  return declared === url ? {} : { finalUrl: url };
}

// An index whose children are visited again, from what is known of them.
function visitAgain({ children, ...node }: IndexSitemap, keys: readonly string[], parent: Frame): Frame {
  const isOwn = (child: Sitemap) => child.kind === "pages" && child.url === node.url;
  return {
    node,
    parent,
    depth: parent.depth + 1,
    keys,
    references: children
      .filter((child) => !isOwn(child))
      .map(({ url, declaredUrl, lastModified }) => ({
        url: declaredUrl ?? url,
        ...(lastModified === undefined ? {} : { lastModified }),
      })),
    unlisted: 0,
    next: 0,
    children: children.filter(isOwn),
    facts: nothingRead,
  };
}

function websiteOf(url: string): string {
  return bareHost(parseUrl(url)?.host ?? "");
}
