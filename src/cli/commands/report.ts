// `sitegrove report`: builds the tree of the target, and writes the page about it.
import { Command } from "commander";
import { failedInWords } from "../../check/result.ts";
import { timeLeft } from "../../crawl/time-budget.ts";
import { counted } from "../../model/figures.ts";
import type { ReportFacts } from "../../report/report-tree.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError } from "../exit-codes.ts";
import {
  addCrawlFlagGroups,
  addCrawlFlags,
  addMessageFlags,
  type CrawlFlags,
  collected,
  crawlOptions,
} from "../flags.ts";
import { checkOptions, type RuleFlags } from "../input/check-files.ts";
import { chooseTarget } from "../input/target.ts";
import { type RunFlags, withTargets } from "../run.ts";
import { CheckEnding } from "./check.ts";

export function reportCommand(context: Context, done: Done): Command {
  const command = new Command("report")
    .summary("write an HTML page about the sitemaps of a website")
    .description(
      "Writes one HTML page about the sitemaps of a website: what search engines would say, where the pages are, when they\n" +
        "changed, languages, and how the sitemaps were fetched. It opens from a file, loads nothing and works without scripts.",
    )
    .argument("[target]", "website (https:// is assumed), or archive written by --save");

  command
    .optionsGroup("Output:")
    .option("-o, --output <file>", "file to write the page to, whole or not at all; an existing one needs --force")
    .option("--force", "let --output and --save replace a file")
    .option("--previous <archive>", "archive of an earlier run; the page shows what changed since")
    .option("--json", "write the contents of the page as JSON instead");

  command
    .optionsGroup("Rules:")
    .option("--config <file>", "configuration, instead of the sitegrove.json here or in a folder above")
    .option("--off <rules>", "rules to leave out (repeatable)", collected)
    .option("--now <date>", "judge dates as if the documents were received then: 2026-05-31");

  command
    .optionsGroup("Discovery:")
    .option("--sitemap <url>", "start from this sitemap, without discovery (repeatable)", collected);
  addCrawlFlags(command, "Discovery");
  command.optionsGroup("Archive:");
  addCrawlFlags(command, "Archive", ["--save"]);
  addCrawlFlagGroups(command, "Network", "Limits");

  addMessageFlags(command).action(async (target: string | undefined, flags: ReportFlags) => {
    done(await report(target, flags, context));
  });
  return command.addHelpText(
    "after",
    examples +
      exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "notFound", "unreachable", "interrupted"], {
        complete: "complete, whatever was found; `sitegrove check` fails where there are findings",
        notFound: "the website answered, and no sitemap was found",
      }),
  );
}

const examples = `
Examples:
  sitegrove report example.org -o report.html                                a website
  sitegrove report site.warc.gz -o report.html                               an archive, offline
  sitegrove report example.org -o report.html --previous last-week.warc.gz   and what changed since
  sitegrove report site.warc.gz --json | jq .figures                         the facts behind the page
`;

interface ReportFlags extends CrawlFlags, RunFlags, RuleFlags {
  readonly previous?: string | undefined;
  readonly sitemap?: readonly string[] | undefined;
  readonly json?: true | undefined;
  readonly save?: string | undefined;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
async function report(name: string | undefined, flags: ReportFlags, context: Context): Promise<number> {
  const crawl = crawlOptions(flags);
  const target = chooseTarget(name, flags.sitemap);
  checkTogether(flags, context);
  const { options: check, note } = checkOptions(flags);
  // A page about a website that failed altogether is useful, too.
  const end = new CheckEnding("never");
  const run = await withTargets({
    context,
    doing: { verb: "reporting on", command: "sitegrove report" },
    targets: [target],
    flags,
    crawl,
    inputs: [flags.previous, flags.config],
    offline: ["limits", "rewrite", "previous"],
    ending: () => end,
  });
  if (note !== undefined) run.messages.say(note, "quiet");
  let facts: ReportFacts | undefined;
  async function* page(): AsyncGenerator<string, void, undefined> {
    const { reportFacts } = await import("../../report/report-tree.ts");
    const { pageOf } = await import("../../report/html-page.ts");
    const tree = await run.tree(target, { ...crawl, save: run.save });
    try {
      const time = timeLeft(crawl.limits?.time ?? Number.POSITIVE_INFINITY, run.startedAt);
      const { signal } = run;
      facts = await reportFacts(tree, { previous: flags.previous, check: { ...check, time }, signal });
      end.finish(facts);
      yield flags.json ? `${jsonOf(facts, 2)}\n` : pageOf(facts);
    } finally {
      await tree.close();
    }
  }
  const code = await run.write(page(), () => ({ listed: facts?.figures.pages ?? 0, isWhole: true, notes: [] }));
  if (facts !== undefined && flags.output !== undefined) {
    run.messages.say(`${flags.output}: ${counted(facts.figures.pages, "page")}, ${failedInWords(facts)}`, "quiet");
  }
  return code;
}

// Flags without an effect are refused.
function checkTogether(flags: ReportFlags, { stdout }: Context): void {
  if (flags.output === undefined && stdout.isTTY) {
    throw new UsageError("say where to write the page: -o report.html");
  }
  if (flags.force && flags.output === undefined && flags.save === undefined) {
    throw new UsageError("--force needs --output or --save");
  }
}
