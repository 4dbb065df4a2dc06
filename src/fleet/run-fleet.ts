// Crawls a queue of websites, many in parallel in one process, until the queue is empty or it is stopped.
import { setMaxListeners } from "node:events";
import { FollowingController, unlessAborted } from "../fetch/abort.ts";
import { SitemapError } from "../model/errors.ts";
import type { CrawlEvent, OrderedEvent } from "../model/event.ts";
import { invalid } from "../model/option-checks.ts";
import { type Options, resolveStreamOptions, type StreamOptions } from "../model/options.ts";
import { problem } from "../model/problem.ts";
import { crawlSite } from "./crawl-site.ts";
import { type FleetOptions, resolveFleetOptions, type SiteOutput } from "./fleet-options.ts";
import { emptySummary, type SiteJob, type SiteSummary, siteJob } from "./site-job.ts";
import type { Lease, QueueCounts } from "./site-queue.ts";
import { ResponseCounter, type SiteResponses } from "./site-responses.ts";

/**
 * Reads all websites of a queue. A text in `sites` that is not a homepage ends it with a `SitemapError` (`invalid-option`): check
 * lists with `siteJob` before.
 */
export async function runFleet(options: FleetOptions): Promise<QueueCounts> {
  const settings = resolveFleetOptions(options);
  const { queue, run, sites, sink, concurrency, crawl, onEvent } = settings;
  settings.signal?.throwIfAborted();
  // Imported here, to keep `import "sitegrove"` fast.
  const { sharedLimits } = await import("./shared-limits.ts");
  const shared = sharedLimits(resolveStreamOptions(crawl), settings.perAddress);
  // Aborted by the caller, or by an error that is not about a website.
  const stop = new FollowingController(settings.signal);
  // Also aborted when no more websites are started.
  const drain = new FollowingController(settings.drain, stop.signal);
  // Every website adds a listener.
  setMaxListeners(0, drain.signal);
  const workers = new Set<Promise<void>>();
  // How many websites in progress have not responded for a while: others take their places.
  let slow = 0;

  function startWorker(): void {
    const working = work()
      .catch((error: unknown) => stop.abort(error))
      .then(() => void workers.delete(working));
    workers.add(working);
  }

  async function work(): Promise<void> {
    for (;;) {
      const lease = await queue.take(drain.signal).catch((error: unknown) => {
        if (!drain.signal.aborted) throw error;
      });
      if (lease === undefined) return;
      let [hasAnswered, isSilent, isSlow] = [false, false, false];
      // A website that does not respond continues in a separate lane, if there is room: another one takes its place.
      const timer = setTimeout(() => {
        isSilent = !hasAnswered;
        if (isSilent) lease.silent?.(true);
        if (slow >= concurrency * slowLane || drain.signal.aborted) return;
        isSlow = true;
        slow += 1;
        startWorker();
        onEvent?.({ type: "site-slow", job: lease.job });
      }, slowTime);
      const onAnswer = () => {
        hasAnswered = true;
        if (isSilent) lease.silent?.(false);
        isSilent = false;
      };
      try {
        const read = await readSite(lease, onAnswer, () => clearTimeout(timer));
        if (read !== undefined) await settle(lease, read);
      } catch (error) {
        // Not about the website: the disk is full, or the queue is gone.
        stop.abort(error);
        await lease.retry().catch(() => undefined);
        throw error;
      } finally {
        clearTimeout(timer);
        if (isSlow) slow -= 1;
      }
      // Its place has been taken.
      if (isSlow) return;
    }
  }

  /** Undefined if the website went back to the queue. */
  async function readSite(lease: Lease, onAnswer: () => void, onDocument: () => void): Promise<ReadSite | undefined> {
    const { job, attemptId, starts } = lease;
    const stopping = new FollowingController(stop.signal, lease.lost);
    onEvent?.({ type: "site-start", job, starts });
    let output: SiteOutput | undefined;
    const responses = new ResponseCounter();
    const see = (event: CrawlEvent) => {
      responses.see(event);
      if (event.type === "response" && event.status !== undefined && event.status < 500) onAnswer();
    };
    const onOrdered = (event: OrderedEvent) => {
      if (event.type === "pages" || event.type === "sitemap") onDocument();
      if (event.type === "pages" && event.pages.length > 0)
        onEvent?.({ type: "site-pages", job, pages: event.pages.length });
    };
    const read = (into: SiteOutput, seen = onOrdered) =>
      crawlSite(lease, { ...crawl, ...into.options, signal: stopping.signal, onEvent: see }, into, shared, seen);
    try {
      const published = await sink.published?.(job);
      if (published !== undefined) return { summary: published, output };
      const opened = await sink.open(job, attemptId);
      output = opened;
      const readAlive = async () => {
        const { lastTried, keep, discard } = opened;
        if (lastTried === undefined) return read(opened);
        const probe = await read({ options: oneRequest, keep, discard }, () => {});
        return probe.outcome === "unreachable" ? { ...probe, lastTried } : read(opened);
      };
      const reading = readAlive().catch(async (error: unknown) => {
        const { previous, ...others } = opened.options ?? {};
        const isInvalid = error instanceof SitemapError && error.code === "invalid-archive";
        if (previous === undefined || !isInvalid) throw error;
        // Without the earlier archive everything is requested.
        return { ...(await read({ ...opened, options: others })), previousError: error.message };
      });
      const summary = await reading.catch((error: unknown) => {
        if (stopping.signal.aborted || isMachine(error)) throw error;
        return failed(job, attemptId, error);
      });
      const kept = { ...summary, ...(await opened.keep(summary)) };
      return { summary: kept, output, responses: responses.counted };
    } catch (error) {
      await output?.discard();
      if (!stopping.signal.aborted) throw error;
      // Another worker has it, or it waits for the next run.
      if (!lease.lost.aborted) await lease.retry();
      onEvent?.({ type: "site-back", job });
      return undefined;
    } finally {
      stopping.release();
    }
  }

  // If the queue fails, it is unknown whether it has the result: the output stays.
  async function settle(lease: Lease, { summary, output, responses }: ReadSite): Promise<void> {
    try {
      const accepted = (await lease.done(summary)) === "accepted";
      await (accepted ? output?.accepted?.() : output?.discard());
      onEvent?.({ type: "site-done", summary, accepted, responses });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      onEvent?.({ type: "site-back", job: lease.job });
    }
  }

  // A long list is read while its websites are being crawled.
  const adding = sites && queue.add(run, until(jobsOf(sites, crawl), drain.signal));
  adding?.catch((error: unknown) => stop.abort(error));
  try {
    for (let count = 0; count < concurrency; count += 1) startWorker();
    while (workers.size > 0) await Promise.all(workers);
    stop.signal.throwIfAborted();
  } finally {
    stop.release();
    drain.release();
    shared.close();
  }
  await adding;
  return queue.counts(run);
}

