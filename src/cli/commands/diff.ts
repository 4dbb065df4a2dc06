// `sitegrove diff`: compares two sides, and writes the differences.
import { Command, Option } from "commander";
import type { DiffSide } from "../../diff/diff-side.ts";
import type { OnSide } from "../../diff/diff-trees.ts";
import { type ContentOf, resolveDiffOptions } from "../../diff/settings.ts";
import {
  type ChangeKind,
  changeKinds,
  type DiffTotals,
  ignorable,
  listedKinds,
  type TreeChange,
} from "../../model/change.ts";
import type { CrawlEvent } from "../../model/event.ts";
import { counted } from "../../model/figures.ts";
import { type FollowedRow, type FollowVerdict, followVerdicts } from "../../model/followed.ts";
import type { Options } from "../../model/options.ts";
import { passing } from "../../model/pattern.ts";
import { isLossy, messageWithHint, type Problem } from "../../model/problem.ts";
import { withoutCredentials } from "../../model/url.ts";
import { isTree } from "../../tree/tree.ts";
import { writeFollowed } from "../../write/followed.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodeHelp, exitCodes, UsageError, websiteExitCodes } from "../exit-codes.ts";
import { addCrawlFlags, addFlags, collected, type Flags, namesIn } from "../flags.ts";
import { addHelp, patternHelp } from "../help.ts";
import { type ChosenTarget, chooseCheckTarget, commonAddress } from "../input/local-files.ts";
import { contentOf, crawlTarget, parseTarget, type Target } from "../input/target.ts";
import { type DiffFormat, diffFormats, writeDiff } from "../output/changes.ts";
import { CrawlEnding, SkippedEntries } from "../output/ending.ts";
import type { Messages } from "../output/messages.ts";
import { byNameText, formatByName } from "../output/pages.ts";
import { beginRun, type Ending, type Run } from "../run.ts";

export function diffCommand(context: Context, done: Done): Command {
  const sides = "archive, sitemap file, list of URLs, folder of a static site, website, or - for standard input";
  const command = new Command("diff")
    .summary("show what changed between two archives, sitemaps or websites")
    .description(
      "Shows the differences between two sides: pages that were added, removed, changed or moved to another sitemap, and\n" +
        "sitemaps that are new, gone, or became readable or unreadable. If a side is incomplete, a page missing\n" +
        'there is "unknown", never "removed".',
    )
    .argument("<old>", sides)
    .argument("<new>", "same as for old");
  const format = new Option("-f, --format <format>", "output format; rss lists new pages");
  const only = `kinds of changes to show: ${changeKinds.join(", ")} (repeatable)`;
  const by = "how to compare the pages of two folders";
  command.optionsGroup("Output:").addOption(format.choices(diffFormats).default(undefined, byNameText("summary")));
  addFlags(command, "output")
    .option("--only <kinds>", only, collected)
    .option("--ignore <fields>", ignoreInWords, collected);
  addFlags(command, "patterns", "column")
    .option("--exit-code", "exit with 6 if there are differences")
    .addOption(new Option("--by <what>", by).choices(["lastmod", "content", "both"]).default(undefined, "content"))
    .optionsGroup("Migration:")
    .option("--follow", "request the old URL of every page that is gone, and show where it leads")
    .option(
      "--fail-on <verdicts>",
      `exit with 6 for these verdicts: ${followVerdicts.join(", ")} (repeatable)`,
      collected,
    );
  addCrawlFlags(command, "Archive", ["--save", "--resume"]);
  addFlags(command, "csvSafe", "local", "Discovery", "Parsing", "Network", "Limits", "messages");
  command.action(async (before: string, after: string, flags: DiffFlags) =>
    done(await diff(before, after, flags, context)),
  );
  return addHelp(command, {
    flags: "--format --output --only --ignore --rewrite --follow --fail-on --exit-code --verbose",
    examples: `
Examples:
  sitegrove diff monday.warc.gz tuesday.warc.gz              counts and examples
  sitegrove diff monday.warc.gz example.org -f ndjson        since then, as JSON
  sitegrove diff old.xml new.xml.gz --ignore lastModified    two sitemaps
  sitegrove diff site.warc.gz public/                        a static site
  sitegrove diff crawl.csv example.org                       a crawler's export
  sitegrove diff old.warc.gz new.example --follow -o gone.csv  after a migration
  sitegrove diff old.warc.gz new.warc.gz -f rss -o new.xml   a feed of new pages
`,
    more:
      patternHelp +
      exitCodeHelp([...websiteExitCodes, "findings"], {
        incomplete: "incomplete: a side could not be fully read; --follow: a request failed",
        notFound: "no sitemap found, although the website responded",
        unreachable: "a website could not be reached, or refused all requests",
        findings: "--exit-code: there are differences; --fail-on: a page has one of these verdicts",
      }),
  });
}

