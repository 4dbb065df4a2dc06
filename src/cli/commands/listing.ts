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
interface Job {
  readonly targets: readonly Target[];
  readonly flags: LsFlags;
  readonly filter: PageFilter;
  readonly options: Options;
  readonly run: Run;
}

type Pieces = AsyncGenerator<string, void, undefined>;
type See = (event: CrawlEvent) => void;

export class Listing {
  readonly #job: Job;
  readonly #summary: Summary | undefined;
  // Once the homepage is known: an archive names its own.
  #strip: ShowUrl = wholeUrl;
  readonly #show: ShowUrl = (url) => this.#strip(url);

  constructor({ options, ...job }: Job) {
    const { flags, filter, run } = job;
    const recurse: Options["recurse"] = (child, context) => {
      const follows = filter.follows(child, isRobotsUrl(context.parent));
      if (follows) run.declare(context);
      return follows;
    };
    this.#job = { ...job, options: { ...options, recurse } };
    this.#summary = flags.summary ? new Summary() : undefined;
  }

  pieces(): Pieces {
    const { format } = this.#job.flags;
    if (isSitemapFormat(format)) return this.#sitemaps(format);
    if (format === "parquet") return this.#parquet();
    return isPageFormat(format) ? this.#pages(format) : this.#trees(format);
  }

  /** What --summary says at the end. */
  printSummary(messages: Messages): void {
    this.#summary?.print(messages);
  }

  async *#pages(format: PageFormat): Pieces {
    const { targets, flags, filter, run } = this.#job;
    let [finished, sitemaps, invalid] = [0, 0, 0];
    const seen: See = (event) => {
      if (event.type !== "finished") return;
      finished += 1;
      sitemaps += event.totals.sitemaps;
      invalid += event.totals.invalid;
    };
    yield* writeBatches(this.#batches(seen), pageWriter(format, flags, this.#show), run.signal);
    if (!flags.trailer) return;
    // Whether everything declared was read; what filters leave out does not count.
    const complete = finished === targets.length && run.isComplete && !filter.reached;
    yield `${jsonOf({ kind: "finished", complete, pages: filter.listed, sitemaps, invalid })}\n`;
  }

  async *#sitemaps(format: SitemapFormat): Pieces {
    const { flags, run } = this.#job;
    const { csvSafe, separator, excel } = flags;
    const rows = new SitemapRows();
    for await (const _ of this.#batches((event) => rows.see(event)));
    run.crawled();
    if (format === "sitemaps-csv" && excel) yield byteOrderMark;
    const isTable = format === "sitemaps";
    yield* inPieces(
      isTable ? writeSitemapTable(rows, this.#show, run.width) : writeSitemapCsv(rows, csvSafe, separator),
    );
  }

  // Yields no text: the tables go to files.
  async *#parquet(): Pieces {
    const { ParquetFolder } = await import("../output/parquet-folder.ts");
    const { flags, run } = this.#job;
    const { tables } = run.owns(new ParquetFolder(flags.output as string, flags, run.context));
    let rows = new SitemapRows();
    let site: string | undefined;
    const addSitemaps = () => {
      for (const row of rows) tables.addSitemap(row, site);
      rows = new SitemapRows();
    };
    const seen: See = (event) => {
      if (event.type === "start" && event.depth === 0) {
        addSitemaps();
        site = event.url;
      }
      rows.see(event);
    };
    for await (const batch of this.#batches(seen)) tables.addPages(batch, site);
    addSitemaps();
    tables.finish();
    yield "";
  }

  // The pages to list; those of a repeated sitemap once. `seen` receives every event.
  async *#batches(seen: See): AsyncGenerator<PageBatch, void, undefined> {
    const { flags, filter, options, run } = this.#job;
    const { signal } = run;
    const see: See = (event) => {
      if (event.type === "start" && event.depth === 0 && flags.stripUrl) this.#strip = stripUrl(event.url);
      run.see(event);
      seen(event);
    };
    // Of pages that are not listed, only their number is needed.
    const urlsOnly = /^(?:pages|sitemaps)/.test(flags.format) && !flags.summary;
    for (const named of this.#eachSite()) {
      const target = await run.recognized(named, options);
      const batches =
        target.kind === "archive"
          ? this.#archived(target, see)
          : crawlWith(filter, crawlTarget(target), { ...options, signal }, urlsOnly);
      for await (const event of batches) {
        if (target.kind !== "archive") see(event as CrawlEvent);
        if (event.type !== "pages") continue;
        const batch = { sitemap: "sitemap" in event ? event.sitemap.url : event.url, pages: event.pages };
        this.#summary?.see(batch);
        yield batch;
        if (filter.reached) break;
      }
      signal.throwIfAborted();
    }
  }

