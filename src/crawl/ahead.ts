// Fetches documents before they are asked for, each once. Everything that can be known to come next is on its way while the
// reader is busy; how many at a time, and how politely, is the fetcher's business.
import type { DocumentRequest, DocumentSource, Fetched, KnownDocument } from "../exchange.ts";
import { parseUrl, urlKey } from "../url.ts";
import { Spool, SpoolRoom } from "./spool.ts";

// Nothing new is fetched ahead while this much waits to be read, in bytes.
const mostUnread = 1024 * 1024;

export interface AheadOptions {
  readonly source: DocumentSource;
  /** Keeps what was fetched, so that it can be read again; without it, a document can be read once. */
  readonly keep?: ((fetched: Fetched) => Promise<Fetched>) | undefined;
  /** How many documents may be on their way at a time: more would only wait for their turn. */
  readonly concurrency: { readonly perHost: number; readonly total: number };
  readonly signal: AbortSignal;
  /** A document has arrived: there may be room for another. */
  readonly onRoom: () => void;
}

export class Ahead {
  readonly #options: AheadOptions;
  readonly #room = new SpoolRoom();
  // By the URL that was asked for, and by those that redirects led to.
  readonly #started = new Map<string, Promise<Fetched>>();
  // Documents that were let go, by where they were found: not to be started again, and known where a redirect leads to them.
  readonly #dropped = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #spools = new Set<Spool>();
  // By host.
  readonly #underway = new Map<string, number>();
  #totalUnderway = 0;

  constructor(options: AheadOptions) {
    this.#options = options;
  }

  /** How many documents were started and have not been asked for. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether this document may be started before it is needed. */
  hasRoomFor(url: string): boolean {
    const { perHost, total } = this.#options.concurrency;
    // What is not kept is fetched in vain where the reader leaves.
    if (this.#options.keep === undefined && this.#waiting.size >= 4 * total) return false;
    const atHost = this.#underway.get(hostOf(url)) ?? 0;
    return atHost < perHost && this.#totalUnderway < total && this.#room.unread < mostUnread;
  }

  /** Starts a document that will be needed, if it is not on its way. */
  start(url: string, role: DocumentRequest["role"]): void {
    const key = keyOf(url, role);
    if (this.#started.has(key) || this.#dropped.has(key)) return;
    this.#waiting.add(key);
    void this.#begin(url, role, key);
  }

  /** The document, fetched once for as long as it is not let go. Rejects when the crawl is aborted. */
  async get(url: string, role: DocumentRequest["role"]): Promise<Fetched> {
    const key = keyOf(url, role);
    this.#waiting.delete(key);
    const fetched = await (this.#started.get(key) ?? this.#begin(url, role, key));
    // Too many redirects from elsewhere need not be too many from here.
    return isTooFar(fetched) && keyOf(fetched.requestedUrl, role) !== key ? this.#begin(url, role, key) : fetched;
  }

  /** Lets go of a document that was read, or is not going to be. What redirected to it leads to where it was found. */
  async drop(fetched: Exclude<Fetched, KnownDocument>, role: DocumentRequest["role"]): Promise<void> {
    const asked = keyOf(fetched.requestedUrl, role);
    const found = keyOf(fetched.url, role);
    // Only where redirects lead to sitemaps was looked at on the way.
    if (role !== "sitemap") {
      this.#started.delete(asked);
      this.#dropped.add(asked);
    } else if (isTooFar(fetched)) {
      for (const { url } of fetched.hops) this.#started.delete(keyOf(url, role));
    } else {
      const { requestedUrl, url } = fetched;
      const known: Fetched = { outcome: "known", requestedUrl, url, hops: [], attempts: 0, problems: [] };
      for (const hop of fetched.hops) this.#started.set(keyOf(hop.url, role), Promise.resolve(known));
      this.#started.delete(found);
      this.#dropped.add(found);
    }
    if (fetched.outcome === "found" && fetched.body instanceof Spool) {
      this.#spools.delete(fetched.body);
      await fetched.body.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#spools].map((spool) => spool.close()));
    await Promise.allSettled([...this.#spools].map((spool) => spool.filled));
  }

  #begin(url: string, role: DocumentRequest["role"], key: string): Promise<Fetched> {
    const fetching = this.#fetch(url, role, key);
    // Nobody may be waiting yet; whoever asks gets the rejection.
    fetching.catch(() => undefined);
    this.#started.set(key, fetching);
    return fetching;
  }

  async #fetch(url: string, role: DocumentRequest["role"], key: string): Promise<Fetched> {
    const { source, keep, signal } = this.#options;
    const host = hostOf(url);
    this.#count(host, 1);
    const arrived = () => {
      this.#count(host, -1);
      if (!signal.aborted) this.#options.onRoom();
    };
    let spool: Spool | undefined;
    try {
      const isKnown = (target: string) => this.#isKnown(target, key);
      const fetched = await source.fetch({ url, role, signal, ...(role === "sitemap" ? { isKnown } : {}) });
      if (keep !== undefined) return await keep(fetched);
      if (fetched.outcome !== "found") return fetched;
      spool = new Spool(fetched.body, this.#room);
      this.#spools.add(spool);
      return { ...fetched, body: spool };
    } finally {
      if (spool === undefined) arrived();
      else void spool.filled.then(arrived);
    }
  }

  #count(host: string, change: 1 | -1): void {
    const count = (this.#underway.get(host) ?? 0) + change;
    if (count === 0) this.#underway.delete(host);
    else this.#underway.set(host, count);
    this.#totalUnderway += change;
  }

  // A target that is on its way by another URL is not fetched again. One that is not is on its way from now on.
  #isKnown(target: string, key: string): boolean {
    const targetKey = urlKey(target);
    if (this.#dropped.has(targetKey)) return true;
    const own = this.#started.get(key);
    const other = this.#started.get(targetKey);
    if (other !== undefined) return other !== own;
    if (own !== undefined) this.#started.set(targetKey, own);
    return false;
  }
}

// The homepage is read for its links; the same URL may be a sitemap, too.
function keyOf(url: string, role: DocumentRequest["role"]): string {
  return role === "homepage" ? `homepage ${urlKey(url)}` : urlKey(url);
}

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? "";
}

function isTooFar(fetched: Fetched): boolean {
  return "reason" in fetched && fetched.reason.code === "limit-redirects";
}
