// `sitegrove ls`: lists websites one after another. Lists of pages are written during the crawl; the tree formats need the whole tree.
import { Command, Option } from "commander";
import type { PageFilter } from "../../crawl/page-filter.ts";
import type { CrawlEvent, TreeStep } from "../../model/event.ts";
import { counted, grouped } from "../../model/figures.ts";
import { type Options, pageFilterNames, resolvePageFilters } from "../../model/options.ts";
import { isRobotsUrl, sectionOf } from "../../model/url.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { byteOrderMark } from "../../write/csv.ts";
import { type PageBatch, type ShowUrl, stripUrl, wholeUrl, writeBatches } from "../../write/pages.ts";
import { jsonOf } from "../../write/printable.ts";
import { SitemapRows, writeSitemapCsv, writeSitemapTable } from "../../write/sitemaps.ts";
import { writeTerminalTree } from "../../write/terminal-tree.ts";
import { inPieces, writeJson, writeTabtree } from "../../write/trees.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodeHelp, UsageError, websiteExitCodes } from "../exit-codes.ts";
import { addFlags, checkSince, type Flags, givenFlags, pageFilters } from "../flags.ts";
import { addHelp, patternHelp } from "../help.ts";
import { chooseTreeTarget } from "../input/local-files.ts";
import { crawlTarget, type TreeTarget } from "../input/target.ts";
import { Counts } from "../output/counts.ts";
import { CrawlEnding, filterNotes } from "../output/ending.ts";
import { OutputFolder } from "../output/file.ts";
import type { Messages } from "../output/messages.ts";
import {
  checkCsvFlags,
  type Format,
  formatByName,
  formatOption,
  formats,
  isPageFormat,
  isSitemapFormat,
  type PageFormat,
  pageWriter,
} from "../output/pages.ts";
import { beginRun, type Run } from "../run.ts";

export function lsCommand(context: Context, done: Done): Command {
  const command = new Command("ls")
    .summary("list the sitemaps and pages of a website")
    .description("Lists the sitemaps of a website and the pages they declare.")
    .argument("[websites...]", "homepages, archives from --save, or the folder of a static site")
    .optionsGroup("Output:")
    .addOption(formatOption(formats));
  addFlags(command, "output", "csv")
    .option("--all", "show every page, even on a terminal (tabtree)")
    .option("-u, --strip-url", "show URLs relative to the homepage")
    .addOption(new Option("--order <order>", "order of the pages (default: declared)").choices(["declared", "arrival"]))
    .option("--trailer", "end with a line that says whether the list is complete (ndjson)")
    .option("--summary", "at the end, print page counts by sitemap and section to stderr");
  addFlags(command, "Filters", "sitemap", "Discovery", "Parsing", "Archive", "local", "Network", "Limits", "messages");
  command.action(async (websites: readonly string[], flags: Flags<Format>) =>
    done(await ls(websites, { ...flags, format: formatByName(flags.format, flags.output, formats) }, context)),
  );
  return addHelp(command, {
    flags: `--format --output --all --strip-url --include --exclude --since --unique --limit --same-host --sitemap --save --previous
      --header --user-agent --verbose`,
    examples: `
Examples:
  sitegrove ls example.org                          the tree
  sitegrove ls example.org -f pages > urls.txt      page URLs, one per line
  sitegrove ls example.org -f csv --since 7d        what changed this week
  sitegrove ls example.org --save site.warc.gz      also save all responses
  sitegrove ls site.warc.gz -f json                 from an archive, offline
  sitegrove ls public/ --url https://example.org/   a static site
`,
    more:
      patternHelp + exitCodeHelp(websiteExitCodes, { notFound: "no sitemap found, although the website responded" }),
  });
}

async function ls(names: readonly string[], flags: Flags<Format>, context: Context): Promise<ExitCode> {
  const { format, resume } = flags;
  const chosen = (names.length > 0 ? names : [undefined]).map((name) => chooseTreeTarget(name, flags, context));
  if (chosen.length > 1 && chosen.some(({ files }) => files !== undefined))
    throw new UsageError("a folder must be the only target");
  const targets = chosen.map(({ target }) => target);
  const { PageFilter } = await import("../../crawl/page-filter.ts");
  const filter = new PageFilter(resolvePageFilters(pageFilters(flags)));
  checkTogether(flags, targets.length);
  const run = await beginRun({
    context,
    // The output of `parquet` is a folder of tables, not a file.
    flags: format === "parquet" ? { ...flags, output: undefined } : flags,
    targets: chosen,
    notes: [targets.length > 4 ? manyWebsites(targets.length) : undefined],
    renewed: [flags.previous].flat(),
    outputs: { "--resume": resume, ...(format === "parquet" && { "--output": flags.output }) },
    offline: [...pageFilterNames, "limits", "rewrite", "save"],
    ending: newEnding(flags),
  });
  const recurse: Options["recurse"] = (child, place) =>
    filter.follows(child, isRobotsUrl(place.parent)) && run.declare(place);
  const summary = flags.summary ? new Summary() : undefined;
  const options = { ...run.options, recurse, order: flags.order as Options["order"] };
  const pieces = listing({ targets, flags, filter, options, run, summary, show: wholeUrl });
  const code = await run.write(pieces, () => ({ listed: filter.listed, notes: filterNotes(filter, flags) }));
  summary?.print(run.messages);
  return code;
}

