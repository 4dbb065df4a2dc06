// What can be seen to come next is fetched ahead, nearest first: the references of the index that is being visited, those of
// its ancestors, then the candidates of discovery. An index may come between, and with it documents that come before those
// that were fetched ahead: so the nearer the end of the budget for documents, the less is fetched ahead.
import type { Candidate } from "../discover/candidates.ts";
import type { DocumentRole } from "../exchange.ts";
import { type FollowRules, Hop } from "./follow.ts";
import type { Frame, Frontier } from "./frontier.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { refusedByName } from "./resolve.ts";

export interface LookaheadOptions {
  readonly frontier: Frontier;
  readonly prefetcher: Prefetcher;
  readonly rules: FollowRules;
  /** Levels of sitemaps below a candidate. */
  readonly maxDepth: number;
}

/** Where the crawl is. */
export interface Position {
  /** The indexes whose children are being visited, from the candidate down. */
  readonly stack: readonly Frame[];
  readonly candidates: readonly Candidate[];
  /** Where it is to be read, too. */
  readonly homepage: string | undefined;
}

export class Lookahead {
  readonly #options: LookaheadOptions;
  // The next reference of each index to look at.
  readonly #cursors = new WeakMap<Frame, number>();

  constructor(options: LookaheadOptions) {
    this.#options = options;
  }

  /** Starts as many documents as there is room for. */
  fill({ stack, candidates, homepage }: Position): void {
    for (let at = stack.length - 1; at >= 0; at -= 1) {
      if (!this.#fillFrom(stack[at] as Frame)) return;
    }
    for (const { url, by } of candidates) {
      if (!this.#start(url, by === "robots" ? "robots" : "sitemap")) return;
    }
    if (homepage !== undefined) this.#start(homepage, "homepage");
  }

  #fillFrom(frame: Frame): boolean {
    if (frame.depth > this.#options.maxDepth) return true;
    let at = Math.max(this.#cursors.get(frame) ?? 0, frame.next);
    let hasRoom = true;
    for (let next = frame.references[at]; next !== undefined && hasRoom; next = frame.references[at]) {
      // What the website is not asked for is at hand.
      const isAsked = next.notAsked === undefined && refusedByName(next.url) === undefined;
      hasRoom = !isAsked || this.#start(next.url, "sitemap");
      if (hasRoom) at += 1;
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
