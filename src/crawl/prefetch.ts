// Fetches documents before they are needed, about in the order in which they will be read. The source decides how many are fetched in
// parallel.
import { type DocumentRequest, type Fetched, requestKey } from "../model/exchange.ts";
import type { CrawlContext } from "./context.ts";
import type { Declaration } from "./frame.ts";
import type { Plan } from "./plan.ts";
import { pauseWhenDue } from "./read.ts";
import { type FoundDocument, follow, Hop } from "./redirects.ts";
import { Spool, SpoolRoom } from "./spool.ts";

// Nothing more is prefetched while this many bytes wait to be read.
const mostUnread = 1024 * 1024;
// Nothing more is prefetched while this many documents wait, either, because they would be fetched for nothing if the caller stops.
const mostWaiting = 64;
const mostWaitingInStore = 1024;
// The same for characters in headers, which stay in memory even if there is a store.
const mostHeaders = 4 * 1024 * 1024;
// How many redirects are remembered. Further ones are requested again if needed.
const mostRedirects = 1000;
const longestRedirect = 4096;

export class Prefetcher {
  readonly #context: CrawlContext;
  readonly #plan: Plan;
  readonly #room = new SpoolRoom();
  // Pending fetches, redirects, and documents that were not dropped yet.
  readonly #answers = new Map<string, Promise<Fetched>>();
  // The lengths of the headers of documents that were not dropped yet.
  readonly #headers = new Map<string, number>();
  #headersLength = 0;
  #redirects = 0;
  readonly #waiting = new Set<string>();
  readonly #spools = new Set<Spool>();
  // The given `answers` that have not been used yet.
  readonly #unused: Map<string, Fetched>;
  /** Called for each reference whose document is prefetched. */
  onStart: ((entry: Declaration, hop: Hop) => void) | undefined;

  constructor(context: CrawlContext, plan: Plan) {
    this.#context = context;
    this.#plan = plan;
    this.#unused = new Map(context.sources.answers.map((answer) => [requestKey(answer), answer]));
  }

  /** Starts as many fetches as there is room for. Call it when there may be more to prefetch, or more room. */
  fill(): void {
    this.#plan.lookAhead((entry, isSpare) => this.#startIfRoom(entry, isSpare));
  }

  /** Starts a fetch, unless it was started before. Follows redirects to the document, as long as they lead to something new. */
  start(first: Hop): void {
    const { visited } = this.#context;
    const fetch = (hop: Hop) => {
      if (hop === first) this.#waiting.add(fetchKey(hop.request));
      return this.#begin(hop);
    };
    const end = (hop: Hop) =>
      this.#answers.has(fetchKey(hop.request)) || (hop !== first && visited.isPointless(hop)) || undefined;
    // The rejection reaches the caller of `get`.
    follow(first, fetch, end).catch(() => undefined);
  }

  /** Returns the response for one hop. A document is not fetched again until it is dropped. Rejects when the crawl is aborted. */
  async get(hop: Hop): Promise<Fetched> {
    const key = fetchKey(hop.request);
    this.#waiting.delete(key);
    const fetched = await (this.#answers.get(key) ?? this.#begin(hop));
    // `visited` remembers failures.
    const isRedirect = fetched.outcome === "redirect" && headersLength(fetched) <= longestRedirect;
    const isKept = isRedirect ? this.#redirects++ < mostRedirects : fetched.outcome === "found";
    if (!isKept) this.#forget(key);
    return fetched;
  }

  /** Returns the response for one hop, before its visit. It is kept until `get`. */
  peek(hop: Hop): Promise<Fetched> {
    return this.#answers.get(fetchKey(hop.request)) ?? this.#begin(hop);
  }

  /** Records that the document of this reference no longer waits to be read. */
  stopWaiting(first: Hop): void {
    if (this.#waiting.delete(fetchKey(first.request))) this.fill();
  }

  /** Releases a document that was read, or will not be read. */
  drop({ request, document: { body } }: FoundDocument): void {
    this.#forget(fetchKey(request));
    if (!(body instanceof Spool)) return;
    this.#spools.delete(body);
    body.close();
  }

  async close(): Promise<void> {
    for (const spool of this.#spools) spool.close();
    await Promise.allSettled([...this.#spools].map((spool) => spool.filled));
    await this.#room.scratch.close();
  }

  #startIfRoom(entry: Declaration, isSpare: boolean): boolean {
    const { url } = entry;
    const { budget, visited, rules, sources } = this.#context;
    const { source, store } = sources;
    // A nested index can put other documents before these, so less is prefetched as the budget for documents runs out.
    const most = Math.min(store === undefined ? mostWaiting : mostWaitingInStore, budget.documentsLeft / 2);
    const isFull = this.#waiting.size >= most || this.#room.unread >= mostUnread || this.#headersLength >= mostHeaders;
    if (isFull || source.hasRoomFor?.(url, isSpare) !== true) return false;
    const hop = Hop.first(url, "sitemap", rules);
    if (visited.isKnown(hop.key)) return true;
    this.start(hop);
    this.onStart?.(entry, hop);
    return true;
  }

  #begin(hop: Hop): Promise<Fetched> {
    const fetching = this.#fetch(hop);
    // Nobody may be waiting for the result yet, so a rejection would be unhandled.
    fetching.catch(() => undefined);
    this.#answers.set(fetchKey(hop.request), fetching);
    return fetching;
  }

  #forget(key: string): void {
    this.#answers.delete(key);
    this.#countHeaders(key, 0);
  }

  #countHeaders(key: string, length: number): void {
    this.#headersLength += length - (this.#headers.get(key) ?? 0);
    if (length === 0) this.#headers.delete(key);
    else this.#headers.set(key, length);
  }

  async #fetch({ request }: Hop): Promise<Fetched> {
    const { rules, time, sources } = this.#context;
    const { source, store, onResumed } = sources;
    const { signal } = time;
    // With a store, nothing is requested twice, except with new cookies.
    if (request.again === undefined && store?.has(request)) {
      const fetched = await store.fetch(request);
      this.#countHeaders(fetchKey(request), headersLength(fetched));
      if (!store.isResumed(request)) return fetched;
      rules.cookies.store(fetched);
      onResumed(fetched);
      return fetched;
    }
    const arrived = async () => {
      // Refusals without a request return immediately, and there may be a million of them.
      await pauseWhenDue();
      if (!signal.aborted) this.fill();
    };
    let spool: Spool | undefined;
    try {
      const { again } = request;
      const answer = again === undefined ? this.#unused.get(requestKey(request)) : undefined;
      this.#unused.delete(requestKey(request));
      const fetched = { ...(answer ?? (await source.fetch({ ...request, signal }))), again };
      this.#countHeaders(fetchKey(request), headersLength(fetched));
      rules.cookies.store(fetched);
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

function headersLength({ headers = [] }: Fetched): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

// Without a store, a document can be read only once, so a homepage that is also declared as a sitemap is fetched twice.
function fetchKey(request: DocumentRequest): string {
  const key = request.role === "homepage" ? `homepage ${requestKey(request)}` : requestKey(request);
  return request.again === undefined ? key : `again ${request.again} ${key}`;
}