/** A list until one of the signals: its next item is not waited for, because it may come slowly, from a pipe. */
export async function* until<T>(list: AsyncIterable<T>, ...signals: readonly AbortSignal[]): AsyncGenerator<T, void> {
  const stopping = new FollowingController(...signals);
  const iterator = list[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(stopping.signal, iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopping.release();
  }
}

interface ReadSite {
  readonly summary: SiteSummary;
  readonly output: SiteOutput | undefined;
  readonly responses?: SiteResponses;
}

// Nothing that a website does throws: this is a bug of ours, and must not end the other websites.
function failed(job: SiteJob, attemptId: string, error: unknown): SiteSummary {
  const value = error instanceof Error ? error.message : String(error);
  return emptySummary(job, attemptId, "failed", { message: problem("client-failed", { value }).message, count: 1 });
}

function isMachine(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return code === "storage-failed" || code === "archive-unwritable" || typeof syscall === "string";
}

async function* jobsOf(
  sites: NonNullable<FleetOptions["sites"]>,
  { keepPath = false, onlyPath = false }: Options,
): AsyncGenerator<SiteJob, void> {
  for await (const site of sites) {
    const isJob = typeof site === "object" && site !== null && "key" in site && "homepage" in site;
    const job = isJob ? site : siteJob(site, { keepPath: keepPath || onlyPath });
    if (job === undefined) throw invalid(`Expected \`sites\` to be homepages, got \`${JSON.stringify(site)}\``);
    yield job;
  }
}

// What a website gets that is known to be dead.
const oneRequest: StreamOptions = { useKnownPaths: false, useHomepage: false, retries: 0 };

// In milliseconds: a website without a response by then is slow.
const slowTime = 1000;
// So many slow websites for each that is read at a time.
const slowLane = 4;
