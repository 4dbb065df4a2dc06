// `sitegrove changes`: what is new on a website since the last run, which left its state in a file.
import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { ignorable, type TreeChange } from "../../model/change.ts";
import { counted, grouped } from "../../model/figures.ts";
import { type Options, resolvePageFilters } from "../../model/options.ts";
import { passing } from "../../model/pattern.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodeHelp, exitCodes, UsageError, websiteExitCodes } from "../exit-codes.ts";
import { addCrawlFlags, addFlags, collected, type Flags, namesIn, pageFilters } from "../flags.ts";
import { addHelp } from "../help.ts";
import { crawlTarget, parseTreeTarget } from "../input/target.ts";
import { changeWriter, writeChanges } from "../output/changes.ts";
import { Counts } from "../output/counts.ts";
import { filterNotes, patternList } from "../output/ending.ts";
import { byNameText, formatByName } from "../output/pages.ts";
import { beginRun } from "../run.ts";
import { checkChangeFlags, ignoreInWords } from "./diff.ts";

const formats = ["ndjson", "pages", "csv"] as const;
const kinds = ["added", "changed", "removed", "expired"] as const;
// If at least this many pages change to the same date, the site's generator probably gives all pages that date.
const fewestAlike = 10;

interface ChangesFlags extends Flags<(typeof formats)[number]> {
  readonly state: string;
  readonly first: "all" | "none";
}

export function changesCommand(context: Context, done: Done): Command {
  const first = new Option("--first <what>", "pages that the first run lists as added");
  const command = new Command("changes")
    .summary("list what changed on a website since the last run")
    .description(
      "Lists the pages that were added, changed or removed since the last run with the same --state. Unchanged documents\n" +
        "are not transferred again if the server says so. If a sitemap cannot be read, its last known state is kept, and\n" +
        "pages that seem to be removed are not listed until everything can be read. The state is replaced once all output\n" +
        "is written; if a run is killed, the next one lists its changes again. Changes filtered out by --only, --include,\n" +
        "--exclude, --ignore or --allowed-for are not listed later, either.",
    )
    .argument("[website]", "homepage")
    .optionsGroup("Output:")
    .requiredOption("--state <file>", "state from the last run: an archive, replaced at the end (.warc or .warc.gz)")
    .addOption(
      new Option("-f, --format <format>", "output format").choices(formats).default(undefined, byNameText("ndjson")),
    );
  addFlags(command, "output")
    .addOption(first.choices(["all", "none"]).default("all"))
    .option("--only <kinds>", `kinds of changes to list: ${kinds.join(", ")} (repeatable)`, collected)
    .option("--ignore <fields>", ignoreInWords, collected);
  addCrawlFlags(addFlags(command, "patterns"), "Filters", ["--allowed-for", "--exclude-sitemap"]);
  addFlags(command, "csvSafe", "sitemap", "Discovery", "Parsing", "Network", "Limits", "messages");
  command.action(async (website: string | undefined, flags: ChangesFlags) =>
    done(await changes(website, flags, context)),
  );
  return addHelp(command, {
    flags: `--state --format --output --force --first --only --ignore --include --exclude --allowed-for --sitemap --user-agent --verbose`,
    examples: `
Examples:
  sitegrove changes example.org --state site.warc.gz
  sitegrove changes example.org --state site.warc.gz --first none   from now on
  sitegrove changes example.org --state site.warc.gz -f csv -o new.csv
`,
    more: exitCodeHelp(websiteExitCodes, {
      incomplete: "incomplete: something could not be fully read; its last known state is kept",
      notFound: "no sitemap found, although the website responded; the state is not changed",
      unreachable: "the website could not be reached, or refused all requests; the state is not changed",
    }),
  });
}

async function changes(website: string | undefined, flags: ChangesFlags, context: Context): Promise<ExitCode> {
  const { state, first, csvSafe } = flags;
  const format = formatByName(flags.format as (typeof formats)[number] | undefined, flags.output, formats);
  const target = parseTreeTarget(website, flags.sitemap);
  if (target.kind === "archive")
    throw new UsageError(`${website} is an archive: name a website, or use sitegrove diff`);
  checkChangeFlags({ ...flags, format });
  const named = namesIn("--only", flags.only, kinds);
  const only = named.length === 0 ? undefined : named;
  const ignore = namesIn("--ignore", flags.ignore, ignorable);
  const filter = passing(flags.include, flags.exclude);
  let isMatched = filter === undefined;
  const include = (url: string) => {
    const isIncluded = filter?.(url) === true;
    isMatched ||= isIncluded;
    return isIncluded;
  };
  const run = await beginRun({ context, flags, targets: [{ target }], renewed: [state], offline: [] });
  const { ChangesRun } = await import("../../diff/changes.ts");
  const found = new ChangesRun(crawlTarget(await run.probe(target)), {
    ...run.options,
    ...recurseOf(flags),
    only,
    state,
    first,
    ignore,
    include: filter && include,
    allowedFor: flags["allowedFor"] as string | undefined,
    signal: run.signal,
    onEvent: run.see.bind(run),
  });
  const replaces = existsSync(state) ? state : undefined;
  const ifStopped = replaces && `${state} was not changed`;
  run.owns({ replaces, ifStopped, keep: () => found.commit(), discard: () => found.close() });

  let listed = 0;
  // Whether some pages are not listed, because a robots.txt could not be read, or a sitemap may be cut off.
  let isWithheld = false;
  const notes: string[] = [];
  async function* lines(): AsyncGenerator<string, void> {
    const newDates = new Counts();
    const seen = (changes: readonly TreeChange[]) => {
      listed += changes.length;
      for (const change of changes) {
        const isDate = change.kind === "changed" && change.fields.every((field) => field === "lastModified");
        if (isDate) newDates.add(change.page.lastModified ?? "none");
      }
    };
    const writer = changeWriter(format, csvSafe);
    const { uncertain, forgotten, kept, pages, filter } = yield* writeChanges(found.batches(), writer, seen);
    notes.push(...filterNotes(filter, {}));
    isWithheld = filter.counts.robotsUnknown > 0 || uncertain > 0;
    if (pages > 0 && !isMatched) notes.push(`0 of ${counted(pages, "page")} ${filterInWords(flags)}`);
    for (const url of kept) notes.push(`${url}: its last known state is kept, because entries may be missing today`);
    const [[date, count] = ["", 0], ...others] = newDates.sorted();
    if (count >= fewestAlike && others.length === 0)
      notes.push(`${counted(count, "page")} changed only in date, all to ${date}; --ignore lastModified skips them`);
    if (uncertain > 0)
      notes.push(
        `${counted(uncertain, "page")} may have been removed; listed once every sitemap can be read, or --exclude-sitemap leaves out those that cannot`,
      );
    if (forgotten > 0) notes.push(`${grouped(forgotten)} of them will never be listed: too many to remember`);
  }
  const code = await run.write(lines(), () => ({ listed, unit: "change", notes }));
  return code === exitCodes.complete && isWithheld ? exitCodes.incomplete : code;
}

// A sitemap that is left out need not be readable.
function recurseOf(flags: ChangesFlags): Pick<Options, "recurse"> {
  const { excludeSitemap = [] } = resolvePageFilters(pageFilters(flags));
  const filter = passing([], excludeSitemap);
  return filter === undefined ? {} : { recurse: (child) => filter(child.url) };
}

function filterInWords({ include = [], exclude = [] }: Flags): string {
  const words = [];
  if (include.length > 0) words.push(`match --include ${patternList(include)}`);
  if (exclude.length > 0) words.push(`remain after --exclude ${patternList(exclude)}`);
  return words.join(" and ");
}
