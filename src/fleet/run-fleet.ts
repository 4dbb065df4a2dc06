// Crawls a queue of websites, many in parallel in one process, until the queue is empty or the caller stops it. The way of a website is the
// same for both kinds of queues: the queue gives a lease (journal-queue.ts, bull-queue.ts), crawl-site.ts crawls the website, the output
// publishes what was read (site-files.ts), and the lease is settled with a summary.
import { setMaxListeners } from "node:events";
import { FollowingController, unlessAborted } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import type { CrawlEvent } from "../model/event.ts";
import { expectObject, functionValue, invalid, number, signal, unexpected } from "../model/option-checks.ts";
import { crawlOptionsIn, type Options, resolveStreamOptions, type StreamOptions } from "../model/options.ts";
import { type CrawledSite, crawlSite } from "./crawl-site.ts";
import type { FleetOptions, FleetResult } from "./fleet-options.ts";
import { defaultParallelSites, noSink } from "./fleet-options.ts";
import { sharedLimits } from "./shared-limits.ts";
import type { SiteJob } from "./site-job.ts";
import { isFailure, siteJob, storedJob } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/**
 * Crawls all websites of a queue. When none is left, or after `drain`, resolves to the number of websites in each state, and to their
 * results. Rejects with a `SitemapError` (`invalid-option`) if a text in `sites` is not a website: check lists with `siteJob` first.
 *
 * @example
 * const { done, results } = await runFleet({ queue, sites: ["example.org", "example.net"] });
 * for await (const { site, outcome, pages } of results) console.log(site, outcome, pages);
 */
export async function runFleet(options: FleetOptions): Promise<FleetResult> {
  const settings = resolved(options);
  const { queue, sites, sink, parallelSites, crawl, onEvent } = settings;
  settings.signal?.throwIfAborted();
  const shared = sharedLimits(resolveStreamOptions(crawl), settings.perAddress);
  // The caller, or an error that is not about a website, aborts this controller.
  const stop = new FollowingController(settings.signal);
  // This one is also aborted when the caller wants no more websites to be started.
  const drain = new FollowingController(settings.drain, stop.signal);
  // Every waiting worker adds a listener, and Node.js would warn about more than ten.
  setMaxListeners(0, drain.signal);
  const workers = new Set<Promise<void>>();
  // How many websites in progress have not responded for a while. Other websites take their places.
  let slow = 0;

  function startWorker(): void {
    const working = work()
      .catch((error: unknown) => stop.abort(error))
      .then(() => void workers.delete(working));
    workers.add(working);
  }

  // Takes websites from the queue until it is empty. After a slow website, another worker has taken the place of this one.
  async function work(): Promise<void> {
    for (let isSlow = false; !isSlow; ) {
      const lease = await queue.take(drain.signal).catch(unlessDrained);
      if (!lease) return;
      const endSilence = onSilence(() => {
        if (slow >= parallelSites * slowLane || drain.signal.aborted) return;
        isSlow = true;
        slow += 1;
        startWorker();
      });
      try {
        await visit(lease, endSilence);
      } catch (error) {
        // The error is not about the website: the disk is full, or the queue is gone.
        stop.abort(error);
        await lease.retry().catch(() => undefined);
        throw error;
      } finally {
        endSilence();
        if (isSlow) slow -= 1;
      }
    }
  }

  // Crawls a website, publishes its output, and reports the result to the queue. If the website is not finished, it goes back to the queue.
  async function visit(lease: Lease, onResponse: () => void): Promise<void> {
    const { job, quarantined, starts } = lease;
    const stopping = new FollowingController(stop.signal, lease.lost);
    const see = (event: CrawlEvent) => {
      if (event.type === "response") onResponse();
      else if (event.type === "pages" && event.pages.length > 0)
        onEvent?.({ type: "site-pages", job, pages: event.pages.length });
    };
    try {
      if (quarantined === undefined) onEvent?.({ type: "site-start", job, starts });
      const { summary, output }: CrawledSite =
        quarantined === undefined
          ? await crawlSite(lease, { crawl, sink, shared }, stopping.signal, see)
          : { summary: quarantined };
      if (isFailure(summary.outcome)) await sink.fail?.(job, summary);
      const accepted = (await lease.done(summary)) === "accepted";
      // A failure to remove files must not stop the other websites.
      if (!accepted) await output?.discard().catch(() => undefined);
      onEvent?.({ type: "site-done", summary, accepted });
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      await lease.retry();
      onEvent?.({ type: "site-back", job });
    } finally {
      stopping.release();
    }
  }

  function unlessDrained(error: unknown): void {
    if (!drain.signal.aborted) throw error;
  }

  // A long list is read while its websites are being crawled.
  const adding = sites && queue.add(until(jobsOf(sites, crawl), drain.signal)).catch(unlessDrained);
  adding?.catch((error: unknown) => stop.abort(error));
  try {
    for (let count = 0; count < parallelSites; count += 1) startWorker();
    while (workers.size > 0) await Promise.all(workers);
    stop.signal.throwIfAborted();
  } finally {
    stop.release();
    drain.release();
    shared.close();
  }
  await adding;
  const results = { [Symbol.asyncIterator]: () => queue.results()[Symbol.asyncIterator]() };
  return { ...(await queue.counts()), results };
}

