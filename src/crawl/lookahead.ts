// Prefetches what is known to come next, in the order in which it will be read: the remaining references of the index
// that is being visited, then those of its ancestors, then the candidates of discovery. A nested index can put other
// documents before these, so less is prefetched as the budget for documents runs out.
import type { Candidate } from "../discover/candidates.ts";
import type { DocumentRole } from "../model/exchange.ts";
import { type FollowRules, Hop } from "./follow.ts";
import type { Frame, Frontier } from "./frontier.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { refusedByName } from "./resolve.ts";

// References that are looked at in one call: the rest of an index of a million is looked at later.
const mostAtOnce = 1024;

export interface LookaheadOptions {
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly rules: FollowRules;
  /** Levels of sitemaps below a candidate. */
  readonly maxDepth: number;
}

/** The position of the crawl in the tree. */
export interface Position {
  /** The indexes whose children are being visited, from the candidate down. */
  readonly stack: readonly Frame[];
  readonly candidates: Iterable<Candidate>;
}

export class Lookahead {
  readonly #options: LookaheadOptions;
  // For each index, the next reference to prefetch.
  readonly #cursors = new WeakMap<Frame, number>();

  constructor(options: LookaheadOptions) {
    this.#options = options;
  }

  /** Starts as many fetches as there is room for. */
  fill({ stack, candidates }: Position): void {
    for (let at = stack.length - 1; at >= 0; at -= 1) {
      if (!this.#fillFrom(stack[at] as Frame)) return;
    }
    for (const { url, by } of candidates) {
      if (!this.#start(url, by === "robots" ? "robots" : "sitemap")) return;
    }
  }

  #fillFrom(frame: Frame): boolean {
    if (frame.depth > this.#options.maxDepth) return true;
    let at = Math.max(this.#cursors.get(frame) ?? 0, frame.next);
    const end = at + mostAtOnce;
    let hasRoom = true;
    for (let next = frame.references[at]; next !== undefined && hasRoom; next = frame.references[at]) {
      // What needs no request need not be prefetched.
      const isAsked = next.notAsked === undefined && refusedByName(next.url) === undefined;
      hasRoom = !isAsked || this.#start(next.url, "sitemap");
      if (hasRoom) at += 1;
      if (at === end) hasRoom = false;
    }
    this.#cursors.set(frame, at);
    return hasRoom;
  }

  /** Whether there was room. */
  #start(url: string, role: DocumentRole): boolean {
    const { frontier, prefetcher, rules } = this.#options;
    if (prefetcher.waiting >= frontier.documentsLeft / 2 || !prefetcher.hasRoomFor(url)) return false;
    const hop = Hop.first(url, role, rules);
    if (role !== "sitemap" || !frontier.isKnown(hop.key)) prefetcher.start(hop);
    return true;
  }
}
