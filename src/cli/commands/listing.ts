// Lists websites one after another, as chunks of text. Lists of pages are written during the crawl; the tree formats
// need the whole tree.
import { crawlWith } from "../../crawl/crawl.ts";
import type { PageFilter } from "../../crawl/page-filter.ts";
import type { CrawlEvent, TreeStep } from "../../model/event.ts";
import { grouped } from "../../model/figures.ts";
import type { Options } from "../../model/options.ts";
import { isRobotsUrl, parseUrl } from "../../model/url.ts";
import { filteredWalk, type SitemapTree } from "../../tree/tree.ts";
import { byteOrderMark } from "../../write/csv.ts";
import { type PageBatch, type ShowUrl, stripUrl, wholeUrl, writeBatches } from "../../write/pages.ts";
import { jsonOf } from "../../write/printable.ts";
import { SitemapRows, writeSitemapCsv, writeSitemapTable } from "../../write/sitemaps.ts";
import { inPieces, writeJson, writeTabtree } from "../../write/trees.ts";
import { crawlTarget, type Target } from "../input/target.ts";
import type { Messages } from "../output/messages.ts";
import { isPageFormat, isSitemapFormat, type PageFormat, pageWriter, type SitemapFormat } from "../output/pages.ts";
import { writeTerminalTree } from "../output/tree.ts";
import type { Run } from "../run.ts";
import type { LsFlags } from "./ls.ts";

/** Everything that a listing needs, checked. */
export interface Job {
  readonly targets: readonly Target[];
  readonly flags: LsFlags;
  readonly filter: PageFilter;
  readonly options: Options;
  readonly run: Run;
  readonly summary?: Summary | undefined;
}

export function listing(job: Job): AsyncGenerator<string | Uint8Array, void, undefined> {
  const { flags, filter, run } = job;
  const options: Options = {
    ...job.options,
    recurse: (child, context) => {
      const follows = filter.follows(child, isRobotsUrl(context.parent));
      if (follows) run.declare(context);
      return follows;
    },
  };
  const { format } = flags;
  const ready = { ...job, options };
  if (isSitemapFormat(format)) return listSitemaps(ready, format);
  if (format === "parquet") return fillFolder(ready);
  return isPageFormat(format) ? listPages(ready, format) : listTree(ready, format);
}

async function* listPages(job: Job, format: PageFormat): AsyncGenerator<string | Uint8Array, void, undefined> {
  const { flags, filter, run } = job;
  let [finished, sitemaps, invalid] = [0, 0, 0];
  const shown = new ShownUrls(flags);
  const seen = (event: CrawlEvent) => {
    shown.see(event);
    if (event.type !== "finished") return;
    finished += 1;
    sitemaps += event.totals.sitemaps;
    invalid += event.totals.invalid;
  };
  yield* writeBatches(pagesOf(job, seen), pageWriter(format, flags, shown.show), run.signal);
  if (!flags.trailer) return;
  // Whether everything declared was read; what filters leave out does not count.
  const complete = finished === job.targets.length && run.isComplete && !filter.reached;
  yield `${jsonOf({ kind: "finished", complete, pages: filter.listed, sitemaps, invalid })}\n`;
}

async function* listSitemaps(job: Job, format: SitemapFormat): AsyncGenerator<string, void, undefined> {
  const { flags, run } = job;
  const rows = new SitemapRows();
  const shown = new ShownUrls(flags);
  const seen = (event: CrawlEvent) => {
    shown.see(event);
    rows.see(event);
  };
  for await (const _ of pagesOf(job, seen));
  run.crawled();
  const pieces =
    format === "sitemaps"
      ? writeSitemapTable(rows, shown.show, run.width)
      : writeSitemapCsv(rows, flags.csvSafe, flags.separator);
  if (format === "sitemaps-csv" && flags.excel) yield byteOrderMark;
  yield* inPieces(pieces);
}