export const ignoreInWords: string = `fields to ignore: ${ignorable.join(", ")} (repeatable)`;

interface DiffFlags extends Flags<DiffFormat> {
  readonly follow?: true;
  readonly by?: "lastmod" | "content" | "both";
  readonly failOn?: readonly string[];
}

/** Refuses --no-csv-safe and --force if they would have no effect. */
export function checkChangeFlags({ csvSafe, format, force, output }: Flags): void {
  if (csvSafe === false && format !== "csv") throw new UsageError("--no-csv-safe works only with -f csv");
  if (force && output === undefined) throw new UsageError("--force needs --output");
}

async function diff(beforeName: string, afterName: string, flags: DiffFlags, context: Context): Promise<ExitCode> {
  const { follow, save, resume, csvSafe } = flags;
  const format = formatByName(flags.format as DiffFormat | undefined, flags.output, diffFormats);
  const failOn = namesIn("--fail-on", flags.failOn, followVerdicts);
  const useless = [failOn[0] && "--fail-on", save && "--save", resume && "--resume"].find(Boolean);
  if (!follow && useless) throw new UsageError(`${useless} needs --follow`);
  if (follow && !["summary", "csv", "ndjson"].includes(format))
    throw new UsageError("--follow works only with -f summary, csv and ndjson");
  const [old, now] = await chooseSides(beforeName, afterName, flags, context);
  if (beforeName === "-" && afterName === "-") throw new UsageError("standard input can be one of the sides, not both");
  const kinds = follow ? (["removed", "unknown"] as const) : chosenKinds({ ...flags, format });
  const { by, contents } = await contentsOf(old, now, flags);
  const ignore = [
    ...namesIn("--ignore", flags.ignore, ignorable),
    ...(by === "content" ? ["lastModified" as const] : []),
  ];
  checkChangeFlags({ ...flags, format });
  const ending = new DiffEnding(old.name, now.name, flags.exitCode);
  const run = await beginRun({
    context,
    flags,
    targets: [old, now],
    isOnline: follow,
    outputs: { "--resume": resume },
    offline: ["include", "exclude", "limits", "rewrite"],
    ending,
  });

  const crawl = flags["here"] ? await comparedHere([old, now], run) : run.options;
  // --save and --resume apply to the pages that are followed.
  const { save: _save, resume: _resume, ...ofSides } = crawl;
  const { column, include, exclude } = flags;
  const { signal } = run;
  const options = { ...ofSides, only: kinds, ignore, include: passing(include, exclude), column, signal };
  const settings = { ...resolveDiffOptions(options), contents };
  const onSide: OnSide = (side) => {
    const { crawl, problems } = ending.sides[side];
    const onEvent = (event: CrawlEvent) => {
      run.see(event);
      crawl.see(event);
    };
    return { onEvent, onProblems: (found) => void problems.push(...found) };
  };
  async function* compared<Item>(
    compare: (before: DiffSide, after: DiffSide) => AsyncGenerator<Item, DiffTotals, undefined>,
  ): AsyncGenerator<Item, DiffTotals, undefined> {
    const sides = [await sourceOf(old, run, onSide("before")), await sourceOf(now, run, onSide("after"))] as const;
    try {
      const totals = yield* compare(...sides);
      run.endProgress();
      ending.totals = totals;
      return totals;
    } finally {
      for (const side of sides) if (isTree(side)) await side.close();
    }
  }
  const output = { format, csvSafe, names: { before: old.name, after: now.name } };
  if (follow) {
    const { followRows } = await import("../../diff/follow-gone.ts");
    const rows = compared((before, after) => followRows(before, after, settings, run.options, onSide));
    const seen = (row: FollowedRow) => ending.follow(row, failOn.includes(row.verdict));
    return run.write(writeFollowed(rows, { ...output, seen }), () => ({ listed: ending.listed }));
  }
  const { diffBatches } = await import("../../diff/diff-trees.ts");
  const batches = compared((before, after) => diffBatches(before, after, settings, onSide));
  const homepage = () => ending.sides.after.crawl.homepage ?? ending.sides.before.crawl.homepage;
  const pieces = writeDiff(batches, { ...output, kinds: new Set(kinds), homepage, seen: ending.count });
  return run.write(pieces, () => ({ listed: ending.listed, unit: "change" }));
}

