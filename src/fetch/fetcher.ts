// Answers requests from the network: many at a time, within the limits for each host. Nothing that a website does makes
// this throw.
import type { Client } from "../model/client.ts";
import { responseEvent } from "../model/event.ts";
import type { DocumentRequest, DocumentSource, Fetched } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { parseUrl } from "../model/url.ts";
import { Cancellation, signalFollowers } from "./cancellation.ts";
import { secureContextOf } from "./certificates.ts";
import type { ConnectParts } from "./connect.ts";
import { DocumentFetch, type FetchContext } from "./document-fetch.ts";
import { HostRecords } from "./host-records.ts";
import { proxyChoice } from "./proxy.ts";
import { requestHeaders } from "./request-headers.ts";
import { type Backoff, defaultBackoff } from "./retry.ts";
import type { SharedLimits } from "./shared-limits.ts";
import { Throttle } from "./throttle.ts";
import { type OwnClient, undiciClient } from "./undici-client.ts";

export interface FetcherOptions {
  readonly settings: Settings;
  /** The URLs that the caller gave: the homepage, or the sitemaps. */
  readonly start: readonly string[];
  readonly onEvent?: FetchContext["onEvent"] | undefined;
  /** Limits that several crawls share. */
  readonly shared?: SharedLimits | undefined;
}

export interface Fetcher extends DocumentSource {
  /** May be called hundreds of times at once. Rejects only with the reason of a signal. */
  fetch(request: DocumentRequest): Promise<Fetched>;
  /** Ends all requests, including their bodies. */
  close(): Promise<void>;
  tellsApart(url: string): boolean;
  hasRoomFor(url: string): boolean;
  /** The Crawl-delay of the URL's host. Used only with `useCrawlDelay`, and up to a minute. */
  setCrawlDelay(url: string, milliseconds: number): void;
}

/** Replaced in tests. */
export interface FetcherParts extends ConnectParts {
  readonly backoff?: Partial<Backoff>;
}

/** Throws a `SitemapError` if no client can be made with these settings: their proxy, or their certificates. */
export function expectUsable(settings: Settings): void {
  if (settings.client !== undefined) return;
  proxyChoice(settings.proxy);
  secureContextOf(settings);
}

export function createFetcher(options: FetcherOptions, parts: FetcherParts = {}): Fetcher {
  return new NetworkFetcher(options, parts);
}

class NetworkFetcher implements Fetcher {
  readonly #context: FetchContext;
  readonly #active = new Set<Cancellation>();
  #ownClient: OwnClient | undefined;
  #closed = false;

  constructor({ settings, start, shared, onEvent = () => {} }: FetcherOptions, { backoff, ...parts }: FetcherParts) {
    const startUrls = start.flatMap((url) => parseUrl(url) ?? []);
    if (settings.client === undefined) this.#ownClient = undiciClient(settings, parts);
    const backoffs = { ...defaultBackoff, ...backoff };
    this.#context = {
      settings,
      client: settings.client ?? (this.#ownClient as Client),
      throttle: new Throttle(settings),
      shared,
      hosts: new HostRecords(settings, backoffs),
      headers: requestHeaders(settings, startUrls),
      trustedOrigins: new Set(startUrls.flatMap(bothSchemes)),
      backoff: backoffs,
      onEvent,
    };
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    // The signal of a request follows that of its crawl.
    const signal = request.signal ?? this.#context.settings.signal;
    signal?.throwIfAborted();
    if (this.#closed) throw closedReason();
    const cancellation = new Cancellation();
    this.#active.add(cancellation);
    if (signal !== undefined) signalFollowers.follow(signal, cancellation);
    const fetching = new DocumentFetch(this.#context, request, cancellation, () => {
      this.#active.delete(cancellation);
      if (signal !== undefined) signalFollowers.unfollow(signal, cancellation);
    });
    try {
      const fetched = await fetching.run();
      this.#context.onEvent(responseEvent(fetched));
      return fetched;
    } catch (error) {
      // The caller's signal was aborted, or the caller's `onEvent` threw: end everything.
      cancellation.cancel(error);
      throw error;
    }
  }

  tellsApart(url: string): boolean {
    const origin = parseUrl(url)?.origin ?? "";
    const { headers } = this.#context;
    const own = Object.entries(headers(origin, true));
    const others = headers(origin, false);
    return own.length !== Object.keys(others).length || own.some(([name, value]) => others[name] !== value);
  }

  hasRoomFor(url: string): boolean {
    const { hosts, throttle } = this.#context;
    const target = parseUrl(url);
    return target !== null && hosts.isOpen(target) && throttle.hasRoomFor(target.hostname);
  }

  setCrawlDelay(url: string, milliseconds: number): void {
    const { settings, throttle, shared } = this.#context;
    const target = parseUrl(url);
    if (!settings.useCrawlDelay || !(milliseconds > 0) || target === null) return;
    const delay = Math.min(milliseconds, longestCrawlDelay);
    throttle.setLeastDelay(target.hostname, delay);
    shared?.setLeastDelay(target, delay);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancellation of [...this.#active]) cancellation.cancel(closedReason());
    this.#context.throttle.close();
    // A client of the caller's own may serve other crawls.
    await this.#ownClient?.close();
  }
}

// A website on the usual ports answers by http and https, and one leads to the other.
function bothSchemes({ origin, port, hostname }: URL): readonly string[] {
  return port === "" ? [`http://${hostname}`, `https://${hostname}`] : [origin];
}

function closedReason(): DOMException {
  return new DOMException("The fetcher was closed", "AbortError");
}

// The limit of `useCrawlDelay`, in milliseconds: some websites ask for hours.
const longestCrawlDelay = 60_000;
