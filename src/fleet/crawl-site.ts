// Crawls one website of a fleet: opens its output, crawls, publishes the output, and returns the summary. An output that fails, or a bug,
// fails its own website after three attempts.
import { pageFilter, run } from "../crawl/crawl.ts";
import { prepareStream } from "../crawl/prepare.ts";
import { timeLeft } from "../crawl/time-budget.ts";
import type { SharedLimits } from "../fetch/limiter.ts";
import { withTimeout } from "../fetch/lookup.ts";
import { longestTimer } from "../fetch/timeouts.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { CrawlEvent, FinishedEvent, OrderedEvent } from "../model/event.ts";
import { pageFilterNames, type StreamOptions } from "../model/options.ts";
import { isLossy, type Problem, problem } from "../model/problem.ts";
import { problemsOf, type RobotsPreference } from "../model/sitemap.ts";
import { buildTreeWhile } from "../tree/build.ts";
import type { SiteOutput, SiteSink } from "./fleet-options.ts";
import type { SiteJob, SiteOutcome, SiteReason, SiteSummary } from "./site-job.ts";
import { emptySummary, targetOf } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/** What the crawls of all websites have in common. */
export interface SiteSettings {
  readonly crawl: StreamOptions;
  readonly sink: SiteSink;
  readonly shared: SharedLimits;
}

/** A summary, and the output that belongs to it, if there is one. */
export interface CrawledSite {
  readonly summary: SiteSummary;
  readonly output?: SiteOutput;
}

/**
 * Crawls a website. Its problems are in the summary. Throws if the signal is aborted, or if this machine has run out of something that every
 * website needs. `onEvent` gets all events of the crawl.
 */
export async function crawlSite(
  { job, attemptId, replaces }: Lease,
  { crawl, sink, shared }: SiteSettings,
  signal: AbortSignal,
  onEvent: (event: CrawlEvent) => void,
): Promise<CrawledSite> {
  let previousError: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    let output: SiteOutput | undefined;
    try {
      const published = await sink.published?.(job, replaces);
      if (published !== undefined) return { summary: published };
      output = await sink.open(job, attemptId);
      const previous = previousError === undefined ? output.options?.previous : undefined;
      const options = { ...crawl, ...output.options, previous, signal };
      const read = await readSite(job, options, output, shared, onEvent);
      const summary = { ...emptySummary(job, attemptId, read.outcome), ...read, ...defined({ previousError }) };
      return { summary: { ...summary, ...(await output.keep(summary)) }, output };
    } catch (error) {
      await output?.discard().catch(() => undefined);
      if (signal.aborted || isShortage(error)) throw error;
      // The next attempt requests everything, with an empty output, because some pages may already have been written.
      if (output?.options?.previous !== undefined && isInvalidArchive(error)) previousError ??= error.message;
      if (attempt < mostAttempts) continue;
      const value = error instanceof Error ? error.message : String(error);
      const { message } = problem("client-failed", { value });
      return { summary: emptySummary(job, attemptId, "failed", message, mostAttempts) };
    }
  }
}

/** What a crawl adds to a summary. */
type Reading = Pick<SiteSummary, "outcome"> & Partial<SiteSummary>;