// With --here, a preview is read and listed at its own address, and the URLs of the other side are rewritten to match.
async function comparedHere(sides: readonly SideTarget[], run: Run): Promise<Options> {
  const { hereRewrites } = await import("../../crawl/open.ts");
  const { options, signal } = run;
  const onEvent = (event: CrawlEvent) => run.see(event);
  const pairs = [...(options.rewrite ?? [])];
  for (const { target } of sides)
    if (target.kind === "website")
      pairs.push(...(await hereRewrites(crawlTarget(await run.probe(target)), { ...options, signal, onEvent })));
  return { ...options, here: false, rewrite: pairs };
}

async function sourceOf(
  { name, target, folder }: SideTarget,
  run: Run,
  { onEvent }: Pick<Options, "onEvent">,
): Promise<DiffSide> {
  if (folder !== undefined) return run.tree(folder.target, { ...folder.options, onEvent });
  if (target.kind === "stream") return { name, bytes: contentOf(target, run.context) };
  // A file whose name looks like a URL is still a file.
  if (target.kind !== "website") return /^https?:\/\//i.test(name) ? `./${name}` : name;
  return crawlTarget(await run.probe(target));
}

function chosenKinds({ only, format }: Flags): readonly ChangeKind[] {
  const named = namesIn("--only", only, changeKinds);
  if (format !== "rss") return named.length === 0 ? listedKinds : changeKinds.filter((kind) => named.includes(kind));
  if (named.some((kind) => kind !== "added")) throw new UsageError("-f rss lists only new pages: use --only added");
  return ["added"];
}

interface SideTarget {
  /** The name in messages and summaries. */
  readonly name: string;
  readonly target: Target;
  readonly folder?: ChosenTarget | undefined;
}

async function chooseSides(
  before: string,
  after: string,
  { url, map }: DiffFlags,
  context: Context,
): Promise<readonly [SideTarget, SideTarget]> {
  const targets = [parseTarget(before), parseTarget(after)] as const;
  const hasFolder = targets.some(({ kind }) => kind === "folder");
  if (!hasFolder && (url ?? map) !== undefined) throw new UsageError("--url and --map need a folder");
  // By default, a folder gets the URL of a website or archive on the other side. Two folders may have any URL, if both have the same.
  const website = url ?? (hasFolder && map === undefined ? await homepageAmong(targets) : undefined);
  const side = (given: string, target: Target): SideTarget => {
    const folder = target.kind === "folder" ? chooseCheckTarget(given, { url: website, map }, context) : undefined;
    if (target.kind === "website") return { name: withoutCredentials(target.homepage), target };
    return { name: target.kind === "stream" ? target.name : given, target, folder };
  };
  return [side(before, targets[0]), side(after, targets[1])];
}

async function homepageAmong(targets: readonly Target[]): Promise<string | undefined> {
  const known = targets.find(({ kind }) => kind === "website" || kind === "archive");
  const paths = targets.flatMap((target) => (target.kind === "folder" ? [target.path] : []));
  if (known === undefined && paths.length > 1) return commonAddress(paths);
  if (known?.kind === "website") return known.homepage;
  if (known?.kind !== "archive") return undefined;
  const { openArchive } = await import("../../archive/reader.ts");
  const archive = await openArchive(known.path);
  await archive.close();
  return archive.info?.homepage;
}

/** Decides what counts as a change of a page, and how to compare the contents of pages. */
async function contentsOf(
  old: SideTarget,
  now: SideTarget,
  { by }: DiffFlags,
): Promise<{ by: DiffFlags["by"]; contents?: readonly [ContentOf, ContentOf] }> {
  const [one, two] = [old.folder?.files, now.folder?.files];
  if (one === undefined || two === undefined) {
    if (by !== undefined) throw new UsageError("--by needs two folders of static sites");
    return { by: "lastmod" };
  }
  if (by === "lastmod") return { by };
  const { SiteFiles } = await import("../../check/folder/site-files.ts");
  const [before, after] = [new SiteFiles(one), new SiteFiles(two)];
  return { by: by ?? "content", contents: [(url) => before.contentAt(url), (url) => after.contentAt(url)] };
}

