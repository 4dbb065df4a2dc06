// Crawls a queue of websites, many in parallel in one process, until the queue is empty or the caller stops it. The pages of each website
// go to an output, and its result is a summary.
import { setMaxListeners } from "node:events";
import { pageFilter, run } from "../crawl/crawl.ts";
import { prepareStream } from "../crawl/prepare.ts";
import { timeLeft } from "../crawl/time-budget.ts";
import { FollowingController, unlessAborted } from "../fetch/abort.ts";
import type { SharedLimits } from "../fetch/limiter.ts";
import { withTimeout } from "../fetch/lookup.ts";
import { longestTimer } from "../fetch/timeouts.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { FinishedEvent, OrderedEvent } from "../model/event.ts";
import { expectObject, functionValue, invalid, number, signal, unexpected } from "../model/option-checks.ts";
import {
  crawlOptionsIn,
  type Options,
  pageFilterNames,
  resolveStreamOptions,
  type StreamOptions,
} from "../model/options.ts";
import { isLossy, type Problem, problem } from "../model/problem.ts";
import type { RobotsPreference, Sitemap } from "../model/sitemap.ts";
import { buildTreeWhile } from "../tree/build.ts";
import { siteQueueOf } from "./bull-queue.ts";
import type { FleetOptions, FleetResult, SiteOutput } from "./fleet-options.ts";
import { defaultParallelSites, noSink } from "./fleet-options.ts";
import { sharedLimits } from "./shared-limits.ts";
import type { SiteJob, SiteOutcome, SiteReason, SiteSummary } from "./site-job.ts";
import { emptySummary, isFailure, siteJob, storedJob, targetOf } from "./site-job.ts";
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

  function unlessDrained(error: unknown): void {
    if (!drain.signal.aborted) throw error;
  }

  function startWorker(): void {
    const working = work()
      .catch((error: unknown) => stop.abort(error))
      .then(() => void workers.delete(working));
    workers.add(working);
  }

  async function work(): Promise<void> {
    for (;;) {
      const lease = await queue.take(drain.signal).catch(unlessDrained);
      if (!lease) return;
      let isSlow = false;
      // A website that does not respond moves to the slow lane, if there is room, and another one takes its place.
      let due = performance.now() + slowTime;
      const timer = setTimeout(() => {
        // If this process was busy, the silence may be its own fault.
        if (performance.now() - due > longestLag) {
          due = performance.now() + slowTime;
          return void timer.refresh();
        }
        if (slow >= parallelSites * slowLane || drain.signal.aborted) return;
        isSlow = true;
        slow += 1;
        startWorker();
      }, slowTime);
      try {
        const read = lease.quarantined
          ? { summary: lease.quarantined, output: undefined }
          : await readSite(lease, () => clearTimeout(timer));
        if (read !== undefined) await settle(lease, read);
      } catch (error) {
        // The error is not about the website: the disk is full, or the queue is gone.
        stop.abort(error);
        await lease.retry().catch(() => undefined);
        throw error;
      } finally {
        clearTimeout(timer);
        if (isSlow) slow -= 1;
      }
      // Another website has already taken its place.
      if (isSlow) return;
    }
  }

  /** Crawls a website. Returns undefined if it went back to the queue, or the lease is lost. */
  async function readSite(lease: Lease, onResponse: () => void): Promise<ReadSite | undefined> {
    const { job, attemptId, starts } = lease;
    const stopping = new FollowingController(stop.signal, lease.lost);
    onEvent?.({ type: "site-start", job, starts });
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await readOnce(lease, stopping.signal, onResponse);
        } catch (error) {
          if (stopping.signal.aborted || isShortage(error)) throw error;
          // The website's output failed, or sitegrove has a bug. Neither may stop the other websites.
          if (attempt === mostAttempts) return { summary: failed(job, attemptId, error), output: undefined };
        }
      }
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      // If the lease is lost, another worker has the website, or it waits for the next run.
      if (!lease.lost.aborted) await lease.retry();
      onEvent?.({ type: "site-back", job });
      return undefined;
    } finally {
      stopping.release();
    }
  }

  // Makes one attempt. `previousError` says why the earlier archive cannot be used, so that everything is requested.
  async function readOnce(
    lease: Lease,
    signal: AbortSignal,
    onResponse: () => void,
    previousError?: string,
  ): Promise<ReadSite> {
    const { job, attemptId, replaces } = lease;
    const published = await sink.published?.(job, replaces);
    if (published !== undefined) return { summary: published, output: undefined };
    const onOrdered = (event: OrderedEvent) => {
      if (event.type === "pages" && event.pages.length > 0)
        onEvent?.({ type: "site-pages", job, pages: event.pages.length });
    };
    const output = await sink.open(job, attemptId);
    const { previous, ...others } = output.options ?? {};
    const used = previousError === undefined ? output.options : others;
    const noteResponse: Options["onEvent"] = (event) => {
      if (event.type === "response") onResponse();
      used?.onEvent?.(event);
    };
    try {
      const read = await crawlSite(
        lease,
        { ...crawl, ...used, signal, onEvent: noteResponse },
        output,
        shared,
        onOrdered,
      );
      const summary = { ...read, ...defined({ previousError }) };
      return { summary: { ...summary, ...(await output.keep(summary)) }, output };
    } catch (error) {
      await output.discard().catch(() => undefined);
      // Starts again with an empty output, because some pages may already have been written.
      if (previousError === undefined && previous !== undefined && isInvalidArchive(error))
        return readOnce(lease, signal, onResponse, error.message);
      throw error;
    }
  }

  // Reports the result to the queue. If the queue fails, it may still have the result, so the output is kept.
  async function settle(lease: Lease, { summary, output }: ReadSite): Promise<void> {
    // A failed website has no output that could publish its result.
    if (isFailure(summary.outcome)) await sink.fail?.(lease.job, summary);
    try {
      const accepted = (await lease.done(summary)) === "accepted";
      // A failure to remove files must not stop the other websites.
      if (!accepted) await output?.discard().catch(() => undefined);
      onEvent?.({ type: "site-done", summary, accepted });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      onEvent?.({ type: "site-back", job: lease.job });
    }
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

// Checks the options, and fills in the defaults. Throws a `SitemapError` (`invalid-option`) for invalid ones.
function resolved(options: FleetOptions) {
  const crawl = crawlOptionsIn(options, ownOptions, ["save", "previous", "resume"], true);
  const { sites, sink = noSink, parallelSites = defaultParallelSites(), perAddress = 8 } = options;
  const isList =
    typeof sites === "object" && sites !== null && (Symbol.asyncIterator in sites || Symbol.iterator in sites);
  if (sites !== undefined && !isList) throw unexpected("sites", "a list of websites", sites);
  expectObject("queue", options.queue);
  const queue = siteQueueOf(options.queue);
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

/** Crawls one website. Its problems go into the summary, and are not thrown. `onOrdered` gets the same events as the output. */
async function crawlSite(
  { job, attemptId }: Pick<Lease, "job" | "attemptId">,
  options: StreamOptions & { readonly signal: AbortSignal },
  output: SiteOutput,
  shared: SharedLimits,
  onOrdered: (event: OrderedEvent) => void,
): Promise<SiteSummary> {
  const { signal } = options;
  let reasons: Reasons = new Map();
  let finished: FinishedEvent | undefined;
  let hasSitemap = false;
  let isLate = false;
  let preferences: readonly RobotsPreference[] | undefined;
  const startedAt = performance.now();
  const time = options.limits?.time ?? Number.POSITIVE_INFINITY;
  // An output that never answers must not keep its worker forever.
  const taken = <T>(work: Promise<T> | undefined, limit = Math.min(time, outputTime)) =>
    work && withTimeout(Math.min(limit + 1000, longestTimer), work, "The output was not written in time");
  const see = async (event: OrderedEvent) => {
    onOrdered(event);
    output.event?.(event);
    if (event.type === "pages") await taken(output.pages?.(event.url, event.pages));
    else if (event.type === "sitemap") {
      hasSitemap ||= isSitemap(event.sitemap);
      for (const problem of lossesOf(event.sitemap)) add(reasons, problem);
      if (event.sitemap.kind === "index") preferences ??= event.sitemap.preferences?.slice(0, mostPreferences);
      await taken(output.sitemap?.(event));
    } else if (event.type === "finished") finished = event;
  };
  const prepared = prepareStream(targetOf(job), options);
  const filter = pageFilter(prepared);
  if (output.tree === undefined) {
    await run({ prepared, filter, shared }, see);
  } else {
    const whole = Object.fromEntries(Object.entries(options).filter(([name]) => !pageFilterNames.includes(name)));
    const tree = await buildTreeWhile(targetOf(job), whole, { onOrdered: see, filter, shared });
    try {
      const left = timeLeft(time, startedAt);
      isLate = (await taken(output.tree(tree, { time: left, signal }), left * 1.2)) === "late";
    } finally {
      await tree.close();
    }
  }
  if (finished === undefined) throw new Error("The crawl ended without a `finished` event");
  const { totals, discovery, filtered } = finished;
  const read = outcomeOf(finished, hasSitemap);
  const outcome = read === "complete" && isLate ? "incomplete" : read;
  if (isLate) add(reasons, { code: "limit-time", message: "The check did not finish in time" });
  // If this machine had no free socket, that is not the website's fault: the fleet ends, and the website goes back to the queue.
  const shortage = reasons.get(noSocket) ?? discovery.find(({ reason }) => reason?.code === noSocket)?.reason;
  if (shortage !== undefined) throw new SitemapError("storage-failed", shortage.message, { cause: { code: "EMFILE" } });
  // If no sitemap was found, the candidates tell why.
  if (!hasSitemap) {
    reasons = new Map();
    for (const { reason } of discovery) if (reason !== undefined) add(reasons, reason);
  }
  const { sitemaps, invalid, requests, wireBytes, duration } = totals;
  return {
    ...emptySummary(job, attemptId, outcome),
    ...{ pages: filtered?.listed ?? totals.pages, sitemaps, invalid, requests, wireBytes, duration },
    reasons: outcome === "complete" ? [] : [...reasons.values()].sort(byCount).slice(0, mostReasons),
    ...defined({ preferences }),
  };
}

// robots.txt and the root of the tree only list sitemaps.
function isSitemap(sitemap: Sitemap): boolean {
  return sitemap.kind !== "index" || sitemap.format === "xml";
}

function outcomeOf({ complete, unreachable }: FinishedEvent, hasSitemap: boolean): SiteOutcome {
  if (unreachable !== undefined) return unreachable.outcome === "blocked" ? "blocked" : "unreachable";
  if (hasSitemap || !complete) return complete ? "complete" : "incomplete";
  return "none";
}

/** The reasons why something is missing, by code: the first message of each, and the count. */
type Reasons = Map<string, SiteReason>;

function add(reasons: Reasons, { code, message }: Pick<Problem, "code" | "message">): void {
  const known = reasons.get(code) ?? { code, message, count: 0 };
  reasons.set(code, { ...known, count: known.count + 1 });
}

function lossesOf(sitemap: Sitemap): readonly Problem[] {
  return sitemap.kind === "invalid" ? [sitemap.reason] : sitemap.problems.filter(({ code }) => isLossy(code));
}

const byCount = (one: SiteReason, other: SiteReason) => other.count - one.count;
const mostReasons = 10;
const mostPreferences = 20;

// This problem means that this machine has no socket left, which is not the fault of a website.
const noSocket = "connection-no-socket";

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

interface ReadSite {
  readonly summary: SiteSummary;
  readonly output: SiteOutput | undefined;
}

function isInvalidArchive(error: unknown): error is SitemapError {
  return error instanceof SitemapError && error.code === "invalid-archive";
}

function failed(job: SiteJob, attemptId: string, error: unknown): SiteSummary {
  const value = error instanceof Error ? error.message : String(error);
  return emptySummary(job, attemptId, "failed", problem("client-failed", { value }).message, mostAttempts);
}

// Whether the machine has run out of something that every website needs.
function isShortage(error: unknown, depth = 0): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return shortages.has(String(code)) || (cause !== undefined && depth < 5 && isShortage(cause, depth + 1));
}

const shortages: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE"]);

async function* jobsOf(sites: NonNullable<FleetOptions["sites"]>, { path }: Options): AsyncGenerator<SiteJob, void> {
  for await (const site of sites) {
    const isJob = typeof site === "object" && site !== null && "key" in site && "homepage" in site;
    const job = isJob ? storedJob({ ...site }) : siteJob(site, { path });
    if (job === undefined) throw invalid(`Expected \`sites\` to be websites, got \`${JSON.stringify(site)}\``);
    yield job;
  }
}

// How many times a website is tried at most, if its output fails.
const mostAttempts = 3;
// A website that has not responded after this many milliseconds is slow.
const slowTime = 1000;
// How late a timer may be, in milliseconds. If it is later, this process was busy.
const longestLag = 50;
// How long an output may take for one batch of pages or one sitemap at most, in milliseconds.
const outputTime = 120_000;
// How many slow websites there may be for each of the `parallelSites`.
const slowLane = 4;
