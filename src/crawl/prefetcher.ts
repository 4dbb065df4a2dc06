// Fetches documents before they are needed, each once, while others are being read. The source decides how many at a
// time.

import type { Store } from "../archive/contract.ts";
import {
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type FetchedDocument,
  type RequestIdentity,
  requestKey,
} from "../model/exchange.ts";
import type { Cookies } from "./cookies.ts";
import { pauseWhenDue } from "./event-loop.ts";
import { Hop } from "./follow.ts";
import { RedirectMemory } from "./redirect-memory.ts";
import { Spool, SpoolRoom } from "./spool.ts";

// Nothing more is prefetched while this many bytes wait to be read.
const mostUnread = 1024 * 1024;
// Nor while this many documents wait: if the caller leaves, they were fetched for nothing. More of them where a store keeps them.
const mostWaiting = 64;
const mostKept = 1024;

export interface PrefetcherOptions {
  readonly source: DocumentSource;
  /** Keeps what was fetched, so that it can be read again; without one, a document can be read once. */
  readonly store?: Store | undefined;
  readonly cookies: Cookies;
  readonly signal: AbortSignal;
  /** Whether to prefetch the target of a redirect. */
  readonly isWanted: (hop: Hop) => boolean;
  /** Called when a response has arrived: there may be room for another. */
  readonly onRoom: () => void;
  /** Called for each response that an earlier, interrupted run had kept. */
  readonly onResumed?: ((fetched: Fetched) => void) | undefined;
}

export class Prefetcher {
  readonly #options: PrefetcherOptions;
  readonly #room = new SpoolRoom();
  // Pending fetches, and documents that were not dropped yet.
  readonly #answers = new Map<string, Promise<Fetched>>();
  readonly #redirects = new RedirectMemory();
  readonly #waiting = new Set<string>();
  readonly #spools = new Set<Spool>();
  readonly #resumed = new Set<string>();

  constructor(options: PrefetcherOptions) {
    this.#options = options;
  }

  /** How many documents were started and not asked for yet. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether this document may be prefetched now. */
  hasRoomFor(url: string): boolean {
    const { source, store } = this.#options;
    if (this.#waiting.size >= (store === undefined ? mostWaiting : mostKept)) return false;
    return this.#room.unread < mostUnread && source.hasRoomFor?.(url) === true;
  }

  /** Starts a fetch, unless it was started before. */
  start(hop: Hop): void {
    const key = keyOf(hop.request);
    if (this.#isStarted(key)) return;
    this.#waiting.add(key);
    // The rejection reaches whoever calls `get`.
    this.#fetchAhead(hop).catch(() => undefined);
  }

  /** The answer for one hop, fetched once until it is dropped. Rejects when the crawl is aborted. */
  async get(hop: Hop): Promise<Fetched> {
    const key = keyOf(hop.request);
    this.#waiting.delete(key);
    const fetched = await (this.#redirects.get(key) ?? this.#answers.get(key) ?? this.#begin(hop, key));
    // The frontier remembers failures.
    if (fetched.outcome !== "found") this.#answers.delete(key);
    return fetched;
  }

  /** The answer for a hop, left in place for `get`. */
  peek(hop: Hop): Promise<Fetched> {
    const key = keyOf(hop.request);
    const redirect = this.#redirects.get(key);
    return redirect === undefined ? (this.#answers.get(key) ?? this.#begin(hop, key)) : Promise.resolve(redirect);
  }

  /** Releases a document that was read, or will not be read. */
  async drop(document: FetchedDocument): Promise<void> {
    this.#answers.delete(keyOf(document));
    // It was expected from an earlier run, but had to be fetched.
    this.#answers.delete(keyOf({ ...document, notAsked: "unchanged" }));
    if (!(document.body instanceof Spool)) return;
    this.#spools.delete(document.body);
    document.body.close();
  }

  async close(): Promise<void> {
    for (const spool of this.#spools) spool.close();
    await Promise.allSettled([...this.#spools].map((spool) => spool.filled));
    await this.#room.scratch.close();
  }

  // Follows redirects to the document, as long as they lead to something new.
  async #fetchAhead(first: Hop): Promise<void> {
    for (let hop = first; ; ) {
      const fetched = await this.#begin(hop, keyOf(hop.request));
      if (fetched.outcome !== "redirect") return;
      const next = hop.next(fetched);
      if (!(next instanceof Hop) || !this.#options.isWanted(next) || this.#isStarted(keyOf(next.request))) return;
      hop = next;
    }
  }

  #isStarted(key: string): boolean {
    return this.#answers.has(key) || this.#redirects.has(key);
  }

  #begin(hop: Hop, key: string): Promise<Fetched> {
    const fetching = this.#fetch(hop, key);
    // Nobody may be waiting for it yet.
    fetching.catch(() => undefined);
    this.#answers.set(key, fetching);
    return fetching;
  }

  async #fromStore(store: Store, request: DocumentRequest, key: string): Promise<Fetched> {
    const fetched = asAnswerTo(request, await store.fetch(request));
    if ((fetched.came === "resumed" || fetched.came === "not-asked") && !this.#resumed.has(key)) {
      this.#resumed.add(key);
      this.#options.cookies.take(fetched);
      this.#options.onResumed?.(fetched);
    }
    return fetched;
  }

  async #fetch(hop: Hop, key: string): Promise<Fetched> {
    const { source, store, cookies, signal, onRoom } = this.#options;
    const { request } = hop;
    // With a store, nothing is requested twice, but for new cookies.
    if (request.again === undefined && store?.has(request)) return this.#fromStore(store, request, key);
    const arrived = async () => {
      // What is refused without a request arrives at once, and makes room for the next one of perhaps a million.
      await pauseWhenDue();
      if (!signal.aborted) onRoom();
    };
    let spool: Spool | undefined;
    try {
      const fetched = asAnswerTo(request, await source.fetch({ ...request, signal }));
      cookies.take(fetched);
      if (store !== undefined) return await store.keep(fetched);
      if (fetched.outcome === "redirect") {
        this.#redirects.set(key, fetched);
        this.#answers.delete(key);
      }
      // A source without `hasRoomFor` (an archive) can be read at any time, without a spool.
      if (fetched.outcome !== "found" || source.hasRoomFor === undefined) return fetched;
      spool = new Spool(fetched.body, this.#room);
      this.#spools.add(spool);
      return { ...fetched, body: spool };
    } finally {
      if (spool === undefined) void arrived();
      else void spool.filled.then(arrived);
    }
  }
}

// An archive also says how often its own run came back to the URL.
function asAnswerTo({ again }: DocumentRequest, fetched: Fetched): Fetched {
  return fetched.again === again ? fetched : { ...fetched, again };
}

// Without a store a document can be read once only. The homepage may also be declared as a sitemap: then it is fetched
// twice.
function keyOf(request: RequestIdentity & Pick<DocumentRequest, "again">): string {
  const key = request.role === "homepage" ? `homepage ${requestKey(request)}` : requestKey(request);
  return request.again === undefined ? key : `again ${request.again} ${key}`;
}
