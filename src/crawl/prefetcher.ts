// Fetches documents before they are needed, each once: what comes next is on its way while something else is being read. The
// source decides how many at a time, and when.
import {
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type FetchedDocument,
  requestKey,
} from "../exchange.ts";
import type { Store } from "../store/contract.ts";
import { Hop } from "./follow.ts";
import { RedirectMemory } from "./redirect-memory.ts";
import { Spool, SpoolRoom } from "./spool.ts";

// Nothing new is fetched ahead while this much waits to be read, in bytes.
const mostUnread = 1024 * 1024;
// Nor while so many documents wait: they are fetched in vain where the reader leaves. What a store keeps is not.
const mostWaiting = 64;

export interface PrefetcherOptions {
  readonly source: DocumentSource;
  /** Keeps what was fetched, so that it can be read again; without one, a document can be read once. */
  readonly store?: Store | undefined;
  readonly signal: AbortSignal;
  /** Whether a redirect that was fetched ahead is to be followed to here. */
  readonly isWanted: (hop: Hop) => boolean;
  /** An answer has arrived: there may be room for another. */
  readonly onRoom: () => void;
  /** Told of what the run before had kept. */
  readonly onResumed?: ((fetched: Fetched) => void) | undefined;
}

export class Prefetcher {
  readonly #options: PrefetcherOptions;
  readonly #room = new SpoolRoom();
  // What is on its way, and documents that have not been let go.
  readonly #answers = new Map<string, Promise<Fetched>>();
  readonly #redirects = new RedirectMemory();
  readonly #waiting = new Set<string>();
  readonly #spools = new Set<Spool>();
  readonly #resumed = new Set<string>();

  constructor(options: PrefetcherOptions) {
    this.#options = options;
  }

  /** How many documents were started and have not been asked for. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether this document may be started before it is needed. */
  hasRoomFor(url: string): boolean {
    const { source, store } = this.#options;
    if (store === undefined && this.#waiting.size >= mostWaiting) return false;
    return this.#room.unread < mostUnread && source.hasRoomFor?.(url) === true;
  }

  /** Starts a document that will be needed, if it is not on its way. */
  start(hop: Hop): void {
    const key = keyOf(hop.request);
    if (this.#isStarted(key)) return;
    this.#waiting.add(key);
    // Whoever asks for the document gets the rejection.
    this.#fetchAhead(hop).catch(() => undefined);
  }

  /** The answer for one hop, fetched once for as long as it is not let go. Rejects when the crawl is aborted. */
  async get(hop: Hop): Promise<Fetched> {
    const key = keyOf(hop.request);
    this.#waiting.delete(key);
    const fetched = await (this.#redirects.get(key) ?? this.#answers.get(key) ?? this.#begin(hop, key));
    // The reader remembers what came of a failure.
    if (fetched.outcome !== "found") this.#answers.delete(key);
    return fetched;
  }

  /** The answer for a hop that was started; whoever gets it later gets the same. */
  peek(hop: Hop): Promise<Fetched> {
    const key = keyOf(hop.request);
    const redirect = this.#redirects.get(key);
    return redirect === undefined ? (this.#answers.get(key) ?? this.#begin(hop, key)) : Promise.resolve(redirect);
  }

  /** Lets go of a document that was read, or is not going to be. */
  async drop(document: FetchedDocument): Promise<void> {
    this.#answers.delete(keyOf(document));
    // It was to come from an earlier run, and had to be asked for all the same.
    this.#answers.delete(keyOf({ ...document, notAsked: "unchanged" }));
    if (!(document.body instanceof Spool)) return;
    this.#spools.delete(document.body);
    await document.body.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#spools].map((spool) => spool.close()));
    await Promise.allSettled([...this.#spools].map((spool) => spool.filled));
  }

  // To the document itself, as far as redirects lead to something new.
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
    // Nobody may be waiting yet.
    fetching.catch(() => undefined);
    this.#answers.set(key, fetching);
    return fetching;
  }

  async #fromStore(store: Store, request: DocumentRequest, key: string): Promise<Fetched> {
    const fetched = await store.fetch(request);
    if ((fetched.came === "resumed" || fetched.came === "not-asked") && !this.#resumed.has(key)) {
      this.#resumed.add(key);
      this.#options.onResumed?.(fetched);
    }
    return fetched;
  }

  async #fetch(hop: Hop, key: string): Promise<Fetched> {
    const { source, store, signal, onRoom } = this.#options;
    const { request } = hop;
    // In a run that keeps what it fetches, nothing is asked for twice.
    if (store?.has(request)) return this.#fromStore(store, request, key);
    const arrived = () => {
      if (!signal.aborted) onRoom();
    };
    let spool: Spool | undefined;
    try {
      const fetched = await source.fetch({ ...request, signal });
      if (store !== undefined) return await store.keep(fetched);
      if (fetched.outcome === "redirect") {
        this.#redirects.set(key, fetched);
        this.#answers.delete(key);
      }
      // What can be read at any time needs no room of ours.
      if (fetched.outcome !== "found" || source.hasRoomFor === undefined) return fetched;
      spool = new Spool(fetched.body, this.#room);
      this.#spools.add(spool);
      return { ...fetched, body: spool };
    } finally {
      if (spool === undefined) arrived();
      else void spool.filled.then(arrived);
    }
  }
}

// A document that is not kept can be read once, and the homepage may be a sitemap, too: then it is fetched as both.
function keyOf(request: Parameters<typeof requestKey>[0]): string {
  return request.role === "homepage" ? `homepage ${requestKey(request)}` : requestKey(request);
}
