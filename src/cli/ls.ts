// `sitegrove ls`: checks the flags, then runs the listing. The code that does the work is imported once the flags are
// right: a mistake is reported at once.
import type { Options } from "../model/options.ts";
import { type CrawlFlags, crawlOptions } from "./crawl-flags.ts";
import { UsageError } from "./exit-codes.ts";
import { type FilterFlags, Filters } from "./filters.ts";
import { type Format, isSitemapFormat } from "./formats.ts";
import { type CsvFlags, checkCsvFlags } from "./page-writer.ts";
import { Report } from "./report.ts";
import type { RunFlags } from "./run.ts";
import { Summary } from "./summary.ts";
import { archivedTarget, chooseTarget, type Target } from "./target.ts";
import { begin } from "./target-run.ts";

export interface LsFlags extends CrawlFlags, CsvFlags, FilterFlags, RunFlags {
  readonly format: Format;
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
export async function ls(names: readonly string[], flags: LsFlags): Promise<number> {
  const { targets, isNamed } = await chooseTargets(names, flags);
  const filters = new Filters(flags);
  const options = isNamed ? crawlOptions(flags) : strangerOptions(crawlOptions(flags), flags);
  checkTogether(flags);
  if (targets.length > 1) {
    if (flags.save !== undefined) throw new UsageError("--save works with one website: name only one");
    if (flags.resume !== undefined) throw new UsageError("--resume works with one website: name one, or none");
    if (flags.previous !== undefined) throw new UsageError("--previous works with one website: name only one");
  }
  const { run, save } = await begin({
    targets,
    // A folder of tables is not one file.
    flags: flags.format === "parquet" ? { ...flags, output: undefined } : flags,
    crawl: options,
    renewed: flags.previous,
    outputs: { "--resume": flags.resume, "--output": flags.output },
    offline: ["limits", "save"],
    report: () => new Report(flags.limit === undefined ? [] : ["limit-pages"]),
  });
  if (!isNamed) run.messages.say(`continuing ${nameOf(targets[0])}, which ${flags.resume} names`, "quiet");
  if (targets.length > fewWebsites) {
    run.messages.say(
      `${targets.length} websites are listed one after the other; many at a time: sitegrove fleet SITES… --out DIR`,
      "quiet",
    );
  }

  const { listing } = await import("./listing.ts");
  const summary = flags.summary ? new Summary() : undefined;
  const pieces = listing({
    targets,
    flags,
    filters,
    options: { ...options, save },
    run,
    summary,
  });
  const code = await run.write(pieces, () => ({ listed: filters.listed, notes: filters.notes() }));
  summary?.print(run.messages);
  return code;
}

// More than this is a job for `fleet`.
const fewWebsites = 4;

// An archive that is resumed may name its website.
async function chooseTargets(
  names: readonly string[],
  { sitemap, resume }: LsFlags,
): Promise<{ readonly targets: readonly Target[]; readonly isNamed: boolean }> {
  if (names.length > 0) return { targets: names.map((name) => chooseTarget(name, sitemap)), isNamed: true };
  if (resume === undefined || sitemap !== undefined)
    return { targets: [chooseTarget(undefined, sitemap)], isNamed: true };
  const { archiveAbout } = await import("../archive/open.ts");
  const about = await archiveAbout(resume);
  if (about?.homepage === undefined && about?.sitemaps === undefined)
    throw new UsageError(`${resume} cannot be resumed: another tool wrote it`);
  return { targets: [archivedTarget(about)], isNamed: false };
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
  if (flags.stripUrl && !["tabtree", "pages", "sitemaps"].includes(flags.format)) {
    throw new UsageError("--strip-url works with the formats tabtree, pages and sitemaps");
  }
  checkCsvFlags(flags.format, flags);
  if (flags.format === "parquet" && flags.output === undefined) {
    throw new UsageError("-f parquet writes several files: name their folder with -o DIR");
  }
  if (flags.trailer && flags.format !== "ndjson") throw new UsageError("--trailer works with the format ndjson");
  if (isSitemapFormat(flags.format)) {
    const pageFlag = (["include", "exclude", "since", "unique", "limit"] as const).find((name) => flags[name]);
    if (pageFlag !== undefined) throw new UsageError(`--${pageFlag} chooses pages; -f ${flags.format} lists sitemaps`);
  }
  if (flags.skipOldSitemaps && flags.since === undefined) throw new UsageError("--skip-old-sitemaps needs --since");
  if (flags.trustLastmod && flags.previous === undefined) throw new UsageError("--trust-lastmod needs --previous");
  if (flags.force && flags.save === undefined && flags.output === undefined) {
    throw new UsageError("--force needs --save or --output");
  }
}
