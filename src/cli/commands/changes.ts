// `sitegrove changes`: what is new on a website since the last run, which left its state in a file.
import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import type { ChangesEnd } from "../../diff/changes.ts";
import { ignorable, type TreeChange } from "../../model/change.ts";
import { counted } from "../../model/figures.ts";
import type { Options } from "../../model/options.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError, websiteExitCodes } from "../exit-codes.ts";
import {
  addCrawlFlagGroups,
  addCsvSafeFlag,
  addMessageFlags,
  addOutputFlags,
  addPatternFlags,
  addSitemapFlag,
  type CrawlFlags,
  collected,
  crawlOptions,
} from "../flags.ts";
import { addHelp } from "../help.ts";
import { chooseTarget, crawlTarget, type Target } from "../input/target.ts";
import { changeWriter } from "../output/changes.ts";
import { inWords } from "../output/filter-notes.ts";
import { type RunFlags, withTargets } from "../run.ts";
import { ignoreInWords, namesIn, pageFilter } from "./diff.ts";

const formats = ["ndjson", "pages", "csv"] as const;
const kinds = ["added", "changed", "removed"] as const;

export function changesCommand(context: Context, done: Done): Command {
  const command = new Command("changes")
    .summary("list what is new on a website since the last time")
    .description(
      "Lists the pages that were added, changed or removed since the last run with the same --state. Only what changed is\n" +
        "transferred. A sitemap that cannot be read keeps its last known state: its pages are not removed. The state is\n" +
        "replaced after everything was written; a run that is killed is repeated by the next one. Changes that --only,\n" +
        "--include, --exclude or --ignore leave out are not listed by the next run, either.",
    )
    .argument("[website]", "homepage")
    .optionsGroup("Output:")
    .requiredOption("--state <file>", "archive that the last run left, replaced at the end (.warc or .warc.gz)")
    .addOption(new Option("-f, --format <format>", "data, or URLs").choices(formats).default("ndjson"));
  const first = new Option("--first <what>", "what the first run lists: every page as added, or nothing");
  addOutputFlags(command)
    .addOption(first.choices(["all", "none"]).default("all"))
    .option("--only <kinds>", `kinds of changes to list: ${kinds.join(", ")} (repeatable)`, collected)
    .option("--ignore <fields>", ignoreInWords, collected);
  addCsvSafeFlag(addPatternFlags(command));
  addCrawlFlagGroups(addSitemapFlag(command), "Discovery", "Parsing", "Network", "Limits");
  addMessageFlags(command).action(async (website: string | undefined, flags: ChangesFlags) => {
    done(await changes(website, flags, context));
  });
  return addHelp(command, { flags, examples, more });
}

const flags = `--state --format --output --force --first --only --ignore --include --exclude --sitemap --user-agent
  --verbose`;

const examples = `
Examples:
  sitegrove changes example.org --state site.warc.gz
  sitegrove changes example.org --state site.warc.gz --first none   begin now
  sitegrove changes example.org --state site.warc.gz -f csv -o new.csv
`;

const more = exitCodeHelp(websiteExitCodes, {
  incomplete: "finished, but something declared could not be fully read: it keeps its last known state",
  notFound: "the website answered, and no sitemap was found: the state is not changed",
  unreachable: "the website could not be reached, or refused everything: the state is not changed",
});

interface ChangesFlags extends CrawlFlags, RunFlags {
  readonly state: string;
  readonly format: (typeof formats)[number];
  readonly first: "all" | "none";
  readonly only?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly sitemap?: readonly string[] | undefined;
  readonly csvSafe: boolean;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
async function changes(website: string | undefined, flags: ChangesFlags, context: Context): Promise<number> {
  const { state, first, format, csvSafe } = flags;
  const target = chooseTarget(website, flags.sitemap);
  if (target.kind === "archive")
    throw new UsageError(`${website} is an archive: name a website, or use sitegrove diff`);
  if (!csvSafe && format !== "csv") throw new UsageError("--no-csv-safe works with the format csv");
  if (flags.force && flags.output === undefined) throw new UsageError("--force needs --output");
  const named = namesIn("--only", flags.only, kinds);
  const only = named.length === 0 ? kinds : named;
  const ignore = namesIn("--ignore", flags.ignore, ignorable);
  const filter = pageFilter(flags);
  let isMatched = filter === undefined;
  const include = (url: string) => {
    const isIncluded = filter?.(url) === true;
    isMatched ||= isIncluded;
    return isIncluded;
  };
  const crawl: Options = crawlOptions(flags);
  const doing = { verb: "listing the changes of", command: `sitegrove changes --state ${state}` };
  const run = await withTargets({ context, doing, targets: [target], flags, crawl, renewed: [state], offline: [] });
  const { ChangesRun } = await import("../../diff/changes.ts");
  const site = crawlTarget((await run.recognized(target, crawl)) as Exclude<Target, { kind: "archive" }>);
  const onEvent = run.see.bind(run);
  const found = new ChangesRun(site, {
    only,
    state,
    first,
    ignore,
    include: filter && include,
    signal: run.signal,
    crawl: { ...crawl, onEvent },
  });
  const wasThere = existsSync(state);
  run.owns({
    replaces: wasThere ? state : undefined,
    ifStopped: wasThere ? `${state} was not changed` : undefined,
    keep: () => found.commit(),
    discard: () => found.close(),
  });

  let told = 0;
  const notes: string[] = [];
  async function* lines(): AsyncGenerator<string, void> {
    const writer = changeWriter(format, csvSafe);
    const batches = found.batches();
    if (writer.header !== "") yield writer.header;
    try {
      let step: IteratorResult<readonly TreeChange[], ChangesEnd>;
      for (step = await batches.next(); !step.done; step = await batches.next()) {
        told += step.value.length;
        yield writer.write(step.value);
      }
      const { uncertain, pages } = step.value;
      if (pages > 0 && !isMatched) notes.push(`0 of ${counted(pages, "page")} ${filterInWords(flags)}`);
      const unread = "missing from sitemaps that could be read only in part, not listed as removed";
      if (uncertain > 0) notes.push(`${counted(uncertain, "page")} ${unread}`);
    } finally {
      await batches.return(undefined as never);
    }
  }
  return run.write(lines(), () => ({ listed: told, unit: "change", notes }));
}

function filterInWords({ include, exclude }: ChangesFlags): string {
  const words = [
    include && `match --include ${inWords(include)}`,
    exclude && `remain after --exclude ${inWords(exclude)}`,
  ];
  return words.filter(Boolean).join(" and ");
}