async function readSite(
  job: SiteJob,
  given: StreamOptions & { readonly signal: AbortSignal },
  output: SiteOutput,
  shared: SharedLimits,
  onEvent: (event: CrawlEvent) => void,
): Promise<Reading> {
  const reasons: Reasons = new Map();
  let hasSitemap = false;
  let preferences: readonly RobotsPreference[] | undefined;
  let finished: FinishedEvent | undefined;
  const see = (event: CrawlEvent) => {
    onEvent(event);
    given.onEvent?.(event);
    if (event.type === "finished") finished = event;
    if (event.type !== "sitemap") return;
    const { sitemap } = event;
    // robots.txt and the root of the tree only list sitemaps.
    hasSitemap ||= sitemap.kind !== "index" || sitemap.format === "xml";
    if (sitemap.kind === "index") preferences ??= sitemap.preferences?.slice(0, mostPreferences);
    for (const loss of problemsOf(sitemap)) if (sitemap.kind === "invalid" || isLossy(loss.code)) add(reasons, loss);
  };
  const options = { ...given, onEvent: see };
  const time = options.limits?.time ?? Number.POSITIVE_INFINITY;
  const startedAt = performance.now();
  const keepPages = async (event: OrderedEvent) => {
    if (event.type === "pages") await inTime(output.pages?.(event.url, event.pages), Math.min(time, outputTime));
  };
  const prepared = prepareStream(targetOf(job), options);
  const filter = pageFilter(prepared);
  if (output.tree === undefined) await run({ prepared, filter, shared }, keepPages);
  else {
    // The tree has all pages; only the output is filtered.
    const whole = Object.fromEntries(Object.entries(options).filter(([name]) => !pageFilterNames.includes(name)));
    const tree = await buildTreeWhile(targetOf(job), whole, { onOrdered: keepPages, filter, shared });
    try {
      const left = timeLeft(time, startedAt);
      await inTime(output.tree(tree, { time: left, signal: options.signal }), left * 1.2);
    } finally {
      await tree.close();
    }
  }
  if (finished === undefined) throw new Error("The crawl ended without a `finished` event");
  const { totals, discovery, filtered } = finished;
  // That this machine had no free socket is not the website's fault: the fleet ends, and the website goes back to the queue.
  const shortage = reasons.get(noSocket) ?? discovery.find(({ reason }) => reason?.code === noSocket)?.reason;
  if (shortage !== undefined) throw new NoSocket("storage-failed", shortage.message);
  // If no sitemap was found, the candidates tell why.
  if (!hasSitemap) {
    reasons.clear();
    for (const { reason } of discovery) if (reason !== undefined) add(reasons, reason);
  }
  const outcome = outcomeOf(finished, hasSitemap);
  const { sitemaps, invalid, requests, wireBytes, duration } = totals;
  return {
    ...{ outcome, pages: filtered?.listed ?? totals.pages, sitemaps, invalid, requests, wireBytes, duration },
    reasons: outcome === "complete" ? [] : [...reasons.values()].sort(byCount).slice(0, mostReasons),
    ...defined({ preferences }),
  };
}

class NoSocket extends SitemapError {}

function outcomeOf({ complete, unreachable }: FinishedEvent, hasSitemap: boolean): SiteOutcome {
  if (unreachable !== undefined) return unreachable.outcome === "blocked" ? "blocked" : "unreachable";
  if (!complete) return "incomplete";
  return hasSitemap ? "complete" : "none";
}

/** The reasons why something is missing, by code: the first message of each, and the count. */
type Reasons = Map<string, SiteReason>;

function add(reasons: Reasons, { code, message }: Pick<Problem, "code" | "message">): void {
  const known = reasons.get(code) ?? { code, message, count: 0 };
  reasons.set(code, { ...known, count: known.count + 1 });
}

const byCount = (one: SiteReason, other: SiteReason) => other.count - one.count;

// An output that never answers must not keep its place in the fleet forever.
async function inTime(work: Promise<unknown> | undefined, limit: number): Promise<void> {
  if (work !== undefined)
    await withTimeout(Math.min(limit + 1000, longestTimer), work, "The output was not written in time");
}

function isInvalidArchive(error: unknown): error is SitemapError {
  return error instanceof SitemapError && error.code === "invalid-archive";
}

// Whether the machine has run out of something that every website needs.
function isShortage(error: unknown, depth = 0): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return (
    error instanceof NoSocket ||
    shortages.has(String(code)) ||
    (cause !== undefined && depth < 5 && isShortage(cause, depth + 1))
  );
}

const shortages: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE"]);
// The problem that means that this machine has no socket left.
const noSocket = "connection-no-socket";
// How many times a website is tried at most, if its output fails.
const mostAttempts = 3;
// How long an output may take for one batch of pages, in milliseconds.
const outputTime = 120_000;
const mostReasons = 10;
const mostPreferences = 20;