  async *#archived(target: Target, see: See): AsyncGenerator<TreeStep, void, undefined> {
    const { flags, filter, run } = this.#job;
    const tree = await this.#tree(target, see);
    try {
      if (isSitemapFormat(flags.format) && !flags.summary) return;
      yield* untilStopped(filteredWalk(tree, filter, withoutRepeats(tree.walk())), run.signal);
    } finally {
      await tree.close();
    }
  }

  async *#trees(format: "tabtree" | "json"): Pieces {
    const { flags, filter, run } = this.#job;
    for (const target of this.#eachSite()) {
      const tree = await this.#tree(target);
      try {
        const steps = this.#counted(untilStopped(filteredWalk(tree, filter), run.signal));
        const show = flags.stripUrl ? stripUrl(tree.homepage) : wholeUrl;
        const limitNote = flags.limit === undefined ? undefined : `stopped at --limit ${flags.limit}`;
        // The pages of --limit are few already.
        const look = { show, color: run.hasColor, all: flags.all === true || limitNote !== undefined, limitNote };
        if (format === "json") yield* writeJson(tree, steps, run.signal);
        else if (!run.isShown) yield* writeTabtree(steps, show, limitNote);
        // Of a website that cannot be reached there is no more to say than why.
        else if (tree.reachable) yield* writeTerminalTree(steps, look);
        run.signal.throwIfAborted();
      } finally {
        await tree.close();
      }
    }
  }

  async *#counted(steps: AsyncIterable<TreeStep>): AsyncGenerator<TreeStep, void, undefined> {
    for await (const step of steps) {
      if (step.type === "pages") this.#summary?.see({ sitemap: step.sitemap.url, pages: step.pages });
      yield step;
    }
  }

  // One after another, until the limit is reached. The problems of one are reported before the next begins.
  *#eachSite(): Generator<Target, void> {
    const { targets, filter, run } = this.#job;
    let listed = 0;
    for (const [at, target] of targets.entries()) {
      if (at > 0) run.nextSite(filter.listed - listed);
      listed = filter.listed;
      yield target;
      if (filter.reached) return;
    }
  }

  async #tree(target: Target, onEvent?: See): Promise<SitemapTree> {
    const { flags, filter, options, run } = this.#job;
    // With filters, only the listing knows when the limit is reached.
    const pages = flags.limit === undefined || !filter.passesAll ? {} : { pages: flags.limit };
    const limits = { ...options.limits, ...pages };
    // A list of pages reads everything; other formats tell what was counted before they do, or without.
    const tree = await run.tree(target, { ...options, limits }, onEvent, !isPageFormat(flags.format));
    if (target.kind === "archive" && options.save !== undefined) await tree.save(options.save);
    return tree;
  }
}

// Reading a finished tree does not check the signal.
async function* untilStopped<T>(steps: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  for await (const step of steps) {
    if (signal.aborted) return;
    yield step;
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

const mostCounted = 10_000;
const mostShown = 20;

// How many pages were listed, by sitemap and by section of the website.
class Summary {
  readonly #bySitemap = new Map<string, number>();
  readonly #bySection = new Map<string, number>();

  see({ sitemap, pages }: PageBatch): void {
    count(this.#bySitemap, sitemap, pages.length);
    for (const { url } of pages) count(this.#bySection, sectionOf(url), 1);
  }

  print(messages: Messages): void {
    for (const [what, counts] of Object.entries({ sitemap: this.#bySitemap, section: this.#bySection })) {
      const rows = [...counts].sort(([, a], [, b]) => b - a);
      const rest = rows.splice(mostShown);
      const width = grouped(rows[0]?.[1] ?? 0).length;
      const say = (pages: number, where: string) => messages.say(`  ${grouped(pages).padStart(width)}  ${where}`);
      if (rows.length > 0) messages.say(`pages by ${what}:`);
      for (const [name, pages] of rows) say(pages, name);
      const pages = rest.reduce((sum, [, more]) => sum + more, 0);
      if (rest.length > 0) say(pages, `in ${grouped(rest.length)} others`);
    }
  }
}

// A website can have any number: those after the first ones are counted together.
function count(counts: Map<string, number>, name: string, more: number): void {
  const key = counts.has(name) || counts.size < mostCounted ? name : "other";
  counts.set(key, (counts.get(key) ?? 0) + more);
}

// The host and the first segment of the path: `https://example.org/blog/…`.
function sectionOf(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === null) return "other";
  const end = parsed.pathname.indexOf("/", 1);
  return end === -1 ? `${parsed.origin}/` : `${parsed.origin}${parsed.pathname.slice(0, end + 1)}…`;
}
