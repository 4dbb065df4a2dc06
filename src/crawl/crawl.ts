// The crawl as a stream of events: what `crawl()` returns, and what trees and streams of pages are made from. The code
// that fetches, reads and stores is imported when a crawl begins, to keep `import "sitegrove"` fast.

import type { Store } from "../archive/contract.ts";
import type { PreviousArchives } from "../archive/previous.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import type { SharedLimits } from "../fetch/hosts.ts";
import { type CrawlEvent, type OrderedEvent, responseEvent } from "../model/event.ts";
import type { DocumentSource } from "../model/exchange.ts";
import type { Options } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { counting } from "./counts.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { type ReadDocument, readUrls } from "./read.ts";
import type { Storage } from "./storage.ts";
import { CameCount } from "./tally.ts";
import type { CrawlTarget } from "./target.ts";

export type { CrawlTarget } from "./target.ts";

/**
 * The events of a crawl, as they happen. Leaving the loop ends the crawl.
 *
 * @example
 * for await (const event of crawl("https://example.org/")) {
 *   if (event.type === "pages") console.log(event.url, event.pages.length);
 * }
 */
export function crawl(target: CrawlTarget, options?: Options): AsyncIterable<CrawlEvent> {
  const prepared = prepare(target, options);
  return { [Symbol.asyncIterator]: () => merged(prepared) };
}

/** The same, for whoever needs nothing but the URLs of the pages: they have no other fields. */
export function crawlUrls(target: CrawlTarget, options?: Options): AsyncIterable<CrawlEvent> {
  const prepared = prepare(target, options);
  return { [Symbol.asyncIterator]: () => merged(prepared, readUrls) };
}

export interface RunOptions {
  readonly prepared: Prepared;
  /** Where documents come from. @default the network */
  readonly source?: DocumentSource | undefined;
  /** Where documents are kept. By default nowhere, or in an archive if `save` or `resume` is set. */
  readonly store?: Store | undefined;
  /** The archives of earlier runs, if they are open already. Closed when the crawl ends. */
  readonly previous?: PreviousArchives | undefined;
  readonly omitMissing?: boolean | undefined;
  /** Problems of the website as a whole that are known before the crawl begins. */
  readonly problems?: readonly Problem[] | undefined;
  /** Reads documents in place of `read`. */
  readonly read?: ReadDocument | undefined;
  /** Limits that several crawls share. */
  readonly shared?: SharedLimits | undefined;
  /** Called with `request`, `retry` and `response` events. */
  readonly onSideEvent?: ((event: CrawlEvent) => void) | undefined;
}

/** Yields the events in declared order; the others go to `settings.onEvent` and `onSideEvent` only. */
export async function* ordered(options: RunOptions): AsyncGenerator<OrderedEvent, void> {
  const { source, omitMissing, problems, shared } = options;
  const { save, resume } = options.prepared.settings;
  const isKept = options.store === undefined && (save !== undefined || resume !== undefined);
  let own: Storage | undefined;
  let previous = options.previous;
  let fetcher: Fetcher | undefined;
  try {
    own = isKept ? await (await import("./storage.ts")).openStorage(options.prepared) : undefined;
    const store = options.store ?? own?.store;
    const { settings, start, startUrls } = own?.prepared ?? options.prepared;
    let requestCount = 0;
    const came = new CameCount();
    const onEvent = (event: CrawlEvent) => {
      if (event.type === "request") requestCount += 1;
      if (event.type === "response") came.see(event);
      settings.onEvent?.(event);
      options.onSideEvent?.(event);
    };
    const earlier = source === undefined && settings.previous ? await import("./previous.ts") : undefined;
    previous ??= own?.previous ?? (await earlier?.openPrevious(start, settings));
    const isCompared = previous !== undefined;
    const onRequest = (event: CrawlEvent) => {
      // With `previous`, how a document came is known only after it was compared with the earlier one: the Revalidator
      // reports it.
      if (!isCompared || event.type !== "response") onEvent(event);
    };
    if (source === undefined) {
      const { createFetcher } = await import("../fetch/fetcher.ts");
      fetcher = createFetcher({ settings, start: startUrls, onEvent: onRequest, shared });
    }
    const again =
      fetcher && earlier && previous
        ? new earlier.Revalidator({ network: fetcher, previous, onResponse: onEvent })
        : undefined;
    const network = again ?? fetcher;
    const { runCrawl } = await import("./engine.ts");
    const counted = store && counting(settings, options.read);
    const events = runCrawl({
      start,
      settings,
      source: network ?? (source as DocumentSource),
      startUrls,
      store,
      earlier: again && previous && new earlier!.EarlierRun(previous, settings, () => again.isRobotsTheSame),
      read: counted?.read ?? options.read,
      counts: counted?.counts,
      omitMissing,
      problems,
      setCrawlDelay: fetcher?.setCrawlDelay.bind(fetcher),
      onResumed: (fetched) => onEvent(responseEvent(fetched)),
      requestCount: () => requestCount,
      came: () => came.counts,
    });
    for await (const event of events) {
      settings.onEvent?.(event);
      yield event;
    }
  } finally {
    await fetcher?.close();
    await own?.store.close();
    await previous?.close();
  }
}

// Yields side events while waiting for the next ordered one.
async function* merged(prepared: Prepared, readDocument?: ReadDocument): AsyncGenerator<CrawlEvent, void> {
  const aside: CrawlEvent[] = [];
  let wake = () => {};
  const onSideEvent = (event: CrawlEvent) => {
    aside.push(event);
    wake();
  };
  const abort = new AbortController();
  const signal =
    prepared.settings.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, prepared.settings.signal]);
  const events = ordered({
    prepared: { ...prepared, settings: { ...prepared.settings, signal } },
    read: readDocument,
    onSideEvent,
  });
  let done = false;
  try {
    while (!done) {
      let result: IteratorResult<OrderedEvent, void> | undefined;
      let failure: { error: unknown } | undefined;
      events.next().then(
        (value) => {
          result = value;
          wake();
        },
        (error: unknown) => {
          failure = { error };
          wake();
        },
      );
      while (result === undefined && failure === undefined) {
        while (aside.length > 0) yield aside.shift() as CrawlEvent;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (aside.length > 0 || result !== undefined || failure !== undefined) resolve();
        });
      }
      if (failure !== undefined) throw (failure as { error: unknown }).error;
      while (aside.length > 0) yield aside.shift() as CrawlEvent;
      const step = result as unknown as IteratorResult<OrderedEvent, void>;
      if (step.done) done = true;
      else yield step.value;
    }
  } finally {
    // A generator can be closed only after its pending step has ended.
    if (!done) abort.abort(new Error("The caller left the loop"));
    await events.return().catch(() => undefined);
  }
}
