// The flags and help of `sitegrove check`. Their implementation is in check.ts, which is imported when the command
// runs.
import { Command, Option } from "commander";
import type { CheckFlags } from "./check.ts";
import { failLevels } from "./check-formats.ts";
import { OutputFlags } from "./check-outputs.ts";
import { addCrawlFlagGroups } from "./crawl-flags.ts";
import { checkingExitCodes, exitCodeHelp } from "./exit-codes.ts";
import { collected, wholeNumber } from "./flag-values.ts";
import { addMessageFlags } from "./message-flags.ts";

export function checkCommand(done: (exitCode: number) => void): Command {
  const outputs = new OutputFlags();
  const command = new Command("check")
    .summary("show what search engines would say about the sitemaps of a website")
    .description(
      "Shows what is wrong with the sitemaps of a website, what search engines do about it, and how to fix it, in the words\n" +
        "of Search Console. docs/rules.md lists all rules.",
    )
    .argument("<target>", "website, archive, sitemap file, folder of a built website, or - for standard input");

  command
    .optionsGroup("Output:")
    .addOption(outputs.format)
    .addOption(outputs.output)
    .option("--force", "let --output replace a file")
    .option("--all", "show all examples and sitemaps (text, markdown)")
    .addOption(
      new Option("--fail-on <severity>", "lowest severity that makes the exit code 6 (default: error)").choices(
        failLevels,
      ),
    );

  command
    .optionsGroup("Rules:")
    .option("--config <file>", "configuration, instead of the sitegrove.json here or in a folder above")
    .option("--baseline <file>", "file of known findings: only findings whose counts increased are shown")
    .option("--update-baseline", "write the findings to the file of --baseline")
    .option("--off <rules>", "rules to leave out (repeatable)", collected)
    .option("--sample <n>", "number of pages to fetch, to check their responses", wholeNumber(1))
    .option("--now <date>", "judge dates as if the documents were received then: 2026-05-31");

  command
    .optionsGroup("Local files:")
    .option("--url <url>", "URL that a sitemap file has on the website")
    .option(
      "--map <url=folder>",
      "read URLs that begin with this from a folder, without a network (repeatable)",
      collected,
    );

  addCrawlFlagGroups(command, "Discovery", "Network", "Limits");

  addMessageFlags(command).action(async (target: string, flags: CheckFlags) => {
    const { check } = await import("./check.ts");
    done(await check(target, { ...flags, outputs: outputs.chosen() }));
  });
  return command.addHelpText("after", examples + exitCodeHelp(checkingExitCodes, exitCodeWords));
}

const exitCodeWords = { findings: "findings at or above --fail-on" };

const examples = `
Examples:
  sitegrove check example.org                                    for people
  sitegrove check site.warc.gz -f json                           an archive, as data
  sitegrove check public/ --map https://example.org/=public/     a website that was built here
  sitegrove check sitemap.xml --url https://example.org/sitemap.xml
  sitegrove check example.org -f text -f sarif -o findings.sarif --fail-on never
`;