// The user asked for the limit, so pages beyond it are not missing.
function newEnding({ limit }: Flags): CrawlEnding {
  return new CrawlEnding(limit === undefined ? [] : ["limit-pages"]);
}

function manyWebsites(count: number): string {
  return `${count} websites are listed one after the other; to crawl them in parallel: sitegrove fleet SITES… --out DIR`;
}

// Refuses flags that do not work together, or with this number of websites.
function checkTogether(flags: Flags<Format>, websites: number): void {
  const { format, save, output, previous } = flags;
  const refuse = (isWrong: unknown, why: string) => {
    if (isWrong) throw new UsageError(why);
  };
  const stripped = ["tabtree", "pages", "pages-json", "sitemaps"];
  const strips = "--strip-url works only with -f tabtree, pages, pages-json and sitemaps";
  refuse(flags.stripUrl && !stripped.includes(format), strips);
  refuse(flags.all && format !== "tabtree", "--all works only with -f tabtree");
  checkCsvFlags(format, flags);
  refuse(
    format === "parquet" && (!output || output === "-"),
    "-f parquet writes several files: name their folder with -o DIR",
  );
  refuse(flags.order && !isPageFormat(format), "--order works only with -f pages, pages-json, ndjson and csv");
  refuse(flags.trailer && format !== "ndjson", "--trailer works only with -f ndjson");
  const [pageFlag] = givenFlags({ ...pageFilters(flags) }, []).filter((flag) => !/sitemap/.test(flag));
  refuse(isSitemapFormat(format) && pageFlag, `${pageFlag} filters pages, but -f ${format} lists sitemaps`);
  checkSince(flags);
  refuse(flags["seed"] !== undefined && flags["sample"] === undefined, "--seed needs --sample");
  refuse(flags.force && !save && !output, "--force needs --save or --output");
  if (websites === 1) return;
  refuse(save, "--save works with one website: name only one");
  refuse(flags.resume, "--resume works with one website: name only one");
  refuse(previous, "--previous works with one website: name only one");
}

interface Job {
  readonly targets: readonly TreeTarget[];
  readonly flags: Flags<Format>;
  readonly filter: PageFilter;
  readonly options: Options;
  readonly run: Run;
  readonly summary: Summary | undefined;
  /** Set once the homepage is known, because it may come from an archive. */
  show: ShowUrl;
}

type Pieces = AsyncGenerator<string, void, undefined>;
type See = (event: CrawlEvent) => void;

function listing(job: Job): Pieces {
  const { format } = job.flags;
  if (isSitemapFormat(format)) return sitemapPieces(job);
  if (format === "parquet") return parquetPieces(job);
  return isPageFormat(format) ? pagePieces(job, format) : treePieces(job);
}

async function* pagePieces(job: Job, format: PageFormat): Pieces {
  const { flags, filter, run, targets } = job;
  let [finished, sitemaps, invalid] = [0, 0, 0];
  const seen: See = (event) => {
    if (event.type !== "finished") return;
    finished += 1;
    sitemaps += event.totals.sitemaps;
    invalid += event.totals.invalid;
  };
  const writer = pageWriter(format, flags, flags.stripUrl ? (url) => job.show(url) : wholeUrl);
  yield* writeBatches(batchesOf(job, seen), writer, run.signal);
  if (!flags.trailer) return;
  // Whether --limit or --sample may have left something out.
  const isPart = filter.isLimitReached || filter.listed >= filter.settings.sample;
  const complete = finished === targets.length && run.isComplete && !isPart;
  yield `${jsonOf({ kind: "finished", complete, pages: filter.listed, sitemaps, invalid })}\n`;
}

async function* sitemapPieces(job: Job): Pieces {
  const { format, csvSafe, separator, excel } = job.flags;
  const rows = new SitemapRows();
  for await (const _ of batchesOf(job, (event) => rows.see(event)));
  job.run.endProgress();
  if (format === "sitemaps-csv" && excel) yield byteOrderMark;
  const isTable = format === "sitemaps";
  yield* inPieces(
    isTable ? writeSitemapTable(rows, job.show, job.run.width) : writeSitemapCsv(rows, csvSafe, separator),
  );
}

// Yields no text, because the tables go to files.
async function* parquetPieces(job: Job): Pieces {
  const { ParquetTables } = await import("../../write/parquet.ts");
  const names = ["pages.parquet", "sitemaps.parquet", "problems.parquet"];
  const folder = job.run.owns(new OutputFolder(job.flags.output as string, names, job.flags.force));
  const tables = new ParquetTables((name) => (bytes) => folder.write(`${name}.parquet`, bytes));
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
  for await (const batch of batchesOf(job, seen)) tables.addPages(batch, site);
  addSitemaps();
  tables.finish();
  yield "";
}

