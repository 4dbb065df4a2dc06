// Fetches documents before they are needed, each once, in the order in which they will be read. The source decides how many in parallel.
import { type Candidate, isGuess } from "../discover/candidates.ts";
import { type DocumentRequest, type Fetched, requestKey } from "../model/exchange.ts";
import type { Crawl } from "./engine.ts";
import type { Frame } from "./frontier.ts";
import { pauseWhenDue } from "./read.ts";
import { type FoundDocument, follow, Hop } from "./redirects.ts";
import { Spool, SpoolRoom } from "./spool.ts";
import { refusedByName } from "./visit.ts";

// Nothing more is prefetched while this many bytes wait to be read.
const mostUnread = 1024 * 1024;
// Nor while this many documents wait: if the caller stops, they were fetched in vain. A store allows more.
const mostWaiting = 64;
const mostKept = 1024;
// How many references are examined in one call: an index may have a million.
const mostAtOnce = 1024;
// How many redirects are remembered. Others are requested again if needed.
const mostRedirects = 1000;

type Context = Omit<Crawl, "prefetcher" | "fetch" | "time" | "robots">;

export class Prefetcher {
  readonly #crawl: Context;
  readonly #room = new SpoolRoom();
  // Pending fetches, redirects, and documents that were not dropped yet.
  readonly #answers = new Map<string, Promise<Fetched>>();
  #redirects = 0;
  readonly #waiting = new Set<string>();
  readonly #spools = new Set<Spool>();

  constructor(crawl: Context) {
    this.#crawl = crawl;
  }

  /**
   * Starts as many fetches as there is room for: the remaining references of the innermost index of the `stack`, then those of its
   * ancestors, then the candidates of discovery. Guesses must not delay declared sitemaps, unless nothing else is left (`isGuessing`).
   */
  fill(stack: readonly Frame[], candidates: Iterable<Candidate>, isGuessing: boolean): void {
    for (const frame of stack.toReversed()) if (!this.#fillFrom(frame)) return;
    for (const { url, by } of candidates) {
      const isSpare = isGuess(by) && !(isGuessing && stack.length === 0);
      if (!this.#startIfRoom(url, isSpare)) return;
    }
  }

  /** Starts a fetch, unless it was started before. Follows redirects to the document, as long as they lead to something new. */
  start(first: Hop): void {
    const { frontier } = this.#crawl;
    const isKnown = ({ key, readKey, url }: Hop) =>
      refusedByName(url) !== undefined || frontier.isKnown(key) || frontier.isKnown(readKey);
    const fetch = (hop: Hop) => {
      if (hop === first) this.#waiting.add(keyOf(hop.request));
      return this.#begin(hop);
    };
    const end = (hop: Hop) => this.#answers.has(keyOf(hop.request)) || (hop !== first && isKnown(hop)) || undefined;
    // The rejection reaches the caller of `get`.
    follow(first, fetch, end).catch(() => undefined);
  }

  /** The response for one hop, fetched once until it is dropped. Rejects when the crawl is aborted. */
  async get(hop: Hop): Promise<Fetched> {
    const key = keyOf(hop.request);
    this.#waiting.delete(key);
    const fetched = await (this.#answers.get(key) ?? this.#begin(hop));
    // The frontier remembers failures.
    const isKept = fetched.outcome === "redirect" ? this.#redirects++ < mostRedirects : fetched.outcome === "found";
    if (!isKept) this.#answers.delete(key);
    return fetched;
  }

  /** Releases a document that was read, or will not be read. */
  drop({ request, document: { body } }: FoundDocument): void {
    this.#answers.delete(keyOf(request));
    if (!(body instanceof Spool)) return;
    this.#spools.delete(body);
    body.close();
  }

  async close(): Promise<void> {
    for (const spool of this.#spools) spool.close();
    await Promise.allSettled([...this.#spools].map((spool) => spool.filled));
    await this.#room.scratch.close();
  }

  #fillFrom(frame: Frame): boolean {
    if (frame.depth > this.#crawl.settings.limits.depth) return true;
    frame.ahead = Math.max(frame.ahead, frame.next);
    for (const { url, notAsked } of frame.references.slice(frame.ahead, frame.ahead + mostAtOnce)) {
      // Documents that need no request are not prefetched.
      const isAsked = notAsked === undefined && refusedByName(url) === undefined;
      if (isAsked && !this.#startIfRoom(url)) break;
      frame.ahead += 1;
    }
    return frame.ahead === frame.references.length;
  }

  #startIfRoom(url: string, isSpare = false): boolean {
    const { frontier, rules, source, earlier, store } = this.#crawl;
    // A nested index can put other documents before these, so less is prefetched as the budget for documents runs out.
    const most = Math.min(store === undefined ? mostWaiting : mostKept, frontier.documentsLeft / 2);
    const isFull = this.#waiting.size >= most || this.#room.unread >= mostUnread;
    if (isFull || (earlier ?? source).hasRoomFor?.(url, isSpare) !== true) return false;
    const hop = Hop.first(url, "sitemap", rules);
    if (!frontier.isKnown(hop.key)) this.start(hop);
    return true;
  }

  #begin(hop: Hop): Promise<Fetched> {
    const fetching = this.#fetch(hop);
    // Nobody may be waiting for it yet.
    fetching.catch(() => undefined);
    this.#answers.set(keyOf(hop.request), fetching);
    return fetching;
  }

  async #fetch({ request }: Hop): Promise<Fetched> {
    const { source, earlier, store, rules, signal, lookAhead, onResumed } = this.#crawl;
    // With a store, nothing is requested twice, except with new cookies.
    if (request.again === undefined && store?.has(request)) {
      const fetched = await store.fetch(request);
      if (fetched.came !== "resumed" && fetched.came !== "not-asked") return fetched;
      rules.cookies.take(fetched);
      onResumed(fetched);
      return fetched;
    }
    const arrived = async () => {
      // Refusals without a request return immediately, and there may be a million of them.
      await pauseWhenDue();
      if (!signal.aborted) lookAhead();
    };
    let spool: Spool | undefined;
    try {
      const { again } = request;
      const fetched = { ...(await (earlier ?? source).fetch({ ...request, signal })), again };
      rules.cookies.take(fetched);
      if (store !== undefined) return await store.keep(fetched);
      // A source without `hasRoomFor` (an archive) can be read at any time, without a spool.
      if (fetched.outcome !== "found" || source.hasRoomFor === undefined) return fetched;
      spool = new Spool(fetched.body, this.#room);
      this.#spools.add(spool);
      return { ...fetched, body: spool };
    } finally {
      void (spool?.filled ?? Promise.resolve()).then(arrived);
    }
  }
}

// Without a store a document can be read once only: a homepage that is also declared as a sitemap is fetched twice.
function keyOf(request: DocumentRequest): string {
  const key = request.role === "homepage" ? `homepage ${requestKey(request)}` : requestKey(request);
  return request.again === undefined ? key : `again ${request.again} ${key}`;
}
