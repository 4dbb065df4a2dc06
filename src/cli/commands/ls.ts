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
  addOutputFlags,
  addSitemapFlag,
  type CrawlFlags,
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
    .argument("[websites...]", "homepages, archives of --save, or the folder of a built website")
    .optionsGroup("Output:")
    .addOption(new Option("-f, --format <format>", formatInWords).choices(formats).default("tabtree"));
  addCsvFlags(addOutputFlags(command))
    .option("--all", "show every page on a terminal, too (tabtree)")
    .option("-u, --strip-url", "show URLs relative to the homepage")
    .option("--trailer", "end with a line that says whether the list is complete (ndjson)")
    .option("--summary", "count pages by sitemap and section at the end, on stderr");
  addCrawlFlagGroups(command, "Filters");
  addCrawlFlags(addSitemapFlag(command), "Discovery");
  addCrawlFlagGroups(command, "Parsing", "Archive");
  addCrawlFlagGroups(addLocalFlags(command), "Network", "Limits");
  addMessageFlags(command).action(async (websites: readonly string[], flags: LsFlags) => {
    done(await ls(websites, flags, context));
  });
  return addHelp(command, { flags, examples, more });
}

const flags = `--format --output --all --strip-url --include --exclude --since --unique --limit --same-host --sitemap --save --previous
  --header --user-agent --verbose`;

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
  patternHelp + exitCodeHelp(websiteExitCodes, { notFound: "the website answered, and no sitemap was found" });

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
}

/** Returns the exit code. */
async function ls(names: readonly string[], flags: LsFlags, context: Context): Promise<number> {
  const { targets, named, local, resumed } = await chooseTargets(names, flags, context);
  const { PageFilter } = await import("../../crawl/page-filter.ts");
  const filter = new PageFilter(resolvePageFilters(pageFilters(flags)));
  const crawl = { ...crawlOptions(flags), ...resumed };
  checkTogether(flags, targets.length);
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
  const [first] = targets;
  const name = first?.kind === "website" ? first.homepage : first?.kind === "sitemaps" ? first.urls.join(" ") : "";
  if (resumed !== undefined) run.messages.say(`continuing ${name}, which ${flags.resume} names`, "quiet");
  const fleet = "many at a time: sitegrove fleet SITES… --out DIR";
  if (targets.length > 4)
    run.messages.say(`${targets.length} websites are listed one after the other; ${fleet}`, "quiet");
  const { Listing } = await import("./listing.ts");
  const listing = new Listing({ targets, flags, filter, options: { ...crawl, ...local, save: run.save }, run });
  const code = await run.write(listing.pieces(), () => ({ listed: filter.listed, notes: filterNotes(filter, flags) }));
  listing.printSummary(run.messages);
  return code;
}

interface Chosen {
  readonly targets: readonly Target[];
  /** As they were named. */
  readonly named: readonly (Target | NamedTarget)[];
  /** Options that make the crawl read a folder. */
  readonly local?: Options | undefined;
  /** Options of a website that nobody named. */
  readonly resumed?: Options;
}

// An archive that is resumed may name its website.
async function chooseTargets(names: readonly string[], flags: LsFlags, context: Context): Promise<Chosen> {
  const { sitemap, resume } = flags;
  if (names.length > 0 || resume === undefined || sitemap !== undefined) {
    const all = (names.length > 0 ? names : [undefined]).map((name) => chooseTreeTarget(name, flags, context));
    const local = all.find(({ files }) => files !== undefined)?.options;
    if (local !== undefined && all.length > 1) throw new UsageError("a folder is listed alone: name only one");
    return { targets: all.map(({ target }) => target), named: all.map(({ named }) => named), local };
  }
  const { archiveAbout } = await import("../../archive/open.ts");
  const about = await archiveAbout(resume);
  if (about?.homepage === undefined && about?.sitemaps === undefined)
    throw new UsageError(`${resume} cannot be resumed: another tool wrote it`);
  const targets = [archivedTarget(about)];
  // A file is not the user: whoever made it chose the website, which gets no headers and may not be at a private address.
  const { headers, network = "public-only" } = crawlOptions(flags);
  if (headers !== undefined)
    throw new UsageError(`--header is sent only to a website that you name: sitegrove ls WEBSITE --resume ${resume}`);
  return { targets, named: targets, resumed: { network } };
}

// Flags without an effect are refused.
function checkTogether(flags: LsFlags, websites: number): void {
  const { format, save, output, resume, previous } = flags;
  const refuse = (isWrong: unknown, why: string) => {
    if (isWrong) throw new UsageError(why);
  };
  const stripped = ["tabtree", "pages", "pages-json", "sitemaps"];
  refuse(
    flags.stripUrl && !stripped.includes(format),
    "--strip-url works with the formats tabtree, pages, pages-json and sitemaps",
  );
  refuse(flags.all && format !== "tabtree", "--all works with the format tabtree");
  checkCsvFlags(format, flags);
  refuse(format === "parquet" && !output, "-f parquet writes several files: name their folder with -o DIR");
  refuse(flags.trailer && format !== "ndjson", "--trailer works with the format ndjson");
  const [pageFlag] = givenFlags({ ...pageFilters(flags) }, []).filter((flag) => !/sitemap/.test(flag));
  refuse(isSitemapFormat(format) && pageFlag, `${pageFlag} chooses pages; -f ${format} lists sitemaps`);
  checkSince(flags);
  refuse(flags.trustLastmod && !previous, "--trust-lastmod needs --previous");
  refuse(flags.force && !save && !output, "--force needs --save or --output");
  if (websites === 1) return;
  refuse(save, "--save works with one website: name only one");
  refuse(resume, "--resume works with one website: name one, or none");
  refuse(previous, "--previous works with one website: name only one");
}

/** Of `ls` and `parse`. */
export function checkSince({ since, undated, skipOldSitemaps }: CrawlFlags): void {
  const [needing] = [undated && "--undated", skipOldSitemaps && "--skip-old-sitemaps"].filter(Boolean);
  if (needing && since === undefined) throw new UsageError(`${needing} needs --since`);
}
