// `sitegrove ls`: from what was named to lines on standard output. Lists of pages are written while the crawl goes on; the
// tree formats wait for the tree.
import { existsSync, rmSync } from "node:fs";
import { type CrawlTarget, crawl } from "../crawl/crawl.ts";
import type { CrawlEvent } from "../event.ts";
import { type Options, resolveOptions } from "../options.ts";
import { openTree, sitemapTreeForHomepage, sitemapTreeFrom } from "../tree/build.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { withoutCredentials } from "../url.ts";
import { type PageBatch, writeBatches } from "../write/batch.ts";
import { writeJson } from "../write/json.ts";
import { stripUrl, wholeUrl } from "../write/strip-url.ts";
import { writeTabtree } from "../write/tabtree.ts";
import { type CrawlFlags, crawlOptions } from "./crawl-options.ts";
import { UsageError } from "./exit-codes.ts";
import { type FilterFlags, Filters } from "./filters.ts";
import { type Format, isPageFormat, type PageFormat } from "./formats.ts";
import { pageWriter } from "./page-writer.ts";
import { Run, type RunFlags } from "./run.ts";
import { chooseTarget, type Target } from "./target.ts";
import { filtered, pageBatches, withoutRepeats } from "./walk.ts";

export interface LsFlags extends CrawlFlags, FilterFlags, RunFlags {
  readonly format: Format;
  readonly stripUrl?: true | undefined;
  readonly csvSafe: boolean;
  readonly sitemap?: readonly string[] | undefined;
  readonly force?: true | undefined;
}

/** Returns the exit code. */
export async function ls(name: string | undefined, flags: LsFlags): Promise<number> {
  const target = chooseTarget(name, flags.sitemap);
  const filters = new Filters(flags);
  const options = crawlOptions(flags);
  checkTogether(flags, target);
  resolveOptions(options);
  if (flags.save !== undefined) makeRoom(flags.save, flags.force ?? false);
  const run = new Run(flags, flags.limit === undefined ? [] : ["limit-pages"]);
  if (target.kind === "website" && target.isAssumed) run.messages.say(`taken as ${target.homepage}`, "quiet");
  if (flags.insecure) run.messages.say("--insecure: certificates are NOT checked, anybody may answer", "bad");

  const listing =
    isPageFormat(flags.format) && target.kind !== "archive"
      ? listWhileCrawling(target, flags.format, flags, filters, { ...options, recurse: recurse(filters) }, run)
      : listTree(target, flags, filters, { ...options, recurse: recurse(filters) }, run);
  return run.write(listing, () => ({ listed: filters.listed, notes: filters.notes() }));
}

type OnlineTarget = Exclude<Target, { kind: "archive" }>;

function recurse(filters: Filters): Options["recurse"] {
  return (child, context) => filters.follows(child, context);
}

async function* listWhileCrawling(
  target: OnlineTarget,
  format: PageFormat,
  flags: LsFlags,
  filters: Filters,
  options: Options,
  run: Run,
): AsyncGenerator<string, void, undefined> {
  const events = crawl(crawlTarget(target), { ...options, signal: run.signal });
  const show = flags.stripUrl ? stripUrl(homepageShown(target, flags)) : wholeUrl;
  yield* writeBatches(batches(events, filters, run), pageWriter(format, flags.csvSafe, show));
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

async function* listTree(
  target: Target,
  flags: LsFlags,
  filters: Filters,
  options: Options,
  run: Run,
): AsyncGenerator<string, void, undefined> {
  const onEvent = (event: CrawlEvent) => run.see(event);
  // Where a filter decides what counts, only the listing can be cut short.
  const limits = flags.limit === undefined || !filters.passesAll ? {} : { pages: flags.limit };
  const tree = await treeOf(target, {
    ...options,
    limits: { ...options.limits, ...limits },
    signal: run.signal,
    onEvent,
  });
  try {
    run.crawled();
    if (target.kind === "archive" && flags.save !== undefined) await tree.save(flags.save);
    const show = flags.stripUrl ? stripUrl(tree.homepage) : wholeUrl;
    if (isPageFormat(flags.format)) {
      const pages = pageBatches(filtered(withoutRepeats(tree.walk()), filters));
      yield* writeBatches(pages, pageWriter(flags.format, flags.csvSafe, show));
    } else if (flags.format === "json") {
      yield* writeJson(tree, filtered(tree.walk(), filters), run.signal);
      run.signal.throwIfAborted();
    } else {
      yield* writeTabtree(filtered(tree.walk(), filters), show);
    }
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
      return openTree(target.path, { signal: options.signal, onEvent: options.onEvent });
  }
}

function crawlTarget(target: OnlineTarget): CrawlTarget {
  return target.kind === "website" ? target.homepage : { sitemaps: target.urls };
}

// As the tree has it: without credentials, and without a path unless that is to be kept.
function homepageShown(target: OnlineTarget, { keepPath }: LsFlags): string {
  const url = new URL(withoutCredentials(target.kind === "website" ? target.homepage : (target.urls[0] as string)));
  return target.kind === "website" && keepPath ? new URL(".", url).href : `${url.origin}/`;
}

// Flags that would do nothing are refused rather than ignored.
function checkTogether(flags: LsFlags, target: Target): void {
  if (flags.stripUrl && flags.format !== "tabtree" && flags.format !== "pages") {
    throw new UsageError("--strip-url works with the formats tabtree and pages");
  }
  if (!flags.csvSafe && flags.format !== "csv") throw new UsageError("--no-csv-safe works with the format csv");
  if (flags.skipOldSitemaps && flags.since === undefined) throw new UsageError("--skip-old-sitemaps needs --since");
  if (flags.force && flags.save === undefined) throw new UsageError("--force needs --save");
  if (target.kind !== "archive") return;
  if (flags.save === target.path) throw new UsageError("--save names the archive itself");
  const online = Object.entries(onlineFlags).find(([name, unset]) => flags[name as keyof LsFlags] !== unset);
  if (online !== undefined)
    throw new UsageError(`${flagName(online)} has no meaning for an archive: nothing is fetched`);
}

// What shapes a crawl, with the value that each has when it was not given.
const onlineFlags = {
  robots: true,
  known: true,
  homepage: true,
  knownPath: undefined,
  keepPath: undefined,
  strict: undefined,
  strictRobots: undefined,
  concurrency: undefined,
  delay: undefined,
  crawlDelay: undefined,
  timeout: undefined,
  retries: undefined,
  maxBytes: undefined,
  maxSitemaps: undefined,
  maxDepth: undefined,
  maxTime: undefined,
  header: undefined,
  userAgent: undefined,
  proxy: undefined,
  allowPrivate: undefined,
  publicOnly: undefined,
  insecure: undefined,
} as const satisfies Omit<Record<keyof CrawlFlags, true | undefined>, "save">;

function flagName([name, unset]: [string, true | undefined]): string {
  return `--${unset ? "no-" : ""}${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function makeRoom(path: string, force: boolean): void {
  if (!existsSync(path)) return;
  if (!force) throw new UsageError(`${path} exists: --force replaces it`);
  rmSync(path);
}