// Yields no text: the tables go to files.
async function* fillFolder(job: Job): AsyncGenerator<string, void, undefined> {
  const { ParquetFolder } = await import("../output/parquet-folder.ts");
  const { flags, run } = job;
  const { tables } = run.owns(new ParquetFolder(flags.output as string, flags, run.context));
  let rows = new SitemapRows();
  let site: string | undefined;
  const addSitemaps = () => {
    for (const row of rows) tables.addSitemap(row, site);
    rows = new SitemapRows();
  };
  const seen = (event: CrawlEvent) => {
    if (event.type === "start" && event.depth === 0) {
      addSitemaps();
      site = event.url;
    }
    rows.see(event);
  };
  for await (const batch of pagesOf(job, seen)) tables.addPages(batch, site);
  addSitemaps();
  tables.finish();
  yield "";
}

// The pages to list; those of a repeated sitemap once. `seen` receives every event.
async function* pagesOf(job: Job, seen: (event: CrawlEvent) => void): AsyncGenerator<PageBatch, void, undefined> {
  const { run, summary } = job;
  const see = (event: CrawlEvent) => {
    run.see(event);
    seen(event);
  };
  for (const named of eachSite(job)) {
    const target = await run.recognized(named, job.options);
    for await (const batch of target.kind === "archive" ? archived(target, job, see) : crawled(target, job, see)) {
      summary?.see(batch);
      yield batch;
    }
  }
}

// During the crawl.
async function* crawled(
  target: OnlineTarget,
  { filter, options, flags, run, summary }: Job,
  see: (event: CrawlEvent) => void,
): AsyncGenerator<PageBatch, void, undefined> {
  // Of pages that are not listed, only their number is needed.
  const isBrief = /^pages/.test(flags.format) || isSitemapFormat(flags.format);
  const urlsOnly = isBrief && summary === undefined;
  for await (const event of crawlWith(filter, crawlTarget(target), { ...options, signal: run.signal }, urlsOnly)) {
    see(event);
    if (event.type !== "pages") continue;
    yield { sitemap: event.url, pages: event.pages };
    if (filter.reached) return;
  }
}

async function* archived(
  target: Target,
  job: Job,
  see: (event: CrawlEvent) => void,
): AsyncGenerator<PageBatch, void, undefined> {
  const { flags, filter, run } = job;
  const tree = await openedTree(target, job, see);
  try {
    if (isSitemapFormat(flags.format) && !flags.summary) return;
    yield* pageBatches(untilStopped(filteredWalk(tree, filter, withoutRepeats(tree.walk())), run.signal));
    run.signal.throwIfAborted();
  } finally {
    await tree.close();
  }
}

async function* listTree(job: Job, format: "tabtree" | "json"): AsyncGenerator<string, void, undefined> {
  const { flags, filter, run, summary } = job;
  for (const named of eachSite(job)) {
    const tree = await openedTree(named, job);
    try {
      const steps = counted(filteredWalk(tree, filter), summary);
      if (format === "json") yield* writeJson(tree, steps, run.signal);
      else {
        const shown = flags.stripUrl ? stripUrl(tree.homepage) : wholeUrl;
        const whole = untilStopped(steps, run.signal);
        const note = flags.limit === undefined ? undefined : `stopped at --limit ${flags.limit}`;
        // The pages of --limit are few already.
        const all = flags.all === true || note !== undefined;
        const look = { show: shown, color: run.hasColor, all, limitNote: note };
        // Of a website that cannot be reached there is no more to say than why.
        if (run.isShown && tree.reachable) yield* writeTerminalTree(whole, look);
        else if (!run.isShown) yield* writeTabtree(whole, shown, note);
      }
      run.signal.throwIfAborted();
    } finally {
      await tree.close();
    }
  }
}

// One after another, until the limit is reached. The problems of one are reported before the next begins.
function* eachSite({ targets, filter, run }: Job): Generator<Target, void> {
  let listed = 0;
  for (const [at, target] of targets.entries()) {
    if (at > 0) run.nextSite(filter.listed - listed);
    listed = filter.listed;
    yield target;
    if (filter.reached) return;
  }
}

