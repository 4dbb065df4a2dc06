// From what was named to pieces of text. Lists of pages are written while the crawl goes on; the tree formats wait for the tree.
import { type CrawlTarget, crawl } from "../crawl/crawl.ts";
import { homepageFor } from "../discover/candidates.ts";
import type { CrawlEvent } from "../event.ts";
import type { Options } from "../options.ts";
import { openTree, sitemapTreeForHomepage, sitemapTreeFrom } from "../tree/build.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { homepageOf } from "../url.ts";
import { type PageBatch, type PageWriter, writeBatches } from "../write/batch.ts";
import { writeJson } from "../write/json.ts";
import { type ShowUrl, stripUrl, wholeUrl } from "../write/strip-url.ts";
import { writeTabtree } from "../write/tabtree.ts";
import type { Filters } from "./filters.ts";
import { isPageFormat, type PageFormat } from "./formats.ts";
import type { LsFlags } from "./ls.ts";
import { pageWriter } from "./page-writer.ts";
import type { Run } from "./run.ts";
import type { Target } from "./target.ts";
import { filtered, pageBatches, withoutRepeats } from "./walk.ts";

/** Everything that a listing needs, checked. */
export interface Job {
  readonly target: Target;
  readonly flags: LsFlags;
  readonly filters: Filters;
  readonly options: Options;
  readonly run: Run;
}

export function listing(job: Job): AsyncGenerator<string, void, undefined> {
  const { target, flags, filters, run } = job;
  const options: Options = {
    ...job.options,
    recurse: (child, context) => filters.follows(child, context),
    signal: run.signal,
  };
  return isPageFormat(flags.format) && target.kind !== "archive"
    ? listWhileCrawling(target, { ...job, options })
    : listTree({ ...job, options });
}

type OnlineTarget = Exclude<Target, { kind: "archive" }>;

async function* listWhileCrawling(
  target: OnlineTarget,
  { flags, filters, options, run }: Job,
): AsyncGenerator<string, void, undefined> {
  const events = crawl(crawlTarget(target), options);
  yield* writeBatches(batches(events, filters, run), writerFor(flags, homepageShown(target, flags)));
}

async function* batches(
  events: AsyncIterable<CrawlEvent>,
  filters: Filters,
  run: Run,
): AsyncGenerator<PageBatch, void, undefined> {
  for await (const event of events) {
    run.see(event);
    if (event.type === "start") filters.enter(event.url, event.depth);
    if (event.type !== "pages") continue;
    const pages = filters.pages(event.pages);
    if (pages.length > 0) yield { sitemap: event.sitemap, pages };
    if (filters.reached) return;
  }
}

async function* listTree({ target, flags, filters, options, run }: Job): AsyncGenerator<string, void, undefined> {
  // Where a filter decides what counts, only the listing can be cut short.
  const limits = flags.limit === undefined || !filters.passesAll ? {} : { pages: flags.limit };
  const tree = await treeOf(target, {
    ...options,
    limits: { ...options.limits, ...limits },
    onEvent: (event) => run.see(event),
  });
  try {
    run.crawled();
    if (target.kind === "archive" && flags.save !== undefined) await tree.save(flags.save);
    if (isPageFormat(flags.format)) {
      const pages = pageBatches(untilStopped(filtered(withoutRepeats(tree.walk()), filters), run.signal));
      yield* writeBatches(pages, writerFor(flags, tree.homepage));
    } else if (flags.format === "json") {
      yield* writeJson(tree, filtered(tree.walk(), filters), run.signal);
    } else {
      yield* writeTabtree(untilStopped(filtered(tree.walk(), filters), run.signal), shown(flags, tree.homepage));
    }
    run.signal.throwIfAborted();
  } finally {
    await tree.close();
  }
}

function treeOf(target: Target, options: Options): Promise<SitemapTree> {
  switch (target.kind) {
    case "website":
      return sitemapTreeForHomepage(target.homepage, options);
    case "sitemaps":
      return sitemapTreeFrom(target.urls, options);
    case "archive":
      return openTree(target.path, {
        signal: options.signal,
        onEvent: options.onEvent,
        limits: options.limits,
      });
  }
}

function crawlTarget(target: OnlineTarget): CrawlTarget {
  return target.kind === "website" ? target.homepage : { sitemaps: target.urls };
}

// As the tree has it.
function homepageShown(target: OnlineTarget, { keepPath }: LsFlags): string {
  if (target.kind === "sitemaps") return homepageOf(target.urls[0] as string);
  return homepageFor(target.homepage, !keepPath);
}

function writerFor(flags: LsFlags, homepage: string): PageWriter {
  return pageWriter(flags.format as PageFormat, flags, shown(flags, homepage));
}

function shown(flags: LsFlags, homepage: string): ShowUrl {
  return flags.stripUrl ? stripUrl(homepage) : wholeUrl;
}

// Reading a tree again asks no signal.
async function* untilStopped<T>(steps: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  for await (const step of steps) {
    if (signal.aborted) return;
    yield step;
  }
}
