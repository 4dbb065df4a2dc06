// Reads one website: its pages go to the output, and its result is a summary.
import { ordered, pageFilter } from "../crawl/crawl.ts";
import { prepareStream } from "../crawl/prepare.ts";
import { timeLeft } from "../crawl/time-budget.ts";
import type { SharedLimits } from "../fetch/hosts.ts";
import { within } from "../fetch/lookup.ts";
import { longestTimer } from "../fetch/timeouts.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { FinishedEvent, OrderedEvent } from "../model/event.ts";
import { pageFilterNames, type StreamOptions } from "../model/options.ts";
import { isLossy, type Problem } from "../model/problem.ts";
import type { RobotsPreference, Sitemap } from "../model/sitemap.ts";
import { buildTreeWhile } from "../tree/build.ts";
import type { SiteOutput } from "./fleet-options.ts";
import type { SiteJob, SiteOutcome, SiteReason, SiteSummary } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/** Throws only the reason of the signal, and errors of the output or the disk. `onOrdered` is called with what is given to the output. */
export async function crawlSite(
  { job, attemptId }: Pick<Lease, "job" | "attemptId">,
  given: StreamOptions & { readonly signal: AbortSignal },
  output: SiteOutput,
  shared: SharedLimits,
  onOrdered: (event: OrderedEvent) => void,
): Promise<SiteSummary> {
  const { signal } = given;
  const options = withSettings(given, job);
  let reasons: Reasons = new Map();
  let finished: FinishedEvent | undefined;
  let hasSitemap = false;
  let preferences: readonly RobotsPreference[] | undefined;
  const startedAt = performance.now();
  const time = options.limits?.time ?? Number.POSITIVE_INFINITY;
  // Longer than a website and its check may take: an output that does not answer must not keep its place for ever.
  const taken = (work: Promise<void> | undefined) => {
    const left = Math.max(0, startedAt + time * 1.2 + 1000 - performance.now());
    if (work === undefined || left > longestTimer) return work;
    return within(left, work, "its output could not be written in time");
  };
  const see = async (event: OrderedEvent) => {
    onOrdered(event);
    output.see?.(event);
    if (event.type === "pages") await taken(output.pages?.(event.url, event.pages));
    else if (event.type === "sitemap") {
      hasSitemap ||= isSitemap(event.sitemap);
      for (const problem of lossesOf(event.sitemap)) add(reasons, problem);
      if (event.sitemap.kind === "index") preferences ??= event.sitemap.preferences?.slice(0, mostPreferences);
      await taken(output.sitemap?.(event));
    } else if (event.type === "finished") finished = event;
  };
  const prepared = prepareStream(job.homepage, options);
  const filter = pageFilter(prepared);
  if (output.tree === undefined) {
    for await (const event of ordered({ prepared, filter, shared })) await see(event);
  } else {
    const whole = Object.fromEntries(Object.entries(options).filter(([name]) => !pageFilterNames.includes(name)));
    const tree = await buildTreeWhile(job.homepage, whole, { onOrdered: see, filter, shared });
    try {
      await taken(output.tree(tree, { time: timeLeft(time, startedAt), signal }));
    } finally {
      await tree.close();
    }
  }
  if (finished === undefined) throw new Error("The crawl ended without a `finished` event");
  const { totals, discovery, filtered } = finished;
  const outcome = outcomeOf(finished, hasSitemap);
  // A machine without a free socket says nothing about the website: it is read again later.
  const shortage = reasons.get(noSocket) ?? discovery.find(({ reason }) => reason?.code === noSocket)?.reason;
  if (shortage !== undefined) throw new SitemapError("storage-failed", shortage.message);
  // If nothing was found, each candidate has a reason.
  if (!hasSitemap) {
    reasons = new Map();
    for (const { reason } of discovery) if (reason !== undefined) add(reasons, reason);
  }
  return {
    site: job.homepage,
    key: job.key,
    outcome,
    pages: filtered?.listed ?? totals.pages,
    sitemaps: totals.sitemaps,
    invalid: totals.invalid,
    requests: totals.requests,
    wireBytes: totals.wireBytes,
    duration: totals.duration,
    finishedAt: new Date().toISOString(),
    attemptId,
    reasons: outcome === "complete" ? [] : [...reasons.values()].sort(byCount).slice(0, mostReasons),
    files: {},
    ...defined({ preferences }),
  };
}

function withSettings(options: StreamOptions, { settings: { delay, maxPages, retries } = {} }: SiteJob): StreamOptions {
  return {
    ...options,
    ...(delay === undefined ? {} : { delay: { milliseconds: delay * 1000 } }),
    ...(maxPages === undefined ? {} : { limits: { ...options.limits, pages: maxPages } }),
    ...defined({ retries }),
  };
}

// robots.txt and the root only name other sitemaps.
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

function add(reasons: Reasons, { code, message }: Problem): void {
  const known = reasons.get(code) ?? { code, message, count: 0 };
  reasons.set(code, { ...known, count: known.count + 1 });
}

function lossesOf(sitemap: Sitemap): readonly Problem[] {
  return sitemap.kind === "invalid" ? [sitemap.reason] : sitemap.problems.filter(({ code }) => isLossy(code));
}

const byCount = (one: SiteReason, other: SiteReason) => other.count - one.count;
const mostReasons = 10;
const mostPreferences = 20;

// This machine has no socket left: not the fault of a website.
const noSocket = "connection-no-socket";