// Yields the pages to list. The pages of a repeated sitemap come only once. `seen` gets the events.
async function* batchesOf(job: Job, seen: See): AsyncGenerator<PageBatch, void, undefined> {
  const { flags, filter, options, run, summary } = job;
  const { crawlWith } = await import("../../crawl/crawl.ts");
  const { crawlArchive } = await import("../../tree/build.ts");
  const see: See = (event) => {
    if (event.type === "start" && event.depth === 0 && flags.stripUrl) job.show = stripUrl(event.url);
    run.see(event);
    seen(event);
  };
  // Reads only the URLs if the format needs nothing else.
  const urlsOnly = /^(?:pages|sitemaps)/.test(flags.format) && summary === undefined;
  for (const named of eachSite(job)) {
    const target = await run.probe(named, undefined, true);
    const events =
      target.kind === "archive"
        ? crawlArchive(target.path, options, { filter, urlsOnly })
        : crawlWith(filter, crawlTarget(target), options, urlsOnly);
    for await (const event of events) {
      see(event);
      if (event.type !== "pages") continue;
      const batch = { sitemap: event.url, pages: event.pages };
      summary?.see(batch);
      yield batch;
      if (filter.isLimitReached) break;
    }
    run.signal.throwIfAborted();
  }
}

async function* treePieces(job: Job): Pieces {
  const { flags, filter, run, summary } = job;
  const { filteredWalk } = await import("../../tree/tree.ts");
  async function* walked(tree: SitemapTree): AsyncGenerator<TreeStep, void, undefined> {
    for await (const step of filteredWalk(tree, filter)) {
      // Reading a finished tree does not check the signal, so it is checked here.
      if (run.signal.aborted) return;
      if (step.type === "pages") summary?.see({ sitemap: step.sitemap.url, pages: step.pages });
      yield step;
    }
  }
  for (const target of eachSite(job)) {
    const tree = await treeFor(job, target);
    try {
      const steps = walked(tree);
      const show = flags.stripUrl ? stripUrl(tree.homepage) : wholeUrl;
      const limitNote = flags.limit === undefined ? undefined : `stopped at --limit ${flags.limit}`;
      // With --limit, all pages are shown, because the user chose their number.
      const style = { show, color: run.hasColor, all: flags.all === true || limitNote !== undefined, limitNote };
      const { homepage, pageCount, reachable, unreachable, discovery } = tree;
      const { limit, sample } = filter.settings;
      // --limit or --sample may leave something out. Before the pages are read, only their number is known.
      const complete = tree.complete && pageCount <= Math.min(limit - filter.listed, sample);
      const head = { homepage, complete, pageCount, reachable, unreachable, discovery };
      if (flags.format === "json") yield* inPieces(writeJson(head, steps, run.signal));
      else if (!run.isShown) yield* inPieces(writeTabtree(steps, show, limitNote));
      // For a website that cannot be reached, only the cause is reported.
      else if (tree.reachable) yield* inPieces(writeTerminalTree(steps, style));
      run.signal.throwIfAborted();
    } finally {
      await tree.close();
    }
  }
}

// Yields websites one after another, until the limit is reached. The problems of one are reported before the next begins.
function* eachSite({ targets, flags, filter, run }: Job): Generator<TreeTarget, void> {
  let listed = 0;
  for (const [at, target] of targets.entries()) {
    if (at > 0) run.nextSite(filter.listed - listed, newEnding(flags));
    listed = filter.listed;
    yield target;
    if (filter.isLimitReached) return;
  }
}

async function treeFor({ flags, filter, options, run }: Job, target: TreeTarget): Promise<SitemapTree> {
  // With filters, only the listing knows when the limit is reached.
  const pages = flags.limit === undefined || !filter.passesAll ? {} : { pages: flags.limit };
  const limits = { ...options.limits, ...pages };
  const tree = await run.tree(target, { ...options, limits });
  if (target.kind === "archive" && options.save !== undefined) await tree.save(options.save);
  return tree;
}

const mostShown = 20;

// Counts how many pages were listed, by sitemap and by section of the website.
class Summary {
  readonly #counts = { sitemap: new Counts(), section: new Counts() };

  see({ sitemap, pages }: PageBatch): void {
    this.#counts.sitemap.add(sitemap, pages.length);
    for (const { url } of pages) this.#counts.section.add(sectionOf(url));
  }

  print(messages: Messages): void {
    for (const [what, counts] of Object.entries(this.#counts)) {
      const rows = counts.sorted();
      const rest = rows.splice(mostShown);
      const width = grouped(rows[0]?.[1] ?? 0).length;
      const say = (pages: number, where: string) => messages.say(`  ${grouped(pages).padStart(width)}  ${where}`);
      if (rows.length > 0) messages.say(`pages by ${what}:`);
      // A section includes everything below it, except for the section of the homepage.
      const more = what === "section" ? /(?<=\/\/[^/]+\/.*\/)$/ : /$^/;
      for (const [name, pages] of rows) say(pages, name.replace(more, "…"));
      const pages = rest.reduce((sum, [, more]) => sum + more, 0);
      if (rest.length > 0) say(pages, `in ${counted(rest.length, "other")}`);
    }
  }
}
