// `sitegrove ls`: flags, help, and what the flags mean together. The listing itself is loaded once they are right: its network code takes
// longer to load than the help takes to print.
import { Command, Option } from "commander";
import { type Options, pageFilterNames, resolvePageFilters } from "../../model/options.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError, websiteExitCodes } from "../exit-codes.ts";
import {
  addCrawlFlagGroups,
  addCrawlFlags,
  addCsvFlags,
  addMessageFlags,
  type CrawlFlags,
  collected,
  crawlOptions,
  givenFlags,
  pageFilters,
} from "../flags.ts";
import { addHelp, patternHelp } from "../help.ts";
import { addLocalFlags, chooseTreeTarget, type LocalFlags } from "../input/local-files.ts";
import { archivedTarget, type NamedTarget, type Target } from "../input/target.ts";
import { CrawlEnding } from "../output/ending.ts";
import { filterNotes } from "../output/filter-notes.ts";
import { type CsvFlags, checkCsvFlags, type Format, formatInWords, formats, isSitemapFormat } from "../output/pages.ts";
import { type RunFlags, withTargets } from "../run.ts";

export function lsCommand(context: Context, done: Done): Command {
  const command = new Command("ls")
    .summary("list the sitemaps and pages of a website")
    .description("Lists the sitemaps of a website and the pages they declare.")
    .argument("[websites...]", "homepages, archives of --save, or the folder of a built website");

  command
    .optionsGroup("Output:")
    .addOption(new Option("-f, --format <format>", formatInWords).choices(formats).default("tabtree"))
    .option("-o, --output <file>", "write to FILE, only if the run succeeds")
    .option("--all", "show every page on a terminal, too (tabtree)")
    .option("-u, --strip-url", "show URLs relative to the homepage");
  addCsvFlags(command)
    .option("--trailer", "end with a line that says whether the listing is complete (ndjson)")
    .option("--summary", "count the pages by sitemap and by section at the end, on standard error")
    .option("--no-csv-safe", "keep cells that spreadsheets take for formulas as they are (csv)");

  addCrawlFlagGroups(command, "Filters");

  command
    .optionsGroup("Discovery:")
    .option("--sitemap <url>", "start from this sitemap, without discovery (repeatable)", collected);
  addCrawlFlags(command, "Discovery");

  addCrawlFlagGroups(command, "Parsing", "Archive");
  command.option("--force", "let --save and --output replace a file");

  addLocalFlags(command);
  addCrawlFlagGroups(command, "Network", "Limits");

  addMessageFlags(command).action(async (websites: readonly string[], flags: LsFlags) => {
    done(await ls(websites, flags, context));
  });
  return addHelp(command, { flags, examples, more });
}

const flags = `--format --output --all --strip-url --include --exclude --since --unique --limit --same-host --sitemap --save --previous
  --url --header --user-agent --verbose`;

const examples = `
Examples:
  sitegrove ls example.org                          the tree
  sitegrove ls example.org -f pages > urls.txt      page URLs, one per line
  sitegrove ls example.org -f csv --since 7d        what changed this week
  sitegrove ls example.org --save site.warc.gz      and save what was received
  sitegrove ls site.warc.gz -f json                 from an archive, offline
  sitegrove ls public/ --url https://example.org/   a built website
`;

const more =
  patternHelp +
  exitCodeHelp(websiteExitCodes, {
    notFound: "the website answered, and no sitemap was found",
  });

export interface LsFlags extends CrawlFlags, CsvFlags, RunFlags, Pick<LocalFlags, "url" | "map"> {
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
  readonly format: Format;
  readonly all?: true | undefined;
  readonly stripUrl?: true | undefined;
  readonly summary?: true | undefined;
  readonly trailer?: true | undefined;
  readonly sitemap?: readonly string[] | undefined;
  readonly save?: string | undefined;
  readonly resume?: string | undefined;
  readonly previous?: readonly string[] | undefined;
  readonly trustLastmod?: true | undefined;
  readonly insecure?: true | undefined;
  readonly keepPath?: true | undefined;
}