/** How one side was read: the end of its crawl, if it is a website or an archive, or the problems of its file. */
interface SideEnding {
  readonly name: string;
  readonly crawl: CrawlEnding;
  readonly problems: Problem[];
}

// A page or sitemap whose state is unknown does not count as a difference.
function isDifference(change: TreeChange): boolean {
  return (change.kind === "sitemap" ? change.change : change.kind) !== "unknown";
}

/** The ending of `diff`: how its sides were read, and whether they differ. */
class DiffEnding implements Ending {
  readonly sides: { readonly before: SideEnding; readonly after: SideEnding };
  readonly #usesExitCode: boolean;
  #differences = 0;
  readonly #failures = new Map<FollowVerdict, number>();
  // Counts the pages whose state is unknown because of what happened when they were requested, and why.
  #unfollowed = 0;
  readonly #reasons = new Set<string>();
  /** Set once both sides were compared. */
  totals: DiffTotals | undefined;
  /** How many changes or followed pages were listed. */
  listed = 0;

  constructor(before: string, after: string, usesExitCode = false) {
    const side = (name: string) => ({ name, crawl: new CrawlEnding(), problems: [] });
    this.sides = { before: side(before), after: side(after) };
    this.#usesExitCode = usesExitCode;
  }

  readonly count = (changes: readonly TreeChange[]): void => {
    this.listed += changes.length;
    this.#differences += changes.filter(isDifference).length;
  };

  /** Counts a page that was followed. */
  follow({ verdict, reason }: FollowedRow, isFailure: boolean): void {
    this.listed += 1;
    // A page that robots.txt disallows is `unknown` without a reason, and not counted: trying again would not help.
    if (reason !== undefined) this.#unfollowed += 1;
    if (reason !== undefined && this.#reasons.size <= mostReasons) this.#reasons.add(messageWithHint(reason));
    if (isFailure) this.#failures.set(verdict, (this.#failures.get(verdict) ?? 0) + 1);
  }

  get isComplete(): boolean {
    return this.totals?.before.complete === true && this.totals.after.complete;
  }

  /** Whether a side is a website or archive without a readable sitemap, so that there is nothing to compare. */
  get readNothing(): boolean {
    return this.sides.before.crawl.readNothing || this.sides.after.crawl.readNothing;
  }

  get exitCode(): ExitCode {
    const worst = Math.max(this.sides.before.crawl.exitCode, this.sides.after.crawl.exitCode);
    if (worst > exitCodes.incomplete) return worst as ExitCode;
    if ((this.#usesExitCode && this.#differences > 0) || this.#failures.size > 0) return exitCodes.findings;
    return this.isComplete && this.#unfollowed === 0 ? exitCodes.complete : exitCodes.incomplete;
  }

  print(messages: Messages): void {
    if (this.totals === undefined) return;
    const { before, after, unknown } = this.totals;
    for (const side of ["before", "after"] as const) {
      const { name, crawl, problems } = this.sides[side];
      const shown = problems.filter(({ code }) => isLossy(code));
      for (const { message } of shown) messages.say(`${name}: ${message}`, "warning");
      const skipped = new SkippedEntries();
      for (const each of problems) skipped.see(each);
      skipped.print(messages, true);
      // Of a side that is a file, or was read completely, only skipped entries are left to report.
      if (crawl.homepage === undefined || crawl.exitCode === exitCodes.complete) {
        crawl.printSkipped(messages);
        continue;
      }
      messages.say(`${side}: ${name}`, "quiet");
      crawl.print(messages, this.totals[side].pages, []);
    }
    const are = (count: number) => `${counted(count, "page")} ${count === 1 ? "is" : "are"}`;
    if (unknown > 0) messages.say(`${are(unknown)} unknown: missing on an incomplete side`, "warning");
    else if (!before.complete || !after.complete) messages.say("a side is incomplete", "warning");
    if (this.#usesExitCode && this.#differences > 0) messages.say(counted(this.#differences, "difference"), "warning");
    const reasons = [...this.#reasons].slice(0, mostReasons).join("; ");
    const others = this.#reasons.size > mostReasons ? "; and others" : "";
    if (this.#unfollowed > 0)
      messages.say(`--follow: ${are(this.#unfollowed)} unknown: ${reasons}${others}`, "warning");
    for (const [verdict, count] of this.#failures)
      messages.say(`--fail-on: ${counted(count, "page")} ${verdict}`, "warning");
  }
}

// How many reasons are printed why old addresses are unknown.
const mostReasons = 3;
