// Runs one crawl, step by step, as the plan says. Events come in declared order, whatever arrives first: documents are prefetched
// (prefetch.ts), but read one after another, unless the caller wants them as they arrive (early.ts).
import { defined } from "../model/defined.ts";
import type { FinishedEvent } from "../model/event.ts";
import type { Fetched } from "../model/exchange.ts";
import { isComplete } from "../model/problem.ts";
import { notSitemap } from "../model/problem-log.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { parseUrl } from "../model/url.ts";
import type { RobotsGroups } from "../parse/robots.ts";
import { Budget } from "./budget.ts";
import type { CrawlContext } from "./context.ts";
import { earlyReader } from "./early.ts";
import { nothingRead } from "./frame.ts";
import { readHomepage } from "./homepage.ts";
import { robotsIn } from "./host-robots.ts";
import { Identities } from "./identities.ts";
import type { OpenCrawl } from "./open.ts";
import type { PageFilter } from "./page-filter.ts";
import { Plan } from "./plan.ts";
import { Prefetcher } from "./prefetch.ts";
import { pauseWhenDue } from "./read.ts";
import { follow, followRules, Hop, responseOf } from "./redirects.ts";
import type { Emit, Progress } from "./run.ts";
import { Visitor } from "./visit.ts";
import { Visited } from "./visited.ts";

// If only a sample is listed, holds all pages back until the last one has been seen.
function sampled(filter: PageFilter | undefined, emit: Emit): Emit {
  const sample = filter?.sample<string>();
  if (filter === undefined || sample === undefined) return emit;
  return async (event) => {
    if (event.type === "pages") return sample.add(event.url, event.pages, event.url);
    if (event.type !== "finished") return emit(event);
    filter.listed = 0;
    for (const { origin, pages } of sample.take()) {
      filter.listed += pages.length;
      await emit({ type: "pages", url: origin, pages });
    }
    await emit({ ...event, filtered: filter.counts });
  };
}

// Queues the events of documents that are read at the same time. After an error, nothing more is emitted.
function oneAtATime(emit: Emit): Emit {
  let last: Promise<void> = Promise.resolve();
  return (event) => {
    last = last.then(() => emit(event));
    last.catch(() => undefined);
    return last;
  };
}

