// `sitegrove report`: builds the tree of the target, and writes a report about it.
import { Command } from "commander";
import { failedInWords } from "../../check/findings/words.ts";
import { counted } from "../../model/figures.ts";
import type { ReportFacts } from "../../report/facts.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodeHelp, UsageError, websiteExitCodes } from "../exit-codes.ts";
import { addCrawlFlags, addFlags, type Flags } from "../flags.ts";
import { addHelp } from "../help.ts";
import { checkOptions } from "../input/check-files.ts";
import { chooseTreeTarget } from "../input/local-files.ts";
import { beginRun } from "../run.ts";
import { CheckEnding } from "./check.ts";

export function reportCommand(context: Context, done: Done): Command {
  const command = new Command("report")
    .summary("write an HTML report about a website's sitemaps")
    .description(
      "Writes an HTML report about a website's sitemaps: what search engines would flag, where the pages are, when they\n" +
        "changed, and how the sitemaps were fetched. The page is self-contained and has no scripts.",
    )
    .argument("[target]", "website, archive from --save, or folder of a static site")
    .optionsGroup("Output:");
  addFlags(command, "output")
    .option("--previous <archive>", "archive of an earlier run, to show what changed since")
    .option("--json", "write the report's data as JSON instead");
  addFlags(command, "rules", "sitemap", "Discovery");
  addCrawlFlags(command.optionsGroup("Archive:"), "Archive", ["--save"]);
  addFlags(command, "local", "Network", "Limits", "messages");
  command.action(async (target: string | undefined, flags: Flags) => done(await report(target, flags, context)));
  return addHelp(command, {
    flags: "--output --force --previous --json --config --off --sitemap --save --user-agent --verbose",
    examples: `
Examples:
  sitegrove report example.org -o report.html
  sitegrove report site.warc.gz -o report.html            an archive, offline
  sitegrove report example.org -o report.html --previous last-week.warc.gz
  sitegrove report site.warc.gz --json | jq .figures      its data
`,
    more: exitCodeHelp(websiteExitCodes, {
      complete: "complete, with or without findings",
      notFound: "no sitemap found, although the website responded",
    }),
  });
}

async function report(name: string | undefined, flags: Flags, context: Context): Promise<ExitCode> {
  const { output, save } = flags;
  const previous = flags.previous as string | undefined;
  const chosen = chooseTreeTarget(name, flags, context);
  const { files } = chosen;
  if (output === undefined && context.stdout.isTTY) throw new UsageError("name the output file: -o report.html");
  if (flags.force && output === undefined && save === undefined)
    throw new UsageError("--force needs --output or --save");
  const { options: check, note } = checkOptions(flags, { files });
  // A report is useful even if nothing could be read from the website.
  const end = new CheckEnding("never");
  const run = await beginRun({
    context,
    flags,
    targets: [chosen],
    notes: [note],
    inputs: [previous, flags.config],
    offline: ["limits", "rewrite", "previous"],
    ending: end,
  });
  let facts: ReportFacts | undefined;
  async function* page(): AsyncGenerator<string, void, undefined> {
    const { reportFacts } = await import("../../report/report-tree.ts");
    const { pageOf } = await import("../../report/html-page.ts");
    const tree = await run.tree(chosen.target);
    try {
      const settings = { ...check, ...run.whileChecking(files) };
      facts = await reportFacts(tree, { previous, check: settings, signal: run.signal });
      end.finish(facts, run.messages);
      yield flags.json ? `${jsonOf(facts, 2)}\n` : pageOf(facts);
    } finally {
      await tree.close();
    }
  }
  const code = await run.write(page(), () => ({ listed: facts?.figures.pages ?? 0, isSingleDocument: true }));
  if (facts !== undefined && output !== undefined)
    run.messages.say(
      `${output}: ${counted(facts.figures.pages, "page")}, ${failedInWords(facts) || "no errors or warnings"}`,
      "quiet",
    );
  return code;
}
