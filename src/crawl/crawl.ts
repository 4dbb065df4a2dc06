// `crawl()`, `streamPages()`, and `run`, from which trees are built. The engine is imported only when a crawl begins, to keep
// `import "sitegrove"` fast.
import { SitemapError } from "../model/errors.ts";
import type { CrawlEvent, Finished, FinishedEvent, SitemapProblem } from "../model/event.ts";
import type { Options, StreamOptions } from "../model/options.ts";
import type { ListedPage } from "../model/page.ts";
import { PageFilter } from "./page-filter.ts";
import { type CrawlTarget, type Prepared, prepare, prepareStream } from "./prepare.ts";
import { readUrls } from "./read.ts";
import { type Emit, noProgress, type Progress, type RunOptions } from "./run.ts";
import { enough, streamed } from "./streamed.ts";

export type { CrawlTarget } from "./prepare.ts";

/**
 * The events of a crawl, as they happen. Leaving the loop ends the crawl.
 *
 * @example
 * for await (const event of crawl("https://example.org/")) {
 *   if (event.type === "pages") console.log(event.url, event.pages.length);
 * }
 */
export function crawl(target: CrawlTarget, options?: StreamOptions): AsyncIterable<CrawlEvent> {
  const prepared = prepareStream(target, options);
  return {
    [Symbol.asyncIterator]: () => events({ prepared, filter: pageFilter(prepared), order: prepared.settings.order }),
  };
}

/** Like `crawl`, with a filter that several crawls share. `urlsOnly` means that no other fields of pages are needed. */
export function crawlWith(
  filter: PageFilter | undefined,
  target: CrawlTarget,
  options: Options,
  urlsOnly: boolean,
): AsyncIterable<CrawlEvent> {
  const prepared = prepare(target, options);
  const needsDates = filter?.settings.since !== undefined;
  const read = urlsOnly && !needsDates ? readUrls : undefined;
  return { [Symbol.asyncIterator]: () => events({ prepared, filter, read, order: prepared.settings.order }) };
}

/** The pages of a website, and how the stream ended. */
export interface PageStream extends AsyncIterable<ListedPage> {
  /**
   * Resolves when the loop has ended, for whatever reason. Never rejects: errors of the crawl are thrown in the loop. Stays pending until
   * the loop begins, unless the signal is aborted.
   */
  readonly finished: Promise<Finished>;
}

/**
 * The pages of a website, while its sitemaps are being fetched: in declared order, or as they arrive (`order`). The pages of a sitemap that
 * is declared twice are listed once. Leaving the loop ends the crawl. The loop throws a `SitemapError` (`unreachable`) if the website
 * cannot be reached, or refuses everything, unless `onUnreachable` is `end`. A stream can be read once.
 *
 * @example
 * const stream = streamPages("https://example.org/");
 * for await (const page of stream) console.log(page.url, page.sitemap);
 * const { complete, problems } = await stream.finished;
 */
export function streamPages(target: CrawlTarget, options?: StreamOptions): PageStream {
  const prepared = prepareStream(target, options);
  const { signal } = prepared.settings;
  const problems: SitemapProblem[] = [];
  let progress: Progress = noProgress();
  let last: FinishedEvent | undefined;
  let resolve: (finished: Finished) => void = () => {};
  const finished = new Promise<Finished>((settle) => (resolve = settle));
  // Only the first call has an effect, because a promise resolves once.
  const settle = (end: "break" | "abort") => {
    const { type: _, ...rest } = last ?? { type: "finished" };
    const reachable = progress.discovery.some(({ outcome }) => outcome === "found");
    resolve({ end, complete: false, reachable, ...progress, ...rest, problems });
  };
  const onAbort = () => settle("abort");
  const onLeave = () => settle("break");

  const batches = streamed<readonly ListedPage[], void>(signal, async (own, emit) => {
    // From now on the crawl itself listens to the signal.
    signal?.removeEventListener("abort", onAbort);
    const onInterrupted = (reached: Progress) => (progress = reached);
    let end: "break" | "abort" = "abort";
    try {
      const { order } = prepared.settings;
      const options = { prepared: withSignal(prepared, own), filter: pageFilter(prepared), order, onInterrupted };
      await run(options, async (event) => {
        if (event.type === "pages") await emit(event.pages as readonly ListedPage[]);
        if (event.type === "problem") problems.push({ url: event.url, problem: event.problem });
        if (event.type !== "finished") return;
        last = event;
        if (event.unreachable === undefined || prepared.settings.onUnreachable === "end") return;
        const { outcome, reason } = event.unreachable;
        const details = { problem: reason, cause: reason.cause, outcome };
        throw new SitemapError("unreachable", `${prepared.start.homepage}: ${reason.message}`, details);
      });
    } catch (error) {
      if (error === enough) end = "break";
      throw error;
    } finally {
      settle(end);
    }
  });

  const pages = flatten(batches);
  const iterator = {
    ...pages,
    return() {
      const returned = pages.return();
      // The caller may leave the loop before it has begun.
      returned.then(onLeave, onLeave);
      return returned;
    },
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return { finished, [Symbol.asyncIterator]: () => iterator };
}

/** Streams all events of a run. */
export function events(options: RunOptions): AsyncGenerator<CrawlEvent, FinishedEvent> {
  return streamed(options.prepared.settings.signal, (signal, emit, tell) =>
    run({ ...options, prepared: withSignal(options.prepared, signal), onSideEvent: tell }, emit),
  );
}

function withSignal(prepared: Prepared, signal: AbortSignal): Prepared {
  return { ...prepared, settings: { ...prepared.settings, signal } };
}

/** Returns the page filter, or undefined if every page passes, because a filter would only cost time. */
export function pageFilter({ filters }: Prepared): PageFilter | undefined {
  const filter = filters && new PageFilter(filters);
  return filter?.passesAll && filter.settings.limit === Number.POSITIVE_INFINITY ? undefined : filter;
}

/**
 * Runs a crawl. Emits all events except those of requests, which go only to `settings.onEvent` and `onSideEvent`. Returns the last
 * event. Throws only a `SitemapError`, the reason of a signal, and errors of `emit` and the caller's functions.
 */
export async function run(options: RunOptions, emit: Emit): Promise<FinishedEvent> {
  const { openCrawl } = await import("./open.ts");
  const { crawlWebsite } = await import("./engine.ts");
  const open = await openCrawl(options);
  try {
    return await crawlWebsite(open, emit);
  } finally {
    await open.close();
    await open.sources.store?.close();
  }
}

interface ClosableIterator<T> extends AsyncIterableIterator<T, undefined> {
  return(): Promise<IteratorResult<T, undefined>>;
}

/** Yields the items of batches one by one. Nothing is awaited within a batch, which is three times as fast. Concurrent calls are queued. */
export function flatten<T>(source: AsyncGenerator<readonly T[], void>): ClosableIterator<T> {
  let batch: readonly T[] = [];
  let at = 0;
  let pending = 0;
  async function* single(): AsyncGenerator<T, undefined> {
    try {
      for await (batch of source) for (at = 0; at < batch.length; ) yield batch[at++] as T;
    } finally {
      batch = [];
    }
    return undefined;
  }
  const items = single();
  const queued = (result: Promise<IteratorResult<T, undefined>>) => {
    pending += 1;
    return result.finally(() => (pending -= 1));
  };
  return {
    next: () =>
      pending === 0 && at < batch.length
        ? Promise.resolve({ value: batch[at++] as T, done: false })
        : queued(items.next()),
    return: () => queued(items.return(undefined)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