/** Runs an opened crawl. The caller closes it. */
export async function crawlWebsite(open: OpenCrawl, given: Emit): Promise<FinishedEvent> {
  const { prepared, filter, order, sources, time, counts } = open;
  const ordered = sampled(filter, (event) => {
    prepared.settings.onEvent?.(event);
    return given(event);
  });
  // A sample is listed at the end anyway, and depends on the declared order.
  const readsEarly = order === "arrival" && filter?.sample() === undefined;
  const emit = readsEarly ? oneAtATime(ordered) : ordered;
  const { start, settings, startUrls } = prepared;
  const { source, store } = sources;
  const { signal, limits } = settings;
  signal?.throwIfAborted();
  const rules = followRules(limits, startUrls, source, settings.rewrite);
  const budget = new Budget(limits, filter);
  const visited = new Visited();
  const shared = { start, settings, rules, budget, visited, identities: new Identities(), readsEarly, emit };
  const context: CrawlContext = { ...open, ...shared };
  const plan = new Plan(context);
  const prefetcher = new Prefetcher(context, plan);

  const fetchHop = (hop: Hop) => time.fetchedInTime(hop.request, prefetcher.get(hop), store);

  async function fetchHomepage(): Promise<void> {
    if (!settings.useHomepage || plan.isStopped) return plan.recordHomepage();
    const followed = await follow(Hop.first(plan.homepage, "homepage", rules), fetchHop);
    if (followed.outcome !== "found") return plan.recordHomepage(followed);
    const { document, url, keys, hops } = followed;
    const content = await readHomepage(time.limited(document), url, plan.problems, settings.useFeeds);
    prefetcher.drop(followed);
    const response = { status: document.status, response: responseOf(document, hops) };
    const page = { url, keys, ...response, outcome: "not-a-sitemap", reason: notSitemap("html") } as const;
    visited.foundHomepage(keys, content.isHtml ? page : undefined);
    plan.recordHomepage(followed, content);
    prefetcher.fill();
  }

  let fetchingHomepage: Promise<void> | undefined;
  const homepageOnce = (): Promise<void> => {
    fetchingHomepage ??= fetchHomepage();
    // The step that needs the homepage gets the error. Until then, nothing handles the rejection.
    fetchingHomepage.catch(() => undefined);
    return fetchingHomepage;
  };

  // Many websites redirect unknown paths to the homepage. If robots.txt leads there, the homepage is not requested twice.
  async function fetchUnlessHomepage(hop: Hop): Promise<Fetched> {
    const { url, role, isRedirected } = hop.request;
    if (role !== "robots" || !isRedirected || !settings.useHomepage || !isSamePath(url, plan.homepage))
      return fetchHop(hop);
    await homepageOnce();
    const page = visited.missingAt(hop.key, true);
    return page === undefined
      ? fetchHop(hop)
      : { outcome: "absent", url, role, attempts: 0, status: page.status as number, reason: page.reason };
  }

  const visitor = new Visitor(context, prefetcher, fetchUnlessHomepage);

  let failure: { readonly error: unknown } | undefined;
  if (readsEarly) {
    prefetcher.onStart = earlyReader(context, plan, prefetcher, visitor, (error) => {
      failure ??= { error };
      time.abort(error);
    });
  }

  async function robotsOf(origin: string): Promise<RobotsGroups | undefined> {
    const url = `${origin}/robots.txt`;
    if (visitor.robots.has(url)) return visitor.robots.get(url);
    const found = await follow(Hop.first(url, "robots", rules), fetchHop);
    const groups = await robotsIn(found, settings);
    if (found.outcome === "found") prefetcher.drop(found);
    return groups;
  }

  async function walk(): Promise<void> {
    for (;;) {
      await pauseWhenDue();
      signal?.throwIfAborted();
      if (failure !== undefined) throw failure.error;
      const step = plan.next();
      if (step === undefined) return;
      if (step.type === "visit") {
        const { entry, needsFetch } = step;
        // Requests the candidate first, before prefetching takes all slots.
        if (needsFetch) prefetcher.start(Hop.first(entry.url, "sitemap", rules));
        prefetcher.fill();
        plan.recordVisit(entry, await visitor.visit(entry));
        // Requests the homepage in parallel with the sitemaps of robots.txt.
        if (plan.isHomepageDue) void homepageOnce();
      } else if (step.type === "homepage") await homepageOnce();
      else if (step.type === "leave") await visitor.report(step.node, step.frame.depth, step.frame.measurements);
      else {
        const { entry, reason } = step;
        const url = rules.rewritten(entry.url);
        entry.parent.children.push(await visitor.invalidAt(entry, { url, reason, keys: [] }));
      }
    }
  }

  const soFar = (): Progress => ({
    totals: {
      sitemaps: visitor.readable,
      invalid: visitor.invalid,
      pages: budget.pages,
      requests: counts.requests,
      // `obtained` is copied, because responses may still arrive while the caller handles the last event.
      obtained: { ...counts.obtained },
      wireBytes: budget.wireBytes,
      reusedBytes: budget.reusedBytes,
      duration: Math.round(performance.now() - open.openedAt),
    },
    discovery: plan.records,
  });

  async function finish(): Promise<FinishedEvent> {
    const unreachable = plan.finish(visitor.ignored);
    const problems = plan.problems.toArray();
    const { node, children } = plan.root;
    const root: Sitemap = { ...node, complete: isComplete(problems), problems, children };
    await visitor.report(root, 0, nothingRead);
    // An archive with more documents than were read would give a different tree, so it is left unfinished.
    if (!time.hasUnread && !budget.isEnough) await store?.finish();
    return {
      type: "finished",
      end: budget.isEnough ? "limit" : "end",
      complete: visitor.complete,
      ...soFar(),
      reachable: unreachable === undefined,
      ...defined({ unreachable, filtered: filter?.counts }),
    };
  }

  try {
    await filter?.begin(start.homepage, robotsOf);
    await emit({ type: "start", url: start.homepage, depth: 0 });
    await walk();
    const finished = await finish();
    await emit(finished);
    return finished;
  } catch (error) {
    open.onInterrupted?.(soFar());
    // If the caller's signal caused the failure, its reason is thrown.
    signal?.throwIfAborted();
    throw error;
  } finally {
    // Also reached when `emit` throws, because the caller left. Fetches are aborted first, because closing waits for them.
    time.close();
    await prefetcher.close();
  }
}

// Whether two URLs have the same path and query.
function isSamePath(url: string, other: string): boolean {
  const [one, two] = [parseUrl(url), parseUrl(other)];
  return one !== null && two !== null && one.pathname + one.search === two.pathname + two.search;
}