async function openedTree(
  target: Target,
  { flags, filter, options, run }: Job,
  onEvent?: (event: CrawlEvent) => void,
): Promise<SitemapTree> {
  // With filters, only the listing knows when the limit is reached.
  const limits = flags.limit === undefined || !filter.passesAll ? {} : { pages: flags.limit };
  // A list of pages reads everything; other formats tell what was counted before they do, or without.
  const verify = !isPageFormat(flags.format);
  const tree = await run.tree(target, { ...options, limits: { ...options.limits, ...limits } }, onEvent, verify);
  if (target.kind === "archive" && options.save !== undefined) await tree.save(options.save);
  return tree;
}

async function* counted(
  steps: AsyncIterable<TreeStep>,
  summary: Summary | undefined,
): AsyncGenerator<TreeStep, void, undefined> {
  for await (const step of steps) {
    if (step.type === "pages") summary?.see({ sitemap: step.sitemap.url, pages: step.pages });
    yield step;
  }
}

type OnlineTarget = Exclude<Target, { kind: "archive" }>;

// How URLs are shown, once the homepage is known: an archive names its own.
class ShownUrls {
  readonly show: ShowUrl;
  #strip: ShowUrl = wholeUrl;

  constructor(flags: LsFlags) {
    this.show = flags.stripUrl ? (url) => this.#strip(url) : wholeUrl;
  }

  see(event: CrawlEvent): void {
    if (event.type === "start" && event.depth === 0) this.#strip = stripUrl(event.url);
  }
}

// Reading a finished tree does not check the signal.
async function* untilStopped<T>(steps: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  for await (const step of steps) {
    if (signal.aborted) return;
    yield step;
  }
}

/** The pages alone. */
async function* pageBatches(steps: AsyncIterable<TreeStep>): AsyncGenerator<PageBatch, void, undefined> {
  for await (const step of steps) {
    if (step.type === "pages") yield { sitemap: step.sitemap.url, pages: step.pages };
  }
}

/** The pages of a sitemap that is in the tree twice are listed once, as in a crawl. */
async function* withoutRepeats(steps: AsyncIterable<TreeStep>): AsyncGenerator<TreeStep, void, undefined> {
  const seen = new Set<string>();
  let isRepeated = false;
  for await (const step of steps) {
    if (step.type === "enter" && step.sitemap.kind === "pages") {
      isRepeated = seen.has(step.sitemap.url);
      seen.add(step.sitemap.url);
    }
    if (step.type !== "pages" || !isRepeated) yield step;
  }
}

/** `--summary`: how many pages were listed, by sitemap and by section of the website, on standard error at the end. */
export class Summary {
  readonly #bySitemap = new Map<string, number>();
  readonly #bySection = new Map<string, number>();

  see({ sitemap, pages }: PageBatch): void {
    count(this.#bySitemap, sitemap, pages.length);
    for (const { url } of pages) count(this.#bySection, sectionOf(url), 1);
  }

  print(messages: Messages): void {
    print(messages, "pages by sitemap:", this.#bySitemap);
    print(messages, "pages by section:", this.#bySection);
  }
}

/** The host and the first segment of the path: `https://example.org/blog/…`. */
function sectionOf(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === null) return "other";
  const end = parsed.pathname.indexOf("/", 1);
  return end === -1 ? `${parsed.origin}/` : `${parsed.origin}${parsed.pathname.slice(0, end + 1)}…`;
}

// A website can have any number: those after the first ones are counted together.
function count(counts: Map<string, number>, name: string, more: number): void {
  const key = counts.has(name) || counts.size < mostCounted ? name : "other";
  counts.set(key, (counts.get(key) ?? 0) + more);
}

function print(messages: Messages, title: string, counts: ReadonlyMap<string, number>): void {
  if (counts.size === 0) return;
  const rows = [...counts].sort(([, a], [, b]) => b - a);
  const shown = rows.slice(0, mostShown);
  const width = grouped(shown[0]?.[1] ?? 0).length;
  messages.say(title);
  for (const [name, pages] of shown) messages.say(`  ${grouped(pages).padStart(width)}  ${name}`);
  const rest = rows.slice(mostShown);
  const pages = rest.reduce((sum, [, more]) => sum + more, 0);
  if (rest.length > 0) messages.say(`  ${grouped(pages).padStart(width)}  in ${grouped(rest.length)} others`);
}

const mostCounted = 10_000;
const mostShown = 20;