// Calls back once, if a website sends nothing for a while. Returns a function that ends the wait.
function onSilence(callback: () => void): () => void {
  let due = performance.now() + slowTime;
  const timer = setTimeout(() => {
    // If this process was busy, the silence may be its own fault.
    const isBusy = performance.now() - due > longestLag;
    due = performance.now() + slowTime;
    if (isBusy) timer.refresh();
    else callback();
  }, slowTime);
  return () => clearTimeout(timer);
}

// Checks the options, and fills in the defaults. Throws a `SitemapError` (`invalid-option`) for invalid ones.
function resolved(options: FleetOptions) {
  const crawl = crawlOptionsIn(options, ownOptions, ["save", "previous", "resume"], true);
  const { sites, sink = noSink, parallelSites = defaultParallelSites(), perAddress = 8 } = options;
  const isList =
    typeof sites === "object" && sites !== null && (Symbol.asyncIterator in sites || Symbol.iterator in sites);
  if (sites !== undefined && !isList) throw unexpected("sites", "a list of websites", sites);
  expectObject("queue", options.queue);
  const { queue } = options;
  const untrusted: StreamOptions = queue.isTrusted === false ? { network: "public-only" } : {};
  if (queue.isTrusted === false && crawl.headers !== undefined)
    throw invalid("`headers` cannot be used with a shared queue: whoever adds a website to it would receive them");
  expectObject("sink", sink);
  if (options.onEvent !== undefined) functionValue("onEvent", options.onEvent);
  for (const name of ["signal", "drain"] as const) if (options[name] !== undefined) signal(name, options[name]);
  return {
    sites,
    drain: options.drain,
    signal: options.signal,
    onEvent: options.onEvent,
    queue,
    sink,
    parallelSites: number("parallelSites", parallelSites, 1),
    perAddress: number("perAddress", perAddress, 1),
    // Others may write to a shared queue, and must not be able to choose private addresses.
    crawl: { knownPaths: "if-needed", ...untrusted, ...defined(crawl) } as StreamOptions,
  };
}

const ownOptions: readonly (keyof FleetOptions)[] = [
  ...(["sites", "queue", "sink", "parallelSites", "perAddress", "drain", "signal", "onEvent"] as const),
];

/** Yields a list until a signal is aborted, and then throws its reason, without waiting for the next item: a pipe may be slow. */
export async function* until<T>(list: AsyncIterable<T>, ...signals: readonly AbortSignal[]): AsyncGenerator<T, void> {
  const stopping = new FollowingController(...signals);
  const iterator = list[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(stopping.signal, iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    stopping.release();
    // Ends the caller's list. This is not awaited: an item that is on its way may never arrive.
    void iterator.return?.()?.catch(() => undefined);
  }
}

async function* jobsOf(sites: NonNullable<FleetOptions["sites"]>, { path }: Options): AsyncGenerator<SiteJob, void> {
  for await (const site of sites) {
    const isJob = typeof site === "object" && site !== null && "key" in site && "homepage" in site;
    const job = isJob ? storedJob({ ...site }) : siteJob(site, { path });
    if (job === undefined) throw invalid(`Expected \`sites\` to be websites, got \`${JSON.stringify(site)}\``);
    yield job;
  }
}

// A website that has not responded after this many milliseconds is slow.
const slowTime = 1000;
// How late a timer may be, in milliseconds. If it is later, this process was busy.
const longestLag = 50;
// How many slow websites there may be for each of the `parallelSites`.
const slowLane = 4;
