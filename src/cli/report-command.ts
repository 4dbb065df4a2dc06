// The flags and help of `sitegrove report`. Their implementation is in report-page.ts, which is imported when the
// command runs.
import { Command } from "commander";
import { addCrawlFlagGroups, addCrawlFlags } from "./crawl-flags.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import { collected } from "./flag-values.ts";
import { addMessageFlags } from "./message-flags.ts";
import type { ReportFlags } from "./report-page.ts";

export function reportCommand(done: (exitCode: number) => void): Command {
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
    const { report } = await import("./report-page.ts");
    done(await report(target, flags));
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