/** Returns the exit code. */
async function ls(names: readonly string[], flags: LsFlags, context: Context): Promise<number> {
  const { targets, named, isNamed, local } = await chooseTargets(names, flags, context);
  const { PageFilter } = await import("../../crawl/page-filter.ts");
  const filter = new PageFilter(resolvePageFilters(pageFilters(flags)));
  const crawl = isNamed ? crawlOptions(flags) : strangerOptions(crawlOptions(flags), flags);
  const options = { ...crawl, ...local };
  checkTogether(flags);
  if (targets.length > 1) {
    if (flags.save !== undefined) throw new UsageError("--save works with one website: name only one");
    if (flags.resume !== undefined) throw new UsageError("--resume works with one website: name one, or none");
    if (flags.previous !== undefined) throw new UsageError("--previous works with one website: name only one");
  }
  const run = await withTargets({
    context,
    doing: { verb: "listing", command: "sitegrove ls" },
    targets: named,
    // A folder of tables is not one file.
    flags: flags.format === "parquet" ? { ...flags, output: undefined } : flags,
    crawl,
    renewed: flags.previous,
    outputs: { "--resume": flags.resume, "--output": flags.output },
    offline: [...pageFilterNames, "limits", "rewrite", "save"],
    ending: () => new CrawlEnding(flags.limit === undefined ? [] : ["limit-pages"]),
  });
  if (!isNamed) run.messages.say(`continuing ${nameOf(targets[0])}, which ${flags.resume} names`, "quiet");
  if (targets.length > fewWebsites) {
    run.messages.say(
      `${targets.length} websites are listed one after the other; many at a time: sitegrove fleet SITES… --out DIR`,
      "quiet",
    );
  }

  const { listing, Summary } = await import("./listing.ts");
  const summary = flags.summary ? new Summary() : undefined;
  const pieces = listing({
    targets,
    flags,
    filter,
    options: { ...options, save: run.save },
    run,
    summary,
  });
  const code = await run.write(pieces, () => ({ listed: filter.listed, notes: filterNotes(filter, flags) }));
  summary?.print(run.messages);
  return code;
}

// More than this is a job for `fleet`.
const fewWebsites = 4;

// An archive that is resumed may name its website.
async function chooseTargets(names: readonly string[], flags: LsFlags, context: Context): Promise<Chosen> {
  const { sitemap, resume } = flags;
  if (names.length > 0 || resume === undefined || sitemap !== undefined) {
    const all = (names.length > 0 ? names : [undefined]).map((name) => chooseTreeTarget(name, flags, context));
    const local = all.find(({ files }) => files !== undefined)?.options;
    if (local !== undefined && all.length > 1) throw new UsageError("a folder is listed alone: name only one");
    return { targets: all.map(({ target }) => target), named: all.map(({ named }) => named), isNamed: true, local };
  }
  const { archiveAbout } = await import("../../archive/open.ts");
  const about = await archiveAbout(resume);
  if (about?.homepage === undefined && about?.sitemaps === undefined)
    throw new UsageError(`${resume} cannot be resumed: another tool wrote it`);
  const targets = [archivedTarget(about)];
  return { targets, named: targets, isNamed: false };
}

interface Chosen {
  readonly targets: readonly Target[];
  /** As they were named. */
  readonly named: readonly (Target | NamedTarget)[];
  readonly isNamed: boolean;
  /** Options that make the crawl read a folder. */
  readonly local?: Options | undefined;
}

// A file is not the user: whoever made it chose the website, which gets no headers and may not be at a private address.
function strangerOptions(options: Options, { resume }: LsFlags): Options {
  if (options.headers !== undefined)
    throw new UsageError(`--header is sent only to a website that you name: sitegrove ls WEBSITE --resume ${resume}`);
  return { ...options, network: options.network ?? "public-only" };
}

function nameOf(target: Target | undefined): string {
  return target?.kind === "website" ? target.homepage : target?.kind === "sitemaps" ? target.urls.join(" ") : "";
}

// Flags without an effect are refused.
function checkTogether(flags: LsFlags): void {
  if (flags.stripUrl && !["tabtree", "pages", "pages-json", "sitemaps"].includes(flags.format)) {
    throw new UsageError("--strip-url works with the formats tabtree, pages, pages-json and sitemaps");
  }
  if (flags.all && flags.format !== "tabtree") throw new UsageError("--all works with the format tabtree");
  checkCsvFlags(flags.format, flags);
  if (flags.format === "parquet" && flags.output === undefined) {
    throw new UsageError("-f parquet writes several files: name their folder with -o DIR");
  }
  if (flags.trailer && flags.format !== "ndjson") throw new UsageError("--trailer works with the format ndjson");
  if (isSitemapFormat(flags.format)) {
    const isOfPages = (flag: string) => !/sitemap/.test(flag);
    const pageFlag = givenFlags({ ...pageFilters(flags) }, []).find(isOfPages);
    if (pageFlag !== undefined) throw new UsageError(`${pageFlag} chooses pages; -f ${flags.format} lists sitemaps`);
  }
  checkSince(flags);
  if (flags.trustLastmod && flags.previous === undefined) throw new UsageError("--trust-lastmod needs --previous");
  if (flags.force && flags.save === undefined && flags.output === undefined) {
    throw new UsageError("--force needs --save or --output");
  }
}

/** Of `ls` and `parse`. */
export function checkSince({ since, undated, skipOldSitemaps }: CrawlFlags): void {
  const [needing] = [undated && "--undated", skipOldSitemaps && "--skip-old-sitemaps"].filter(Boolean);
  if (needing && since === undefined) throw new UsageError(`${needing} needs --since`);
}
